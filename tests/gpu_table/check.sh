#!/bin/sh
# check.sh NNTUNE PROMISE [BAR..]: tables and comparison on this machine's GPU: promise, heldout, planted; all of them by default.
# Each says what it takes before it begins. Exit 1 when one is short.
set -u
nntune=$1; promise=$2; shift 2
here=$(cd "$(dirname "$0")" && pwd); failed=
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
promised() { # precision c k h w batch kernel: kernels that use tensor maps have no launch in a table yet
    "$nntune" sweep conv3x3 --device cuda --shape "c=$2,k=$3,h=$4,w=$5" --batch "$6" --precision "$1" --kernel "$7" --budget 40s --db "$folder/p.db" -q --wait &&
        "$nntune" table build conv3x3 --db "$folder/p.db" --format bundle -o "$folder/p.ntb" > /dev/null &&
        "$promise" "$folder/p.ntb" "$2" "$3" "$4" "$5" "$6" --precision "$1" --seed $$
}
[ $# -gt 0 ] || set -- promise heldout planted
for one in "$@"; do
    echo "== $one"
    case $one in
    promise) echo "about 110 s"
        promised fp32 64 64 56 56 32 direct || failed="$failed promise-fp32"
        promised tf32 256 256 14 14 32 igemm || failed="$failed promise-tf32" ;;
    heldout) python3 "$here/../bench/bar_heldout.py" "$nntune" --device cuda --shape 128x28x28 --precision fp16,bf16 \
        --batches 1,2,4,8,16,32,64,128,256 --budget 10 || failed="$failed heldout" ;;
    planted) python3 "$here/planted.py" "$nntune" --device cuda || failed="$failed planted" ;;
    *) echo "check.sh: no bar '$one': promise, heldout, planted" >&2; exit 2 ;;
    esac
done
[ -z "$failed" ] || { echo "short:$failed"; exit 1; }
