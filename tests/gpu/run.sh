#!/bin/sh
# run.sh COMMIT OUT [STEP[:SLICE]..]: the GPU judges, step by step, on a machine with an NVIDIA GPU that may lack compilers,
# headers and git: everything it needs lies beside it (make gpu-bundle). README.md says what each step judges and how long it
# takes; LIST=1 prints steps, slices and limits.
#
# A slice prints its figures with bar, interval and verdict, leaves them in OUT, and is cut off at its limit: then its step is
# short. A slice that came to its end in OUT at this commit is not run again, and steps of the kind `on` go on where they
# stopped, so the steps can be spread over several calls and machines: RESUME=results.tgz begins with what an earlier call
# brought back, FRESH=1 forgets it for the steps that run. ARCHIVE (OUT/results.tgz) holds all that OUT knows, refreshed every
# 20 s; `make gpu-merge RESULTS=results.tgz` puts it into RESULTS.md where the sources are.
#
# IN_ALL=n: everything ends after so many seconds, and what it did not come to is left. LIMIT=n: no slice longer than that.
# SECONDS=n: so long for each step of the kind `on` (bash: SECONDS=n in front of the command). SLICE=i/n: cells of `vendor`.
# KERNELS="fc.gemm": only these in `verify` and `sanitize`; TRIALS=2: less of each in `verify`. QUICK=1 rehearses; DRY=1 does
# so without a GPU.
# Exit 1 when a step is short, 3 without a GPU.
set -u
# shellcheck disable=SC3028
asked=${SECONDS:-}
[ "${asked:-0}" -gt 5 ] 2> /dev/null || asked= # a bash that runs as sh counts its own seconds there
here=$(cd "$(dirname "$0")" && pwd)
tests=$here; [ -d "$here/gpu" ] || tests=$(dirname "$here")
commit=${1:-}; out=${2:-}
[ -n "$out" ] || [ -n "${LIST:-}" ] || { echo "usage: run.sh COMMIT OUT [STEP[:SLICE]..]" >&2; exit 2; }
if [ $# -gt 2 ]; then shift 2; wanted=$*; else wanted=; fi
: "${NNTUNE:=$here/nntune}" "${JUDGES:=$here/gpu-judge}" "${JUDGE:=$here/counters-judge}" "${PROMISE:=$here/promise}"
: "${PYTHON:=python3}" "${JUDGE_DEVICE:=cuda}"
quick=${QUICK:+--quick} started=$(date +%s); end=$((started + ${IN_ALL:-1000000}))
export NNTUNE JUDGES JUDGE PROMISE JUDGE_DEVICE PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1

# step, slice (- the whole step, on: goes on where it stopped), limit in seconds; in order of worth
steps='
t1        -         60
starts    -         60
live      dram     150
live      gemm     150
live      sweep     40
profile   b8       150
profile   b128     180
profile   kill      80
halves    -        240
advice    -         60
ncu       -        150
slope     -        200
chosen    -         90
spec      -         90
kt        -        260
accuracy  dram      60
accuracy  gemm      60
accuracy  conv      60
captures  resnet50  80
captures  sweep     90
promise   fp32      50
promise   tf32      50
promise   bf16      50
planted   -        300
heldout   on       260
verify    on       330
memory    on       270
attention on       120
fused     on       460
sparse    on       380
vendor    on       320
sanitize  on       260
attached  screen   120
attached  pairs    240
check     -        560
'
[ -z "${LIST:-}" ] || { printf '%s' "$steps"; exit 0; }
judge="$PYTHON $tests/gpu_kernels/judge.py" bench=$tests/bench top=$tests/gpu_top

quickly() { if [ -n "$quick" ]; then echo "$1"; else echo "$2"; fi; }

# Parts of gpu_kernels/judge.py beside each other, each with a folder and locks of its own; none of them judges a time.
side_by_side() { # PART LIMIT SECONDS [TRIALS]
    pids="" worst=0 count=${ASIDE:-4}
    for i in $(seq 0 $((count - 1))); do
        folder=$out/$1$i
        mkdir -p "$folder/locks" && chmod 700 "$folder/locks"
        # shellcheck disable=SC2086
        NNTUNE_LOCK_DIR=$folder/locks timeout -k 2 "$2" $judge "$1" "$folder" "$3" "$i/$count" ${4:-} > "$folder/text" 2>&1 &
        pids="$pids $!"
    done
    for pid in $pids; do wait "$pid" || { code=$?; [ $code -le $worst ] || worst=$code; }; done
    for i in $(seq 0 $((count - 1))); do cat "$out/$1$i/text"; done
    return $worst
}

# shellcheck disable=SC2046,SC2086  # words that are one, none or several
run() { # STEP SLICE LIMIT SECONDS
    t="timeout -k 2 $3"
    case $1.$2 in
    t1.-) $t sh "$tests/gpu_counters/check.sh" "$out/counters" worker zeroing ;;
    starts.- | advice.- | ncu.- | slope.-) $t sh "$tests/gpu_counters/check.sh" "$out/counters" "$1" ;;
    halves.-) $t "$JUDGES" halves --nntune "$NNTUNE" --out "$out" $quick ;;
    live.sweep) $t "$PYTHON" "$tests/gpu/judge_live.py" "$NNTUNE" --loads "" --sweep ;;
    live.*) $t "$PYTHON" "$tests/gpu/judge_live.py" "$NNTUNE" --loads "$2" ${QUICK:+--seconds 2 --rest 2} ;;
    profile.kill) $t "$PYTHON" "$tests/gpu/judge_profile.py" "$NNTUNE" --parts kill --warm "$out/profile.warm" ;;
    profile.b*) $t "$PYTHON" "$tests/gpu/judge_profile.py" "$NNTUNE" --parts wall,torch --batches "${2#b}" \
        --warm "$out/profile.warm" --repeats "${REPEATS:-5}" ;;
    chosen.-) $t "$PYTHON" "$tests/gpu/judge_profile.py" "$NNTUNE" --parts chosen --warm "$out/profile.warm" ;;
    spec.-) $t sh "$tests/gpu_spec/check.sh" "$out/spec" ;;
    kt.-) $t sh "$tests/gpu_kt/check.sh" "${KT:-$here/kt}" "$out/kt" ;;
    accuracy.*) $t "$PYTHON" "$top/accuracy.py" "$NNTUNE" --loads "$2" --seconds 10 ;;
    captures.*) $t "$PYTHON" "$top/captures.py" "$NNTUNE" "$(one_device)" "$out/captures" --beside "$2" \
        --seconds "$(quickly 2 "$([ "$2" = sweep ] && echo 6 || echo 15)")" ;;
    promise.*) $t sh "$tests/gpu_table/check.sh" "$NNTUNE" "$PROMISE" "promise-$2" ;;
    planted.-) $t sh "$tests/gpu_table/check.sh" "$NNTUNE" "$PROMISE" planted ;;
    heldout.on) mkdir -p "$out/heldout"; FOLDER=$out/heldout $t sh "$tests/gpu_table/check.sh" "$NNTUNE" "$PROMISE" heldout ;;
    verify.on) side_by_side verify "$3" "$4" "${TRIALS:-6}" ;;
    sanitize.on) side_by_side sanitize "$3" "$4" ;;
    memory.on) $t "$PYTHON" "$tests/gpu_kernels/memory.py" cells "$out/memory" "$4" ;;
    attention.on) $t "$PYTHON" "$tests/gpu_kernels/memory.py" attention "$out/memory" "$4" ;;
    vendor.on) $t $judge bench "$out/vendor" "${SLICE:-0/1}" "$4"; code=$?
        [ $code -ge 2 ] || { $judge report "$out/vendor"; code=$?; }; return $code ;;
    fused.on | sparse.on) $t $judge "$1" "$out/$1" "$4" ;;
    attached.*) $t "$PYTHON" "$bench/bar_top_attached.py" "$NNTUNE" --device "$(one_device)" --shape c=64,k=64,h=56,w=56 \
        --only "$(echo "$2" | sed s/screen/cpu/)" $(quickly '--trials 10 --pairs 2 --seconds 4' '--trials 120 --seconds 30') ;;
    check.-) SECONDS_LEFT=$(($3 - 10)) $t sh "$tests/gpu/check.sh" "$commit" "$out" ;;
    *) echo "run.sh: no command for $1:$2" >&2; return 2 ;;
    esac
}
one_device() { case $JUDGE_DEVICE in cuda) echo cuda:0 ;; *) echo "$JUDGE_DEVICE" ;; esac; }

# What OUT knows as one file; FAST while a step runs.
pack() { "$PYTHON" "$tests/gpu/keep.py" "$out" "${ARCHIVE:-$out/results.tgz}" "$@"; }

# A line that says when the slice was judged; what is not whole is said to be so.
finish() { # STEP SLICE CODE LOG
    figures=$out/parts/$1.$2.jsonl note=
    [ "$1" != halves ] || cp "$out/halves.jsonl" "$figures" 2> /dev/null
    if [ "$3" -eq 124 ] || [ "$3" -eq 137 ]; then
        note=', cut off'
        [ -n "$early" ] || echo "{\"bar\":\"$1\",\"figure\":\"$1:$2 within its time\",\"unit\":\"\",\"value\":null,\"must\":\"must end\",\"verdict\":\"short\"}" >> "$figures"
    fi
    # A step that ended without a figure has failed, whatever it said.
    [ -s "$figures" ] || { echo "$1: no figures"; return 1; }
    if [ "$2" = on ] && { [ -n "${KERNELS:-}" ] || grep -q 'left for another call' "$4"; }; then note="$note, not whole"; fi
    before=$(sed 's/.*parts since //;s/[ ,].*//' "$out/parts/$1.$2.done" 2> /dev/null)
    [ "$2" != on ] || [ -z "$before" ] || [ "$before" = "$commit$quick" ] || note="$note, parts since $before"
    echo "$commit$quick $(date -u +'%F %R')$note" > "$out/parts/$1.$2.done"
    [ "$3" -eq 0 ] && ! grep -q '"verdict": *"short"' "$figures"
}

# Whether it came to its end here at this commit: then it is not run again.
judged() { # STEP SLICE
    [ "$2" != on ] && [ -z "${FRESH:-}" ] && ! grep -q 'cut off' "$out/parts/$1.$2.done" 2> /dev/null &&
        [ "$(cut -d ' ' -f 1 "$out/parts/$1.$2.done" 2> /dev/null)" = "$commit$quick" ]
}

one() { # STEP SLICE LIMIT
    judged "$1" "$2" && { echo "== $1:$2: judged before at $commit"; ! grep -q '"verdict": *"short"' "$out/parts/$1.$2.jsonl"; return; }
    [ -z "${FRESH:-}" ] || rm -rf "$out/${1:?}" "$out/$1"[0-9] "$out/parts/$1.$2.done"
    limit=$3 for=$((limit - 60)) at=$(date +%s) log=$out/$1-$2.log
    if [ "$2" = on ] && [ -n "$asked" ]; then for=$asked limit=$((asked + 60)); fi
    [ "$limit" -lt "${LIMIT:-$limit}" ] || limit=${LIMIT:-$limit}
    left=$((end - at)) early=
    if [ $left -lt 20 ]; then echo "== $1:$2: left, no time"; return 1; fi
    if [ $left -lt "$limit" ]; then early=1 limit=$left; fi
    [ "$for" -lt $((limit - 15)) ] || for=$((limit - 15))
    rm -f "$out/parts/$1.$2.jsonl"
    JUDGE_FIGURES=$out/parts/$1.$2.jsonl; export JUDGE_FIGURES
    echo "== $1:$2 (at most $limit s)"
    # Into a file and shown from there: a process that stays behind holds nothing up.
    : > "$log"
    tail -n +1 -s 0.1 -f "$log" 2> /dev/null & shown=$!
    (while sleep "${EVERY:-20}"; do pack --fast; done) > /dev/null 2>&1 & packed=$!
    run "$1" "$2" "$limit" "$for" > "$log" 2>&1; ended=$?
    case $1 in check | starts) ;; *) finish "$1" "$2" "$ended" "$log" >> "$log" || [ $ended -ne 0 ] || ended=1 ;; esac
    sleep 0.2
    kill $shown $packed 2> /dev/null; wait $shown $packed 2> /dev/null
    pack
    echo "== $1:$2: exit $ended after $(($(date +%s) - at)) s"
    return $ended
}

mkdir -p "$out/counters" "$out/parts" && out=$(cd "$out" && pwd)
# A cut call must not leave those that show and pack behind.
trap 'kill $shown $packed 2> /dev/null; pack --fast; exit 130' INT TERM
shown="" packed=""
if [ -n "${RESUME:-}" ]; then tar xzkf "$RESUME" -C "$out" 2> /dev/null || [ -s "$out/parts/table" ] || { echo "run.sh: RESUME=$RESUME is no archive of run.sh" >&2; exit 2; }; fi
printf '%s' "$steps" | awk 'NF { print $1, $2 }' > "$out/parts/table"
"$NNTUNE" devices -q | grep -q '^cuda:' || { echo "run.sh: there is no usable GPU here" >&2; [ -n "${DRY:-}" ] || exit 3; }
for name in ${wanted:-$(printf '%s' "$steps" | awk '{ print $1 }' | uniq)}; do
    rows=$(printf '%s' "$steps" | awk -v want="$name" 'NF && ($1 == want || $1 ":" $2 == want) { print $1 ":" $2 ":" $3 }')
    [ -n "$rows" ] || { echo "run.sh: there is no step '$name'; LIST=1 prints them" >&2; exit 2; }
    all="${all:-} $rows"
done
short=
for row in $all; do
    step=${row%%:*} limit=${row##*:} slice=${row#*:}; slice=${slice%:*}
    one "$step" "$slice" "$limit" || short="$short $step:$slice"
done
echo "== $(($(date +%s) - started)) s in all"
[ -z "$short" ] || { echo "short:$short"; exit 1; }
echo "all of it holds"
