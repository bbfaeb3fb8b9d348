# `nntune profile` on programs that work, fork, exec, crash, run for ever, never use CUDA or are not there, over a fake libcupti.
. "$TESTS/process_lib.sh"
[ -f "$(dirname "$NNTUNE")/libnntune-inject.so" ] || { echo "skipped: built without CUPTI's headers"; exit 0; }
here=$TESTS/process
for CUPTI_INCLUDE in /usr/local/cuda/include /opt/cuda/include /usr/lib/cuda/include /usr/local/include /usr/include; do
    [ ! -f $CUPTI_INCLUDE/cupti.h ] || break
done
${CC:-cc} -shared -fPIC -D_GNU_SOURCE -isystem "$CUPTI_INCLUDE" -pthread -o libcupti.so.13 "$here/profile_cupti.c"
${CC:-cc} -D_GNU_SOURCE -isystem "$CUPTI_INCLUDE" -pthread -o program "$here/profile_program.c" ./libcupti.so.13 -ldl
LD_LIBRARY_PATH=$PWD; export LD_LIBRARY_PATH
TMPDIR=$PWD/tmp; export TMPDIR; mkdir tmp
profile() { code=0; "$NNTUNE" profile --db t.db "$@" > out 2> err || code=$?; }
last() { count t.db "select $1 from $2 where profile = (select max(profile) from profiles)"; }

profile -- ./program work
equal "exit code" $code 0
sound t.db
equal kernels "$(last kernels profiles)" 28
equal state "$(last state profiles)" done
equal "peak memory" "$(last memory_peak_bytes profiles)" $((2 << 20))
equal "graph launches" "$(last graph_launches profiles)" 1
equal "kernels in steady" "$(last kernels "(select * from profile_ranges where range = 'steady')")" 20
equal "kernels in iterations" "$(last kernels "(select * from profile_ranges where range = 'iteration')")" 20
equal "kernels of the thread" "$(last kernels "(select * from profile_ranges where range = 'other thread')")" 1
equal "GPU time of steady" "$(last total_ns "(select * from profile_ranges where range = 'steady')")" 5500
equal copies "$(last "calls || ' ' || bytes || ' ' || from_memory" profile_copies)" "10 655360 pinned"
grep -q 'warm(int)' out || fail "no demangled kernel: $(cat out)"
grep -q '50.0 %.*registers' out || fail "no occupancy: $(cat out)"
[ -z "$(ls tmp)" ] || fail "spools are left: $(ls tmp)"

profile --json --trace t.json -- ./program work 3
equal "the command's exit code" $code 3
equal "JSON" "$(python3 -c 'import json; d = json.load(open("out")); r = {x["range"]: x for x in d["ranges"]}; print(d["kernel_calls"], r["iteration"]["first_ns"], r["iteration"]["steady_ns"], r["iteration"]["calls"], d["processes"][0]["ended"])')" "28 1000.0 500.0 10 True"
equal "trace" "$(python3 -c 'import json; print(sum(e.get("cat") == "kernel" for e in json.load(open("t.json"))["traceEvents"]))')" 28

profile -- ./program fork
equal "kernels beside a fork" "$(last kernels profiles)" 28
profile -- ./program exec
equal "kernels over an exec" "$(last kernels profiles)" 56
profile -- ./program twice
equal "kernels when injected twice" "$(last kernels profiles)" 28
profile -- ./program backwards
equal "kernels when the clock goes backwards" "$(last kernels profiles)" 2
grep -q 'clock-backwards' err || fail "no warning: $(cat err)"

profile --json -- ./program many
grep -q '^runtime callbacks: 101$' err || fail "callbacks that tell nothing new stay on: $(cat err)"
placed() { python3 -c 'import json; d = json.load(open("out")); print(d["unplaced"], [r["kernels"] for r in d["ranges"]])'; }
equal "kernels without a range" "$(placed)" "0 [300]"
FAKE_CUPTI_APART=1 profile --json -- ./program many
grep -q '^runtime callbacks: 300$' err || fail "callbacks that place kernels were switched off: $(cat err)"
equal "kernels without a range where ids differ" "$(placed)" "0 [300]"

profile -- ./program crash
equal "exit code of a crash" $code 139
equal "kernels before a crash" "$(last kernels profiles)" 28
grep -q 'range-open' err || fail "no warning of the open range: $(cat err)"

"$NNTUNE" profile --db t.db -- ./program loop > out 2> err & pid=$!
sleep 1.5; kill -TERM $pid; code=0; wait $pid || code=$?
equal "exit code after SIGTERM" $code 143
at_least "kernels before SIGTERM" "$(last kernels profiles)" 200
equal state "$(last state profiles)" done
"$NNTUNE" profile --db t.db -- ./program loop > out 2> err & pid=$!
sleep 2.5; child=$(pgrep -P $pid); kill -KILL $pid; kill -KILL "$child"; wait $pid || :
sound t.db
at_least "kernels before SIGKILL" "$(last kernels profiles)" 200
equal state "$(last state profiles)" running
rm -rf tmp/*

profile -- ./program idle
equal "exit code without CUDA" $code 0
grep -q 'never used CUDA' err || fail "no word that CUDA was not used: $(cat err)"
profile -- ./no-such-program
equal "exit code of a missing command" $code 127
grep -q 'no such command' err || fail "not named: $(cat err)"
profile -- ./t.db
equal "exit code of a file that is no program" $code 126
FAKE_CUPTI_BUSY=1 profile -- ./program work
equal "exit code while another tool holds CUPTI" $code 1
grep -q '(39); held by Another Profiler' err || fail "the holder is not named: $(cat err)"
CUDA_INJECTION64_PATH=/lib/other.so profile -- ./program work
equal "exit code inside another profiler" $code 1
grep -q '/lib/other.so' err || fail "the other is not named: $(cat err)"
profile
equal "exit code without a command" $code 2
profile --counters x -- ./program work
equal "exit code of an unknown option" $code 2
[ -z "$(ls tmp)" ] || fail "spools are left: $(ls tmp)"

sqlite3 export.sqlite "create table StringIds (id integer primary key, value text); insert into StringIds values (1, 'imported_kernel');
    create table CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, correlationId, globalPid, demangledName);
    insert into CUPTI_ACTIVITY_KIND_KERNEL values (100, 300, 0, 1, 1 << 24, 1), (400, 500, 0, 2, 1 << 24, 1);"
profile --import export.sqlite
equal "exit code of an import" $code 0
grep -q 'imported_kernel .* 2  *300 ns' out || fail "not summed up: $(cat out)"
equal "source of an import" "$(last "source || kernels" profiles)" imported2
profile --import t.db
equal "exit code of a file that is no export" $code 1
grep -q 'not an export of Nsight Systems' err || fail "not named: $(cat err)"
profile --import program
equal "exit code of a file that is no database" $code 1
profile --import export.sqlite -- ./program work
equal "exit code of an import with a command" $code 2
