# top and doctor on a GPU that is not there (tests/unit/fake_nvidia*.c): each value names its source, processes are named, and
# doctor says why counters do not work.
. "$TESTS/process_lib.sh"
cc -shared -fPIC -o libfake.so "$TESTS/unit/fake_nvidia.c" "$TESTS/unit/fake_nvidia_tools.c"
export NNTUNE_LIBCUDA="$PWD/libfake.so" NNTUNE_NVML="$PWD/libfake.so" NNTUNE_NVRTC="$PWD/libfake.so" FAKE_PID=$$
export NNTUNE_LIBCUPTI=/nonexistent/libcupti.so
# A build without CUDA's headers has no cuda device at all, and nothing here to test.
"$NNTUNE" devices -q | grep -q '^cuda:0' || { echo "skipped: no cuda device in this build"; exit 0; }
"$NNTUNE" top --frames 2 --interval 0.1 > out 2> err || fail "top: $(cat err)"
equal "lines of frames" "$(grep -c 'cuda:0  gpm ' out)" 2
grep -q '^sources of cuda:0: gpm: SM %, occupancy %, tensor %, DRAM %; nvml: busy %, C, W, memory$' out || fail "sources: $(cat out)"
grep -q "^processes on cuda:0: $$ .* 5 MiB, 4000001 - - -$" out || fail "processes: $(cat out)"
equal "standard error" "$(cat err)" ""

FAKE_GPM=0 "$NNTUNE" top --frames 1 --interval 0.1 > out 2> err || fail "top without gpm: $(cat err)"
grep -q 'cuda:0  nvml ' out || fail "not nvml: $(cat out)"
grep -q 'has no GPM.*plain NVML is used' err || fail "no note: $(cat err)"
code=0; FAKE_GPM=0 "$NNTUNE" top --source gpm --frames 1 2> err || code=$?
equal "exit when gpm is asked for" $code 3
code=0; "$NNTUNE" top --source pm --frames 1 2> err || code=$?
equal "exit when pm cannot work" $code 3
grep -q "NNTUNE_LIBCUPTI" err || fail "pm: $(cat err)"
equal "locks held" "$(cat "$NNTUNE_LOCK_DIR"/*.counters)" ""

code=0; "$NNTUNE" doctor > out 2> err || code=$?
equal "exit of doctor" $code 3
grep -q "ok    clocks .*SM unknown of 1600 MHz" out || fail "clocks: $(cat out)"
grep -q "note  throttle .*power cap" out || fail "throttle: $(cat out)"
grep -q "ok    gpm " out || fail "gpm: $(cat out)"
tail -n 1 out | grep -q "do not work: CUPTI, NVIDIA's library of hardware counters, was not found" || fail "reason: $(tail -n 1 out)"
FAKE_MIG=1 "$NNTUNE" doctor > out || true
grep -q "note  mig  *on" out || fail "MIG: $(cat out)"

# A CUPTI that refuses: each code is named, with its cure, and ends with exit 3.
{
    echo 'int cuptiGetVersion(unsigned *v) { *v = 130000; return 0; }'
    echo 'int atoi(const char *); char *getenv(const char *);'
    sed -n 's/^ *X([a-z_]*, \(cupti[A-Za-z]*\), .*/int \1(void *p) { (void)p; return atoi(getenv("FAKE_CUPTI")); }/p' "$TESTS/../profiler/cupti_api.h"
} > cupti.c
at_least "functions of the fake CUPTI" "$(grep -c '^int cupti' cupti.c)" 30
cc -shared -fPIC -o libcupti.so cupti.c
export NNTUNE_LIBCUPTI="$PWD/libcupti.so"
refused() { # CODE NAME CURE
    code=0; FAKE_CUPTI=$1 "$NNTUNE" doctor > out || code=$?
    equal "exit of doctor at code $1" $code 3
    grep -q "bad   kernel counters .*CUPTI_ERROR_$2 ($1)" out || fail "code $1: $(cat out)"
    grep -A1 "bad   kernel counters " out | grep -q -e "-> .*$3" || fail "cure of code $1: $(cat out)"
    tail -n 1 out | grep -q "do not work: .*($1)" || fail "reason of code $1: $(tail -n 1 out)"
    code=0; FAKE_CUPTI=$1 "$NNTUNE" top --source pm --frames 1 2> err || code=$?
    grep -q "CUPTI_ERROR_$2 ($1)" err || fail "top at code $1: $(cat err)"
}
refused 35 INSUFFICIENT_PRIVILEGES NVreg_RestrictProfilingToAdminUsers=0
refused 26 HARDWARE_BUSY 'dcgmi profile --pause'
refused 41 CONFIDENTIAL_COMPUTING_NOT_SUPPORTED 'confidential computing'
refused 43 MIG_DEVICE_NOT_SUPPORTED MIG
refused 45 WSL_DEVICE_NOT_SUPPORTED .
