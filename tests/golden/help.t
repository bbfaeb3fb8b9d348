# Help and version go to stdout and end with 0, however they are asked for.
$ nntune --version
| nntune 0.1.0
$ nntune -V
| nntune 0.1.0
$ nntune --help
| nntune profiles and autotunes neural-network inference kernels on NVIDIA GPUs
| and CPUs
|
| Example:
|   nntune sweep conv3x3        tune a layer on the best device here
|   nntune best                 what won
|
| Usage: nntune COMMAND [ARGUMENT]... [OPTION]...
|
| Tune:
|   sweep     try a layer's kernels and their parameters, verified and timed, into
|             the database
| ...
| Exit codes:
|   0       done
|   1       failed; the message says what and what to do
|   2       usage: unknown command, option or value, or no legal configuration
|   3       no usable device, or no permission
|   4       wrong result
|   5       regression, or a stale entry
|   128+N   ended by signal N; everything measured is kept
|
| 'nntune COMMAND --help' shows a command's options; 'man nntune' has it all, with
| the environment. Results go to stdout, progress and warnings to stderr.
$ nntune > a; nntune -h > b; nntune help > c; nntune --help > d; cmp a b && cmp b c && cmp c d
$ nntune sweep --help
| Example:
|   nntune sweep conv3x3
|   nntune sweep conv3x3 --shape 256x14x14 --batch 1,32 --budget 2m
|   nntune sweep --spec saxpy.json --budget 200
|
| Usage: nntune sweep LAYER | --spec FILE [OPTION]...
|   try a layer's kernels and their parameters, verified and timed, into the
|   database
|
| Every configuration is verified against an fp64 reference before it is timed;
| times are medians with distribution-free intervals; the fastest are measured
| again in interleaved rounds on fresh inputs. Ctrl-C finishes the trial in flight
| and keeps everything; --resume goes on.
|
| Options:
|       --spec FILE           tune a kernel of your own, described by this file
|                             (its own format, docs/SPEC.md, or T1), instead of a
|                             layer
|       --from-misses LOG     tune, one after another, the problems that a
|                             deployment table had no entry for (docs/TABLES.md);
|                             --budget is for each
|       --device DEVICE       cpu, cuda or cuda:N; several at once by commas, or
|                             all: every NVIDIA GPU; each has the whole budget
|                             (default: the first NVIDIA GPU, otherwise cpu)
|       --shape SHAPE         all, a named shape, CxHxW or c=..,k=..,h=..,w=..;
|                             several separated by commas (default: the layer's
|                             first)
|       --batch N,..          batch sizes (default 1,32 on a GPU, 1,4 on a cpu)
|       --precision P,..      fp32, tf32, fp16, bf16, int8, fp8; with 2:4 sparse
|                             weights fp16_sparse, bf16_sparse, int8_sparse
|                             (default: fp32,tf32,fp16,bf16 on a GPU, fp32,int8 on
|                             a cpu)
|       --layout L,..         nhwc, nchw (default nhwc; layers of rows have it
|                             alone)
|       --kernel NAME         only this kernel of the layer
|       --param NAME=V,..     keep these values of a parameter; kernels without it
|                             are left out; may be repeated
|       --where EXPR          keep configurations for which EXPR is true: --where
|                             'tile_m * tile_n >= 4096'
|       --strategy NAME       auto, random, exhaustive, surrogate, local,
|                             annealing, genetic, evolution, swarm (default auto)
|       --objective WHAT      time, energy, edp (energy times time), or an
|                             expression over time_ns, energy_mj, power_mw,
|                             registers, .. to make small; max:EXPR to make large
|                             (default time)
|       --warm-start DB|auto|none
|                             begin with what earlier runs of the layer found, on
|                             other problems or devices: a database, or auto for
|                             the one of --db; without it a problem begins with
|                             what those before it in the sweep found, with none
|                             from nothing
|       --budget N|TIME       trials, or time such as 60s, 5m (default 60s), over
|                             all problems
|       --seed N              seed of inputs and of the strategy (default 1)
|       --ci PCT              a time's interval wanted, half-width in percent of
|                             the median (default 0.5)
|       --max-error X         largest relative error against fp64 that a winner
|                             may have (default 0.01)
|       --fill FILL           values of the inputs: normal, uniform (default
|                             normal)
|       --cache MODE          cold (rotating buffers larger than the cache), hot,
|                             both (default cold)
|       --profile WHICH       hardware counters for: none, best (the finalists),
|                             all (every ok trial) (default all on a GPU)
|       --metrics LIST        counters instead of the usual sets: t1, sol, stall,
|                             banks, flop, columns such as occupancy_pct, or
|                             CUPTI's own names
|       --vendor WHICH        kernels that call a vendor's library (oneDNN,
|                             OpenBLAS, cuDNN, cuBLASLt): never, also (beside
|                             ours, which stay the winners; 'nntune best
|                             --vs-vendor' compares), only (default never)
|   -j, --jobs N              compile processes (default: one a core, at most 16)
|       --resume              go on with the last unfinished run of equal options
|       --reuse               take over trials of equal key from earlier runs,
|                             marked as such
|       --wait                wait while another sweep holds the device
|   -v, --verbose             a line on stderr for each trial
|       --tui                 show the screen of `nntune top` while the sweep runs
|       --dry-run             print the spaces and what prunes them, run nothing
|       --json                print JSON on stdout, with schema_version and type
|       --db FILE             results database (default
|                             $XDG_DATA_HOME/nntune/nntune.db)
|   -q, --quiet               no progress and no notes on stderr
|       --progress WHEN       progress on stderr: auto, always, never (default
|                             auto: one redrawn line on a terminal, otherwise a
|                             line every few seconds)
|       --no-warn ID,..       silence the warnings of these ids
|       --color WHEN          bold headings: auto, always, never (default auto: on
|                             a terminal, unless NO_COLOR is set)
|   -h, --help                show this help
$ nntune help sweep > a; nntune sweep -h > b; nntune sweep conv3x3 --batch 0 --help > c; cmp a b && cmp b c
$ nntune show --help
| Example:
|   nntune show 42
|   nntune show 42 --source
|
| Usage: nntune show TRIAL [OPTION]...
|   show one trial: outcome, times, errors, resources, conditions, run, or its
|   code
|
| Options:
|       --source              print the kernel's source, after its compiler
|                             options
|       --ptx                 print the PTX of a CUDA kernel (needs NVRTC)
|       --sass                print the machine code of a CUDA kernel (needs
|                             nvdisasm or cuobjdump)
|       --asm                 print the assembly, whatever the device
|       --json                print JSON on stdout, with schema_version and type
|       --db FILE             results database (default
|                             $XDG_DATA_HOME/nntune/nntune.db)
|       --no-warn ID,..       silence the warnings of these ids
|       --color WHEN          bold headings: auto, always, never (default auto: on
|                             a terminal, unless NO_COLOR is set)
|   -h, --help                show this help
$ nntune best --help
| Example:
|   nntune best conv3x3
|
| Usage: nntune best [LAYER] [OPTION]...
|   show the winner of each problem and device
|
| A problem's winner is the first of the final rounds of its newest finished run;
| cold trials go before hot ones. 'nntune show TRIAL' tells all about one.
|
| Options:
|       --device NAME         only winners on this device: its name, its UUID, cpu
|                             or cuda
|       --vs-vendor           the vendors' time over ours for each problem that a
|                             run measured both for, and the geometric means
|       --json                print JSON on stdout, with schema_version and type
|       --db FILE             results database (default
|                             $XDG_DATA_HOME/nntune/nntune.db)
|       --color WHEN          bold headings: auto, always, never (default auto: on
|                             a terminal, unless NO_COLOR is set)
|   -h, --help                show this help
$ nntune query --help
| Example:
|   nntune query 'select shape, batch, kernel, time_ns from best'
|   nntune query --csv 'select params, time_ns from trials where run = 1' > run1.csv
|
| Usage: nntune query SQL [OPTION]...
|   print the rows of a SELECT over the results database
|
| The views trials, best, counts and runs are a contract: names and meaning of
| their columns stay. A query only reads.
|
| Options:
|       --csv                 print CSV with a header line (RFC 4180); NULL is an
|                             empty field
|       --json                print JSON on stdout, with schema_version and type
|       --db FILE             results database (default
|                             $XDG_DATA_HOME/nntune/nntune.db)
|       --color WHEN          bold headings: auto, always, never (default auto: on
|                             a terminal, unless NO_COLOR is set)
|   -h, --help                show this help
$ nntune devices --help
| Example:
|   nntune devices
|
| Usage: nntune devices [OPTION]...
|   show the devices here: identity, limits, peaks; and for what is missing, why
|
| Peaks of a GPU follow from its data sheet's formula. Those of the cpu are
| measured, once, and kept in the cache folder.
|
| Options:
|       --json                print JSON on stdout, with schema_version and type
|   -q, --quiet               no progress and no notes on stderr
|       --color WHEN          bold headings: auto, always, never (default auto: on
|                             a terminal, unless NO_COLOR is set)
|   -h, --help                show this help

# No line of any command's help is longer than a terminal is wide.
$ for c in '' sweep rerun best show runs query devices layers help; do nntune help $c; done | awk 'length > 80'
|   nntune query --csv 'select params, time_ns from trials where run = 1' > run1.csv

# A description that cannot be given.
$ nntune help frobnicate
! nntune: unknown command 'frobnicate'
! ~   commands: sweep, rerun, .*, help
= 2
