# One sweep a device: a second says whose pid holds it and exits 1; --wait waits; the lock goes with its holder.
. "$TESTS/process_lib.sh"
sweep() { exec "$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --db t.db "$@"; }
export NNTUNE_FAKE_COMPILE_MS=20
sweep --budget 20s -q > out1 2>&1 & first=$!
sleep 0.7
code=0; (sweep --budget 5) > out2 2> err2 || code=$?
equal "exit of the second" $code 1
grep -q "process $first" err2 || fail "the holder's pid is not named: $(cat err2)"
(sleep 0.7; kill -9 $first) &
(sweep --budget 5 --wait) > out3 2> err3 || fail "--wait: $(cat err3)"
wait $first 2> /dev/null || true
grep -q 'trials: ' out3 || fail "no result after waiting"
