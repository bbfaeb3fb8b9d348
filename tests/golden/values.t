# Wrong values of a sweep: each is named together with the right ones; nothing is stored.
$ nntune sweep conv3x4
! nntune: unknown layer 'conv3x4'
!   did you mean 'conv3x3'? Layers: conv3x3, conv1x1, conv7x7, dwconv3x3, fc, conv_bn_relu, conv1x1_chain3, relu, add, maxpool, avgpool, softmax, layernorm, attention
= 2
$ nntune sweep fully-connected
! nntune: unknown layer 'fully-connected'
!   layers: conv3x3, conv1x1, conv7x7, dwconv3x3, fc, conv_bn_relu, conv1x1_chain3, relu, add, maxpool, avgpool, softmax, layernorm, attention
= 2
$ nntune sweep conv3x3 --device cpi
! nntune: unknown device 'cpi': use cpu, cuda, or cuda:N for the N-th GPU
!   did you mean 'cpu'?
= 2
$ nntune sweep conv3x3 --device cpu:1
! nntune: device 'cpu:1': there is one cpu, written 'cpu'
= 2
$ nntune sweep conv3x3 --device cuda:-1
! nntune: device 'cuda:-1': after 'cuda:' comes the number of a GPU, 0 to 1023
= 2
$ nntune sweep conv3x3 --device cuda:x
! nntune: device 'cuda:x': after 'cuda:' comes the number of a GPU, 0 to 1023
= 2
$ nntune sweep conv3x3 --device cpu --precision fp23
! nntune: --precision: unknown value 'fp23'
!   did you mean 'fp32'? Values: fp32, tf32, fp16, bf16, int8, fp8, fp16_sparse, bf16_sparse, int8_sparse
= 2
$ nntune sweep conv3x3 --device cpu --precision fp32,,int8
! nntune: --precision: an empty value in 'fp32,,int8'
= 2
$ nntune sweep conv3x3 --device cpu --layout nhw
! nntune: --layout: unknown value 'nhw'
!   did you mean 'nhwc'? Values: nhwc, nchw
= 2
$ nntune sweep conv3x3 --device cpu --fill zero
! nntune: --fill: unknown value 'zero'
!   values: normal, uniform
= 2
$ nntune sweep conv3x3 --device cpu --cache warm
! nntune: --cache: unknown value 'warm'
!   values: cold, hot, both
= 2
$ nntune sweep conv3x3 --device cpu --batch 0
! nntune: --batch: '0' is not a whole number from 1 to 65536
= 2
$ nntune sweep conv3x3 --device cpu --batch -1
! nntune: --batch: '-1' is not a whole number from 1 to 65536
= 2
$ nntune sweep conv3x3 --device cpu --batch many
! nntune: --batch: 'many' is not a whole number from 1 to 65536
= 2
$ nntune sweep conv3x3 --device cpu --batch 1,two
! nntune: --batch: 'two' is not a whole number from 1 to 65536
= 2
$ nntune sweep conv3x3 --device cpu --batch 1.5
! nntune: --batch: '1.5' is not a whole number from 1 to 65536
= 2
$ nntune sweep conv3x3 --device cpu --batch 1099511627776
! nntune: --batch: '1099511627776' is not a whole number from 1 to 65536
= 2
$ nntune sweep conv3x3 --device cpu --batch 99999999999999999999
! nntune: --batch: '99999999999999999999' is not a whole number from 1 to 65536
= 2
$ nntune sweep conv3x3 --device cpu --batch ''
! nntune: --batch: an empty value in ''
= 2
$ nntune sweep conv3x3 --device cpu --batch $(seq -s, 65)
! nntune: --batch: more than 64 values
= 2
$ nntune sweep conv3x3 --device cpu --budget 0
! nntune: --budget: '0' is neither a number of trials nor a time above 0
!   for example 200 (trials), 60s, 5m, 1h
= 2
$ nntune sweep conv3x3 --device cpu --budget 0s
! nntune: --budget: '0s' is neither a number of trials nor a time above 0
!   for example 200 (trials), 60s, 5m, 1h
= 2
$ nntune sweep conv3x3 --device cpu --budget -5
! nntune: --budget: '-5' is neither a number of trials nor a time above 0
!   for example 200 (trials), 60s, 5m, 1h
= 2
$ nntune sweep conv3x3 --device cpu --budget 5x
! nntune: --budget: '5x' is neither a number of trials nor a time above 0
!   for example 200 (trials), 60s, 5m, 1h
= 2
$ nntune sweep conv3x3 --device cpu --budget nan
! nntune: --budget: 'nan' is neither a number of trials nor a time above 0
!   for example 200 (trials), 60s, 5m, 1h
= 2
$ nntune sweep conv3x3 --device cpu --seed -1
! nntune: --seed: '-1' is not a whole number from 0 to 9223372036854775807
= 2
$ nntune sweep conv3x3 --device cpu --ci 0
! nntune: --ci: '0' is not a number from 0.01 to 50
= 2
$ nntune sweep conv3x3 --device cpu --max-error -1
! nntune: --max-error: '-1' is not a number from 0 to 10
= 2
$ nntune sweep conv3x3 --device cpu --objective speed
! nntune: objective: column 1 of 'speed': unknown name 'speed'
!   time, energy, edp or an expression; there are time_ns, energy_mj, power_mw, sm_clock_mhz, temperature_c, error_impl, error_prec, occupancy_limit_pct, prepare_ns, registers, spill_bytes, smem_bytes, threads_per_block, grid_blocks, batch
= 2
$ nntune sweep conv3x3 --device cpu --objective 3
! nntune: objective '3' is the same for every configuration
= 2
$ nntune sweep conv3x3 --device cpu --warm-start none.db
! nntune: there is no database at none.db
!   `nntune sweep conv3x3` makes one; --db names another file
= 1
$ nntune sweep conv3x3 --device cpu --strategy randm
! nntune: unknown strategy 'randm'
!   did you mean 'random'? strategies: auto, random, exhaustive, surrogate, local, annealing, genetic, evolution, swarm
= 2
$ nntune sweep conv3x3 --device cpu --param block_x
! nntune: --param: 'block_x' is not NAME=VALUE,..
!   for example --param block_x=16,32
= 2
$ nntune sweep conv3x3 --device cpu --db ''
! nntune: --db: an empty value
= 2

# What needs the layer or the device is refused before anything is measured.
$ nntune sweep conv3x3 --device fake --shape c=64,k=64,h=56,z=3
! nntune: shape 'c=64,k=64,h=56,z=3': conv3x3 has no key 'z'; its keys are c, k, h, w, stride
!   did you mean 'c'? c input channels, k output channels, h height, w width, stride step from one output to the next: --shape 64x56x56 (CxHxW with k = c) or c=64,k=64,h=56,w=56
= 2
$ nntune sweep conv3x3 --device fake --shape n=8,c=64,k=64,h=56,w=56
! nntune: shape 'n=8,c=64,k=64,h=56,w=56': conv3x3 has no key 'n'; its keys are c, k, h, w, stride
!   the batch is an option of its own: --batch 8
= 2
$ nntune sweep conv3x3 --device fake --shape 64x56
! nntune: shape '64x56' is not of the form CxHxW
!   c input channels, k output channels, h height, w width, stride step from one output to the next: --shape 64x56x56 (CxHxW with k = c) or c=64,k=64,h=56,w=56
= 2
$ nntune sweep conv3x3 --device fake --shape 64x56x0
! nntune: shape '64x56x0': w is '0', not a whole number from 1 up to 2147483647
!   c input channels, k output channels, h height, w width, stride step from one output to the next: --shape 64x56x56 (CxHxW with k = c) or c=64,k=64,h=56,w=56
= 2
$ nntune sweep conv3x3 --device fake --shape c=64,k=64
! nntune: shape 'c=64,k=64' leaves out h
!   c input channels, k output channels, h height, w width, stride step from one output to the next: --shape 64x56x56 (CxHxW with k = c) or c=64,k=64,h=56,w=56
= 2
$ nntune sweep conv3x3 --device fake --param block_xx=4
! nntune: no fake kernel of conv3x3 has a parameter 'block_xx'; did you mean 'block_x'?
!   parameters are: fake: block_x block_y tile unroll order waves
= 2
$ nntune sweep conv3x3 --device fake --param block_x=3
! nntune: --param: '3' is no value of 'block_x' of kernel 'fake'
!   values of block_x: 1, 2, 4, 8, 16, 32
= 2
$ nntune sweep conv3x3 --device fake --where 'tile >'
! nntune: --where for kernel 'fake': column 7 of 'tile >': ends where a value is expected
= 2
$ nntune sweep conv3x3 --device fake --where 'tile_m > 3'
! nntune: --where for kernel 'fake': column 1 of 'tile_m > 3': unknown name 'tile_m'
!   did you mean 'tile'? there are block_x, block_y, tile, unroll, order, waves, c, k, h, w, n, elem_bytes, nchw, smem_per_block, max_threads, regs_per_block, regs_per_sm, warp_size, sm_count, cc, simd_bytes
= 2
$ nntune sweep conv3x3 --device fake --where 'tile > 100'
! nntune: kernel 'fake' has no legal configuration: --where 'tile > 100' leaves none
!   relax --where
= 2
$ nntune sweep conv3x3 --device cpu --kernel dirct
! nntune: layer conv3x3 has no cpu kernel 'dirct'
! ~   kernels: direct, .*
= 2

# An activation is a word.
$ nntune sweep conv_bn_relu --device cpu --shape c=8,k=8,h=5,w=5,act=3
! nntune: shape 'c=8,k=8,h=5,w=5,act=3': act is '3', not one of relu, relu6, silu, gelu, none
!   act is a word: act=none
= 2
$ nntune sweep conv_bn_relu --device cpu --shape c=8,k=8,h=5,w=5,act=tanh
! nntune: shape 'c=8,k=8,h=5,w=5,act=tanh': act is 'tanh', not one of relu, relu6, silu, gelu, none
!   act is a word: act=none
= 2

# Problems that no memory holds: what is needed, what there is.
$ nntune sweep conv3x3 --device fake --batch 65536 --shape 4096x512x512
! ~ nntune: conv3x3 c=4096,k=4096,h=512,w=512 batch 65536 fp32 nhwc needs .* PiB of device memory \(inputs, references and the ring\), .* is available
!   take a smaller --batch or --shape
= 2
$ nntune sweep conv3x3 --device fake --shape c=2147483647,k=2147483647,h=2147483647,w=2147483647
! nntune: conv3x3 c=2147483647,k=2147483647,h=2147483647,w=2147483647 batch 1 fp32 nhwc is too large: a tensor has more elements than 64 bits can address
!   make c, k, h, w or the batch smaller
= 2

# The default database may be there, made by the last of these; no trial is in it.
$ nntune best
! nntune: ROOM/home/.local/share/nntune/nntune.db has no winner yet
!   'nntune sweep conv3x3' finds some; 'nntune runs' shows what was tried
= 1
