-- fixture.sql: a made-up run of 160 trials on a GPU, the same everywhere, for the captures of the screen.
INSERT INTO device (id, kind, uuid, name, arch, compute_capability, sm_count, memory_bytes, l2_bytes, smem_per_block_bytes,
                    smem_per_sm_bytes, smem_reserved_bytes, regs_per_block, regs_per_sm, max_threads_per_block,
                    max_threads_per_sm, max_blocks_per_sm, warp_size, sm_clock_max_mhz, mem_clock_max_mhz)
VALUES (1, 'cuda', 'GPU-0001', 'NVIDIA H200', 'sm_90', 90, 132, 150754820096, 62914560, 232448, 233472, 1024, 65536, 65536,
        1024, 2048, 32, 32, 1980, 3201);
INSERT INTO environment (id, device_id, driver, compiler, features) VALUES (1, 1, '580.65', 'NVRTC 13.0', '');
INSERT INTO run (id, environment_id, device_id, state, command, options, nntune_version, seed, strategy, host,
                 started_unix_s, ended_unix_s, total_s, dram_peak_bytes_per_s, peak_flops, peak_source)
VALUES (1, 1, 1, 'done', 'nntune sweep conv3x3 --budget 160', '{"layer":"conv3x3"}', '0.1.0', 7, 'random', 'example',
        1750003600, 1750003725, 125, 4.8e12, '{"fp32":6.7e13,"bf16":9.9e14}', 'datasheet formula');
INSERT INTO problem (id, layer, shape, batch, precision, layout, fill)
VALUES (1, 'conv3x3', 'c=64,k=64,h=56,w=56', 8, 'bf16', 'nhwc', 'normal'),
       (2, 'conv3x3', 'c=256,k=256,h=14,w=14', 32, 'bf16', 'nhwc', 'normal');
INSERT INTO kernel (id, layer, name, device_kind, source_hash) VALUES (1, 'conv3x3', 'igemm', 'cuda', '01');

CREATE TEMP TABLE n AS WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 160) SELECT i FROM c;
INSERT INTO configuration (id, params)
SELECT i, json_object('tile_m', 16 << (i % 4), 'tile_n', 32 << (i / 4 % 3), 'stages', 1 + i / 12 % 4, 'pad', 8, 'id', i) FROM n;
UPDATE configuration SET params = json_set(params, '$.id', id / 48);
INSERT INTO trial (id, run_id, problem_id, kernel_id, configuration_id, cache, outcome, stored_unix_s, reason, time_ns,
                   time_lo_ns, time_hi_ns, floor_ns, samples, launches_per_sample, converged, reused, sm_clock_mhz,
                   temperature_c, throttle_mask, error_impl, error_prec, artefact_cached, registers, smem_bytes, spill_bytes,
                   threads_per_block, grid_blocks, occupancy_limit_pct, occupancy_limiter, prepare_ns, compile_ms, verify_ms,
                   measure_ms)
SELECT i, 1, 1 + (i > 90), 1, i, 'cold', o, 1750003600 + i * 0.75,
       CASE o WHEN 'compile_failed' THEN 'ptxas: 300 registers asked, 255 there'
              WHEN 'wrong_result' THEN 'element 17 is 0.5, expected 0.25' WHEN 'abandoned' THEN 'surely slower than 3 times the best'
              WHEN 'launch_failed' THEN 'shared memory: 262144 bytes asked, 232448 there' END,
       t, t * 0.995, t * 1.005, 2000, CASE WHEN t IS NULL THEN 0 ELSE 8 END, 12, 1, 0, 1965, 48, 0, 0.21, 0.0031, 0,
       32 + 24 * (i % 6), 8192 << (i % 5), CASE i % 6 WHEN 5 THEN 64 ELSE 0 END, 128 << (i % 2), 1024,
       100.0 / (1 + i % 6), CASE WHEN i % 6 < 1 THEN 'threads' WHEN i % 6 < 4 THEN 'registers' ELSE 'smem' END, 1500, 900, 12, 200
FROM (SELECT i, o, CASE o WHEN 'ok' THEN 18000 + 400.0 * ((i * 37) % 101) + 6000 * (i > 90) END AS t
      FROM (SELECT i, CASE WHEN i % 20 = 7 THEN 'compile_failed' WHEN i % 41 = 5 THEN 'wrong_result'
                           WHEN i % 53 = 9 THEN 'launch_failed' WHEN i % 11 = 3 THEN 'abandoned' ELSE 'ok' END AS o FROM n));
INSERT INTO sample (trial_id, phase, launches_per_sample, ns)
SELECT id, 'main', 12, x'0000000000409f400000000000489f400000000000509f400000000000609f400000000000489f400000000000449f4000000000004c9f400000000000709f40'
FROM trial WHERE outcome = 'ok';
INSERT INTO counter (trial_id, name, value, unit, source, passes, cache)
SELECT id, name, CASE name WHEN 'occupancy_pct' THEN occupancy_limit_pct * 0.9 WHEN 'dram_pct' THEN 41.5 ELSE 1.2e7 END, unit,
       'CUPTI range profiler, user replay', 1, 'cold'
FROM trial, (SELECT 'occupancy_pct' AS name, '%' AS unit UNION ALL SELECT 'dram_pct', '%' UNION ALL SELECT 'dram_read_bytes', 'byte')
WHERE outcome = 'ok' AND id % 2 = 0;
INSERT INTO rollup (run_id, problem_id, cache, outcome, trials, least_time_ns, least_trial_id)
SELECT 1, problem_id, 'cold', outcome, count(*), min(time_ns), CASE outcome WHEN 'ok' THEN
       (SELECT id FROM trial b WHERE b.problem_id = a.problem_id AND b.outcome = 'ok' ORDER BY time_ns LIMIT 1) END
FROM trial a GROUP BY problem_id, outcome;
