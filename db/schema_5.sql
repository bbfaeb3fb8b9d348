-- Schema version 5: kernels that are calls of a vendor's library are told apart; rollup.least_* leave them out.
ALTER TABLE kernel ADD COLUMN vendor INTEGER NOT NULL DEFAULT 0 CHECK (vendor IN (0, 1));

DROP VIEW best;
DROP VIEW trials;

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
