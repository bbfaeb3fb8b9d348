#!/bin/sh
# bar_top.sh [FILE]: the bars of the screen on a run of 1,000,000 trials: time to the first frame, to the first screen of a
# sort or filter, and memory. Each figure is the median of 5 whole commands that draw one view, so it holds exec, opening and
# the reading of the view; the screen counts the rows of a filter after it has shown the first of them. NNTUNE is the program under test; FILE is made when missing and kept.
set -eu
: "${NNTUNE:?NNTUNE names the program under test}"
here=$(cd "$(dirname "$0")" && pwd)
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
db=${1:-$room/million.db}
export HOME="$room" NNTUNE_LOCK_DIR="$room/locks" NNTUNE_FAKE_STATE="$room/fake-state" XDG_RUNTIME_DIR="$room"
cd "$room"
[ -e "$db" ] || { sh "$here/../screen/make_db.sh" "$db"; sqlite3 -bail "$db" < "$here/top_million.sql"; }
failed=0
judge() { # name, bar in ms, options...
    name=$1 bar=$2; shift 2
    for _ in 1 2 3 4 5; do
        begin=$(date +%s%N)
        "$NNTUNE" top --db "$db" --dump csv "$@" > out || { cat out; exit 1; }
        echo $((($(date +%s%N) - begin) / 1000000))
    done | sort -n > times
    ms=$(sed -n 3p times); verdict=ok
    [ "$ms" -le "$bar" ] || { verdict=SHORT; failed=1; }
    printf '%-36s %5d ms  bar %d ms   %s\n' "$name" "$ms" "$bar" "$verdict"
}
judge "first frame" 100
for key in time outcome occ batch; do judge "trials by $key" 200 --view trials --sort $key; done
judge "trials by a parameter, then time" 1500 --view trials --sort tile_m,time
judge "trials by a counter" 1500 --view trials --sort achieved
judge "filter outcome=pruned" 200 --view trials --filter outcome=pruned
judge "filter tile_m=64 occ>20" 1500 --view trials --filter "tile_m=64 occ>20" --sort time
exit $failed
