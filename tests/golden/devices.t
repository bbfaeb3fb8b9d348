# The cpu is always there; a GPU that is not is explained. Peaks of the cpu are measured once.
$ nntune devices
| ~ cuda: none here: .*
| ...
|
| ~ cpu: .*
| ~   identity  CPU-[0-9a-f]+, x86-64[^ ]*, Linux [^ ]*, .*
| ~   compute   [0-9]+ cores? that may be used.*
| ~   features  .*
| ~   memory    .* GiB, .* last-level cache
| ~   peaks     fp32 .*FLOP/s, int8 .*OP/s, memory .*B/s \(measured\)
! measuring the peaks of the cpu, once, for about two seconds
$ nntune devices
| ~ cuda: none here: .*
| ...
|
| ~ cpu: .*
| ~   identity  CPU-[0-9a-f]+, x86-64[^ ]*, Linux [^ ]*, .*
| ~   compute   [0-9]+ cores? that may be used.*
| ~   features  .*
| ~   memory    .* GiB, .* last-level cache
| ~   peaks     fp32 .*FLOP/s, int8 .*OP/s, memory .*B/s \(measured\)
$ nntune devices --json | cut -c1-60
| {"type":"devices","schema_version":1,"devices":[{"device":"c
