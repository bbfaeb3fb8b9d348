# Ctrl-C finishes the trial in flight, prints a summary and the resume command, exits 130 and keeps everything; a second one
# stops at once; SIGTERM exits 143; Ctrl-C while waiting for a device that is held is no failure.
. "$TESTS/process_lib.sh"
export NNTUNE_FAKE_COMPILE_MS=5
start() { rm -f err; "$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --budget 60s --db t.db "$@" > out 2> err & pid=$!; }
code_of() { code=0; wait "$1" || code=$?; }
trials() { count t.db 'select count(*) from trial' 2> /dev/null || echo 0; }

start; until_true 10 'trials are stored' '[ "$(trials)" -ge 3 ]'
kill -INT $pid; code_of $pid
equal "exit after SIGINT" $code 130
grep -q 'nntune sweep conv3x3.*--resume' err || fail "no resume command: $(cat err)"
grep -q ' trials: ' out || fail "no summary: $(cat out)"
gone $pid 2; sound t.db
equal state "$(count t.db 'select state from run order by id desc limit 1')" interrupted
equal "trial left in flight" "$(count t.db 'select count(*) from journal')" 0

before=$(trials)
start; until_true 10 'more trials are stored' '[ "$(trials)" -gt '"$before"' ]'
kill -TERM $pid; code_of $pid
equal "exit after SIGTERM" $code 143
gone $pid 2

# A trial that hangs: the first signal waits for it, the second does not. The count of runs begins anew.
rm -f "$NNTUNE_FAKE_STATE"
NNTUNE_FAKE_FAULT=hang@7; export NNTUNE_FAKE_FAULT; start; unset NNTUNE_FAKE_FAULT
until_true 10 'the trial hangs' '[ "$(cat "$NNTUNE_FAKE_STATE" 2> /dev/null)" = 7 ]'
kill -INT $pid; sleep 0.5
kill -0 $pid || fail "the first Ctrl-C did not wait for the trial in flight"
begin=$(date +%s); kill -INT $pid; code_of $pid
equal "exit after two SIGINT" $code 130
[ $(($(date +%s) - begin)) -le 2 ] || fail "the second Ctrl-C did not stop at once"
gone $pid 2; sound t.db
equal "trial left in flight" "$(count t.db 'select count(*) from journal')" 1

start; holder=$pid; until_true 10 'the lock is held' 'grep -qs "^run " err'
"$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --budget 5 --wait --db t.db > out2 2> err2 & waiting=$!
sleep 0.7; kill -INT $waiting; code_of $waiting
equal "exit while waiting" $code 130
kill -KILL $holder; code_of $holder
