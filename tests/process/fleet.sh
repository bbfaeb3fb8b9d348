# One sweep over several devices: a run each, at once; code compiled once for all; signals passed on; a device that fails
# leaves the others alone.
. "$TESTS/process_lib.sh"
export NNTUNE_CACHE_DIR="$PWD/cache" NNTUNE_FAKE_COMPILE_MS=40
sweep() { "$NNTUNE" sweep conv3x3 --shape 4x7x7 --batch 1 --precision fp32 "$@"; }

sweep --device fake,fake:1 --budget 20 --jobs 4 --db t.db > out 2> err || fail "exit $?: $(cat err)"
sound t.db; no_twice t.db
equal runs "$(count t.db "select group_concat(device_uuid || ' ' || state || ' ' || trials, ', ') from (select * from runs order by device_uuid)")" "FAKE-0 done 20, FAKE-1 done 20"
equal headings "$(grep '^==' out | tr '\n' ' ')" "== fake:0 == fake:1 "
grep -q '^fake:0: run [12] tunes fake device' err && grep -q '^fake:1: run [12] tunes fake device' err || fail "stderr: $(cat err)"
equal "command of a run" "$(count t.db "select substr(command, -25) from runs where device_uuid = 'FAKE-1'")" " --device fake:1 --jobs 2"
equal winners "$(count t.db 'select count(*) from best')" 2
# Both want the same code: what one compiles the other finds.
equal "compiles of the same code" "$(count t.db "select sum(not artefact_cached) - count(distinct artefact_key) from trials where outcome in ('ok', 'abandoned')")" 0

sweep --device=fake:2,fake:3 --budget 3 -j 2 --json -q --db j.db > lines 2> err || fail "JSON: $(cat err)"
python3 - << 'END' || fail "JSON: $(cut -c 1-200 lines)"
import json
lines = [json.loads(line) for line in open("lines")]
kinds = sorted((line["on"], line["type"]) for line in lines)
assert kinds == sorted([(d, "trial") for d in ("fake:2", "fake:3") for _ in range(3)] + [("fake:2", "summary"), ("fake:3", "summary")]), kinds
END

# Ctrl-C stops all of them behind the trial in flight; the end of the program does as well.
states() { count "$1" "select group_concat(state) from runs"; }
"$NNTUNE" sweep conv3x3 --device fake,fake:1 --shape 5x7x7 --budget 60s --db s.db > out 2> err & pid=$!
until_true 20 'both runs have trials' '[ "$(count s.db "select count(*) from runs where trials > 2" 2> /dev/null)" = 2 ]'
kill -INT $pid; code=0; wait $pid || code=$?
equal "exit of an interrupted one" $code 130
equal "states" "$(states s.db)" interrupted,interrupted
equal "how to go on" "$(grep -c -- '--device fake:[01] --jobs [0-9]* --resume' err)" 2
"$NNTUNE" sweep conv3x3 --device fake,fake:1 --shape 5x7x7 --budget 60s --db k.db > out 2> err & pid=$!
until_true 20 'both runs have trials' '[ "$(count k.db "select count(*) from runs where trials > 2" 2> /dev/null)" = 2 ]'
kill -KILL $pid; wait $pid || true
until_true 10 'the sweeps stop without their parent' '[ "$(states k.db)" = interrupted,interrupted ]'

# One that fails is said and costs its own run.
code=0; sweep --device fake,fake:3,fake:9 --budget 3 --db f.db > out 2> err || code=$?
equal "exit with a device that is not there" $code 3
grep -q '^fake:9: nntune: .*number 9 was asked for' err || fail "the missing device: $(cat err)"
equal "runs beside it" "$(states f.db)" done,done
refused "a device twice" 2 'fake:1 stands twice' -- sweep --device fake:1,fake:1 --db n.db
refused "an unknown one" 2 "unknown device 'cpi'" -- sweep --device fake,cpi --db n.db
refused "an empty one" 2 "unknown device ''" -- sweep --device fake, --db n.db
[ ! -e n.db ] || fail "a refused list left a database"

# all: the GPUs that are there, and without one the cpu.
NNTUNE_LIBCUDA=/nonexistent sweep --device all --dry-run > out 2> err || fail "all without a GPU: $(cat err)"
grep -q '^conv3x3 .*legal of' out && ! grep -q '^==' out || fail "all without a GPU: $(cat out)"
cc -shared -fPIC -o libfake.so "$TESTS/unit/fake_nvidia.c" "$TESTS/unit/fake_nvidia_tools.c"
export NNTUNE_LIBCUDA="$PWD/libfake.so" NNTUNE_NVML="$PWD/libfake.so" NNTUNE_NVRTC="$PWD/libfake.so" FAKE_DEVICES=2
"$NNTUNE" devices -q | grep -q '^cuda:1' || { echo "skipped: no two cuda devices in this build"; exit 0; }
sweep --device all --dry-run > out 2> err || fail "all with GPUs: $(cat err)"
equal "GPUs found" "$(grep -c '^== cuda:[01]$' out)" 2
