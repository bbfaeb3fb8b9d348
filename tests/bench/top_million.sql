-- top_million.sql: a run of 1,000,000 trials for the bars of the screen; after tests/screen/fixture.sql, whose run it extends.
CREATE TEMP TABLE m AS WITH RECURSIVE c (i) AS (SELECT 161 UNION ALL SELECT i + 1 FROM c WHERE i < 1000000) SELECT i FROM c;
INSERT INTO configuration (id, params)
SELECT i, json_object('tile_m', 16 << (i % 4), 'tile_n', 32 << (i / 4 % 3), 'stages', 1 + i / 12 % 4, 'pad', 8, 'id', i / 48) FROM m;
INSERT INTO trial (id, run_id, problem_id, kernel_id, configuration_id, cache, outcome, stored_unix_s, reason, time_ns,
                   time_lo_ns, time_hi_ns, floor_ns, samples, launches_per_sample, converged, reused, sm_clock_mhz, error_impl,
                   error_prec, artefact_cached, registers, smem_bytes, spill_bytes, threads_per_block, grid_blocks,
                   occupancy_limit_pct, occupancy_limiter, compile_ms, verify_ms, measure_ms)
SELECT i, 1, 1 + i % 2, 1, i, 'cold', o, 1750003600 + i * 0.75, CASE o WHEN 'ok' THEN NULL ELSE 'too much shared memory' END,
       t, t * 0.995, t * 1.005, 2000, CASE WHEN t IS NULL THEN 0 ELSE 8 END, 12, 1, 0, 1965, 0.21, 0.0031, 0,
       32 + 24 * (i % 6), 8192 << (i % 5), 0, 128 << (i % 2), 1024, 100.0 / (1 + i % 6),
       CASE WHEN i % 6 < 1 THEN 'threads' WHEN i % 6 < 4 THEN 'registers' ELSE 'smem' END, 900, 12, 200
FROM (SELECT i, o, CASE o WHEN 'ok' THEN 18000 + 4.0 * ((i * 7919) % 100003) END AS t
      FROM (SELECT i, CASE WHEN i % 8 = 7 THEN 'pruned' ELSE 'ok' END AS o FROM m));
INSERT INTO counter (trial_id, name, value, unit, source, passes, cache)
SELECT id, 'occupancy_pct', occupancy_limit_pct * 0.9, '%', 'CUPTI range profiler, user replay', 1, 'cold'
FROM trial WHERE id > 160 AND outcome = 'ok';
DELETE FROM rollup;
INSERT INTO rollup (run_id, problem_id, cache, outcome, trials, least_time_ns, least_trial_id)
SELECT 1, problem_id, 'cold', outcome, count(*), min(time_ns), CASE WHEN outcome = 'ok' THEN id END
FROM trial GROUP BY problem_id, outcome;
