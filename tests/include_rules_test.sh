#!/bin/sh
# Tests include_rules.sh: in a temporary tree each planted include must be refused with its file and line, and each
# legal one accepted.
set -eu
rules=$(cd "$(dirname "$0")" && pwd)/include_rules.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0

try() { # try refused|accepted FILE INCLUDE-LINE
    mkdir -p "$tree/$(dirname "$2")"
    printf '/* a file */\n%s\n' "$3" > "$tree/$2"
    if said=$(sh "$rules" "$tree"); then got=accepted; else got=refused; fi
    if [ "$got" != "$1" ]; then echo "include rules test: $2 with $3 was $got"; failed=1; fi
    if [ "$1" = refused ]; then
        case $said in "$2:2: includes "*) ;; *) echo "include rules test: wrong message: $said"; failed=1 ;; esac
    fi
    rm "$tree/$2"
}

mkdir -p "$tree/core" && printf '#include <stdio.h>\n' > "$tree/core/fine.c"
try accepted core/a.c '#include "core/b.h"'
try accepted autotune/a.c '#include "kernels/kernel.h"'
try accepted autotune/a.c '#include "profiler/measure.h"'
try accepted kernels/conv3x3/a.c '#include "device/device.h"'
try accepted cli/a.c '  #  include "db/db.h" /* far */'
try accepted db/a.c '#include <sqlite3.h>'
try accepted core/a.c '/* #include "device/device.h" */'
try refused core/a.c '#include "device/device.h"'
try refused core/a.h '#include "db/db.h"'
try refused device/a.c '#include "kernels/kernel.h"'
try refused kernels/conv3x3/a.c '#include "device/compiler.h"'
try refused kernels/conv3x3/a.cu '#include "cli/main.h"'
try refused profiler/a.c '#include "autotune/sweep.h"'
try refused profiler/a.c '#include "kernels/kernel.h"'
try refused autotune/a.c '#include "db/db.h"'
try refused db/a.c ' #  include "device/device.h"'
try refused reports/a.c '#include <sqlite3.h>'
try refused tui/a.c '#include "reports/plot.h"'
try refused cli/a.c '#include <ncurses.h>'
try refused runtime/a.c '#include "core/str.h"'
try refused runtime/a.c '#include <jansson.h>'
try refused cli/a.c '#include "tests/unit/core_check.h"'
try refused core/a.c '#include "../db/db.h"'
try refused core/a.c '#include "b.h"'

rm "$tree/core/fine.c"
if sh "$rules" "$tree" 2> "$tree/said"; then echo "include rules test: an empty tree was accepted"; failed=1; fi
[ "$failed" -eq 0 ] && echo "include rules test: planted includes are refused"
exit "$failed"
