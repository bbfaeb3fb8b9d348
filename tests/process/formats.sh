# import, export and merge as commands: what they print, warn of and refuse, gzip, databases that exist, times and memory of large files.
. "$TESTS/process_lib.sh"
python3 - << 'END'
import gzip, json
head = '{"device_name": "Some GPU", "kernel_name": "relu", "problem_size": 64, "tune_params_keys": ["bx", "ty"], "tune_params": {"bx": [1], "ty": [1]}, "objective": "time", "cache": {\n'
entry = lambda x, y: '"%d,%d": {"bx": %d, "ty": %d, "time": %.4f, "times": [%s], "compile_time": 100.5, "odd": 7}' % (
    x, y, x, y, 1 + x * 0.001 + y * 0.5, ", ".join("%.5f" % (1 + x * 0.001 + y * 0.5 + k * 0.0001) for k in range(10)))
text = head + ",\n".join(entry(x, y) for x in range(1, 101) for y in range(1, 201)) + "}\n}"
open("cache.json", "w").write(text)
gzip.open("cache.json.gz", "wt").write(text)
open("cut.json", "w").write(text[:100000])
gzip.open("bomb.json.gz", "wb", 9).write(b'{"cache":' + b" " * (300 << 20))
open("nan.json", "w").write(head + '"1,1": {"bx": 1, "ty": 1, "time": 2.5, "x": NaN}, "again": {"bx": 1, "ty": 1, "time": 3}}}')
END
import() { "$NNTUNE" import --db t.db "$@"; }
export_() { "$NNTUNE" export --db t.db "$@"; }
same() { python3 -c 'import json, sys; a, b = (json.dumps(json.load(open(f)), sort_keys=True) for f in sys.argv[1:3]); sys.exit(a != b)' "$1" "$2"; }

# 20,000 results in a few seconds, and out again equal.
start=$(date +%s)
equal "what import prints" "$(import cache.json.gz)" "run 1: 20000 recorded results from cache.json.gz (Kernel Tuner cache)"
[ $(($(date +%s) - start)) -le 20 ] || fail "import took $(($(date +%s) - start)) s"
sound t.db
equal trials "$(count t.db "select count(*) || source from trials")" 20000recorded
export_ --format kernel-tuner -o out.json > printed 2> err
equal "what export prints" "$(cat printed)" "out.json: 20000 results of run 1 (Kernel Tuner cache)"
equal "warnings of the same format" "$(cat err)" ""
same cache.json out.json || fail "the cache came back changed"
export_ --format kernel-tuner > piped.json; same cache.json piped.json || fail "stdout differs from the file"
export_ --format t4 -o out.json.gz > printed 2> err
grep -q 'export-dropped' err && grep -q 'odd' err || fail "nothing is said of what T4 lacks: $(cat err)"
equal "silenced warnings" "$(export_ --format t4 --no-warn export-dropped -o out.json.gz 2>&1 > printed)" ""
gzip -t out.json.gz || fail "no gzip"
export_ --format csv -o space.csv 2> err > printed
"$NNTUNE" replay space.csv --strategy random --repeats 1 --budget 5 > replayed || fail "replay cannot read the space"
grep -q relu replayed || fail "replay: $(cat replayed)"
"$NNTUNE" best --db t.db | grep -q 'recorded:Some GPU' || fail "best does not say that it was recorded"

"$NNTUNE" runs --db t.db | grep -q '^ *1 *recorded' || fail "runs does not say that it was recorded"

# Cut, NaN, twice.
import cut.json > printed 2> err
grep -q 'import-cut' err || fail "no word of the cut: $(cat err)"
at_least "results of the cut file" "$(count t.db "select count(*) from trials where run = 2")" 100
import --json nan.json > printed 2> err
grep -q 'import-not-numbers' err && grep -q 'import-repeated' err || fail "no warning: $(cat err)"
equal "JSON" "$(python3 -c 'import json; d = json.load(open("printed")); print(d["type"], d["run"], d["source"], d["results"], d["repeated"])')" "import 3 recorded 1 1"
import --device "Other GPU" --kernel named nan.json > printed 2> err
equal "names given" "$(count t.db "select device || kernel from trials where run = 4")" "Other GPUnamed"

# Refused, each with what would be right; nothing of it is stored.
before=$(count t.db "select count(*) from run")
refused "no file" 1 'No such file' -- import none.json
refused "a folder" 2 'no regular file' -- import .
refused "a database" 2 'SQLite database' 'nntune merge' -- import t.db
printf 'hello\n' > hello.txt; refused "another format" 2 'no results in a format' 'T4 results, Kernel Tuner cache' -- import hello.txt
head -c 1000 cache.json.gz > cut.gz; refused "cut gzip" 1 'end too early' -- import cut.gz
refused "a gzip bomb" 2 'more than 256 MiB' -- import bomb.json.gz
refused "an unknown format" 2 'kernel-tuner' -- export_ --format xml
refused "an unknown run" 1 'no run 99' 'nntune runs' -- export_ --run 99
equal "runs after refusals" "$(count t.db "select count(*) from run")" "$before"

# The memory that 100 MB of JSON and a bomb take.
python3 -c 'open("large.json", "w").write("{\"cache\": {\"1\": {\"x\": [" + "0," * (50 << 20))'
for file in large.json bomb.json.gz; do
    (ulimit -v 2000000; import $file > printed 2> err) && fail "$file was taken" || true
    [ -s err ] || fail "$file: no error"
done

# Merging.
"$NNTUNE" import --db u.db nan.json > printed 2> err
equal "merge" "$("$NNTUNE" merge t.db u.db -o all.db)" "all.db: 5 runs, $(($(count t.db "select count(*) from trial") + 1)) trials, 0 profiles"
sound all.db; no_twice all.db
refused "an output that exists" 2 'exists already' -- "$NNTUNE" merge t.db -o all.db
refused "no output" 2 '\-\-output' -- "$NNTUNE" merge t.db
refused "no database" 1 'hello.txt' -- "$NNTUNE" merge t.db hello.txt -o half.db
[ ! -e half.db ] || fail "half a merge is left"
"$NNTUNE" merge t.db t.db -o twice.db > printed 2> err
grep -q 'merge-repeated' err || fail "no word of runs that stood there: $(cat err)"
