#!/bin/sh
# bar_cpu_vendor.sh: our convolutions on the cpu against oneDNN's: swept together, measured in the same interleaved final
# rounds on the same inputs. The bar: the geometric mean of its times over ours is 0.8 or more, at batch 1 and 8 together.
#
#   bar_cpu_vendor.sh [seconds a problem, default 20]     NNTUNE names the program; NNTUNE_CPU_THREADS as ever
set -eu
: "${NNTUNE:?names the program under test}"
seconds=${1:-20}
bar=0.8
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
db=$folder/bar.db

sweep() { # layer, shapes, how many problems they make
    "$NNTUNE" sweep "$1" --device cpu --wait --precision fp32 --batch 1,8 --shape "$2" --vendor also \
        --budget "$((seconds * $3))s" --db "$db" --quiet > "$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
}
sweep conv3x3 64x56x56,128x28x28,256x14x14,512x7x7,resnet-128s2 10
sweep conv1x1 256-64x56x56,64-256x56x56,1024-256x14x14 6
sweep conv7x7 resnet 2
sweep dwconv3x3 256x28x28,mobile-96s2 4

"$NNTUNE" best --vs-vendor --db "$db"
"$NNTUNE" best --vs-vendor --db "$db" --json > "$folder/json"
value() { sed 's/.*"'"$1"'":\([0-9.e+-]*\).*/\1/' "$folder/json"; }
awk -v mean="$(value geometric_mean_cold)" -v spread="$(value spread_cold)" -v bar="$bar" 'BEGIN {
    holds = mean >= bar
    printf "cold, geometric mean %.3f [%.3f, %.3f], bar %.2f: %s\n", mean, mean / spread, mean * spread, bar,
        holds ? "holds" : "does not hold"
    exit !holds
}'
