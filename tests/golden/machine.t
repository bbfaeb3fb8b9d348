# A machine without a GPU, without a compiler, without room for the cache.
$ nntune sweep conv3x3 --device cuda:0
! ~ nntune: no usable cuda device: .*
! ...
= 3
$ nntune sweep conv3x3 --device cuda --json -q
| ~ \{"type":"summary","schema_version":1,"database":"[^"]*","run":null,.*,"error":\{"status":"no usable device",.*
! ~ nntune: no usable cuda device: .*
! ...
= 3
$ NNTUNE_CC=/nowhere/cc nntune sweep conv3x3 --device cpu
! nntune: NNTUNE_CC is '/nowhere/cc', which is no program in PATH
!   set NNTUNE_CC to a C compiler, for example gcc, or unset it
= 3
$ NNTUNE_CC=/nowhere/cc nntune devices
| ~ cuda: none here: .*
| ...
|
| ~ cpu: .*
| ...
|   peaks     unknown (not measured yet)
| cpu cannot be tuned now: NNTUNE_CC is '/nowhere/cc', which is no program in PATH
|   set NNTUNE_CC to a C compiler, for example gcc, or unset it
$ NNTUNE_CACHE_DIR=results.db nntune sweep conv3x3 --device cpu --db t.db
! nntune: results.db is there but is not a directory
!   name a writable directory in NNTUNE_CACHE_DIR
= 1
$ NNTUNE_CACHE_DIR=/proc/no nntune sweep conv3x3 --device cpu --db t.db
! nntune: cannot make the directory /proc/no: No such file or directory
!   name a writable directory in NNTUNE_CACHE_DIR
= 1
$ HOME=/proc/no nntune sweep conv3x3 --device cpu
! nntune: cannot make the directory /proc/no: No such file or directory
!   name a database with --db FILE
= 1
$ HOME=/proc/no nntune best
! nntune: there is no database at /proc/no/.local/share/nntune/nntune.db
!   `nntune sweep conv3x3` makes one; --db names another file
= 1
$ nntune sweep conv3x3 --device cpu --dry-run > /dev/full
! ~ nntune: cannot write to standard output.*
= 1
