#!/bin/sh
# check.sh: the parts named in PARTS (default all); NNTUNE is the program, OUT where captures are kept. All run, also behind
# one that is short.
set -u
: "${NNTUNE:?NNTUNE names the program under test}"
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-captures}
failed=
for part in ${PARTS:-accuracy captures attached}; do
    echo "$part:"
    case $part in
    accuracy) python3 "$here/accuracy.py" "$NNTUNE" || failed="$failed accuracy" ;;
    captures)
        python3 "$here/captures.py" "$NNTUNE" cuda:0 "$out" --beside resnet50 || failed="$failed resnet50"
        python3 "$here/captures.py" "$NNTUNE" cuda:0 "$out" --beside sweep || failed="$failed sweep" ;;
    attached)
        python3 "$here/../bench/bar_top_attached.py" "$NNTUNE" --device cuda:0 --shape c=64,k=64,h=56,w=56 --trials 120 \
            --seconds 30 || failed="$failed attached" ;;
    *) echo "no part $part: accuracy, captures, attached" >&2; exit 2 ;;
    esac
done
[ -z "$failed" ] || { echo "short:$failed"; exit 1; }
