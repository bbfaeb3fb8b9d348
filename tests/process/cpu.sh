# The front door on the cpu device: real kernels of four problems, verified, timed, stored; stdout is JSON lines and nothing else.
# The budget is trials, not seconds, so that a loaded machine takes longer and finds the same.
. "$TESTS/process_lib.sh"
"$NNTUNE" sweep conv3x3 --device cpu --shape 16x14x14 --batch 1,4 --precision fp32,int8 --budget 48 --ci 3 --seed 1 --json --db t.db > lines 2> err || fail "exit $?: $(cat err)"
sound t.db
ok=$(count t.db "select count(*) from trials where outcome = 'ok'")
equal "trials tried" "$(count t.db "select count(*) from trials where outcome in ('ok', 'abandoned')")" 48
at_least "ok trials" "$ok" 20
equal "ok lines" "$(grep -c '"type":"trial".*"outcome":"ok"' lines)" "$ok"
equal "problems with three ok trials" "$(count t.db "select count(*) from (select 1 from trials where outcome = 'ok' group by batch, precision having count(*) >= 3)")" 4
equal "kernels with an ok trial" "$(count t.db "select count(distinct kernel) from trials where outcome = 'ok'")" 3
equal "wrong, crashed or not compiled" "$(count t.db "select count(*) from trials where outcome in ('wrong_result', 'crashed', 'compile_failed', 'timed_out', 'launch_failed')")" 0
equal "ok without interval, errors or six samples" "$(count t.db "select count(*) from trials where outcome = 'ok' and (time_lo_ns is null or time_hi_ns is null or time_lo_ns > time_ns or time_hi_ns < time_ns or samples < 6 or error_impl is null or error_prec is null or error_impl > 1)")" 0
equal "error_prec beyond what the precision can do" "$(count t.db "select count(*) from trials where outcome = 'ok' and error_prec > case precision when 'fp32' then 1e-5 else 3e-2 end")" 0
equal "winners" "$(count t.db 'select count(*) from best')" 4
grep -v '^{.*}$' lines && fail "stdout holds something that is not a JSON object a line"
equal "summaries" "$(grep -c '"type":"summary"' lines)" 1
trial=$(count t.db 'select trial from best limit 1')
"$NNTUNE" rerun "$trial" --db t.db > again || fail "rerun"
grep -q 'took' again || fail "rerun does not compare: $(cat again)"

# ---- a compiler that hangs costs a part of the budget, not the sweep
cat > hung-cc <<'END'
#!/bin/sh
case "$*" in *-DNT_PRECISION*) exec sleep 100 ;; esac
exec cc "$@"
END
chmod +x hung-cc
begin=$(date +%s)
code=0; env NNTUNE_CC="$PWD/hung-cc" NNTUNE_CACHE_DIR="$PWD/hung-cache" "$NNTUNE" sweep conv3x3 --device cpu --shape 8x6x6 --batch 1 --precision fp32 --budget 3s -j 1 -q --db hung.db > out 2> err || code=$?
equal "exit with a compiler that hangs" $code 1
[ $(($(date +%s) - begin)) -le 40 ] || fail "it waited $(($(date +%s) - begin)) s for the compiler"
grep -q 'was stopped after 10 s' err || fail "no word of the compiler: $(cat err)"
for i in 1 2 3 4 5 6 7 8 9 10; do pgrep -f "$PWD/hung-cc" > left || break; sleep 0.2; done
[ ! -s left ] || fail "compilers are left: $(cat left)"
