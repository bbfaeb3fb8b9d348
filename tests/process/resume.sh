# --resume goes on with a run of equal options and counts what was done; without anything to resume it says so and starts.
# --reuse takes over equal trials, marked. Without either, a run measures anew.
. "$TESTS/process_lib.sh"
sweep() { "$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --batch 1 --precision fp32 --seed 5 --db t.db "$@"; }
sweep --budget 40 --resume > out 2> err
grep -q 'nothing to resume' err || fail "no word that there was nothing to resume: $(cat err)"
equal trials "$(count t.db 'select count(*) from trials')" 40
sweep --budget 40 > out
equal "runs measure anew" "$(count t.db 'select count(*) from trials')" 80
equal "reused without --reuse" "$(count t.db 'select count(*) from trials where reused')" 0
sweep --budget 60 --reuse > out
at_least "reused" "$(count t.db 'select count(*) from trials where reused')" "$(count t.db "select count(*) from trials where run = 1 and outcome = 'ok'")"
grep -q 'reused from earlier runs' out || fail "reuse is not mentioned"
equal "same strategy, same configurations" "$(count t.db "select count(*) from (select kernel, params from trials where run = 1 except select kernel, params from trials where run = 2)")" 0
export NNTUNE_FAKE_COMPILE_MS=20
"$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --batch 1 --precision fp32 --seed 5 --db t.db --budget 300 --where 'tile >= 2' -q > out & pid=$!
sleep 0.8; kill -9 $pid; wait $pid 2> /dev/null || true
done_before=$(count t.db 'select count(*) from trials where run = 4')
at_least "trials before the kill" "$done_before" 1
sweep --budget $((done_before + 10)) --where 'tile >= 2' --resume > out 2> err
grep -q 'goes on' err || fail "it did not resume: $(cat err)"
equal "budget counts earlier trials" "$(count t.db "select count(*) from trials where run = 4 and outcome <> 'pruned'")" $((done_before + 10))
sound t.db; no_twice t.db
