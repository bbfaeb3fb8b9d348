# `nntune top` without a GPU: lines of the cpu, JSON, a log, an end on request; and what it refuses.
. "$TESTS/process_lib.sh"
export NNTUNE_LIBCUDA=/nonexistent
"$NNTUNE" top --frames 3 --interval 0.1 > plain 2> err || fail "plain: $(cat err)"
equal "headings" "$(grep -c '^time  *device  *source  *busy %' plain)" 1
equal "lines of frames" "$(grep -c '^[0-9:.]*  *cpu  *cpu ' plain)" 3
grep -q '^sources of cpu: cpu: busy %' plain || fail "no sources: $(cat plain)"

"$NNTUNE" top --json --frames 2 --interval 0.1 --log log > json 2> err || fail "json: $(cat err)"
cmp json log || fail "the log differs from what was shown"
"$NNTUNE" top --plain --frames 1 --interval 0.1 --log log > plain2 || fail "a log is appended to"
equal "lines of the log" "$(wc -l < log)" 3
[ ! -e /usr/bin/python3 ] || python3 - <<'END' || fail "frames as JSON"
import json
for line in open("json"):
    frame = json.loads(line)
    assert frame["type"] == "live" and frame["device"] == "cpu" and frame["source"] == "cpu", frame
    assert 0 <= frame["busy_pct"] <= 100 and frame["sources"]["busy_pct"] == "cpu", frame
    assert frame["occupancy_pct"] is None and frame["core_busy_pct"], frame
END

# It ends with 0 on Ctrl-C, and when its reader has gone.
"$NNTUNE" top --json --interval 0.1 > out 2> err & top=$!
sleep 0.6
kill -INT $top
wait $top || fail "Ctrl-C ends with $?: $(cat err)"
at_least "frames before Ctrl-C" "$(wc -l < out)" 2
"$NNTUNE" top --json --interval 0.1 | head -n 1 > out
equal "frames for a reader that left" "$(wc -l < out)" 1

refuses() { # CODE WORDS ARGUMENT...
    expected=$1; words=$2; shift 2
    code=0; "$NNTUNE" top "$@" > out 2> err || code=$?
    equal "exit of top $*" $code "$expected"
    grep -q -e "$words" err || fail "top $*: '$words' is not in: $(cat err)"
}
refuses 2 "0.1" --interval 0.01
refuses 2 "did you mean 'gpm'" --source gmp
refuses 2 "unknown device" --device tpu
refuses 2 "a cpu has no source" --device cpu --source pm
refuses 1 "cannot open the log" --log /nonexistent/log --frames 1
refuses 3 "driver library was not found\|built without NVIDIA.s CUDA headers" --device cuda:0
refuses 3 "no GPU to watch" --source gpm
