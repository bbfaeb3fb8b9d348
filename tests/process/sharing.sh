# Two sweeps of two devices write into one database at once, while a third reads: each run is whole, nobody fails.
. "$TESTS/process_lib.sh"
export NNTUNE_FAKE_COMPILE_MS=3
"$NNTUNE" sweep conv3x3 --device cpu --shape 8x6x6 --batch 1 --precision fp32,int8 --budget 12 --seed 1 --json --db t.db > cpu 2> cpu.err & cpu=$!
"$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --budget 800 --seed 1 --json --db t.db > fake 2> fake.err & fake=$!
until_true 20 'both runs are there' '[ "$(count t.db "select count(*) from run" 2> reader.err || echo 0)" = 2 ]'
while kill -0 $fake 2> gone.err; do
    "$NNTUNE" best --db t.db > best 2> best.err || grep -q 'no winner' best.err || fail "a reader failed: $(cat best.err)"
    sleep 0.2
done
wait $fake || fail "the fake sweep: $(cat fake.err)"
wait $cpu || fail "the cpu sweep: $(cat cpu.err)"
sound t.db; no_twice t.db
equal "runs that are done" "$(count t.db "select count(*) from run where state = 'done'")" 2
equal "fake trials" "$(count t.db "select count(*) from trials where device = 'fake device'")" 800
equal "lines of the fake sweep" "$(grep -c '"type":"trial"' fake)" 800
equal "cpu trials" "$(count t.db "select count(*) from trials where device <> 'fake device' and outcome <> 'pruned'")" 12
equal "lines of the cpu sweep" "$(grep -c '"type":"trial"' cpu)" "$(count t.db "select count(*) from trials where device <> 'fake device'")"
equal "winners" "$(count t.db 'select count(*) from best')" 6
equal "entries left in flight" "$(count t.db 'select count(*) from journal')" 0
