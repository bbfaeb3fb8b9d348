#!/bin/sh
# run_golden.sh [--update] FILE...: runs transcripts of the command line and compares exit code, stdout and stderr.
# NNTUNE is the program under test. A transcript:
#
#     # comments and blank lines separate cases
#     $ nntune sweep conv3x3 --batch 0
#     | a line of stdout
#     ! a line of stderr
#     ! ~ a regular expression (ERE) for a whole line;  "| ..." stands for any number of lines
#     = 2          the exit code, when it is not 0
#
# Commands run in an empty folder with an empty environment and a HOME of their own; those of one file share the folder. In it
# lies results.db, filled from fixture.sql. GPUs are hidden. --update rewrites the cases that fail, for you to read the diff.
set -u
: "${NNTUNE:?NNTUNE names the program under test}"
update=0
[ "${1:-}" = --update ] && { update=1; shift; }
here=$(cd "$(dirname "$0")" && pwd)
top=$(mktemp -d); chmod 755 "$top"
trap 'rm -rf "$top"' EXIT
cases=0; failed=0
# The program itself makes the schema; its rows give way to those of the fixture.
env -i PATH="$PATH" HOME="$top" NNTUNE_LOCK_DIR="$top/locks" NNTUNE_FAKE_STATE="$top/fake-state" "$NNTUNE" sweep conv3x3 \
    --device fake --shape 4x7x7 --batch 1 --precision fp32 --budget 1 --db "$top/results.db" -q > /dev/null || exit 1
sqlite3 "$top/results.db" "select 'delete from \"' || name || '\";' from sqlite_master where type = 'table'" > "$top/clear.sql"
cat "$top/clear.sql" "$here/golden/fixture.sql" | sqlite3 -bail "$top/results.db" || exit 1

for file in "$@"; do
    room="$top/$(basename "$file" .t)"
    mkdir -p "$room/work" "$room/home"
    cp "$top/results.db" "$room/work/results.db"
    env -i PATH="$(dirname "$NNTUNE"):$PATH" HOME="$room/home" LC_ALL=C.UTF-8 TZ=UTC TMPDIR="$room" CUDA_VISIBLE_DEVICES= \
        NNTUNE_LOCK_DIR="$room/locks" NNTUNE_FAKE_STATE="$room/fake-state" \
        awk -v room="$room" -v update="$update" -v out="$room/new" -f "$here/golden/golden.awk" "$file"
    read -r ran bad < "$room/counts"
    cases=$((cases + ran)); failed=$((failed + bad))
    if [ "$update" = 1 ] && ! cmp -s "$room/new" "$file"; then cp "$room/new" "$file"; echo "  updated $file"; fi
done
printf 'golden: %s cases in %s files, %s failed\n' "$cases" "$#" "$failed"
[ "$failed" -eq 0 ] || [ "$update" = 1 ]
