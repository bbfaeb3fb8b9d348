#!/bin/sh
# check.sh OUT [NAME..]: specs of a user's own CUDA kernels on a GPU, each with the outcomes that it must have. About a minute.
# NNTUNE is the program; the folder of this script holds the specs, and in t1/ Kernel Tuner's own T1 file where prepare.sh
# has put it. A verdict a line; exit 1 when one is short, 3 without a GPU. A C compiler is needed for one of them.
set -u
out=${1:?usage: check.sh OUT [NAME..]}; shift
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$out"; mkdir -p "$out"; out=$(cd "$out" && pwd)
export XDG_CACHE_HOME="$out/cache"
short=0 begin=$(date +%s)

rows() { "$NNTUNE" query --csv --db "$out/$1.db" "$2" | tail -n +2 | tr -d '\r"'; }
verdict() { # NAME WHAT FIGURE WANTED
    if [ "$3" = "$4" ]; then echo "$1: $2: $3 (wanted $4): pass"; else echo "$1: $2: $3 (wanted $4): SHORT"; wrong=$((wrong + 1)); fi
}
# keep FIGURE UNIT VALUE MOST: printed, and kept where all judges keep theirs
keep() {
    says=holds; [ "$3" -le "$4" ] || { says=short; short=1; }
    echo "$1: $3 $2 (bar <= $4): $says"
    [ -z "${JUDGE_FIGURES:-}" ] || printf '{"bar":"spec","figure":"%s","unit":"%s","value":%s,"lo":null,"hi":null,"must":"<= %s","verdict":"%s"}\n' \
        "$1" "$2" "$3" "$4" "$says" >> "$JUDGE_FIGURES"
}
# sweep NAME EXIT OPTIONS..: every configuration of NAME's spec, or those that the options leave
sweep() {
    name=$1 wanted=$2; shift 2; code=0
    timeout -k 2 60 "$NNTUNE" sweep --spec "$here/$name/spec.json" --device cuda --strategy exhaustive --ci 2 -q \
        --db "$out/$name.db" "$@" > "$out/$name.out" 2> "$out/$name.err" || code=$?
    verdict "$name" "exit code" "$code" "$wanted"
    [ "$code" = "$wanted" ] || tail -n 5 "$out/$name.err"
}
outcomes() { rows "$1" "select group_concat(outcome, ' ') from (select outcome from trials order by json_extract(params, '\$.$2'))"; }
# says NAME PARAMETER VALUE PATTERN: the reason of that configuration
says() {
    verdict "$1" "reason where $2 = $3 is like '$4'" \
        "$(rows "$1" "select count(*) from trials where json_extract(params, '\$.$2') = $3 and reason like '$4'")" 1
}
# right NAME: no trial but right ones, and the winner within the tolerance at a speed that is known
right() {
    verdict "$1" "trials that are neither ok nor too slow" "$(rows "$1" "select count(*) from trials where outcome not in ('ok', 'abandoned')")" 0
    verdict "$1" "winners within the tolerance" "$(rows "$1" "select count(*) from best where error_impl <= 1 and time_ns > 0")" 1
    rows "$1" "select printf('$1: best %.2f us of %d trials: %s', time_ns / 1e3, (select count(*) from trials), params) from best"
}

check_stencil() { sweep stencil 0 --budget 48; right stencil; verdict stencil trials "$(rows stencil 'select count(*) from trials')" 48; }
check_chain() {
    command -v cc > /dev/null || { echo "chain: not judged: its reference is in C and there is no cc"; return; }
    sweep chain 0 --budget 9; right chain; verdict chain trials "$(rows chain 'select count(*) from trials')" 9
    verdict chain "kernel's name" "$(rows chain 'select distinct kernel from trials')" "row_sums+divide"
}
check_types() {
    sweep types 0 --budget 14
    w=wrong_result; verdict types outcomes "$(outcomes types off)" "$w $w $w $w $w $w $w $w $w $w $w $w $w ok"
    n=0
    for type in u8 i8 i16 u16 i32 u32 i64 u64 f16 bf16 f8e4m3 f32 f64; do
        says types off $n "$type, input set 1: 1 of 10007 elements %element 7:%"; n=$((n + 1))
    done
}
check_guard() {
    w=wrong_result
    sweep guard 0 --budget 5
    verdict guard outcomes "$(outcomes guard where)" "ok $w $w $w $w"
    says guard where 1 'writes outside the buffer y: 0 bytes before it, 4 behind it'
    says guard where 2 'writes outside the buffer y: 4 bytes before it, 0 behind it'
    says guard where 3 'writes outside the buffer x: 0 bytes before it, 4 behind it'
    says guard where 4 'y, input set 1: 1 of 65536 elements %'
}
check_drift() { sweep drift 0 --budget 3 --cache hot; right drift; }
check_wrong() {
    sweep wrong 0 --budget 10
    verdict wrong outcomes "$(outcomes wrong how)" "ok pruned pruned launch_failed crashed crashed compile_failed wrong_result compile_failed compile_failed"
    says wrong how 1 "grid: ''0 if how == 1 else n // 256'' is 0;%"
    says wrong how 6 '%wrong.cu(4): %error: %this configuration does not compile%'
    says wrong how 7 'y, input set 1: 65536 of 65536 elements %'
    says wrong how 9 '%argument y (buffer of f32) does not fit parameter 2 of kernel_%'
}
# Kernel Tuner's sample as it is published; the example's own filter, so that a minute is enough.
check_t1() {
    [ -e "$here/t1/spec.json" ] || { echo "t1: not judged: prepare.sh puts Kernel Tuner's T1 file there"; return; }
    sweep t1 0 --param filter_width=17 --param filter_height=17 --where 'block_size_x * block_size_y <= 1024' --budget 15s --strategy random
    # Some of its tiles ask for more static shared memory than there is: those must fail, and say so.
    verdict t1 "wrong or crashed trials" "$(rows t1 "select count(*) from trials where outcome in ('wrong_result', 'crashed', 'timed_out') or outcome = 'compile_failed' and reason not like '%bytes of static shared memory%'")" 0
    verdict t1 "at least 10 right trials" "$(rows t1 "select count(*) >= 10 from trials where outcome in ('ok', 'abandoned')")" 1
    rows t1 "select printf('t1: best %.1f us of %d trials: %s', time_ns / 1e3, (select count(*) from trials), params) from best"
}

"$NNTUNE" sweep --spec "$here/guard/spec.json" --device cuda --dry-run > "$out/dry" 2>&1 || { cat "$out/dry" >&2; exit 3; }
for name in ${*:-types guard drift wrong stencil chain t1}; do
    wrong=0
    "check_$name"
    keep "$name: what is not as it must be" "" $wrong 0
done
keep "all of it" s $(($(date +%s) - begin)) 60
[ "$short" -eq 0 ]
