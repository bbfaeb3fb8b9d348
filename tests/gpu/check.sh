#!/bin/sh
# check.sh COMMIT OUT [BAR..]: runs the GPU check bar by bar and writes OUT/RESULTS.md, the one writer of these results.
#
# NNTUNE and JUDGES name the two programs, so that it also runs from prebuilt ones where nothing can be built. A bar that
# was judged in OUT for this commit is not run again, so that a check that was cut short goes on; KEEP=1 keeps bars of
# other commits too, and the results say which each is of; a new OUT, or FRESH=1, begins anew. QUICK=1 is a rehearsal.
# Exit 1 when a bar is short.
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
short=0
for bar in ${*:-rate speed time ties faults odd occupancy}; do
    before=$(cut -d ' ' -f 1 "$out/$bar.done" 2> /dev/null)
    if [ "$before" = "$commit$quick" ] || { [ -n "${KEEP:-}" ] && [ -n "$before" ]; }; then
        echo "$bar: judged before, at $before"
        ! grep -q '"verdict":"short"' "$out/$bar.jsonl" || short=1
        continue
    fi
    # shellcheck disable=SC2086  # quick is one word or none
    timeout -k 5 "${BAR_SECONDS:-300}" "$JUDGES" "$bar" --nntune "$NNTUNE" --out "$out" $quick
    code=$?
    case $code in
        0 | 1) echo "$commit$quick $(date -u +'%F %R')" > "$out/$bar.done"; short=$((short + code)) ;;
        *) echo "$bar: the judge ended with code $code; see $out/log" >&2; short=$((short + 1)) ;;
    esac
done
(cd "$out" && sha256sum ./*.db | sed 's|\./||') > "$out/digests"
# shellcheck disable=SC2086
"$JUDGES" report --nntune "$NNTUNE" --out "$out" --commit "$commit" --explanations "$here/explanations.txt" $quick || exit 1
[ "$short" -eq 0 ]
