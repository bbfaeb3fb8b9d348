# A sweep of the fake device: results on stdout, nothing but warnings, notes and progress on stderr.
$ nntune sweep conv3x3 --device fake --shape 4x7x7 --batch 1 --precision fp32 -j 1 --budget 30 --db t.db
| ~ problem  +kernel  +time  +95 % interval  +rate  +traffic  +of roof  +images/s  +err/bound  +precision err
| ~ conv3x3 4x7x7 batch 1 fp32  fake  +[0-9.]+ us  +[0-9.]+ us..[0-9.]+ us .*
| ~     trial [0-9]+: block_x=.*
| ~     rule of thumb '16x16 threads' \(fake\): [0-9.]+ us, [0-9.]+ times the best
|
| ~ 30 trials: [0-9]+ ok, [0-9]+ abandoned, 0 pruned, 0 failed
| ~ time: .* in all: .* waiting for compilers, .* verifying, .* timing, .* idle and setting up
| run 1 on fake device is in t.db; next:
|   nntune best --db t.db
| ~   nntune show [0-9]+ --db t.db
! run 1 tunes fake device, results in t.db
$ nntune sweep conv3x3 --device fake --shape 4x7x7 --batch 1 --precision fp32 -j 1 --budget 30 --db t.db -q --reuse | grep trials:
| ~ 30 trials: .* [0-9]+ reused from earlier runs
$ nntune sweep conv3x3 --device fake --shape 4x7x7 --batch 1 --precision fp32 -j 1 --budget 12 --db t.db -q --json | cut -c1-15 | sort | uniq -c
|       1 {"type":"summar
|      12 {"type":"trial"
$ nntune sweep conv3x3 --device fake --shape 4x7x7 --batch 1 --precision fp32 -j 1 --budget 3 --db u.db -q -v > out
! ~ trial 1 ok [0-9]+ us, fake: block_x=16 block_y=16 tile=1 unroll=1 order=false waves=1
! ~ trial 2 [a-z]+.*, fake: block_x=.*
! ~ trial 3 [a-z]+.*, fake: block_x=.*
$ nntune best --db u.db
| ~ problem  +trial  +time  +95 % interval  +rate  +images/s  kernel  parameters
| fake device (FAKE-0)
| ~   conv3x3 4x7x7 batch 1 fp32  +[123]  +[0-9]+ us  +[0-9]+ us..[0-9]+ us  .*FLOP/s  .* k  fake  +block_x=.*
$ nntune rerun 1 --db u.db -q
| ...
| ~ conv3x3 4x7x7 batch 1 fp32  fake .*
|     trial 4: block_x=16 block_y=16 tile=1 unroll=1 order=false waves=1
|
| 1 trial: 1 ok, 0 abandoned, 0 pruned, 0 failed
| ...
| ~ trial 1 took [0-9]+ us before
$ nntune sweep conv3x3 --device cpu --precision fp32 --batch 2 --kernel direct --shape 64x56x56,c=3,k=8,h=7,w=9 --dry-run
| ~ on .*
| ~ conv3x3 64x56x56 batch 2 fp32, kernel direct: .* legal of .* combinations
| ~     pruned [0-9]+ by .*
| ...
| ~ conv3x3 c=3,k=8,h=7,w=9 batch 2 fp32, kernel direct: .* legal of .* combinations
| ~     pruned [0-9]+ by .*
| ...

# A reader that leaves does not end the sweep.
$ nntune sweep conv3x3 --device fake --shape 4x7x7 --batch 1 --precision fp32 -j 1 --budget 12 --seed 3 --db v.db -q --json | head -1 | cut -c1-15
| {"type":"trial"
$ sleep 2; nntune query 'select state, trials from runs' --db v.db
| state  trials
| done       12

# An activation is a word wherever a shape is read or written; programs that miss a problem give its number.
$ nntune sweep conv_bn_relu --device cpu --shape c=8,k=8,h=5,w=5,act=silu,c=8,k=8,h=5,w=5,act=none,c=8,k=8,h=5,w=5,act=relu --batch 1 --kernel direct --dry-run | sed -n 's/, kernel.*//p'
| conv_bn_relu c=8,k=8,h=5,w=5,stride=1,act=silu batch 1 fp32
| conv_bn_relu c=8,k=8,h=5,w=5,stride=1,act=none batch 1 fp32
| conv_bn_relu 8x5x5 batch 1 fp32
$ for p in fp16 fp32; do echo '{"type":"miss","layer":"conv3x3","size":[8,8,5,5],"batch":1,"precision":"'$p'","layout":"nhwc"}'; done > m2.log; nntune sweep --from-misses m2.log --device cpu --budget 1 -q --db m2.db > out; r=$?; nntune query 'select shape, precision, outcome from trials' --db m2.db; exit $r
| shape            precision  outcome
| c=8,k=8,h=5,w=5  fp32       ok
! nntune: no cpu kernel serves conv3x3 c=8,k=8,h=5,w=5 batch 1 fp16 nhwc (direct: precision; im2col: precision; winograd: precision)
!   precisions served: fp32, bf16, int8; 'nntune layers conv3x3' shows each kernel
= 2
$ echo '{"type":"miss","layer":"conv_bn_relu","size":[8,8,5,5,2,4],"batch":1,"precision":"fp32","layout":"nhwc"}' > m.log; nntune sweep --from-misses m.log --device cpu --budget 1 --profile none -q --db m.db > out; nntune query 'select shape, outcome from trials' --db m.db
| shape                              outcome
| c=8,k=8,h=5,w=5,stride=2,act=gelu  ok

# Without a vendor's kernel nothing is said of one. (With one: tests/process/vendor.sh.)
$ NNTUNE_ONEDNN=/nonexistent.so nntune sweep conv3x3 --device cpu --shape 4x7x7 --batch 1 --precision fp32 --vendor also --budget 1 --profile none -q --json --db w.db 2> err | tail -n 1 | grep -o '"vendor[a-z_]*":[^,}]*'
| "vendor":"also"
| "vendor_ratio_cold":null
| "vendor_ratio_hot":null
| "vendor":false
| "vendor_best":null

# On a terminal the line is redrawn and taken away again; elsewhere there is no control byte.
$ NNTUNE_PRETEND_TTY=1 nntune sweep conv3x3 --device fake --shape 4x7x7 --batch 1 --precision fp32 -j 1 --budget 30 --db t.db 2> err > out; grep -c "$(printf '\r')" err; tail -c 4 err | od -An -c
| ~ [1-9][0-9]*
|   \r 033   [   K
$ NNTUNE_PRETEND_TTY=1 nntune sweep conv3x3 --device fake --shape 4x7x7 --batch 1 --precision fp32 -j 1 --budget 30 --db t.db --progress never 2> err > out; grep -c "$(printf '\r')" err
| 0
= 1
$ nntune sweep conv3x3 --device fake --shape 4x7x7 --batch 1 --precision fp32 -j 1 --budget 30 --db t.db --progress always 2> err > out; grep -c "$(printf '[\033\r]')" err
| 0
= 1

# Bold is asked for, or not there.
$ nntune best --db t.db --color always | head -c 4 | od -An -c
|  033   [   1   m
$ nntune best --db t.db --color auto | head -c 4
| prob
