#!/bin/sh
# Reduces the finds of a fuzz target: the fewest and shortest texts that reach what all of them reach, beside the seeds,
# packed as tests/fuzz/corpus/NAME.gz. Usage: sh tests/fuzz/keep.sh FOLDER NAME PROGRAM
set -eu
folder=$1 name=$2 program=$3
rm -rf "$folder/least/$name"; mkdir -p "$folder/least/$name" "$folder/found/$name"
export LLVM_PROFILE_FILE=/dev/null
"$program" -merge=1 -use_counters=0 -max_len=4096 -rss_limit_mb=1024 -verbosity=0 "$folder/least/$name" "tests/fuzz/corpus/$name" \
    "$folder/found/$name" > "$folder/$name.merge.log" 2>&1
for seed in tests/fuzz/corpus/"$name"/*; do rm -f "$folder/least/$name/$(sha1sum < "$seed" | cut -c 1-40)"; done
python3 tests/fuzz/pack.py pack "$folder/least/$name" "tests/fuzz/corpus/$name.gz"
