#!/bin/sh
# Runs one fuzz target and prints how many lines of the reader it reached. Exit 1: a find, or less than 80 %.
# Usage: sh tests/fuzz/run.sh FOLDER NAME PROGRAM SECONDS SOURCES
set -eu
folder=$1 name=$2 program=$3 seconds=$4 sources=$5
bar=80
find_tool() {
    for tool in "$1" $(ls /usr/bin/"$1"-[0-9]* /usr/lib/llvm-*/bin/"$1" 2> /dev/null || true); do
        if command -v "$tool" > /dev/null; then echo "$tool"; return; fi
    done
}
profdata=$(find_tool llvm-profdata); cov=$(find_tool llvm-cov)
mkdir -p "$folder/found/$name" "$folder/kept/$name"
python3 tests/fuzz/pack.py unpack "tests/fuzz/corpus/$name.gz" "$folder/kept/$name"
words=; [ ! -e "tests/fuzz/$name.dict" ] || words=-dict=tests/fuzz/$name.dict
# A stop by the time limit is a success; anything found ends the run with another code and leaves its input.
LLVM_PROFILE_FILE=$folder/$name.profraw "$program" -max_total_time="$seconds" -timeout=1 -rss_limit_mb=1024 \
    -malloc_limit_mb=1024 -max_len=16384 -verbosity=0 -print_final_stats=1 $words -artifact_prefix="$folder/$name-" \
    "$folder/found/$name" "tests/fuzz/corpus/$name" "$folder/kept/$name" > "$folder/$name.log" 2>&1 || {
    echo "fuzz $name: FAILED, see $folder/$name.log and the input $(ls -t "$folder/$name"-* 2> /dev/null | head -n 1)"
    grep -m 3 -e 'ERROR:' -e 'SUMMARY' -e 'runtime error' "$folder/$name.log" || true
    exit 1
}
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$name.log")
peak=$(sed -n 's/^stat::peak_rss_mb: *//p' "$folder/$name.log")
if [ -z "$profdata" ] || [ -z "$cov" ]; then
    echo "fuzz $name: $runs inputs in $seconds s, nothing found, $peak MB at most; lines not counted: llvm-profdata or llvm-cov is not installed"
    exit 0
fi
"$profdata" merge -o "$folder/$name.profdata" "$folder/$name.profraw"
"$cov" export -summary-only "$program" -instr-profile="$folder/$name.profdata" 2> /dev/null |
    python3 tests/fuzz/lines.py "$name" "$sources" "$bar" "$runs inputs in $seconds s, nothing found, $peak MB at most"
