# --resume goes on with a run of equal options and counts what was done; without anything to resume it says so and starts.
# --reuse takes over equal trials, marked. Without either, a run measures anew.
. "$TESTS/process_lib.sh"
sweep() { "$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --batch 1 --precision fp32 --seed 5 --db t.db "$@"; }
sweep --strategy random --budget 40 --resume > out 2> err
grep -q 'nothing to resume' err || fail "no word that there was nothing to resume: $(cat err)"
equal trials "$(count t.db 'select count(*) from trials')" 40
sweep --strategy random --budget 40 > out
equal "runs measure anew" "$(count t.db 'select count(*) from trials')" 80
equal "reused without --reuse" "$(count t.db 'select count(*) from trials where reused')" 0
sweep --strategy random --budget 60 --reuse > out
at_least "reused" "$(count t.db 'select count(*) from trials where reused')" "$(count t.db "select count(*) from trials where run = 1 and outcome = 'ok'")"
grep -q 'reused from earlier runs' out || fail "reuse is not mentioned"
equal "same strategy, same configurations" "$(count t.db "select count(*) from (select kernel, params from trials where run = 1 except select kernel, params from trials where run = 2)")" 0
export NNTUNE_FAKE_COMPILE_MS=20
"$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --batch 1 --precision fp32 --seed 5 --db t.db --budget 300 --where 'tile >= 2' -q > out & pid=$!
sleep 0.8; kill -9 $pid; wait $pid 2> /dev/null || true
done_before=$(count t.db 'select count(*) from trials where run = 4')
at_least "trials before the kill" "$done_before" 1
equal "time of the killed run" "$(count t.db 'select total_s > 0 and total_s < 30 from run where id = 4')" 1
sweep --budget $((done_before + 10)) --where 'tile >= 2' --resume > out 2> err
grep -q 'goes on' err || fail "it did not resume: $(cat err)"
equal "budget counts earlier trials" "$(count t.db "select count(*) from trials where run = 4 and outcome <> 'pruned'")" $((done_before + 10))
sound t.db; no_twice t.db
# What the seeds measured is counted and not measured again; both cache modes go on, each with its own.
rules() { count t.db "select count(*) from trials where run = (select max(run) from trials) and rule is not null"; }
rm -f t.db t.db-wal t.db-shm; unset NNTUNE_FAKE_COMPILE_MS
NNTUNE_FAKE_FAULT=hang@24; export NNTUNE_FAKE_FAULT; rm -f "$NNTUNE_FAKE_STATE"
"$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --batch 1 --precision fp32 --seed 5 --db t.db --budget 40 --cache both -q > out 2>&1 & pid=$!
until_true 10 'the trial hangs' '[ "$(cat "$NNTUNE_FAKE_STATE" 2> /dev/null)" = 24 ]'
kill -9 $pid; wait $pid 2> /dev/null || true
unset NNTUNE_FAKE_FAULT
before=$(count t.db 'select count(*) from trial'); [ "$before" -lt 20 ] || fail "$before trials before the kill"
sweep --budget 40 --cache both --resume -q > out 2>&1 || fail "it did not go on: $(cat out)"
equal "rules of thumb, one a cache mode" "$(rules)" 2
equal "trials of each cache mode" "$(count t.db "select group_concat(n) from (select count(*) as n from trials group by cache)")" 20,20
equal runs "$(count t.db 'select count(*) from run')" 1
sound t.db; no_twice t.db
# Time that was spent counts: nothing is left of a budget that the killed process used up.
count t.db "update run set state = 'running', total_s = 100"
sweep --budget 50s --cache both --resume -q > out 2>&1 || fail "spent: $(cat out)"
equal "trials after the time was spent" "$(count t.db 'select count(*) from trials')" 40
