# What is no command, option or argument is named, with what is.
$ nntune frobnicate
! nntune: unknown command 'frobnicate'
! ~   commands: sweep, rerun, .*, help
= 2
$ nntune swep conv3x3
! nntune: unknown command 'swep'
! ~   did you mean 'nntune sweep'\? Commands: sweep, rerun, .*, help
= 2
$ nntune --versio
! nntune: unknown option '--versio'
!   did you mean '--version'?
= 2
$ nntune -x
! nntune: unknown option '-x'
!   options come after the command; 'nntune --help' lists the commands
= 2
$ nntune --db t.db best
! nntune: unknown option '--db'
!   options come after the command; 'nntune --help' lists the commands
= 2
$ nntune sweep
! nntune: sweep needs a layer, or --spec FILE: nntune sweep LAYER | --spec FILE
!   for example: nntune sweep conv3x3
= 2
$ nntune sweep conv3x3 fc
! nntune: unexpected argument 'fc'
!   --help shows what this command takes
= 2
$ nntune sweep conv3x3 batch
! nntune: unexpected argument 'batch'
!   options begin with two dashes: --batch
= 2
$ nntune sweep conv3x3 --bach 1
! nntune: unknown option '--bach'
!   did you mean '--batch'?
= 2
$ nntune sweep conv3x3 --goal time
! nntune: unknown option '--goal'
!   --help lists the options of this command
= 2
$ nntune sweep conv3x3 -z
! nntune: unknown option '-z'
!   --help lists the options of this command
= 2
$ nntune sweep conv3x3 --json=1
! nntune: --json takes no value
= 2
$ nntune sweep conv3x3 --db
! nntune: --db needs a value: --db FILE
= 2
$ nntune sweep conv3x3 -j
! nntune: -j needs a value: -j N
= 2
$ nntune sweep conv3x3 -j0
! nntune: --jobs: '0' is not a whole number from 1 to 64
= 2
$ nntune devices --db results.db
! nntune: unknown option '--db'
!   --help lists the options of this command
= 2
$ nntune layers --quiet
! nntune: unknown option '--quiet'
!   --help lists the options of this command
= 2
$ nntune show
! nntune: show needs an argument: nntune show TRIAL
!   for example: nntune show 42
= 2
$ nntune show x
! nntune: 'x' is not the number of a trial, a whole number from 1
!   'nntune best' lists the winners with their numbers
= 2
$ nntune show 0
! nntune: '0' is not the number of a trial, a whole number from 1
!   'nntune best' lists the winners with their numbers
= 2
$ nntune show 1 --source --asm
! nntune: --source and --asm exclude each other
= 2
$ nntune query
! nntune: query needs an argument: nntune query SQL
!   for example: nntune query 'select shape, batch, kernel, time_ns from best'
= 2
$ nntune query 'select 1' --json --csv
! nntune: --json and --csv exclude each other
= 2
$ nntune completion tcsh
! nntune: unknown shell 'tcsh'
!   shells: bash, zsh, fish
= 2
$ nntune rerun
! nntune: rerun needs an argument: nntune rerun TRIAL
!   for example: nntune rerun 42
= 2
$ nntune rerun 1 2
! nntune: unexpected argument '2'
!   --help shows what this command takes
= 2
$ nntune sweep conv3x3 --color red
! nntune: --color: unknown value 'red'
!   values: auto, always, never
= 2
$ nntune sweep conv3x3 --progress sometimes
! nntune: --progress: unknown value 'sometimes'
!   values: auto, always, never
= 2
$ nntune sweep conv3x3 --no-warn fresh-wrnog
! nntune: --no-warn: unknown value 'fresh-wrnog'
! ~   did you mean 'fresh-wrong'\? Values: finals-lost, fresh-wrong, [a-z, -]*
= 2
