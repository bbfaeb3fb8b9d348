#!/bin/sh
# run_test.sh: run.sh, keep.py and merge.py with programs that only pretend: verdicts, slices that are not run again, what is
# on disk while a step runs, limits, going on elsewhere, and RESULTS.md from all of it. A few seconds; needs no GPU.
set -eu
tests=$(cd "$(dirname "$0")/.." && pwd)
room=$(mktemp -d); trap 'rm -rf "$room"' EXIT
cd "$room"
fail() { echo "run_test.sh: $*" >&2; exit 1; }
has() { grep -q -e "$2" "$1" || fail "no '$2' in $1: $(cat "$1")"; }
hasnt() { ! grep -q -e "$2" "$1" || fail "'$2' in $1: $(cat "$1")"; }

# The program sees a GPU. The judge of counters leaves a figure a part, and takes as long as PRETEND_SECONDS says.
printf '#!/bin/sh\necho "cuda:0 pretended"\n' > nntune
cat > judge << 'END'
#!/bin/sh
[ "$1" != starts ] || { echo "started $2 $3"; exit 0; }
[ "$1" != steps ] || exit 0
bar=$1; [ "$bar" != worker ] || bar=t1
echo "{\"bar\":\"$bar\",\"figure\":\"of $1\",\"unit\":\"s\",\"value\":1.5,\"lo\":1,\"hi\":2,\"must\":\"<= 2\",\"verdict\":\"${VERDICT:-holds}\"}" >> "$JUDGE_FIGURES"
sleep "${PRETEND_SECONDS:-0}"
[ "${VERDICT:-holds}" = holds ]
END
# The report as the real one writes it, in short.
cat > judges << 'END'
#!/bin/sh
while [ $# -gt 0 ]; do case $1 in --out) out=$2 ;; --commit) commit=$2 ;; esac; shift; done
{
    printf '# Results\n\n| | |\n|---|---|\n| commit | %s |\n| written | now |\n' "$commit"
    for done in "$out"/*.done; do bar=${done##*/}; echo "| bar ${bar%.done} judged at | $(cat "$done") |"; done
    printf '\n## Figures\n\n| bar | figure | value | interval | must be | verdict |\n|---|---|---|---|---|---|\n'
    cat "$out"/*.jsonl | python3 -c 'import json, sys
for line in sys.stdin:
    r = json.loads(line)
    r["between"] = "" if r.get("lo") is None else " %g to %g" % (r["lo"], r["hi"])
    r["value"] = "unknown" if r["value"] is None else "%g" % r["value"]
    print("| %(bar)s | %(figure)s | %(value)s %(unit)s |%(between)s | %(must)s | %(verdict)s |" % r)'
    printf '\n## Winners\n\n| problem |\n|---|\n\n## Details\n\n'
} > "$out/RESULTS.md"
END
chmod +x nntune judge judges
run() { # COMMIT OUT STEP..: exit code in $code, what it said in ran
    code=0
    NNTUNE=$room/nntune JUDGE=$room/judge JUDGES=$room/judges sh "$tests/gpu/run.sh" "$@" > ran 2>&1 || code=$?
}
exits() { [ "$code" -eq "$1" ] || fail "exit $code, not $1: $(cat ran)"; }

run 11aa out t1 starts; exits 0
has ran 'all of it holds'; has out/t1.jsonl '"of worker"'; has out/t1.jsonl '"of zeroing"'; has out/t1.done '^11aa '
tar xzOf out/results.tgz ./t1.jsonl t1.jsonl 2> /dev/null | grep -q worker || fail "the archive lacks figures"
run 11aa out t1; exits 0; has ran 'judged before at 11aa'
IN_ALL=10 run 11aa late advice; exits 1; has ran 'advice:-: left, no time'
run 11aa out nothing; exits 2; has ran "no step 'nothing'"

# While a step runs the archive has what is known by then; one that is cut off is short, and runs again when it is named again.
(while ! tar xzOf cut/results.tgz advice.jsonl > seen 2> /dev/null; do sleep 0.1; done; grep -q '"of advice"' seen && touch in-time; tail -n 1 cut/parts/advice.-.done > already 2> /dev/null || touch not-yet) &
PRETEND_SECONDS=30 LIMIT=1 EVERY=0.2 run 11aa cut advice; exits 1
wait $!
[ -e in-time ] && [ -e not-yet ] || fail "nothing was kept while the step ran"
has cut/advice.jsonl 'within its time'; has cut/advice.done 'not whole'
run 11aa cut advice; exits 0; hasnt cut/advice.jsonl 'within its time'; hasnt cut/advice.done 'not whole'

# Elsewhere, with what was brought back: at the same commit nothing is judged again, at another one it is.
RESUME=out/results.tgz run 11aa there t1; exits 0; has ran 'judged before'
RESUME=out/results.tgz run 22bb again t1 advice; exits 0; hasnt ran 'judged before'; has again/t1.done '^22bb '
RESUME=ran run 11aa broken t1; exits 2
VERDICT=short run 22bb bad advice; exits 1; has ran 'short: advice:-'

# RESULTS.md keeps what these archives do not hold, with its explanation, and takes what they do.
cat > RESULTS.md << 'END'
# Results

| | |
|---|---|
| commit | 0000 |
| device | A GPU |
| bar old judged at | 0000 2026-01-01 10:00 |
| bar t1 judged at | 0000 2026-01-01 10:00 |

## Figures

| bar | figure | value | interval | must be | verdict |
|---|---|---|---|---|---|
| old | of old | 3 % | | <= 2 | short |
| t1 | no more | 3 % | 2 to 4 | <= 5 | holds |

## Why some are short

- old, of old: it was a cold
  day.

## Winners

| problem | kernel |
|---|---|
| c=1 batch 1 | direct |

## Details

- bar old: by hand
END
merge() { code=0; RESULTS_MD=$room/RESULTS.md NNTUNE=$room/nntune JUDGES=$room/judges python3 -B "$tests/gpu/merge.py" "$@" > ran 2>&1 || code=$?; }
QUICK=1 run 33cc quick t1; merge quick/results.tgz; [ "$code" -ne 0 ] || fail "a rehearsal was merged"
merge ran; [ "$code" -ne 0 ] || fail "a text was merged"
merge out/results.tgz cut/results.tgz; exits 0
has RESULTS.md '^| commit | 11aa |'; has RESULTS.md '^| device | A GPU |'; has RESULTS.md '^| bar old judged at | 0000 2026'
has RESULTS.md '^| old | of old | 3 % | | <= 2 | short |'; has RESULTS.md '^| t1 | of worker | 1.5 s | 1 to 2 | <= 2 | holds |'
hasnt RESULTS.md 'no more'; has RESULTS.md '^- old, of old: it was a cold$'; has RESULTS.md '^  day.$'; has RESULTS.md '^| c=1 batch 1'
merge bad/results.tgz; exits 0; has ran 'why it is short.*advice, of advice'; has RESULTS.md '^| advice | of advice'
echo "gpu rehearsal: steps, archive, resuming and merging are well"
