# `nntune profile` on programs that work, fork, exec, crash, run for ever, never use CUDA or are not there, over a fake libcupti.
. "$TESTS/process_lib.sh"
[ -f "$(dirname "$NNTUNE")/libnntune-inject.so" ] || { echo "skipped: built without CUPTI's headers"; exit 0; }
here=$TESTS/process
for CUPTI_INCLUDE in /usr/local/cuda/include /opt/cuda/include /usr/lib/cuda/include /usr/local/include /usr/include; do
    [ ! -f $CUPTI_INCLUDE/cupti.h ] || break
done
${CC:-cc} -shared -fPIC -D_GNU_SOURCE -isystem "$CUPTI_INCLUDE" -I"$TESTS/../profiler/cxx" -pthread -o libcupti.so.13 "$here/profile_cupti.c"
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
profile --no-such-option x -- ./program work
equal "exit code of an unknown option" $code 2
[ -z "$(ls tmp)" ] || fail "spools are left: $(ls tmp)"

# Counters of chosen kernels.
counted() { python3 -c '
import json, sys
c = json.load(open("out"))["counters"]
print(c["launches"], c["passes"], c["cache"], *("%s=%s" % (r["kernel"].split("(")[0], r["median"]) for r in c["kernels"] if r["name"] == sys.argv[1]))' "$1"; }
profile --counters 'conv.float|^_Z4relu' -- ./program work
equal "exit code with counters" $code 0
equal "kernels beside counting" "$(last kernels profiles)" 28
equal "GPU time beside counting" "$(last total_ns "(select * from profile_ranges where range = 'steady')")" 5500
equal "rows of counters" "$(last "group_concat(kernel || launches || ' ' || median || source || passes || cache, ';')" "(select * from profile_counters where name = 'occupancy_pct' order by kernel)")" \
    "conv(float*)5 50.0cupti range1as_left;relu(float*)5 60.0cupti range1as_left"
equal "counted launches found among the work" "$(count t.db "select count(*) from profile_counter c join profile_work w on w.run_id = c.run_id and w.process = c.process and w.correlation = c.correlation
    join profile_kernel k on k.run_id = w.run_id and k.number = w.kernel and k.name = c.kernel where c.name = 'occupancy_pct'")" 10
equal "launches of the table" "$(grep -c 'occupancy_pct *5 ' out)" 2
grep -q '^Counted by CUPTI in one pass, .* caches as the program left them' out || fail "how it was counted: $(cat out)"
profile --json --counters . --launches 2 --metrics occupancy_pct,dram_read_bytes -- ./program work
equal "two launches of each" "$(counted occupancy_pct)" "7 1 as_left warm=15.0 conv=40.0 relu=50.0 thread=70.0"
FAKE_COUNT_PASSES=3 profile --json --counters conv --metrics t1,sol_sm_pct -- ./program work
equal "three passes" "$(counted sol_sm_pct)" "5 3 replayed conv=3000.0"
equal "kernels beside three passes" "$(last kernels profiles)" 28
FAKE_CUPTI_APART=1 FAKE_COUNT_PASSES=3 profile --json --counters conv -- ./program work
equal "kernels where ids differ" "$(last kernels profiles)" 28
FAKE_COUNT_LACKS=dram__bytes_read.sum profile --json --counters conv -- ./program work
equal "the second spelling" "$(counted dram_read_bytes)" "5 1 as_left conv=3000.0"
FAKE_COUNT_SPOILS=dram__throughput.avg.pct_of_peak_sustained_elapsed profile --json --counters conv -- ./program work
equal "a metric that cannot be configured" "$(counted dram_pct)" "5 1 as_left conv=None"
equal "the others beside it" "$(counted occupancy_pct)" "5 1 as_left conv=30.0"
FAKE_CUPTI_TOGETHER=1 profile --json --counters many --launches 100 -- ./program threads
equal "exit code of threads" $code 0
equal "each is counted alone" "$(python3 -c 'import json; c = json.load(open("out"))["counters"]; print(c["launches"] + c["disturbed"] >= 100, c["launches"] > 50)')" "True True"
FAKE_COUNT_EXTRA=1 profile --counters conv -- ./program work
equal "exit code when nothing is alone" $code 1
grep -q 'count-disturbed' err || fail "no word of it: $(cat err)"
profile --json --counters 'captured|free' -- ./program capture
equal "what is captured is not counted" "$(counted occupancy_pct)" "1 1 as_left free=10.0"
grep -q '^counted launches: 1$' err || fail "a capture was counted: $(cat err)"
profile --counters captured -- ./program capture
equal "exit code when all is captured" $code 1
grep -q 'from CUDA graphs alone' err || fail "not said: $(cat err)"
profile --counters in_graph -- ./program work
equal "exit code when all runs in graphs" $code 1
profile --counters convv -- ./program work
equal "exit code when nothing matches" $code 1
grep -q "'convv' is in the name of no kernel" err || fail "not said: $(cat err)"
grep -q "nearest: 'conv(float\*)'" err || fail "nearest names: $(cat err)"
FAKE_COUNT_REFUSED=35 profile --counters conv -- ./program work
equal "exit code without permission" $code 3
grep -q 'INSUFFICIENT_PRIVILEGES (35)' err || fail "the reason: $(cat err)"
grep -q 'NVreg_RestrictProfilingToAdminUsers=0' err || fail "the cure: $(cat err)"
equal "kernels without permission" "$(last kernels profiles)" 28
FAKE_COUNT_REFUSED=35 profile --counters conv -- ./program work 7
equal "the command's code goes first" $code 7
FAKE_COUNT_REFUSED=26 profile --counters conv -- ./program work
equal "exit code when another has the counters" $code 1
grep -q 'another tool holds the counters' err || fail "the reason: $(cat err)"
FAKE_COUNT_STOP=999 profile --counters conv -- ./program work
equal "exit code when the launch fails under the counters" $code 1
grep -q 'stopping to count: CUPTI_ERROR_UNKNOWN (999)' err || fail "the reason: $(cat err)"
equal "kernels when it fails" "$(last kernels profiles)" 28
profile --json --counters conv -- ./program fork
equal "counters beside a fork" "$(counted occupancy_pct)" "5 1 as_left conv=30.0"
profile --counters conv -- ./program exec
equal "counters over an exec" "$(last launches "(select * from profile_counters where name = 'occupancy_pct')")" 10
profile --counters conv -- ./program twice
equal "counters when injected twice" "$(last launches "(select * from profile_counters where name = 'occupancy_pct')")" 5
profile --counters 'x(' -- ./program work
equal "exit code of a bad expression" $code 2
grep -q "Unmatched" err || fail "not said: $(cat err)"
profile --counters '' -- ./program work
equal "exit code of an empty expression" $code 2
profile --counters x --metrics ocupancy_pct -- ./program work
equal "exit code of an unknown metric" $code 2
grep -q "did you mean 'occupancy_pct'" err || fail "nearest metric: $(cat err)"
profile --metrics t1 -- ./program work
equal "exit code of metrics without counters" $code 2
profile --counters x -- ./program idle
equal "exit code of counters without CUDA" $code 0
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
profile --import export.sqlite --counters x
equal "exit code of an import with counters" $code 2
profile --import export.sqlite -- ./program work
equal "exit code of an import with a command" $code 2
