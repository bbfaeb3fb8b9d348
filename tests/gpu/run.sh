#!/bin/sh
# run.sh COMMIT OUT [STEP..]: the GPU judges, step by step, on a machine with an NVIDIA GPU that may lack compilers, headers
# and git: everything it needs lies beside it (make gpu-bundle). README.md says what each step judges and how long it takes.
#
# Each step prints its figures with bar, interval and verdict, leaves them in OUT, and is cut off at its limit: a step that
# was cut off is short. OUT/results.tgz holds all that OUT knows by then; `make gpu-merge RESULTS=results.tgz` puts it into
# RESULTS.md where the sources are. LIST=1 only prints the steps. Exit 1 when a step is short, 3 without a GPU.
set -u
here=$(cd "$(dirname "$0")" && pwd)
commit=${1:-}; out=${2:-}
[ -n "$out" ] || [ -n "${LIST:-}" ] || { echo "usage: run.sh COMMIT OUT [STEP..]" >&2; exit 2; }
if [ $# -gt 2 ]; then shift 2; wanted=$*; else wanted=; fi
: "${NNTUNE:=$here/nntune}" "${JUDGES:=$here/gpu-judge}" "${JUDGE:=$here/counters-judge}" "${PYTHON:=python3}"
quick=${QUICK:+--quick}
export NNTUNE JUDGES JUDGE

# step, limit in seconds, bar whose figures it makes; in order of worth
steps='
t1        60 t1
halves   240 halves
advice    60 advice
ncu      150 ncu
slope    200 slope
live     280 live
profile  280 profile
chosen    90 chosen
spec      90 spec
kt       400 kt
check    560 -
'

# shellcheck disable=SC2086  # quick is one word or none
run() { # STEP LIMIT BAR
    rm -f "$out/$3.jsonl" "$out/$3.done"
    JUDGE_FIGURES=$out/$3.jsonl; export JUDGE_FIGURES
    parts="timeout -k 2 $2"
    case $1 in
    t1) $parts sh "$here/check-counters.sh" "$out/counters" worker zeroing ;;
    advice | ncu | slope) $parts sh "$here/check-counters.sh" "$out/counters" "$1" ;;
    halves) $parts "$JUDGES" halves --nntune "$NNTUNE" --out "$out" $quick ;;
    live) $parts "$PYTHON" "$here/judge_live.py" "$NNTUNE" ${QUICK:+--seconds 4 --rest 2} ;;
    profile) $parts "$PYTHON" "$here/judge_profile.py" "$NNTUNE" --batches 8,128 --repeats "${REPEATS:-5}" ;;
    chosen) $parts "$PYTHON" "$here/judge_profile.py" "$NNTUNE" --parts chosen ;;
    spec) $parts sh "$here/gpu_spec/check.sh" "$out/spec" ;;
    kt) $parts sh "$here/gpu_kt/check.sh" "$here/kt" "$out/kt" ;;
    check) SECONDS_LEFT=$(($2 - 10)) sh "$here/check.sh" "$commit" "$out" ;;
    esac
}

finish() { # STEP BAR CODE
    [ "$3" -ne 124 ] && [ "$3" -ne 137 ] ||
        echo "{\"bar\":\"$2\",\"figure\":\"step $1 within its time\",\"unit\":\"\",\"value\":null,\"must\":\"must end\",\"verdict\":\"short\"}" >> "$out/$2.jsonl"
    # A step that ended without a figure has failed, whatever it said.
    [ -s "$out/$2.jsonl" ] || { echo "$1: no figures"; return 1; }
    echo "$commit$quick $(date -u +'%F %R')" > "$out/$2.done"
    [ "$3" -eq 0 ] && ! grep -q '"verdict": *"short"' "$out/$2.jsonl"
}

[ -z "${LIST:-}" ] || { printf '%s' "$steps"; exit 0; }
mkdir -p "$out/counters" && out=$(cd "$out" && pwd)
"$NNTUNE" devices -q | grep -q '^cuda:' || { echo "run.sh: there is no usable GPU here" >&2; [ -n "${DRY:-}" ] || exit 3; }
short=
for step in ${wanted:-$(printf '%s' "$steps" | awk 'NF { print $1 }')}; do
    row=$(printf '%s' "$steps" | awk -v step="$step" '$1 == step { print $2, $3 }')
    [ -n "$row" ] || { echo "run.sh: there is no step '$step'; LIST=1 prints them" >&2; exit 2; }
    limit=${row% *} bar=${row#* }
    begin=$(date +%s)
    echo "== $step (at most $limit s)"
    run "$step" "$limit" "$bar"; code=$?
    [ "$bar" = - ] || finish "$step" "$bar" "$code" || code=1
    [ "$code" -eq 0 ] || short="$short $step"
    echo "== $step: exit $code after $(($(date +%s) - begin)) s"
    (cd "$out" && tar czf results.tmp ./*.jsonl ./*.md ./*.done ./*.db 2> /dev/null; mv results.tmp results.tgz)
done
[ -z "$short" ] || { echo "short:$short"; exit 1; }
echo "all of it holds"
