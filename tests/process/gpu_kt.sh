# The judge of the comparison with Kernel Tuner, without a GPU: its 60 configurations, and verdicts on made-up runs.
. "$TESTS/process_lib.sh"
cp "$TESTS/gpu_kt/spec.json" .
printf '__constant__ float d_filter[33 * 33];\n' > convolution.cu # the kernel itself is fetched where it is run
PYTHONPATH="$TESTS/gpu_kt" PYTHONDONTWRITEBYTECODE=1 python3 - << 'END' || fail "the list of configurations"
import itertools, json
import configurations as c
assert c.draw() == c.LISTED and len(set(c.LISTED)) == 60
assert all(c.code_of(c.row_of(code)) == code and c.legal(c.row_of(code)) for code in c.LISTED)
spec = json.load(open("spec.json"))
assert spec["constraints"][0]["expression"] == f"{c.CODE} in {c.LISTED}"
# The same space as a kernel in C, for the count.
spec.update(language="c", sources=["stub.c"], reference={"configuration": {}}, sizes={"w": 16, "h": 16}, name="stub",
            kernels=[{"entry": "stub", "grid": 1, "arguments": []}], compiler_options=[])
open("stub.c", "w").write("void stub(int64_t begin, int64_t end) {}\n")
json.dump(spec, open("stub.json", "w"))
row = lambda code, ms: {"code": code, "ms": ms, "lo_ms": ms * 0.99, "hi_ms": ms * 1.01}
samples = lambda code, ms: {"code": code, "ms": ms, "samples_ms": [ms * (1 + k / 1000) for k in range(20)]}
a, b = c.LISTED[:2]
run = lambda rows, wall: {"tuner": "t", "back_end": "x", "iterations": 7, "wall_s": wall, "winner": a, "rows": rows}
many = lambda make, best: [make(code, 1 if code == best else 2) for code in c.LISTED]
json.dump(run(many(samples, b), 60), open("kt.json", "w"))
json.dump(run(many(row, a), 5), open("ours.json", "w"))
json.dump(run([samples(a, 1), samples(b, 1.005)], 1), open("kt_again.json", "w"))
json.dump(run([row(a, 1), row(b, 1)], 1), open("ours_again.json", "w"))
END
"$NNTUNE" sweep --spec stub.json --dry-run > out; grep -q '60 legal of 12.3 k combinations' out || fail "legal: $(cat out)"
judge() { code=0; PYTHONDONTWRITEBYTECODE=1 python3 "$TESTS/gpu_kt/judge.py" . > out 2> err || code=$?; }
judge; equal "a good run: exit" $code 0
grep -q 'nntune over Kernel Tuner: 12.00 (bar >= 10): pass' out || fail "ratio: $(cat out)"
equal "verdicts" "$(grep -c ': pass$' out)" 5
spoil() { python3 -c "import json, sys; f, text = sys.argv[1:]; d = json.load(open(f)); exec(text); json.dump(d, open(f, 'w'))" "$@"; }
cp ours.json keep.json; spoil ours.json 'd["wall_s"] = 7'; judge
equal "too slow: exit" $code 1; grep -q 'Kernel Tuner: 8.57 (bar >= 10): SHORT' out || fail "ratio: $(cat out)"
cp keep.json ours.json; spoil ours_again.json 'd["rows"][0].update(lo_ms=1.2, hi_ms=1.3)'; judge
equal "a worse winner: exit" $code 1; grep -q 'eyes of nntune: 1.2000..1.3000 ms .*: SHORT' out || fail "winner: $(cat out)"
