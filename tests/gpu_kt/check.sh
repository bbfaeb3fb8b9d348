#!/bin/sh
# check.sh FOLDER OUT: Kernel Tuner's convolution example, 60 configurations, tuned by Kernel Tuner and by nntune on this GPU,
# back to back; both winners measured again by both. Raw logs and verdicts on stdout; exit 1 when a bar is short, 3 without a GPU.
# NNTUNE is the program; FOLDER has convolution.cu and the wheels that prepare.sh put there.
set -eu
folder=${1:?usage: check.sh FOLDER OUT} out=${2:?usage: check.sh FOLDER OUT}
here=$(cd "$(dirname "$0")" && pwd)
folder=$(cd "$folder" && pwd); rm -rf "$out"; mkdir -p "$out"; out=$(cd "$out" && pwd)
cp "$here/spec.json" "$folder/convolution.cu" "$out/"
if ! python3 -c 'import kernel_tuner' 2> /dev/null; then
    python3 -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --target "$out/site" "$folder"/wheels/*.whl
    export PYTHONPATH="$out/site"
fi
export PYTHONUNBUFFERED=1 PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}"
"$NNTUNE" sweep --spec "$out/spec.json" --device cuda --dry-run > "$out/dry" 2>&1 || { cat "$out/dry" >&2; exit 3; }
# Nothing that was compiled before helps either of them.
export CUDA_CACHE_PATH="$out/cache/driver" CUPY_CACHE_DIR="$out/cache/cupy" XDG_CACHE_HOME="$out/cache/nntune"

ours() { # NAME OPTIONS..
    name=$1; shift; begin=$(date +%s.%N)
    "$NNTUNE" sweep --spec "$out/spec.json" --device cuda --strategy exhaustive --profile none -q --db "$out/$name.db" "$@" > "$out/$name.out" 2> "$out/$name.err" ||
        { cat "$out/$name.err" >&2; exit 1; }
    python3 "$here/ours.py" "$NNTUNE" "$out/$name.db" "$(echo "$(date +%s.%N) - $begin" | python3 -c 'print(eval(input()))')" "$out/$name.json"
}
theirs() { # NAME ITERATIONS [CODE..]
    name=$1; shift; python3 "$here/kt.py" "$folder" "$out/$name.json" "$@"
}

echo "== Kernel Tuner"; theirs kt 7
echo "== nntune"; ours ours --budget 60
codes=$(python3 -c "import json; k = json.load(open('$out/kt.json')); o = json.load(open('$out/ours.json'))
print(min((r for r in k['rows'] if r['ms'] is not None), key=lambda r: r['ms'])['code'], o['winner'])")
code=$(python3 -c 'import configurations; print(configurations.CODE)')
echo "== both winners again: $codes"
# shellcheck disable=SC2086
theirs kt_again 35 $codes
ours ours_again --budget 2 --where "($code) in [$(echo "$codes" | tr ' ' ',')]"
echo "== verdicts"
python3 "$here/judge.py" "$out"
