#!/bin/sh
# check.sh COMMIT OUT [BAR..]: runs the GPU check bar by bar and writes OUT/RESULTS.md, the one writer of these results.
#
# NNTUNE and JUDGES name the two programs, so that it also runs from prebuilt ones where nothing can be built. The results
# are written after each bar. A bar that was judged in OUT for this commit is not run again, so that a check that was cut
# short goes on; KEEP=1 keeps bars of other commits too, and the results say which each is of; a new OUT, or FRESH=1,
# begins anew. SECONDS_LEFT=n stops after that time. QUICK=1 is a rehearsal. Exit 1 when a bar is short or was not
# run, 3 without a GPU.
set -u
commit=${1:-} out=${2:?usage: check.sh COMMIT OUT [BAR..]}
[ $# -le 2 ] && shift $# || shift 2
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "$commit" ]; then
    commit=$(git -C "$here" rev-parse HEAD 2> /dev/null) || { echo "check-gpu: no git here: give COMMIT=hash" >&2; exit 2; }
    [ -z "$(git -C "$here" status --porcelain --untracked-files=no -- . ../.. ':!RESULTS.md' 2> /dev/null)" ] ||
        echo "check-gpu: the tree differs from $commit; commit first for results that count" >&2
fi
[ -z "${FRESH:-}" ] || rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
quick=${QUICK:+--quick}
end=$(($(date +%s) + ${SECONDS_LEFT:-100000}))
short=0

# shellcheck disable=SC2086  # quick is one word or none
results() {
    (cd "$out" && sha256sum ./*.db 2> /dev/null | sed 's|\./||') > "$out/digests"
    "$JUDGES" report --nntune "$NNTUNE" --out "$out" --commit "$commit" --explanations "$here/explanations.txt" $quick
}

# shellcheck disable=SC2086
judge() {
    left=$((end - $(date +%s)))
    [ "$left" -gt 10 ] || { echo "$1: no time is left"; return 1; }
    [ "$left" -lt "${BAR_SECONDS:-300}" ] || left=${BAR_SECONDS:-300}
    # In the foreground and killed with its children, so that nothing holds the output open.
    timeout -k 2 "$left" "$JUDGES" "$1" --nntune "$NNTUNE" --out "$out" $quick
    code=$?
    [ "$code" -le 1 ] || { echo "$1: the judge ended with code $code; see $out/log"; return 1; }
    echo "$commit$quick $(date -u +'%F %R')" > "$out/$1.done"
    return $code
}

for bar in ${*:-rate speed time ties faults odd occupancy}; do
    before=$(cut -d ' ' -f 1 "$out/$bar.done" 2> /dev/null)
    if [ "$before" = "$commit$quick" ] || { [ -n "${KEEP:-}" ] && [ -n "$before" ]; }; then
        echo "$bar: judged before, at $before"
        ! grep -q '"verdict":"short"' "$out/$bar.jsonl" || short=1
        continue
    fi
    rm -f "$out/$bar.done"
    [ -n "${usable:-}" ] || "$NNTUNE" sweep conv3x3 --device cuda --dry-run > /dev/null || exit 3
    usable=1
    judge "$bar" || short=1
    results > "$out/verdicts"
done
results || exit 1
[ "$short" -eq 0 ]
