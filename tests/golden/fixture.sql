-- fixture.sql: a small database of made-up results, the same everywhere, for the golden tests. The schema is in db/schema.sql.
INSERT INTO device (id, kind, uuid, name, arch, compute_capability, sm_count, memory_bytes, l2_bytes, warp_size)
VALUES (1, 'cpu', 'CPU-0001', 'Example CPU', 'x86-64-avx2', NULL, 8, 17179869184, 33554432, 1),
       (2, 'cuda', 'GPU-0002', 'NVIDIA H200', 'sm_90', 90, 132, 150754820096, 62914560, 32);
INSERT INTO environment (id, device_id, driver, compiler, features)
VALUES (1, 1, 'Linux 6.1.0', 'gcc 12.2.0', 'avx2 fma'),
       (2, 2, '580.65', 'NVRTC 13.0', '');
INSERT INTO run (id, environment_id, device_id, state, command, options, nntune_version, seed, strategy, host,
                 started_unix_s, ended_unix_s, compile_s, verify_s, measure_s, idle_s, total_s, dram_peak_bytes_per_s,
                 peak_flops, peak_source)
VALUES (1, 1, 1, 'done', 'nntune sweep conv3x3 --device cpu', '{"layer":"conv3x3"}', '0.1.0', 1, 'random', 'host-a',
        1750000000, 1750000060, 20, 5, 30, 5, 60, 5e10, '{"fp32":1e12,"int8":4e12}', 'measured'),
       (2, 2, 2, 'interrupted', 'nntune sweep conv3x3', '{"layer":"conv3x3"}', '0.1.0', 7, 'random', 'host-b',
        1750003600, 1750003725, 60, 10, 50, 5, 125, 4.8e12, '{"fp32":6.7e13,"bf16":9.9e14}', 'datasheet formula');
INSERT INTO problem (id, layer, shape, batch, precision, layout, fill)
VALUES (1, 'conv3x3', 'c=64,k=64,h=56,w=56', 1, 'fp32', 'nhwc', 'normal'),
       (2, 'conv3x3', 'c=64,k=64,h=56,w=56', 1, 'int8', 'nhwc', 'normal'),
       (3, 'conv3x3', 'c=3,k=64,h=224,w=224', 8, 'bf16', 'nchw', 'uniform');
INSERT INTO kernel (id, layer, name, device_kind, source_hash)
VALUES (1, 'conv3x3', 'direct', 'cpu', '00000000000000000000000000000001'),
       (2, 'conv3x3', 'igemm', 'cuda', '00000000000000000000000000000002'),
       (3, 'conv3x3', 'gone', 'cuda', '00000000000000000000000000000003');
INSERT INTO configuration (id, params)
VALUES (1, '{"tile":8,"unroll":2,"order":false}'),
       (2, '{"tile":16,"unroll":2,"order":true}'),
       (3, '{"tile":32,"unroll":4,"order":true}');
INSERT INTO trial (id, run_id, problem_id, kernel_id, configuration_id, cache, outcome, stored_unix_s, reason, rule, time_ns,
                   time_lo_ns, time_hi_ns, probe_ns, floor_ns, samples, launches_per_sample, converged, reused,
                   sm_clock_mhz, temperature_c, power_mw, throttle_mask, error_impl, error_prec, artefact_cached, registers,
                   smem_bytes, spill_bytes, threads_per_block, grid_blocks, occupancy_limit_pct, occupancy_limiter,
                   prepare_ns, compile_ms, verify_ms, measure_ms)
VALUES (1, 1, 1, 1, 1, 'cold', 'ok', 1750000010, NULL, '16x16 threads', 500000, 495000, 505000, 510000, 300, 8, 2, 1, 0,
        NULL, NULL, NULL, NULL, 0.25, 1e-6, 0, NULL, NULL, NULL, NULL, 64, NULL, NULL, 15000, 400, 5, 120),
       (2, 1, 1, 1, 2, 'cold', 'ok', 1750000020, NULL, NULL, 400000, 396000, 404000, 410000, 300, 8, 2, 0, 0,
        NULL, NULL, NULL, NULL, 0.5, 2e-6, 1, NULL, NULL, NULL, NULL, 32, NULL, NULL, 15000, 0, 5, 500),
       (3, 1, 1, 1, 3, 'cold', 'abandoned', 1750000030, 'surely slower than 3 times the best', NULL, NULL, NULL, NULL,
        2000000, 300, 0, NULL, 0, 0, NULL, NULL, NULL, NULL, 0.5, 2e-6, 0, NULL, NULL, NULL, NULL, 16, NULL, NULL, NULL,
        450, 5, 2),
       (4, 1, 2, 1, 1, 'cold', 'ok', 1750000040, NULL, NULL, 100000, 99000, 101000, 100500, 300, 8, 4, 1, 0,
        NULL, NULL, NULL, NULL, 0, 0.012, 0, NULL, NULL, NULL, NULL, 64, NULL, NULL, 15000, 420, 5, 100),
       (5, 2, 3, 2, 2, 'cold', 'ok', 1750003610, NULL, NULL, 25000, 24900, 25100, 25200, 2300, 10, 8, 1, 0,
        1980, 45, 610000, 4, 0.1, 0.002, 0, 128, 65536, 16, 256, 1568, 50, 'registers', 20000, 300, 8, 40),
       (6, 2, 3, 3, 3, 'cold', 'compile_failed', 1750003620, 'gone.cu(12): error: identifier "x" is undefined', NULL, NULL,
        NULL, NULL, NULL, 2300, 0, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL,
        NULL, NULL, 80, NULL, NULL);
INSERT INTO sample (trial_id, phase, launches_per_sample, ns)
VALUES
       (1, 'main', 2,
        X'00000000d04d1e4100000000705d1e4100000000106d1e4100000000b07c1e41ffffffff4f8c1e41ffffffffef9b1e41ffffffff8fab1e41ffffffff2fbb1e41'),
       (2, 'main', 2,
        X'00000000403e184100000000c04a1841000000004057184100000000c0631841ffffffff3f701841ffffffffbf7c1841ffffffff3f891841ffffffffbf951841'),
       (2, 'final', 2,
        X'000000009060184100000000d466184100000000186d1841000000005c73184100000000a0791841ffffffffe37f18410000000028861841ffffffff6b8c184100000000b09218410000000040772b41'),
       (1, 'final', 2,
        X'000000001f691e4100000000f1701e4100000000c3781e410000000095801e410000000067881e410000000039901e41000000000b981e4100000000dd9f1e4101000000afa71e410000000081af1e41'),
       (4, 'main', 4,
        X'000000002054f84000000000605af84000000000a060f84000000000e066f84000000000206df840000000006073f84000000000a079f84000000000e07ff840'),
       (5, 'main', 8,
        X'00000000e04dd840000000002054d84000000000605ad84000000000a060d84000000000e066d84000000000206dd840000000006073d84000000000a079d84000000000e07fd840000000002086d840');
INSERT INTO final (trial_id, run_id, problem_id, cache, rank, tied, ratio, time_ns, time_lo_ns, time_hi_ns, samples)
VALUES (2, 1, 1, 'cold', 1, 0, 1, 401000, 399000, 403000, 10),
       (1, 1, 1, 'cold', 2, 0, 1.248, 500500, 498000, 503000, 10);
INSERT INTO rollup (run_id, problem_id, cache, outcome, trials, least_time_ns, least_trial_id)
VALUES (1, 1, 'cold', 'ok', 2, 400000, 2),
       (1, 1, 'cold', 'abandoned', 1, NULL, NULL),
       (1, 2, 'cold', 'ok', 1, 100000, 4),
       (2, 3, 'cold', 'ok', 1, 25000, 5),
       (2, 3, 'cold', 'compile_failed', 1, NULL, NULL);
