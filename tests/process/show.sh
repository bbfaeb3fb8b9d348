# show tells what a real trial was: its sheet, its source with the options that built it, its assembly; and says when the source
# is no longer the one that was measured.
. "$TESTS/process_lib.sh"
"$NNTUNE" sweep conv3x3 --device cpu --shape 4x5x6 --batch 1 --precision fp32 --kernel direct --budget 6 --seed 1 --db t.db -q > out
trial=$(count t.db 'select trial from best')
"$NNTUNE" show "$trial" --db t.db > sheet
for name in problem kernel parameters device time speed errors resources cost run samples; do
    grep -q "^$name " sheet || fail "no $name in the sheet: $(cat sheet)"
done
"$NNTUNE" show "$trial" --db t.db --json > json
equal "samples in JSON" "$(sqlite3 :memory: "select json_array_length(readfile('json'), '\$.sample_ns')")" \
    "$(count t.db "select samples from trials where trial = $trial")"
"$NNTUNE" show "$trial" --db t.db --source > source.c 2> err
[ -s err ] && fail "source: $(cat err)"
options=$(sed -n 's/^   \(-D.*\) \*\/$/\1/p' source.c)
# shellcheck disable=SC2086
cc -std=gnu11 -march=native -w -fsyntax-only $options source.c || fail "the source does not compile with $options"
"$NNTUNE" show "$trial" --db t.db --asm 2> err | grep -q '\.file' || fail "no assembly: $(cat err)"
[ -s err ] && fail "assembly: $(cat err)"
code=0; "$NNTUNE" show "$trial" --db t.db --sass > out 2> err || code=$?
equal "exit of --sass" $code 2
grep -q -e '--asm' err || fail "--sass does not name --asm: $(cat err)"
cp t.db old.db
sqlite3 old.db "update kernel set source_hash = '0123456789abcdef0123456789abcdef'"
"$NNTUNE" show "$trial" --db old.db --source > again.c 2> err
grep -q 'source-changed' err || fail "a changed source is not said: $(cat err)"
cmp source.c again.c
"$NNTUNE" show "$trial" --db old.db --source --no-warn source-changed > /dev/null 2> err
[ -s err ] && fail "not silenced: $(cat err)"
sqlite3 old.db "update environment set compiler = 'cc 1.0'"
"$NNTUNE" show "$trial" --db old.db --asm --no-warn source-changed 2> err > /dev/null
grep -q 'compiler-changed' err || fail "another compiler is not said: $(cat err)"
