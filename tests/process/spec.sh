# A kernel of the user's own on the cpu device: the worked example of docs/SPEC.md from sweep to rerun, and what can be wrong
# with one, each found and said. (Mistakes in the file itself are tested in tests/unit/test_spec.c.)
. "$TESTS/process_lib.sh"
examples=$TESTS/../docs/examples
export NNTUNE_CACHE_DIR="$PWD/cache"
cp -r "$examples/softmax" .
sweep() { spec=$1; shift; "$NNTUNE" sweep --spec "$spec" --shape rows_n=32,cols=100 --ci 5 --strategy exhaustive "$@"; }

# ---- the worked example stands in the manual word for word, and both are what they are said to be
for file in softmax/softmax.json softmax/softmax.c softmax/reference.c scale_bias/scale_bias.json scale_bias/scale_bias.cu scale_bias/reference.c; do
    while IFS= read -r line; do
        [ -z "$line" ] || grep -qxF -e "$line" "$TESTS/../docs/SPEC.md" || fail "docs/SPEC.md lacks the line of $file: $line"
    done < "$examples/$file"
done

# ---- right: verified, timed, stored under the names that the manual promises
sweep softmax/softmax.json --budget 12 --json --db t.db > lines 2> err || fail "exit $?: $(cat err)"
sound t.db
equal "ok trials" "$(count t.db "select count(*) from trials where outcome = 'ok' or outcome = 'abandoned'")" 12
equal "layer, shape, kernel" "$(count t.db "select distinct layer || ' ' || shape || ' ' || kernel from trials")" "user:softmax rows_n=32,cols=100 softmax"
equal "ok beyond the tolerance" "$(count t.db "select count(*) from trials where outcome = 'ok' and (error_impl is null or error_impl > 1 or error_prec > 1e-5)")" 0
equal winners "$(count t.db 'select count(*) from best')" 1
trial=$(count t.db 'select trial from best')
"$NNTUNE" best --db t.db > out; grep -q 'user:softmax' out || fail "best: $(cat out)"
"$NNTUNE" show "$trial" --source --db t.db > out; grep -q '^void softmax(' out || fail "show --source: $(cat out)"
grep -q -- '-Dlanes=' out || fail "show --source has no options: $(head -3 out)"
"$NNTUNE" show "$trial" --db t.db > out; grep -q 'of the roof, .* launches/s' out || fail "show has no roof or no launches: $(cat out)"
"$NNTUNE" best --db t.db > out; grep -q 'user:softmax .* - *softmax ' out || fail "best counts images of a kernel of the user's: $(cat out)"
grep -q 'user:softmax .*FLOP/s' out || fail "best knows no work of a kernel of the user's: $(cat out)"
"$NNTUNE" best user:softmax --db t.db > out || fail "best of a kernel of the user's alone"
refused "best of another" 1 'no winner yet for user:none' -- "$NNTUNE" best user:none --db t.db
"$NNTUNE" plot roofline --db t.db -o - > out 2> err || fail "roofline: $(cat err)"
refused "batches of it" 1 'has no batches' -- "$NNTUNE" plot batch --db t.db -o -
"$NNTUNE" report --db t.db -o report.html > out 2> err || fail "report: $(cat err)"
"$NNTUNE" rerun "$trial" --db t.db > out 2> err || fail "rerun: $(cat err)"

# ---- options of a sweep, resume, reuse
sweep softmax/softmax.json --budget 3 --param lanes=4,8 --where 'rows > 2' --db p.db > out 2> err
grep -q 'launches/s' out && ! grep -q 'images/s' out || fail "a sweep counts images of a kernel of the user's: $(cat out)"
equal "values kept" "$(count p.db "select count(*) from trials where params not like '%\"lanes\":4%' and params not like '%\"lanes\":8%' or params like '%\"rows\":1,%' or params like '%\"rows\":2,%'")" 0
sweep softmax/softmax.json --budget 16 --resume -q --db t.db > out
equal "runs after a finished one" "$(count t.db 'select count(*) from run')" 3
sweep softmax/softmax.json --budget 12 --reuse --json --db t.db > lines
at_least "trials reused" "$(sed -n 's/.*"reused":\([0-9]*\),.*/\1/p' lines | tail -n 1)" 6
sweep softmax/softmax.json --dry-run > out; grep -q '30 legal of 30 combinations' out || fail "dry run: $(cat out)"
for option in --batch=2 --precision=int8 --layout=nchw --fill=uniform --kernel=softmax; do
    refused "$option" 2 "${option%=*} has no meaning with --spec" -- "$NNTUNE" sweep --spec softmax/softmax.json "$option" --db n.db
done
refused "a layer as well" 2 'one too many' -- "$NNTUNE" sweep conv3x3 --spec softmax/softmax.json --db n.db
refused "another device" 2 'are for the cpu device' -- "$NNTUNE" sweep --spec softmax/softmax.json --device cuda --db n.db
refused "an unknown size" 2 "no size 'columns'" 'rows_n=256,cols=1000' -- "$NNTUNE" sweep --spec softmax/softmax.json --shape columns=3 --db n.db

# ---- the spec is gone, or is another
mv softmax away
refused "show without the spec" 1 'is gone' "$PWD/softmax/softmax.json" -- "$NNTUNE" show "$trial" --source --db t.db
refused "rerun without the spec" 1 'is gone' -- "$NNTUNE" rerun "$trial" --db t.db
"$NNTUNE" show "$trial" --db t.db > out || fail "a trial cannot be looked at without its spec"
"$NNTUNE" best --db t.db > out || fail "winners cannot be looked at without their spec"
grep -q 'user:softmax' out && ! grep 'user:softmax' out | grep -q FLOP || fail "best knows the work of a spec that is gone: $(cat out)"
mv away softmax
sed 's/"relative": 1e-5/"relative": 1e-4/' softmax/softmax.json > changed.json; cp softmax/softmax.json kept.json; cp changed.json softmax/softmax.json
"$NNTUNE" rerun "$trial" --db t.db > out 2> err || fail "rerun with another tolerance: $(cat err)"
grep -q 'has changed since' err || fail "a changed spec is not noticed: $(cat err)"
sweep softmax/softmax.json --budget 3 --reuse --json --db t.db > lines
grep -q '"reused":0' lines || fail "trials under another tolerance were reused: $(tail -1 lines)"
cp kept.json softmax/softmax.json

# ---- wrong kernels: variant NAME SED-PROGRAM makes one, its trials give OUTCOME for REASON
variant() { rm -rf v; cp -r softmax v; sed "$2" softmax/softmax.c > v/softmax.c; rm -f v.db; }
says() { # NAME EXIT OUTCOME REASON
    code=0; sweep v/softmax.json --budget 2 -q --db v.db > out 2> err || code=$?
    equal "$1: exit" $code "$2"
    equal "$1: trials" "$(count v.db "select count(*) from trials where outcome = '$3' and reason like '$4'")" 2
}
variant wrong 's|out\[c\] /= sum\[0\]|out[c] /= 2 * sum[0]|'; says "wrong result" 4 wrong_result 'y, input set 1: 3200 of 3200 elements are off by more than the tolerance%where the reference has%'
variant nan 's|out\[c\] /= sum\[0\]|out[c] /= 0 * sum[0]|'; says "NaN" 4 wrong_result 'y, input set 1: 3200 of 3200%'
variant part 's|c < columns; c++)$|c < columns - 1; c++)|'; says "unwritten elements" 4 wrong_result 'y, input set 1:%'
variant outside 's|out\[c\] /= sum\[0\];|{ out[c] /= sum[0]; if (row == count - 1) out[columns] = 0; }|'; says "writes outside" 4 wrong_result 'writes outside the buffer y: 0 bytes before it, 4 behind it'
variant input 's|out\[c\] /= sum\[0\];|{ out[c] /= sum[0]; ((float *)x)[-1] = 0; }|'; says "writes before an input" 4 wrong_result 'writes outside the buffer x: 4 bytes before it, 0 behind it'
variant crash 's|out\[c\] /= sum\[0\];|*(volatile float *)8 = 1;|'; says crash 1 crashed '%killed by signal 11%'
variant entry 's|void softmax|void other|'; says "missing entry" 1 compile_failed "arguments of softmax as the spec has them:%implicit%softmax%"
variant few 's|, int columns,|,|'; says "too few parameters" 1 compile_failed 'softmax.c:%error: %columns%'
variant many 's|int columns, int64_t|int columns, int more, int64_t|'; says "too many parameters" 1 compile_failed 'arguments of softmax as the spec has them:%too few arguments%'
variant type 's|int count,|int *count,|'; says "wrong type" 1 compile_failed 'arguments of softmax as the spec has them:%error:%'
variant syntax 's|sum\[l\] = 0;|sum[l] = zero; most[l] = nought;|'; says syntax 1 compile_failed 'softmax.c:%error: %zero% (and % more)'
grep -q 'the first: softmax.c:' err || fail "the message names no file and line: $(cat err)"

# ---- grids, references
variant grid ''; sed -i 's|"grid": "[^"]*"|"grid": "rows_n // 1000"|' v/softmax.json; code=0; sweep v/softmax.json --budget 2 -q --db v.db > out 2> err || code=$?
equal "grid of 0: exit" $code 1
equal "grid of 0" "$(count v.db "select distinct outcome || ' ' || reason from trials")" "pruned grid: 'rows_n // 1000' is 0; 1 to 4294967295 are possible"
variant reference ''; sed -i 's|fmax|fmaxx|' v/reference.c; refused "reference that does not compile" 1 'the reference does not compile: reference.c:' -- sweep v/softmax.json --budget 2 -q --db v.db
variant reference ''; sed -i 's|"entry": "softmax_reference"|"entry": "none"|' v/softmax.json; refused "reference without that entry" 1 'the reference does not compile' 'none' -- sweep v/softmax.json --budget 2 -q --db v.db
variant itself ''; sed -i 's|"reference": {.*},|"reference": {"configuration": {}},|' v/softmax.json
sweep v/softmax.json --budget 4 -q --db v.db > out 2> err || fail "the kernel itself as reference: $(cat err)"
variant file 's|out\[c\] /= sum\[0\];|out[c] = in[c] * 2;|'
sed -i -e 's|"count": "rows_n \* cols"},|"count": 4, "fill": "index"},|' -e 's|"count": "rows_n \* cols", "access"|"count": 4, "access"|' -e 's|"reference": {.*},|"reference": {"files": {"y": "y.raw"}},|' -e 's|"rows_n": 256, "cols": 1000|"rows_n": 1, "cols": 4|' -e 's|"constraints": .*||' v/softmax.json
printf '\0\0\0\0\0\0\0\100\0\0\200\100\0\0\300\100' > v/y.raw # 0, 2, 4, 6
"$NNTUNE" sweep --spec v/softmax.json --budget 3 --ci 5 -q --db v.db > out 2> err || fail "a reference in a file: $(cat err)"
printf '\0\0\0\0\0\0\0\100\0\0\200\100\0\0\240\100' > v/y.raw # 0, 2, 4, 5
code=0; "$NNTUNE" sweep --spec v/softmax.json --budget 3 --ci 5 -q --db w.db > out 2> err || code=$?
equal "a wrong reference in a file: exit" $code 4
equal "a wrong reference in a file" "$(count w.db "select count(*) from trials where reason like '%element 3: 6 where the reference has 5'")" 3

# ---- a global variable in place of constant memory, a chain of two kernels, a buffer that is read and written, T1
mkdir chain; cat > chain/chain.c <<'C'
float table[4];
void scale(const float *x, float *between, int64_t begin, int64_t end)
{
    for (int64_t i = begin * step; i < end * step; i++)
        between[i] = x[i] * table[i % 4];
}
void add(const float *between, float *sum, double a, int64_t begin, int64_t end)
{
    for (int64_t i = begin * step; i < end * step; i++)
        sum[i] += (float)(between[i] * a);
}
C
cat > chain/reference.c <<'C'
void reference(const float *x, float *between, float *sum, double a, const float *table)
{
    for (int i = 0; i < 64; i++)
        sum[i] += (float)((between[i] = x[i] * table[i % 4]) * a);
}
C
cat > chain/chain.json <<'J'
{"nntune_spec": 1, "name": "chain", "language": "c", "sources": ["chain.c"], "sizes": {"n": 64},
 "parameters": [{"name": "step", "values": [1, 4, 16]}],
 "arguments": [{"name": "x", "type": "f32", "count": "n"}, {"name": "between", "type": "f32", "count": "n", "access": "write"},
               {"name": "sum", "type": "f32", "count": "n", "access": "readwrite"}, {"name": "a", "type": "f64", "value": "1.5"},
               {"name": "table", "type": "f32", "count": 4, "symbol": "table"}],
 "kernels": [{"entry": "scale", "grid": "n // step", "arguments": ["x", "between"]},
             {"entry": "add", "grid": "n // step", "arguments": ["between", "sum", "a"]}],
 "reference": {"sources": ["reference.c"], "entry": "reference"}}
J
"$NNTUNE" sweep --spec chain/chain.json --budget 3 --ci 5 -q --db chain.db > out 2> err || fail "chain: $(cat err)"
equal "chain" "$(count chain.db "select count(*) from trials where kernel = 'scale+add' and outcome in ('ok', 'abandoned')")" 3
sed -i 's|"symbol": "table"|"symbol": "none"|' chain/chain.json; code=0
"$NNTUNE" sweep --spec chain/chain.json --budget 3 -q --db none.db > out 2> err || code=$?
equal "missing variable: exit" $code 1
equal "missing variable" "$(count none.db "select count(*) from trials where outcome = 'launch_failed' and reason like '%no variable ''none''%'")" 3
cat > t1.json <<'J'
{"ConfigurationSpace": {"TuningParameters": [{"Name": "step", "Type": "int", "Values": "[1, 4, 16]"}], "Conditions": []},
 "KernelSpecification": {"Language": "C", "KernelName": "twice", "KernelFile": "t1.c", "GlobalSizeType": "CUDA",
  "GlobalSize": {"X": "64 // step"}, "LocalSize": {"X": "1"}, "ProblemSize": [64],
  "Arguments": [{"Name": "y", "Type": "float", "MemoryType": "Vector", "Size": 64, "FillType": "Constant", "FillValue": 0, "AccessType": "WriteOnly"},
                {"Name": "x", "Type": "float", "MemoryType": "Vector", "Size": 64, "FillType": "Random", "AccessType": "ReadOnly"}]}}
J
cat > t1.c <<'C'
void twice(float *y, const float *x, int64_t begin, int64_t end)
{
    for (int64_t i = begin * step; i < end * step; i++)
        y[i] = 2 * x[i];
}
C
"$NNTUNE" sweep --spec t1.json --budget 3 --ci 5 -q --db t1.db > out 2> err || fail "T1: $(cat err)"
gzip -k t1.json; "$NNTUNE" sweep --spec t1.json.gz --budget 3 --ci 5 -q --db gz.db > out 2> err || fail "T1 in gzip: $(cat err)"
equal "T1" "$(count t1.db "select count(*) from trials where layer = 'user:twice' and outcome in ('ok', 'abandoned')")" 3
sed -i 's|"Language": "C"|"Language": "OpenCL"|' t1.json
refused "OpenCL" 2 'OpenCL kernels cannot be tuned: nntune tunes CUDA and C' -- "$NNTUNE" sweep --spec t1.json --db n.db
