#!/bin/sh
# Reads the #include lines of every source under a root (default: here) and fails on an arrow that the design does not
# allow, with file and line. A folder may include itself and what its row in `allowed` names; private headers of libraries
# belong to the folders in `owners`. Tests and benchmarks may include everything but cannot be included.
# Usage: sh tests/include_rules.sh [ROOT]
set -eu
cd "${1:-.}"

allowed='
core:
device: core
kernels: core device/device.h
profiler: core device
autotune: core device kernels profiler
db: core
reports: core runtime/format.h
tui: core
runtime:
cli: core device kernels profiler autotune db reports tui runtime
'
owners='
sqlite3.h: db
ncurses.h: tui
curses.h: tui
cuda.h: device profiler kernels runtime
nvrtc.h: device
nvml.h: device profiler
cupti.h: profiler
jansson.h: core device kernels profiler autotune db reports tui cli
'

folders=$(printf '%s' "$allowed" | sed -n 's/^\([a-z]*\):.*/\1/p')
files=$(for folder in $folders; do
    [ ! -d "$folder" ] || find "$folder" -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \)
done | sort)
if [ -z "$files" ]; then echo "include rules: no source under $(pwd)" >&2; exit 1; fi

# shellcheck disable=SC2086  # the names hold no blanks
ALLOWED=$allowed OWNERS=$owners awk '
function refuse(why) {
    printf "%s:%d: includes %s, but %s\n", FILENAME, FNR, target, why
    bad++
}
function list(name, table,    lines, i, n, parts) {
    n = split(table, lines, "\n")
    for (i = 1; i <= n; i++) {
        split(lines[i], parts, ":")
        if (lines[i] != "" && parts[1] == name) return parts[2] " "
    }
    return "none"
}
/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
    count++
    folder = FILENAME; sub(/\/.*/, "", folder)
    target = $0; sub(/^[^<"]*[<"]/, "", target); sub(/[>"].*/, "", target)
    quoted = $0 ~ /include[ \t]*"/
    if (target ~ /(^|\/)\.\.(\/|$)/) { refuse("a path from the root is wanted, without .."); next }
    if (!quoted) {
        who = list(target, ENVIRON["OWNERS"])
        if (who != "none" && index(who, " " folder " ") == 0) refuse("only" who "may include it")
        next
    }
    to = target
    if (to !~ /\//) { refuse("headers of ours are named from the root: " folder "/" target); next }
    sub(/\/.*/, "", to)
    may = list(folder, ENVIRON["ALLOWED"])
    if (to == folder || index(may, " " to " ") || index(may, " " target " ")) next
    refuse(folder " may include only itself" (may == " " ? "" : " and") may)
}
END {
    if (bad) { printf "include rules: %d of %d includes are not allowed\n", bad, count; exit 1 }
    printf "include rules: %d includes, all allowed\n", count
}' $files
