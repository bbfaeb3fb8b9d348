# T1 out: equal to what came in, a spec of our own as far as T1 goes, and the same space either way; counted by brute force.
. "$TESTS/process_lib.sh"
export NNTUNE_CACHE_DIR="$PWD/cache"
cp -r "$TESTS/../docs/examples/softmax" "$TESTS/../docs/examples/scale_bias" .
"$NNTUNE" export --format t1 --spec softmax/softmax.json -o softmax/t1.json > out 2> err
equal "what export prints" "$(cat out)" "softmax/t1.json: softmax/softmax.json (T1)"
grep -q 'T1 cannot hold, and the file lacks: fill normal, reference, names of sizes, why of constraints, help of parameters, flop, bytes, tolerance' err || fail "what is dropped: $(cat err)"
"$NNTUNE" export --format t1 --spec scale_bias/scale_bias.json --no-warn export-dropped > scale_bias/t1.json 2> err
equal "silenced warnings" "$(cat err)" ""
python3 - << 'END' || fail "the T1 files are not what they must be"
import json
t1 = json.load(open("softmax/t1.json"))
kernel = t1["KernelSpecification"]
assert t1["ConfigurationSpace"]["TuningParameters"][0] == {"Name": "rows", "Type": "int", "Values": "[1, 2, 4, 8, 16]", "Default": 4}
assert t1["ConfigurationSpace"]["Conditions"] == [{"Expression": "lanes <= 1000", "Parameters": ["lanes"]}]
assert [kernel[k] for k in ("Language", "KernelName", "KernelFile", "ProblemSize")] == ["C", "softmax", "softmax.c", [256, 1000]]
assert kernel["GlobalSize"]["X"] == "(256 + rows - 1) // rows"
assert [a["AccessType"] for a in kernel["Arguments"][:2]] == ["ReadOnly", "WriteOnly"]
assert kernel["Arguments"][2] == {"Name": "count", "Type": "int32", "MemoryType": "Scalar", "FillType": "Constant", "FillValue": 256}
cuda = json.load(open("scale_bias/t1.json"))["KernelSpecification"]
assert cuda["KernelName"] == "scale_bias<tile,float>" and cuda["LocalSize"]["X"] == "block"
assert cuda["Arguments"][4]["MemoryType"] == "Symbol" and cuda["Arguments"][4]["Size"] == 64
END
# It is tuned as what it came from, with the same legal count, and written again it is itself.
"$NNTUNE" sweep --spec softmax/t1.json --budget 3 --ci 20 -q --db t.db > out 2> err || fail "the exported T1: $(cat err)"
for spec in softmax.json t1.json; do "$NNTUNE" sweep --spec softmax/$spec --dry-run > dry; grep -q '30 legal of 30 combinations' dry || fail "$spec: $(cat dry)"; done
"$NNTUNE" export --format t1 --db t.db > again.json 2> err
python3 -c 'import json, sys; sys.exit(json.load(open("again.json")) != json.load(open("softmax/t1.json")))' || fail "the run's own T1 came back changed"
equal "warnings of T1 as T1" "$(cat err)" ""
python3 "$TESTS/t1_spaces.py" "$NNTUNE" softmax/t1.json scale_bias/t1.json > out || fail "$(cat out)"

# What other tuners publish, where it lies beside the sources.
samples=${NNTUNE_SPACES:-$TESTS/../../shared/spaces}/formats
if [ -e "$samples/pnpoly.T1.json" ]; then
    python3 "$TESTS/t1_spaces.py" "$NNTUNE" "$samples"/*.T1.json > out || fail "$(cat out)"
    equal "samples that agree" "$(grep -c ': pass$' out)" "$(ls "$samples"/*.T1.json | wc -l)"
else
    echo "skipped: no T1 files in $samples"
fi

refused "--spec with results" 2 'has a meaning with --format t1 alone' -- "$NNTUNE" export --format t4 --spec softmax/t1.json --db t.db
refused "no spec" 1 'cannot read\|No such file' -- "$NNTUNE" export --format t1 --spec none.json
refused "a spec that is wrong" 2 'NAME\|name' -- sh -c 'echo "{\"nntune_spec\": 1}" > bad.json; "$NNTUNE" export --format t1 --spec bad.json'
"$NNTUNE" sweep conv3x3 --device fake --shape 4x4x4 --budget 2 -q --db layer.db > out 2> err || true
refused "a run of no spec" 1 'is of no spec' '--spec FILE' -- "$NNTUNE" export --format t1 --db layer.db
