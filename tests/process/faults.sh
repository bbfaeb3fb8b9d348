# A worker that crashes, hangs, lies, gives a wrong result, loses its device or fails a launch costs that trial alone.
. "$TESTS/process_lib.sh"
export NNTUNE_FAKE_FAULT="crash@40,hang@90,lie@150,wrong@200,lost@260,launch@300"
"$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --strategy random --budget 200 --seed 1 --json --db t.db > lines
sound t.db
no_twice t.db
equal "trials in all" "$(count t.db 'select count(*) from trials')" 200
# crash, lie and lost are all 'crashed'; their reasons tell them apart
equal crashed "$(count t.db "select count(*) from trials where outcome = 'crashed'")" 3
equal "crash reason" "$(count t.db "select count(*) from trials where outcome = 'crashed' and reason like '%signal%'")" 1
equal "lie reason" "$(count t.db "select count(*) from trials where outcome = 'crashed' and reason like '%makes no sense%'")" 1
equal hung "$(count t.db "select count(*) from trials where outcome = 'timed_out'")" 1
equal wrong "$(count t.db "select count(*) from trials where outcome = 'wrong_result'")" 1
equal launch "$(count t.db "select count(*) from trials where outcome = 'launch_failed'")" 1
equal "reason missing" "$(count t.db "select count(*) from trials where outcome <> 'ok' and reason is null")" 0
equal "time of a failed trial" "$(count t.db "select count(*) from trials where outcome <> 'ok' and time_ns is not null")" 0
# the stream on stdout agrees with the database
equal "ok lines" "$(grep -c '"type":"trial".*"outcome":"ok"' lines)" "$(count t.db "select count(*) from trials where outcome = 'ok'")"
equal "other lines" "$(grep -vc '"type":"trial"' lines)" 1
tail -1 lines | grep -q '^{"type":"summary"' || fail "the last line is not the summary"

# A device that one process alone may open: no second process takes part in the finals, said once; the first holds all rounds.
unset NNTUNE_FAKE_FAULT
NNTUNE_FAKE_EXCLUSIVE=$PWD/alone "$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --batch 1,2,4 --precision fp32 --strategy random --budget 60 --db e.db > out 2> err
equal "winners" "$(count e.db 'select count(*) from best')" 3
equal "rounds" "$(count e.db 'select min(samples) from trials where rank = 1')" 15
equal "winners without an interval" "$(count e.db 'select count(*) from trials where rank = 1 and time_hi_ns is null')" 0
equal "rounds said to be of several processes" "$(count e.db 'select count(per_block) from sample')" 0
equal "warnings" "$(grep -c '\[finals-lost\]' err)" 1
grep -q 'another process has the fake device open' err || fail "the warning does not say why"
