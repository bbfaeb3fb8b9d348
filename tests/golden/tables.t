# Tables and comparison on the fixture's database, whose kernels and devices are not those of this machine.
$ nntune table build -o t.json --db results.db
| t.json: 3 entries in 3 batch ranges for 2 devices, 3 of them without code
|   2 cannot be launched: this program's kernel 'direct' has other parameters
|   1 cannot be launched: this program's kernel 'igemm' has other parameters
$ nntune table lookup t.json conv3x3 --shape 64x56x56 --as 'Example CPU'
| conv3x3 64x56x56 batch 1 fp32: direct tile=16 unroll=2 order=true
| expected     401 us; the entry was measured at 401 us
| why          this device: measured at this shape and batch
| measured     on Example CPU, Linux 6.1.0, gcc 12.2.0
$ nntune table lookup t.json conv3x3 --shape 64x56x56 --batch 3 --as 'Example CPU'
| conv3x3 64x56x56 batch 3 fp32: direct tile=16 unroll=2 order=true
| expected     1.2 ms; the entry was measured at 401 us
| why          this device: this shape; batch 3 lies in the range of the entry for batch 1
| measured     on Example CPU, Linux 6.1.0, gcc 12.2.0
$ nntune table lookup t.json conv3x3 --shape 64x56x56 --batch 3 --precision fp16 --as 'Example CPU'
! nntune: t.json: no entry for layer 'conv3x3' with 4 sizes in this precision and layout
= 1
$ nntune table lookup t.json conv3x3 --as 'NVIDIA H100'
! nntune: --as: the table has no device 'NVIDIA H100'; it has 'Example CPU', 'NVIDIA H200'
= 2
$ nntune table build -o d.json --db results.db --default 'NVIDIA H100'
! nntune: --default: the table has no device 'NVIDIA H100'; it has 'Example CPU', 'NVIDIA H200'
= 2
$ nntune table build --db results.db
! nntune: the table needs a name
!   -o FILE: FILE.json, FILE.h (a C header) or any other name for a bundle; '-o -' is stdout
= 2
$ nntune table build conv3x3 -o t.ntb --db results.db --device 'NVIDIA H100'
! nntune: there is no winner to make a table of for layer conv3x3 on device NVIDIA H100
!   the database has winners on 'Example CPU', 'NVIDIA H200'
= 1
$ nntune table merge t.json t.json -o u.ntb
| u.ntb: 3 entries of 2 tables, 3 replaced by later ones
$ head -c 3000 u.ntb > cut.ntb; nntune table lookup cut.ntb conv3x3
! nntune: cut.ntb is truncated or damaged: its length or a checksum does not hold
!   copy it again, or build it again with 'nntune table build'
= 1
$ echo nothing > no.ntb; nntune table merge no.ntb -o u.ntb
! nntune: no.ntb is no table
!   a table is JSON or a bundle, as 'nntune table build' writes them; a C header cannot be read back
= 1
$ nntune table chek t.json
! nntune: 'nntune table' cannot chek; it can build, check, lookup and merge
!   did you mean 'check'?
= 2
$ nntune table lookup missing.ntb conv3x3
! nntune: cannot open missing.ntb: No such file or directory
= 1
$ nntune table build -o /nonexistent/t.json --db results.db
! ~ nntune: cannot create /nonexistent/t\.json\.[0-9.]*tmp: No such file or directory
= 1
$ nntune compare run:1 run:1 --db results.db
| A: run:1 (run 1)
| B: run:1 (run 1)
|
| problem                             A       B    B/A      interval  A of roof  B of roof  verdict  why
| conv3x3 64x56x56 batch 1 fp32  401 us  401 us  1.000  1.000..1.000     57.6 %     57.6 %  same     it is the same measurement
| conv3x3 64x56x56 batch 1 int8  100 us  100 us  1.000  1.000..1.000     57.8 %     57.8 %  same     it is the same measurement
|
| 2 same
| threshold 1 %, noise between blocks 0.44 %
| conv3x3 fp32: B takes 1.000 times A's time in the geometric mean of 1
| conv3x3 int8: B takes 1.000 times A's time in the geometric mean of 1
$ nntune compare device: run:2 --db results.db
! nntune: 'device:' names no device
!   a side is run:ID, device:NAME, FILE.db[#run], vendor or rule
= 2
$ nntune compare run:1 run:2 --db results.db
! nntune: 'run:1' and 'run:2' have no problem in common
!   a problem is layer, shape, batch, precision, layout, fill and cache mode; 'nntune best' lists them
= 1
$ nntune compare example rule --db results.db
| A: example (Example CPU)
| B: rule (rule)
|
| problem                             A       B    B/A      interval  A of roof  B of roof  verdict  why
| conv3x3 64x56x56 batch 1 fp32  401 us  500 us  1.248  1.229..1.267     57.6 %     46.2 %  slower   surely, by more than the threshold
| conv3x3 64x56x56 batch 1 int8  100 us       -      -             -     57.8 %          -  missing  not measured on the new side
|
| 1 slower
| 1 missing
| threshold 1 %, noise between blocks 0.46 %
| conv3x3 fp32: B takes 1.248 times A's time in the geometric mean of 1
! nntune: of 1 problems 1 are slower on the B side by more than 1 % and 0 fail there
= 5
$ nntune compare run:1 vendor --db results.db
! nntune: results.db: there is nothing measured for 'vendor'
!   'nntune runs' lists what there is
= 1
$ cp results.db vendor.db; sqlite3 vendor.db "insert into kernel (id, layer, name, device_kind, source_hash, vendor) values (9, 'conv3x3', 'library', 'cpu', '9', 1); update trial set kernel_id = 9 where id = 1"
$ nntune compare run:1 vendor --db vendor.db
| A: run:1 (run 1)
| B: vendor (vendor)
|
| problem                             A       B    B/A      interval  A of roof  B of roof  verdict  why
| conv3x3 64x56x56 batch 1 fp32  401 us  500 us  1.248  1.229..1.267     57.6 %     46.2 %  slower   surely, by more than the threshold
| conv3x3 64x56x56 batch 1 int8  100 us       -      -             -     57.8 %          -  missing  not measured on the new side
|
| 1 slower
| 1 missing
| threshold 1 %, noise between blocks 0.46 %
| conv3x3 fp32: B takes 1.248 times A's time in the geometric mean of 1
! nntune: of 1 problems 1 are slower on the B side by more than 1 % and 0 fail there
= 5
$ nntune compare H100 run:1 --db results.db
! nntune: 'H100' names no device in results.db
!   its devices are 'Example CPU', 'NVIDIA H200'; a side is run:ID, device:NAME, FILE.db[#run], vendor or rule
= 2
$ nntune compare run:x run:1 --db results.db
! nntune: 'run:x': 'x' is not the number of a run, a whole number from 1
= 2
$ nntune compare vendor rule --db results.db
! nntune: 'vendor' and 'rule' both need a run or a device on the other side
!   nntune compare run:3 vendor
= 2
$ nntune compare run:9 run:1 --db results.db
! nntune: results.db: there is nothing measured for 'run:9'
!   'nntune runs' lists what there is
= 1
$ echo '{"type":"miss"}' > m.log; nntune sweep --from-misses m.log --device cpu --db results.db
! nntune: m.log: line 1 is no problem of a layer that this program has
!   a line is as NNTUNE_MISS_LOG writes it (docs/TABLES.md), with the layer's extents in their order: 'nntune layers LAYER' shows them; correct it or take it out
= 1
$ : > m.log; nntune sweep --from-misses m.log --device cpu --db results.db
! nntune: m.log holds no missed problem
= 1
$ nntune sweep --from-misses m.log --batch 3
! nntune: --from-misses and --batch do not go together: the log says what is tuned
= 2
