# The front door on the cpu device: real kernels of four problems, verified, timed, stored; stdout is JSON lines and nothing else.
. "$TESTS/process_lib.sh"
"$NNTUNE" sweep conv3x3 --device cpu --shape 16x14x14 --batch 1,4 --precision fp32,int8 --budget 24s --seed 1 --json --db t.db > lines 2> err
sound t.db
ok=$(count t.db "select count(*) from trials where outcome = 'ok'")
at_least "ok trials" "$ok" 20
equal "ok lines" "$(grep -c '"type":"trial".*"outcome":"ok"' lines)" "$ok"
equal "problems with an ok trial" "$(count t.db "select count(distinct batch || precision) from trials where outcome = 'ok'")" 4
equal "wrong, crashed or not compiled" "$(count t.db "select count(*) from trials where outcome in ('wrong_result', 'crashed', 'compile_failed', 'timed_out')")" 0
equal "ok without interval, errors or six samples" "$(count t.db "select count(*) from trials where outcome = 'ok' and (time_lo_ns is null or time_hi_ns is null or samples < 6 or error_impl is null or error_prec is null or error_impl > 1)")" 0
equal "winners" "$(count t.db 'select count(*) from best')" 4
grep -v '^{.*}$' lines && fail "stdout holds something that is not a JSON object a line"
trial=$(count t.db 'select trial from best limit 1')
"$NNTUNE" rerun "$trial" --db t.db > again || fail "rerun"
grep -q 'took' again || fail "rerun does not compare: $(cat again)"
