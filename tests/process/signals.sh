# Ctrl-C finishes the trial in flight, prints a summary and the resume command, exits 130 and keeps everything; a second one
# stops at once; SIGTERM exits 143.
. "$TESTS/process_lib.sh"
export NNTUNE_FAKE_COMPILE_MS=5
start() { "$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --budget 60s --db t.db > out 2> err & pid=$!; sleep 0.8; }
start; kill -INT $pid; code=0; wait $pid || code=$?
equal "exit after SIGINT" $code 130
grep -q 'nntune sweep conv3x3.*--resume' err || fail "no resume command: $(cat err)"
grep -q ' trials: ' out || fail "no summary: $(cat out)"
gone $pid 2; sound t.db
equal state "$(count t.db 'select state from run order by id desc limit 1')" interrupted
start; kill -TERM $pid; code=0; wait $pid || code=$?
equal "exit after SIGTERM" $code 143
gone $pid 2
NNTUNE_FAKE_FAULT=hang@30; export NNTUNE_FAKE_FAULT
start; sleep 0.7; kill -INT $pid; sleep 0.2; kill -INT $pid; begin=$(date +%s); code=0; wait $pid || code=$?
equal "exit after two SIGINT" $code 130
[ $(($(date +%s) - begin)) -le 2 ] || fail "the second Ctrl-C did not stop at once"
gone $pid 2; sound t.db
