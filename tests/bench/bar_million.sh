#!/bin/sh
# bar_million.sh MAKER [FILE]: the bars of a database of 1,000,000 trials, judged on the whole program: `nntune best` under
# 0.3 s (median of 7, from exec to exit) and a sweep that stores into it under 200 MB at its peak, the coordinator alone and
# each way of beginning: afresh, with --reuse, with --resume. MAKER is bench_db_million; NNTUNE the program under test. FILE
# is made when it is missing and kept; without FILE everything is removed again.
set -eu
: "${NNTUNE:?NNTUNE names the program under test}"
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
db=${2:-$room/million.db}
[ -e "$db" ] || "$1" 1000000 "$db" > "$room/made" || { cat "$room/made" >&2; exit 1; }
export HOME="$room" NNTUNE_LOCK_DIR="$room/locks" NNTUNE_FAKE_STATE="$room/fake-state"
failed=0
judge() { # name, figure, unit, bar: the figure has to be below it
    if [ "$2" -lt "$4" ]; then verdict=ok; else verdict=SHORT; failed=1; fi
    printf '%-44s %7d %-3s bar %d %s   %s\n' "$1" "$2" "$3" "$4" "$3" "$verdict"
}

trials=$("$NNTUNE" query --json 'select count(*) as n from trials' --db "$db" | sed -n 's/.*"n": *\([0-9]*\).*/\1/p')
[ "${trials:-0}" -ge 1000000 ] || { echo "bar-million: $db holds ${trials:-no} trials, not 1,000,000; remove it to have it made" >&2; exit 1; }

for _ in 1 2 3 4 5 6 7; do
    begin=$(date +%s%N)
    "$NNTUNE" best --db "$db" > "$room/best"
    echo $((($(date +%s%N) - begin) / 1000000))
done | sort -n > "$room/times"
[ "$(wc -l < "$room/best")" -ge 192 ] || { echo "bar-million: too few winners" >&2; cat "$room/best" >&2; exit 1; }
judge "nntune best, the whole command" "$(sed -n 4p "$room/times")" ms 300

# VmHWM only grows, so the last look at a living process is its peak but for what its end takes.
peak() { # name, trials, options of the sweep
    name=$1 budget=$2; shift 2
    "$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7,8x14x14 --budget "$budget" -q --db "$db" "$@" > "$room/out" 2> "$room/err" & pid=$!
    kib=0
    while now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status" 2> /dev/null) && [ -n "$now" ]; do kib=$now; sleep 0.05; done
    wait $pid || { echo "bar-million: the sweep failed" >&2; cat "$room/err" >&2; exit 1; }
    judge "$name, peak memory" $((kib / 1024)) MB 190
}
peak "sweep of 3,000 trials" 3000
peak "sweep with --reuse" 3000 --reuse
"$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7,8x14x14 --budget 20000 --seed 2 -q --db "$db" > "$room/out" 2>&1 & pid=$!
sleep 3; kill -9 $pid; wait $pid 2> /dev/null || true
peak "sweep with --resume" 20000 --seed 2 --resume
exit $failed
