# The coordinator is killed while the C compiler runs, and while a worker hangs: two seconds later nothing of
# it is left, cc1 included.
. "$TESTS/process_lib.sh"
# A compiler that takes its time when told to: a front that starts cc1 as gcc does, and cc1 that sleeps.
mkdir bin; here=$PWD; nap=$((100000 + $$)); pid=
trap '[ -z "$pid" ] || kill -9 $pid 2> /dev/null || true' EXIT
cat > bin/cc1-slow <<S
#!/bin/sh
exec sleep $nap
S
cat > bin/slowcc <<'S'
#!/bin/sh
[ "$1" = --version ] || [ ! -e "$(dirname "$0")/slow" ] && exec cc "$@"
"$(dirname "$0")/cc1-slow" & wait
S
chmod +x bin/*
sweep() { exec env NNTUNE_CC="$here/bin/slowcc" "$NNTUNE" sweep conv3x3 --device cpu --shape 8x6x6 --batch 1 --precision fp32 -j 2 -q "$@"; }
(sweep --kernel direct --budget 1 --db first.db) > out 2>&1 || fail "the compiler does not work: $(cat out)" # the roof is measured here
touch bin/slow
sleepers() { pgrep -f "^sleep $nap\$" || true; }
for victim in coordinator child; do
    sweep --kernel im2col --budget 5 --db $victim.db > out 2> err & pid=$!
    until_true 20 'the compiler runs' '[ -n "$(sleepers)" ]'
    if [ $victim = coordinator ]; then
        kill -9 $pid; wait $pid 2> /dev/null || true
        gone $pid 2
        i=0; while [ -n "$(sleepers)" ]; do i=$((i + 1)); [ $i -le 20 ] || fail "cc1 is left: $(sleepers)"; sleep 0.1; done
    else
        before=$(sleepers | sort); child=$(pgrep -P $pid -f -- --compile-child | head -n 1)
        kill -9 "$child"
        until_true 2 'what that child started is gone' '[ "$(for p in $before; do sleepers | grep -x "$p"; done | wc -l)" -lt "$(echo "$before" | wc -l)" ]'
        kill -0 $pid || fail "the sweep ended with its child: $(cat err)"
        kill -9 $pid; wait $pid 2> /dev/null || true
        gone $pid 2
        i=0; while [ -n "$(sleepers)" ]; do i=$((i + 1)); [ $i -le 20 ] || fail "cc1 is left: $(sleepers)"; sleep 0.1; done
    fi
done
# A worker in a kernel that never ends.
export NNTUNE_FAKE_FAULT=hang@5
"$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --budget 60s -q --db t.db > out 2> err & pid=$!
until_true 10 'the worker hangs' '[ "$(cat "$NNTUNE_FAKE_STATE" 2> /dev/null)" = 5 ]'
kill -9 $pid; wait $pid 2> /dev/null || true
gone $pid 2
sound t.db
# The lock went with its holder.
unset NNTUNE_FAKE_FAULT
"$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --budget 4 -q --db t.db > out || fail "the device is still held: $(cat out)"
