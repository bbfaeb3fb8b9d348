# A report in each format from a real sweep: whole, the same bytes from the same database, replaced at one go, with nothing that
# needs a network.
. "$TESTS/process_lib.sh"
"$NNTUNE" sweep conv3x3 --device cpu --shape 4x5x6 --batch 1,2 --precision fp32,int8 --kernel direct --budget 16 --seed 1 --db t.db -q > out
# A reason with what HTML, Markdown and CSV each read as their own.
sqlite3 t.db "update trial set outcome = 'wrong_result', reason = '<b>a|b\", \"c</b> at 17', time_ns = null where id = (select id
    from trial where id not in (select trial_id from final) and id not in (select least_trial_id from rollup where
    least_trial_id is not null) order by id desc limit 1)"
for format in html md csv json; do
    "$NNTUNE" report --db t.db -o r.$format -q
    cp r.$format first
    "$NNTUNE" report --db t.db -o r.$format -q
    cmp first r.$format || fail "the $format report differs from itself"
done
trials=$(count t.db 'select count(*) from trials')
equal "rows of CSV" "$(sqlite3 :memory: '.mode csv' '.import r.csv t' 'select count(*) from t')" "$trials"
equal "columns of CSV" "$(sqlite3 :memory: '.mode csv' '.import r.csv t' "select count(*) from pragma_table_info('t')")" \
    "$(count t.db "select count(*) from pragma_table_info('trials')")"
json() { sqlite3 :memory: "select json_extract(readfile('r.json'), '$1')"; }
equal "trials of JSON" "$(sqlite3 :memory: "select json_array_length(readfile('r.json'), '\$.trials')")" "$trials"
equal "problems of JSON" "$(sqlite3 :memory: "select json_array_length(readfile('r.json'), '\$.problems')")" 4
equal "best of JSON" "$(json '$.problems[0].best_trial')" "$(count t.db "select trial from best where batch = 1 and precision = 'fp32'")"
equal "schema" "$(json '$.schema_version')" 1
grep -q '^| conv3x3 ' r.md || fail "no table in Markdown"
grep -q '\\<b>a\\|b' r.md || fail "a reason breaks the Markdown: $(grep wrong_result r.md)"
grep -q '&lt;b&gt;a|b' r.html || fail "a reason is not escaped in HTML"
grep -q -e 'http-equiv' -e '<link rel=stylesheet' -e 'src="*http' -e '@import' -e 'url(' r.html && fail "the page loads something"
equal "pictures have words" "$(grep -c '<svg viewBox' r.html)" "$(grep -c '<svg viewBox="0 0 800 520" role="img" aria-label="[^"]' r.html)"
for heading in 'Best of each problem' 'What each precision costs' 'Latency and energy' 'What failed, and why' 'Each problem' Runs; do
    grep -q "<h2>$heading" r.html || fail "no '$heading'"
done
grep -q 'prefers-color-scheme:dark' r.html || fail "no dark page"
"$NNTUNE" report --db t.db -o - > out; cmp out r.md || fail "standard output is not the Markdown"

code=0; "$NNTUNE" report --db t.db -o r.txt 2> err || code=$?
equal "exit of an unknown format" $code 2
grep -q '.html, .md, .csv or .json' err || fail "$(cat err)"
code=0; "$NNTUNE" report --db t.db -o no-such-folder/r.html 2> err || code=$?
equal "exit of a folder that is not there" $code 1
grep -q 'no-such-folder/r.html' err || fail "$(cat err)"
echo old > keep.html; code=0
"$NNTUNE" report --db t.db --precision bf16 -o keep.html 2> err || code=$?
equal "exit of nothing" $code 1
equal "the old report" "$(cat keep.html)" old
[ -z "$(ls | grep tmp)" ] || fail "left behind: $(ls)"
code=0; "$NNTUNE" report --db t.db --format csv -o - > /dev/full 2> err || code=$?
equal "exit of a full disk" $code 1
mkdir nothing; PATH=$PWD/nothing "$NNTUNE" report --db t.db -o bare.html 2> err
grep -q 'gnuplot is not installed' err || fail "$(cat err)"
grep -q '<figcaption>Roofline' bare.html || fail "no words instead of pictures"
