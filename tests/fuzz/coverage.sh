#!/bin/sh
# Prints how many lines of the readers a fuzz run reached. Usage: sh tests/fuzz/coverage.sh FOLDER NAME=PATH-PREFIX...
# Needs llvm-profdata and llvm-cov of clang's version; without them it says so.
set -eu
folder=$1; shift
find_tool() {
    for tool in "$1" $(ls /usr/bin/"$1"-[0-9]* /usr/lib/llvm-*/bin/"$1" 2> /dev/null || true); do
        if command -v "$tool" > /dev/null; then echo "$tool"; return; fi
    done
}
profdata=$(find_tool llvm-profdata); cov=$(find_tool llvm-cov)
if [ -z "$profdata" ] || [ -z "$cov" ]; then echo "fuzz: no coverage: llvm-profdata or llvm-cov is not installed"; exit 0; fi
for pair in "$@"; do
    name=${pair%%=*}; prefix=${pair#*=}
    [ -e "$folder/$name.profraw" ] || continue
    "$profdata" merge -o "$folder/$name.profdata" "$folder/$name.profraw"
    "$cov" report "$folder/fuzz_$name" -instr-profile="$folder/$name.profdata" 2> /dev/null |
        awk -v name="$name" -v prefix="$prefix" 'index($1, prefix) > 0 { lines += $8; missed += $9 }
            END { if (lines > 0) printf "fuzz %s: %.1f %% of %d lines\n", name, 100 * (lines - missed) / lines, lines }'
done
