# Looking into a database.
$ nntune best --db results.db
| problem                                                   trial    time     95 % interval          rate  images/s  kernel  parameters
| Example CPU (CPU-0001)
|   conv3x3 64x56x56 batch 1 fp32                               2  401 us    399 us..403 us   577 GFLOP/s    2.49 k  direct  tile=16 unroll=2 order=true
|   conv3x3 64x56x56 batch 1 int8                               4  100 us     99 us..101 us    2.31 TOP/s      10 k  direct  tile=8 unroll=2 order=false
| NVIDIA H200 (GPU-0002)
|   conv3x3 c=3,k=64,h=224,w=224 batch 8 bf16 nchw uniform      5   25 us  24.9 us..25.1 us  55.5 TFLOP/s     320 k  igemm   tile=16 unroll=2 order=true
$ nntune best conv3x3 --db results.db --device cuda
| problem                                                   trial   time     95 % interval          rate  images/s  kernel  parameters
| NVIDIA H200 (GPU-0002)
|   conv3x3 c=3,k=64,h=224,w=224 batch 8 bf16 nchw uniform      5  25 us  24.9 us..25.1 us  55.5 TFLOP/s     320 k  igemm   tile=16 unroll=2 order=true
$ cp results.db energy.db; sqlite3 energy.db "update run set options = '{\"objective\":\"energy\"}' where id = 2"; nntune best --db energy.db --device cuda; nntune best --db energy.db --device cuda --json | grep -o '"objective.*null'
| problem                                                   trial   time     95 % interval          rate  images/s  kernel  parameters
| NVIDIA H200 (GPU-0002)
|   conv3x3 c=3,k=64,h=224,w=224 batch 8 bf16 nchw uniform      5  25 us  24.9 us..25.1 us  55.5 TFLOP/s     320 k  igemm   tile=16 unroll=2 order=true
| "objective":"energy","objective_value":null
$ nntune best conv3x3 --db results.db --device 'example cpu' --json
| {"type":"best","schema_version":1,"database":"results.db","best":[{"run":1,"source":"measured","device":"Example CPU","layer":"conv3x3","shape":"c=64,k=64,h=56,w=56","batch":1,"precision":"fp32","layout":"nhwc","fill":"normal","kernel":"direct","params":{"tile":16,"unroll":2,"order":true},"outcome":"ok","reason":null,"time_ns":401000.0,"time_lo_ns":399000.0,"time_hi_ns":403000.0,"floor_ns":300.0,"samples":10,"converged":false,"cache":"cold","error_impl":0.5,"error_prec":1.9999999999999999e-6,"registers":null,"smem_bytes":null,"spill_bytes":null,"occupancy_limit_pct":null,"occupancy_limiter":null,"occupancy_pct":null,"dram_read_bytes":null,"dram_write_bytes":null,"sm_clock_mhz":null,"power_mw":null,"trial":2,"first_time_ns":400000.0,"first_time_lo_ns":396000.0,"first_time_hi_ns":404000.0,"first_samples":8,"launches_per_sample":2,"probe_ns":410000.0,"rank":1,"tied":0,"ratio":1.0,"rule":null,"reused":false,"temperature_c":null,"energy_mj":null,"throttle_mask":null,"threads_per_block":null,"grid_blocks":32,"smem_static_bytes":null,"prepare_ns":15000.0,"compile_ms":0.0,"verify_ms":5.0,"measure_ms":500.0,"artefact_compile_ms":null,"artefact_cached":true,"artefact_key":null,"source_hash":"00000000000000000000000000000001","device_kind":"cpu","device_uuid":"CPU-0001","arch":"x86-64-avx2","driver":"Linux 6.1.0","compiler":"gcc 12.2.0","stored_unix_s":1750000020.0,"vendor":false},{"run":1,"source":"measured","device":"Example CPU","layer":"conv3x3","shape":"c=64,k=64,h=56,w=56","batch":1,"precision":"int8","layout":"nhwc","fill":"normal","kernel":"direct","params":{"tile":8,"unroll":2,"order":false},"outcome":"ok","reason":null,"time_ns":100000.0,"time_lo_ns":99000.0,"time_hi_ns":101000.0,"floor_ns":300.0,"samples":8,"converged":true,"cache":"cold","error_impl":0.0,"error_prec":0.012,"registers":null,"smem_bytes":null,"spill_bytes":null,"occupancy_limit_pct":null,"occupancy_limiter":null,"occupancy_pct":null,"dram_read_bytes":null,"dram_write_bytes":null,"sm_clock_mhz":null,"power_mw":null,"trial":4,"first_time_ns":100000.0,"first_time_lo_ns":99000.0,"first_time_hi_ns":101000.0,"first_samples":8,"launches_per_sample":4,"probe_ns":100500.0,"rank":null,"tied":null,"ratio":null,"rule":null,"reused":false,"temperature_c":null,"energy_mj":null,"throttle_mask":null,"threads_per_block":null,"grid_blocks":64,"smem_static_bytes":null,"prepare_ns":15000.0,"compile_ms":420.0,"verify_ms":5.0,"measure_ms":100.0,"artefact_compile_ms":null,"artefact_cached":false,"artefact_key":null,"source_hash":"00000000000000000000000000000001","device_kind":"cpu","device_uuid":"CPU-0001","arch":"x86-64-avx2","driver":"Linux 6.1.0","compiler":"gcc 12.2.0","stored_unix_s":1750000040.0,"vendor":false}]}
$ nntune best --db results.db --device 'NVIDIA H100'
! nntune: results.db has no winner on device 'NVIDIA H100'
!   it has winners on 'Example CPU' (CPU-0001), 'NVIDIA H200' (GPU-0002)
= 1
$ nntune best gru --db results.db
! nntune: unknown layer 'gru'
!   layers: conv3x3, conv1x1, conv7x7, dwconv3x3, fc, conv_bn_relu, conv1x1_chain3, relu, add, maxpool, avgpool, softmax, layernorm, attention
= 2
$ nntune runs --db results.db
| run  state        started           device       problems  trials  ok  failed       time  command
|   1  done         2025-06-15 15:06  Example CPU         2       4   3       0  1 min 0 s  nntune sweep conv3x3 --device cpu
|   2  interrupted  2025-06-15 16:06  NVIDIA H200         1       2   1       1  2 min 5 s  nntune sweep conv3x3
$ nntune runs --db results.db --json
| {"type":"runs","schema_version":1,"database":"results.db","runs":[{"run":1,"source":"measured","state":"done","device":"Example CPU","device_kind":"cpu","device_uuid":"CPU-0001","arch":"x86-64-avx2","driver":"Linux 6.1.0","compiler":"gcc 12.2.0","host":"host-a","command":"nntune sweep conv3x3 --device cpu","options":{"layer":"conv3x3"},"strategy":"random","seed":1,"nntune_version":"0.1.0","started_unix_s":1750000000.0,"ended_unix_s":1750000060.0,"problems":2,"trials":4,"ok":3,"pruned":0,"compile_failed":0,"launch_failed":0,"wrong_result":0,"abandoned":1,"timed_out":0,"crashed":0,"compile_s":20.0,"verify_s":5.0,"measure_s":30.0,"idle_s":5.0,"total_s":60.0,"dram_peak_bytes_per_s":50000000000.0,"peak_flops":{"fp32":1000000000000.0,"int8":4000000000000.0},"peak_source":"measured"},{"run":2,"source":"measured","state":"interrupted","device":"NVIDIA H200","device_kind":"cuda","device_uuid":"GPU-0002","arch":"sm_90","driver":"580.65","compiler":"NVRTC 13.0","host":"host-b","command":"nntune sweep conv3x3","options":{"layer":"conv3x3"},"strategy":"random","seed":7,"nntune_version":"0.1.0","started_unix_s":1750003600.0,"ended_unix_s":1750003725.0,"problems":1,"trials":2,"ok":1,"pruned":0,"compile_failed":1,"launch_failed":0,"wrong_result":0,"abandoned":0,"timed_out":0,"crashed":0,"compile_s":60.0,"verify_s":10.0,"measure_s":50.0,"idle_s":5.0,"total_s":125.0,"dram_peak_bytes_per_s":4800000000000.0,"peak_flops":{"fp32":67000000000000.0,"bf16":990000000000000.0},"peak_source":"datasheet formula"}]}
$ nntune show 1 --db results.db
| trial 1: ok
| problem      conv3x3 c=64,k=64,h=56,w=56 batch 1 fp32 nhwc, inputs normal, cache cold
| kernel       direct, rule of thumb 16x16 threads
| parameters   tile=8 unroll=2 order=false
| device       Example CPU (CPU-0001), x86-64-avx2, Linux 6.1.0, gcc 12.2.0
| time         500 us, 95 % interval 498 us..503 us of the median of 10 samples of 2 launches
|              final rounds: place 2, 1.248 times the winner; first measured 500 us
|              an empty kernel takes 300 ns here
| speed        462 GFLOP/s, 3.5 GB/s, 46.2 % of the roof, 2 k images/s
| errors       0.25 of the bound against fp64 on rounded inputs, 1e-06 relative to fp64 on the original inputs
| resources    64 blocks
| cost         compiling 400 ms, preparing 15 us, verifying 5 ms, timing 120 ms
| run          1, measured: nntune sweep conv3x3 --device cpu
| samples      10: least 498 us, quartiles 499 us and 502 us, most 503 us
|              from   498 us ( -0.4 %)     3 ########################################
|              from   499 us ( -0.2 %)     2 ###########################
|              from   500 us ( +0.0 %)     2 ###########################
|              from   502 us ( +0.2 %)     3 ########################################
$ nntune show 2 --db results.db
| trial 2: ok
| problem      conv3x3 c=64,k=64,h=56,w=56 batch 1 fp32 nhwc, inputs normal, cache cold
| kernel       direct
| parameters   tile=16 unroll=2 order=true
| device       Example CPU (CPU-0001), x86-64-avx2, Linux 6.1.0, gcc 12.2.0
| time         401 us, 95 % interval 399 us..403 us of the median of 10 samples of 2 launches; the time cap came before --ci
|              final rounds: place 1, 1.000 times the winner; first measured 400 us
|              an empty kernel takes 300 ns here
| speed        577 GFLOP/s, 4.37 GB/s, 57.7 % of the roof, 2.49 k images/s
| errors       0.5 of the bound against fp64 on rounded inputs, 2e-06 relative to fp64 on the original inputs
| resources    32 blocks
| cost         preparing 15 us, verifying 5 ms, timing 500 ms, code from the cache
| run          1, measured: nntune sweep conv3x3 --device cpu
| samples      10: least 399 us, quartiles 400 us and 402 us, most 900 us
|              from   399 us ( -0.4 %)     6 ########################################
|              from   402 us ( +0.1 %)     3 ####################
|              from   404 us ( +0.7 %)     0
|              from   406 us ( +1.2 %)     1 #######
$ nntune show 3 --db results.db
| trial 3: abandoned
| reason       surely slower than 3 times the best
| problem      conv3x3 c=64,k=64,h=56,w=56 batch 1 fp32 nhwc, inputs normal, cache cold
| kernel       direct
| parameters   tile=32 unroll=4 order=true
| device       Example CPU (CPU-0001), x86-64-avx2, Linux 6.1.0, gcc 12.2.0
| time         not measured; the probe took 2 ms
|              an empty kernel takes 300 ns here
| errors       0.5 of the bound against fp64 on rounded inputs, 2e-06 relative to fp64 on the original inputs
| resources    16 blocks
| cost         compiling 450 ms, verifying 5 ms, timing 2 ms
| run          1, measured: nntune sweep conv3x3 --device cpu
$ nntune show 5 --db results.db
| trial 5: ok
| problem      conv3x3 c=3,k=64,h=224,w=224 batch 8 bf16 nchw, inputs uniform, cache cold
| kernel       igemm
| parameters   tile=16 unroll=2 order=true
| device       NVIDIA H200 (GPU-0002), sm_90, driver 580.65, NVRTC 13.0
| time         25 us, 95 % interval 24.9 us..25.1 us of the median of 10 samples of 8 launches
|              an empty kernel takes 2.3 us here
| speed        55.5 TFLOP/s, 2.15 TB/s, 44.8 % of the roof, 320 k images/s
| errors       0.1 of the bound against fp64 on rounded inputs, 0.002 relative to fp64 on the original inputs
| resources    1568 blocks, 256 threads each, 128 registers a thread, 64 KiB shared memory a block, 16 B spilled a thread
| occupancy    50.0 % possible, limited by registers
| conditions   1980 MHz, 45 C, 610.0 W, throttled by power cap
| advice       Spills 16 bytes per thread to local memory at 128 registers per thread: smaller tiles per thread or looser launch bounds keep values in registers.
| cost         compiling 300 ms, preparing 20 us, verifying 8 ms, timing 40 ms
| run          2, measured: nntune sweep conv3x3
| samples      10: least 24.9 us, quartiles 24.9 us and 25.1 us, most 25.1 us
|              from  24.9 us ( -0.4 %)     3 ########################################
|              from  24.9 us ( -0.2 %)     2 ###########################
|              from    25 us ( +0.0 %)     2 ###########################
|              from  25.1 us ( +0.2 %)     3 ########################################
$ nntune show 6 --db results.db
| trial 6: compile_failed
| reason       gone.cu(12): error: identifier "x" is undefined
| problem      conv3x3 c=3,k=64,h=224,w=224 batch 8 bf16 nchw, inputs uniform, cache cold
| kernel       gone
| parameters   tile=32 unroll=4 order=true
| device       NVIDIA H200 (GPU-0002), sm_90, driver 580.65, NVRTC 13.0
|              an empty kernel takes 2.3 us here
| cost         compiling 80 ms
| run          2, measured: nntune sweep conv3x3
$ nntune show 5 --db results.db --json
| {"type":"trial","schema_version":1,"database":"results.db","run":2,"source":"measured","device":"NVIDIA H200","layer":"conv3x3","shape":"c=3,k=64,h=224,w=224","batch":8,"precision":"bf16","layout":"nchw","fill":"uniform","kernel":"igemm","params":{"tile":16,"unroll":2,"order":true},"outcome":"ok","reason":null,"time_ns":25000.0,"time_lo_ns":24900.0,"time_hi_ns":25100.0,"floor_ns":2300.0,"samples":10,"converged":true,"cache":"cold","error_impl":0.10000000000000001,"error_prec":0.002,"registers":128,"smem_bytes":65536,"spill_bytes":16,"occupancy_limit_pct":50.0,"occupancy_limiter":"registers","occupancy_pct":null,"dram_read_bytes":null,"dram_write_bytes":null,"sm_clock_mhz":1980.0,"power_mw":610000.0,"trial":5,"first_time_ns":25000.0,"first_time_lo_ns":24900.0,"first_time_hi_ns":25100.0,"first_samples":10,"launches_per_sample":8,"probe_ns":25200.0,"rank":null,"tied":null,"ratio":null,"rule":null,"reused":false,"temperature_c":45.0,"energy_mj":null,"throttle_mask":4,"threads_per_block":256,"grid_blocks":1568,"smem_static_bytes":null,"prepare_ns":20000.0,"compile_ms":300.0,"verify_ms":8.0,"measure_ms":40.0,"artefact_compile_ms":null,"artefact_cached":false,"artefact_key":null,"source_hash":"00000000000000000000000000000002","device_kind":"cuda","device_uuid":"GPU-0002","arch":"sm_90","driver":"580.65","compiler":"NVRTC 13.0","stored_unix_s":1750003610.0,"vendor":false,"sample_ns":[24887.5,24912.5,24937.5,24962.5,24987.5,25012.5,25037.5,25062.5,25087.5,25112.5],"counters":[],"advice":[{"rule":"spills","text":"Spills 16 bytes per thread to local memory at 128 registers per thread: smaller tiles per thread or looser launch bounds keep values in registers."}],"run_record":{"run":2,"source":"measured","state":"interrupted","device":"NVIDIA H200","device_kind":"cuda","device_uuid":"GPU-0002","arch":"sm_90","driver":"580.65","compiler":"NVRTC 13.0","host":"host-b","command":"nntune sweep conv3x3","options":{"layer":"conv3x3"},"strategy":"random","seed":7,"nntune_version":"0.1.0","started_unix_s":1750003600.0,"ended_unix_s":1750003725.0,"problems":1,"trials":2,"ok":1,"pruned":0,"compile_failed":1,"launch_failed":0,"wrong_result":0,"abandoned":0,"timed_out":0,"crashed":0,"compile_s":60.0,"verify_s":10.0,"measure_s":50.0,"idle_s":5.0,"total_s":125.0,"dram_peak_bytes_per_s":4800000000000.0,"peak_flops":{"fp32":67000000000000.0,"bf16":990000000000000.0},"peak_source":"datasheet formula"}}
$ nntune show 99 --db results.db
! nntune: results.db has no trial 99
!   trials are numbered from 1 to 6; `nntune best` shows the winners
= 1
$ nntune show 5 --db results.db --color always | head -1 | od -An -c | head -1
|  033   [   1   m   t   r   i   a   l       5   :       o   k 033
$ nntune rerun 99 --db results.db
! nntune: results.db has no trial 99
!   trials are numbered from 1 to 6; `nntune best` shows the winners
= 1
$ nntune show 1 --db results.db --ptx
! nntune: kernel 'direct' is not the one that was measured: parameter vector_bytes is missing
= 1
$ nntune show 6 --db results.db --source
! nntune: this nntune has no kernel 'gone' of conv3x3 for cuda
!   'nntune layers conv3x3' lists those it has
= 1
$ nntune show 1 --db results.db --source
! nntune: kernel 'direct' is not the one that was measured: parameter vector_bytes is missing
= 1

# Queries.
$ nntune query 'select trial, kernel, time_ns, reason from trials order by trial' --db results.db
| trial  kernel  time_ns  reason
|     1  direct   500500  -
|     2  direct   401000  -
|     3  direct        -  surely slower than 3 times the best
|     4  direct   100000  -
|     5  igemm     25000  -
|     6  gone          -  gone.cu(12): error: identifier "x" is undefined
$ nntune query 'select trial, time_ns, params, reason from trials order by trial' --db results.db --csv | tr -d '\r'
| trial,time_ns,params,reason
| 1,500500,"{""tile"":8,""unroll"":2,""order"":false}",
| 2,401000,"{""tile"":16,""unroll"":2,""order"":true}",
| 3,,"{""tile"":32,""unroll"":4,""order"":true}",surely slower than 3 times the best
| 4,100000,"{""tile"":8,""unroll"":2,""order"":false}",
| 5,25000,"{""tile"":16,""unroll"":2,""order"":true}",
| 6,,"{""tile"":32,""unroll"":4,""order"":true}","gone.cu(12): error: identifier ""x"" is undefined"
$ nntune query 'select trial, kernel, time_ns, params from best order by trial' --db results.db --json
| {"type":"query","schema_version":1,"rows":[
| {"trial":2,"kernel":"direct","time_ns":401000.0,"params":{"tile":16,"unroll":2,"order":true}},
| {"trial":4,"kernel":"direct","time_ns":100000.0,"params":{"tile":8,"unroll":2,"order":false}},
| {"trial":5,"kernel":"igemm","time_ns":25000.0,"params":{"tile":16,"unroll":2,"order":true}}
| ]}
$ nntune query 'select 1 where 0' --db results.db
| no rows
$ nntune query 'select 1 where 0' --db results.db --json
| {"type":"query","schema_version":1,"rows":[
| ]}
$ nntune query 'select 1 as a, 2 as a' --db results.db --json
! nntune: two columns of the query are called 'a'
!   name them apart: SELECT a AS first, b AS second
= 2
$ nntune query 'selec 1' --db results.db
! nntune: the query is not valid SQL: near "selec": syntax error
!   the views are trials, best, counts and runs; "select name from pragma_table_info('trials')" lists the columns of one
= 2
$ nntune query 'select speed from best' --db results.db
! nntune: the query is not valid SQL: no such column: speed
!   the views are trials, best, counts and runs; "select name from pragma_table_info('trials')" lists the columns of one
= 2
$ nntune query 'delete from trial' --db results.db
! nntune: a query only reads; DELETE is refused
!   use one SELECT, for example: select device, layer, time_ns from best
= 2
$ nntune query 'select 1; select 2' --db results.db
! nntune: the query is more than one statement
!   give one SELECT at a time
= 2
$ nntune query '' --db results.db
! nntune: the query is empty
!   for example: select device, layer, time_ns from best
= 2
$ nntune query "select char(27) || '[2J' as \"screen\"" --db results.db
| screen
| ?[2J
$ nntune query 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 2500) select i from n' --db results.db | sed -n '1p;2p;2501p'
|    i
|    1
| 2500

# A reader that leaves is no failure; a full disk is.
$ nntune query 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000) select i from n' --db results.db | head -1
|    i
$ nntune runs --db results.db > /dev/full
! nntune: cannot write to standard output: No space left on device
= 1
$ nntune layers --json > /dev/full
! nntune: cannot write to standard output: No space left on device
= 1
