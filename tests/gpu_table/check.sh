#!/bin/sh
# check.sh NNTUNE PROMISE [BAR..]: tables and comparison on this machine's GPU: promise (promise-fp32, promise-tf32, promise-bf16
# for a third of it), heldout, planted; all of them by default. Each says what it takes before it begins. JUDGE_DEVICE is another
# device for a rehearsal, with QUICK=1 for a short one; FOLDER keeps what heldout measured. Exit 1 when one is short.
set -u
nntune=$1; promise=$2; shift 2
here=$(cd "$(dirname "$0")" && pwd); failed=
device=${JUDGE_DEVICE:-cuda}
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
promised() { # precision c k h w batch: the winner, whatever its kernel
    echo "about 15 s"
    "$nntune" sweep conv3x3 --device "$device" --shape "c=$2,k=$3,h=$4,w=$5" --batch "$6" --precision "$1" --budget "${seconds}s" \
        --db "$folder/p.db" -q --wait &&
        "$nntune" table build conv3x3 --db "$folder/p.db" --format bundle -o "$folder/p.ntb" &&
        "$promise" "$folder/p.ntb" "$2" "$3" "$4" "$5" "$6" --precision "$1" --seed $$
    code=$?
    rm -f "$folder"/p.*
    return $code
}
quick() { [ -n "${QUICK:-}" ]; }
seconds=10; ! quick || seconds=4
# On a GPU the winners read by tensor maps where it has a copy engine. A rehearsal takes what every device has.
fp32() {
    if [ "$device" = cuda ]; then promised fp32 64 64 56 56 32; else promised fp32 64 64 28 28 4; fi ||
        failed="$failed promise-fp32"
}
tf32() {
    if [ "$device" = cuda ]; then promised tf32 256 256 14 14 32; else promised fp32 64 64 14 14 8; fi ||
        failed="$failed promise-tf32"
}
bf16() {
    if [ "$device" = cuda ]; then promised bf16 128 128 28 28 32; else promised bf16 64 64 28 28 4; fi ||
        failed="$failed promise-bf16"
}
heldout() {
    set -- --device "$device"
    if quick; then set -- "$@" --shape 64x14x14 --precision fp32 --batches 1,2,4 --budget 2 --rounds 2
    else set -- "$@" --shape 128x28x28 --precision fp16,bf16 --batches 1,2,4,8,16,32,64,128,256 --budget 1.8 --rounds 3 --seconds 120; fi
    python3 "$here/../bench/bar_heldout.py" "$nntune" "$@" ${FOLDER:+--folder "$FOLDER"} || failed="$failed heldout"
}
planted() { python3 "$here/planted.py" "$nntune" --device "$device" ${QUICK:+--problems 20} || failed="$failed planted"; }
[ $# -gt 0 ] || set -- promise heldout planted
for one in "$@"; do
    echo "== $one"
    case $one in
    promise) fp32; tf32; bf16 ;;
    promise-fp32) fp32 ;;
    promise-tf32) tf32 ;;
    promise-bf16) bf16 ;;
    heldout | planted) "$one" ;;
    *) echo "check.sh: no bar '$one': promise, promise-fp32, promise-tf32, promise-bf16, heldout, planted" >&2; exit 2 ;;
    esac
done
[ -z "$failed" ] || { echo "short:$failed"; exit 1; }
