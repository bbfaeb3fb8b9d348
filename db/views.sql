-- views.sql: the views, which are the contract: their columns stay, whatever becomes of the tables. Made anew after the
-- last step of a creation or migration, so a column that a step adds can be shown by changing it here alone.
DROP VIEW IF EXISTS profile_counters;
DROP VIEW IF EXISTS profile_copies;
DROP VIEW IF EXISTS profile_ranges;
DROP VIEW IF EXISTS profile_kernels;
DROP VIEW IF EXISTS profiles;
DROP VIEW IF EXISTS runs;
DROP VIEW IF EXISTS counts;
DROP VIEW IF EXISTS best;
DROP VIEW IF EXISTS trials;

-- One row a trial.
CREATE VIEW trials AS
SELECT t.run_id AS run,
       r.source AS source,
       d.name AS device,
       p.layer AS layer,
       p.shape AS shape,
       p.batch AS batch,
       p.precision AS precision,
       p.layout AS layout,
       p.fill AS fill,
       k.name AS kernel,
       c.params AS params,
       t.outcome AS outcome,
       t.reason AS reason,
       CASE WHEN f.trial_id IS NULL THEN t.time_ns ELSE f.time_ns END AS time_ns,
       CASE WHEN f.trial_id IS NULL THEN t.time_lo_ns ELSE f.time_lo_ns END AS time_lo_ns,
       CASE WHEN f.trial_id IS NULL THEN t.time_hi_ns ELSE f.time_hi_ns END AS time_hi_ns,
       t.floor_ns AS floor_ns,
       CASE WHEN f.trial_id IS NULL THEN t.samples ELSE f.samples END AS samples,
       CASE WHEN t.outcome = 'ok' THEN t.converged END AS converged,
       t.cache AS cache,
       t.error_impl AS error_impl,
       t.error_prec AS error_prec,
       t.registers AS registers,
       t.smem_bytes AS smem_bytes,
       t.spill_bytes AS spill_bytes,
       t.occupancy_limit_pct AS occupancy_limit_pct,
       t.occupancy_limiter AS occupancy_limiter,
       (SELECT value FROM counter WHERE trial_id = t.id AND name = 'occupancy_pct') AS occupancy_pct,
       (SELECT value FROM counter WHERE trial_id = t.id AND name = 'dram_read_bytes') AS dram_read_bytes,
       (SELECT value FROM counter WHERE trial_id = t.id AND name = 'dram_write_bytes') AS dram_write_bytes,
       t.sm_clock_mhz AS sm_clock_mhz,
       t.power_mw AS power_mw,
       t.id AS trial,
       t.time_ns AS first_time_ns,
       t.time_lo_ns AS first_time_lo_ns,
       t.time_hi_ns AS first_time_hi_ns,
       t.samples AS first_samples,
       t.launches_per_sample AS launches_per_sample,
       t.probe_ns AS probe_ns,
       f.rank AS rank,
       f.tied AS tied,
       f.ratio AS ratio,
       t.rule AS rule,
       t.reused AS reused,
       t.temperature_c AS temperature_c,
       t.energy_mj AS energy_mj,
       t.throttle_mask AS throttle_mask,
       t.threads_per_block AS threads_per_block,
       t.grid_blocks AS grid_blocks,
       t.smem_static_bytes AS smem_static_bytes,
       t.prepare_ns AS prepare_ns,
       t.compile_ms AS compile_ms,
       t.verify_ms AS verify_ms,
       t.measure_ms AS measure_ms,
       t.artefact_compile_ms AS artefact_compile_ms,
       t.artefact_cached AS artefact_cached,
       t.artefact_key AS artefact_key,
       k.source_hash AS source_hash,
       d.kind AS device_kind,
       d.uuid AS device_uuid,
       d.arch AS arch,
       e.driver AS driver,
       e.compiler AS compiler,
       t.stored_unix_s AS stored_unix_s,
       k.vendor AS vendor
FROM trial t
LEFT JOIN run r ON r.id = t.run_id
LEFT JOIN device d ON d.id = r.device_id
LEFT JOIN environment e ON e.id = r.environment_id
LEFT JOIN problem p ON p.id = t.problem_id
LEFT JOIN kernel k ON k.id = t.kernel_id
LEFT JOIN configuration c ON c.id = t.configuration_id
LEFT JOIN final f ON f.trial_id = t.id;

-- The winning row of each problem and device, of kernels of our own, because a vendor's cannot be deployed: a cold one where there is one. First the newest done run's winner of the
-- finals, then a winner of the finals of a run that has not ended so, and where no finals were recorded the least time.
CREATE VIEW best AS
WITH candidate (device_id, problem_id, cache, trial_id, tier, preference) AS (
    SELECT r.device_id, f.problem_id, f.cache, f.trial_id, CASE r.state WHEN 'done' THEN 1 ELSE 2 END, -r.started_unix_s
    FROM final f JOIN run r ON r.id = f.run_id
    WHERE f.rank = 1 AND NOT (SELECT k.vendor FROM trial t JOIN kernel k ON k.id = t.kernel_id WHERE t.id = f.trial_id)
    UNION ALL
    SELECT r.device_id, o.problem_id, o.cache, o.least_trial_id, 3, o.least_time_ns
    FROM rollup o JOIN run r ON r.id = o.run_id
    WHERE o.outcome = 'ok' AND o.least_trial_id IS NOT NULL
),
placed (trial_id, place) AS (
    SELECT trial_id,
           row_number() OVER (PARTITION BY device_id, problem_id ORDER BY cache, tier, preference, trial_id DESC)
    FROM candidate
)
SELECT * FROM trials WHERE trial IN (SELECT trial_id FROM placed WHERE place = 1);

-- Trials by run, problem, cache mode and outcome.
CREATE VIEW counts AS
SELECT o.run_id AS run,
       p.layer AS layer,
       p.shape AS shape,
       p.batch AS batch,
       p.precision AS precision,
       p.layout AS layout,
       p.fill AS fill,
       o.cache AS cache,
       o.outcome AS outcome,
       o.trials AS trials,
       o.least_time_ns AS least_time_ns
FROM rollup o
LEFT JOIN problem p ON p.id = o.problem_id;

-- One row a run, with its counts.
CREATE VIEW runs AS
SELECT r.id AS run,
       r.source AS source,
       r.state AS state,
       d.name AS device,
       d.kind AS device_kind,
       d.uuid AS device_uuid,
       d.arch AS arch,
       e.driver AS driver,
       e.compiler AS compiler,
       r.host AS host,
       r.command AS command,
       r.options AS options,
       r.strategy AS strategy,
       r.seed AS seed,
       r.nntune_version AS nntune_version,
       r.started_unix_s AS started_unix_s,
       r.ended_unix_s AS ended_unix_s,
       count(DISTINCT o.problem_id) AS problems,
       coalesce(sum(o.trials), 0) AS trials,
       coalesce(sum(o.trials) FILTER (WHERE o.outcome = 'ok'), 0) AS ok,
       coalesce(sum(o.trials) FILTER (WHERE o.outcome = 'pruned'), 0) AS pruned,
       coalesce(sum(o.trials) FILTER (WHERE o.outcome = 'compile_failed'), 0) AS compile_failed,
       coalesce(sum(o.trials) FILTER (WHERE o.outcome = 'launch_failed'), 0) AS launch_failed,
       coalesce(sum(o.trials) FILTER (WHERE o.outcome = 'wrong_result'), 0) AS wrong_result,
       coalesce(sum(o.trials) FILTER (WHERE o.outcome = 'abandoned'), 0) AS abandoned,
       coalesce(sum(o.trials) FILTER (WHERE o.outcome = 'timed_out'), 0) AS timed_out,
       coalesce(sum(o.trials) FILTER (WHERE o.outcome = 'crashed'), 0) AS crashed,
       r.compile_s AS compile_s,
       r.verify_s AS verify_s,
       r.measure_s AS measure_s,
       r.idle_s AS idle_s,
       r.total_s AS total_s,
       r.dram_peak_bytes_per_s AS dram_peak_bytes_per_s,
       r.peak_flops AS peak_flops,
       r.peak_source AS peak_source
FROM run r
LEFT JOIN device d ON d.id = r.device_id
LEFT JOIN environment e ON e.id = r.environment_id
LEFT JOIN rollup o ON o.run_id = r.id
GROUP BY r.id;

-- One row a run.
CREATE VIEW profiles AS
SELECT r.id AS profile,
       r.source AS source,
       r.state AS state,
       r.command AS command,
       r.exit_code AS exit_code,
       r.started_unix_s AS started_unix_s,
       r.ended_unix_s AS ended_unix_s,
       (SELECT count(*) FROM profile_work w WHERE w.run_id = r.id AND w.kind = 'kernel') AS kernels,
       (SELECT count(*) FROM profile_work w WHERE w.run_id = r.id AND w.kind = 'copy') AS copies,
       (SELECT sum(duration_ns) FROM profile_work w WHERE w.run_id = r.id AND w.kind = 'kernel') AS gpu_ns,
       (SELECT sum(graph_launches) FROM profile_process p WHERE p.run_id = r.id) AS graph_launches,
       (SELECT max(memory_peak_bytes) FROM profile_process p WHERE p.run_id = r.id) AS memory_peak_bytes,
       r.host AS host,
       r.nntune_version AS nntune_version
FROM profile_run r;

-- Kernels of a run by name. The median and the 99th percentile are those of single calls, the latter from 662 calls on.
CREATE VIEW profile_kernels AS
WITH ranked AS (
    SELECT w.run_id, k.name, w.duration_ns, k.occupancy_limit_pct,
           row_number() OVER (PARTITION BY w.run_id, k.name, w.duration_ns IS NULL ORDER BY w.duration_ns) AS place,
           count(w.duration_ns) OVER (PARTITION BY w.run_id, k.name) AS timed
    FROM profile_work w JOIN profile_kernel k ON k.run_id = w.run_id AND k.number = w.kernel
    WHERE w.kind = 'kernel'
)
SELECT run_id AS profile,
       name AS kernel,
       count(*) AS calls,
       sum(duration_ns) AS total_ns,
       avg(duration_ns) FILTER (WHERE duration_ns IS NOT NULL AND place IN ((timed + 1) / 2, (timed + 2) / 2))
           AS median_ns,
       CASE WHEN timed >= 662 THEN
           max(duration_ns) FILTER (WHERE duration_ns IS NOT NULL AND place = (timed - 1) * 99 / 100 + 1) +
           ((timed - 1) * 99 % 100) / 100.0 *
           (max(duration_ns) FILTER (WHERE duration_ns IS NOT NULL AND place = (timed - 1) * 99 / 100 + 2) -
            max(duration_ns) FILTER (WHERE duration_ns IS NOT NULL AND place = (timed - 1) * 99 / 100 + 1))
       END AS p99_ns,
       100.0 * sum(duration_ns) / sum(sum(duration_ns)) OVER (PARTITION BY run_id) AS share_pct,
       sum(occupancy_limit_pct * duration_ns) / sum(duration_ns) FILTER (WHERE occupancy_limit_pct IS NOT NULL)
           AS occupancy_limit_pct
FROM ranked
GROUP BY run_id, name;

-- Ranges of a run by name, with all that was launched while they were open on the launching thread.
CREATE VIEW profile_ranges AS
WITH RECURSIVE inside (run_id, work, "range", parent, open) AS (
    SELECT w.run_id, w.number, r.number, r.parent, 1
    FROM profile_work w JOIN profile_range r ON r.run_id = w.run_id AND r.number = w."range"
    UNION ALL
    SELECT i.run_id, i.work, r.number, r.parent,
           coalesce(r.close_ns >= (SELECT launch_ns FROM profile_work w WHERE w.run_id = i.run_id AND w.number = i.work), 1)
    FROM inside i JOIN profile_range r ON r.run_id = i.run_id AND r.number = i.parent
),
by_call (run_id, "range", kernels, copies, gpu_ns) AS (
    SELECT i.run_id, i."range", count(*) FILTER (WHERE w.kind = 'kernel'), count(*) FILTER (WHERE w.kind = 'copy'),
           sum(w.duration_ns) FILTER (WHERE w.kind = 'kernel')
    FROM inside i JOIN profile_work w ON w.run_id = i.run_id AND w.number = i.work
    WHERE i.open
    GROUP BY i.run_id, i."range"
)
SELECT r.run_id AS profile,
       r.name AS "range",
       count(*) AS calls,
       count(*) FILTER (WHERE r.close_ns IS NULL) AS open,
       coalesce(sum(c.kernels), 0) AS kernels,
       coalesce(sum(c.copies), 0) AS copies,
       coalesce(sum(c.gpu_ns), 0) AS total_ns,
       sum(r.close_ns - r.open_ns) AS wall_ns
FROM profile_range r LEFT JOIN by_call c ON c.run_id = r.run_id AND c."range" = r.number
GROUP BY r.run_id, r.name;

-- Copies of a run by direction and kinds of memory.
CREATE VIEW profile_copies AS
SELECT run_id AS profile,
       direction,
       from_memory,
       to_memory,
       count(*) AS calls,
       sum(bytes) AS bytes,
       sum(duration_ns) AS total_ns,
       1e9 * sum(bytes) FILTER (WHERE duration_ns > 0) / nullif(sum(duration_ns), 0) AS bytes_per_s
FROM profile_work
WHERE kind = 'copy'
GROUP BY run_id, direction, from_memory, to_memory;

-- One row a kernel name and counter.
CREATE VIEW profile_counters AS
WITH ranked AS (
    SELECT run_id, kernel, name, value, unit, source, passes, cache,
           row_number() OVER (PARTITION BY run_id, kernel, name, value IS NULL ORDER BY value) AS place,
           count(value) OVER (PARTITION BY run_id, kernel, name) AS known
    FROM profile_counter
)
SELECT run_id AS profile,
       kernel,
       name,
       count(value) AS launches,
       avg(value) FILTER (WHERE value IS NOT NULL AND place IN ((known + 1) / 2, (known + 2) / 2)) AS median,
       min(value) AS least,
       max(value) AS most,
       max(unit) AS unit,
       max(source) AS source,
       max(passes) AS passes,
       CASE WHEN min(cache) = max(cache) THEN min(cache) END AS cache
FROM ranked
GROUP BY run_id, kernel, name;
