# kill -9 of the sweep or of one of its workers at 20 random moments, each followed by --resume: the database stays sound, no
# trial stands twice, at most the trial in flight is repeated, and no child is left 2 s after the coordinator's death.
# Every second kill comes after the sweep has gone on (one trial more at least), the others at any time from its first moment.
. "$TESTS/process_lib.sh"
export NNTUNE_FAKE_COMPILE_MS=25 NNTUNE_FAKE_LOG="$PWD/loads"
budget=2000 # one compile child at 40 a second and two trials a compile: not reached within the kills, however fast the machine
sweep() { exec "$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --batch 1 --precision fp32 --strategy random --param "waves=1,2" -j 1 --budget $budget --seed 3 --db t.db -q "$@"; }
seed=${KILL_SEED:-$(date +%N | sed 's/^0*//')}; echo "KILL_SEED=$seed"
random() { seed=$(((seed * 1103515245 + 12345) % 2147483648)); echo $(((seed / 65536) % $1)); }
coordinator_kills=0
for i in $(seq 20); do
    before=$(count t.db 'select count(*) from trial' 2> /dev/null || echo 0)
    sweep --resume > out 2> err & pid=$!
    if [ $((i % 2)) -eq 0 ]; then
        until_true 30 'the sweep has stored one trial more' '[ "$(count t.db "select count(*) from trial" 2> /dev/null || echo 0)" -gt "$before" ]'
    fi
    sleep "0.$((10 + $(random 60)))"
    victims="$pid $(children_of $pid)"
    set -- $victims
    if [ "$(random 2)" -eq 0 ] || [ $# -eq 1 ]; then victim=$pid; coordinator_kills=$((coordinator_kills + 1))
    else shift "$(random $#)"; victim=$1; fi
    kill -9 "$victim" 2> /dev/null || true
    if [ "$victim" -ne "$pid" ]; then
        sleep 0.3 # the sweep goes on without that child
        kill -0 "$pid" 2> /dev/null || { wait $pid || fail "the sweep died with its child: $(cat err)"; }
        kill -9 "$pid" 2> /dev/null && coordinator_kills=$((coordinator_kills + 1)) || true
    fi
    wait $pid 2> /dev/null || true
    gone $pid 2
    sound t.db
    no_twice t.db
done
at_least "trials after 20 kills" "$(count t.db 'select count(*) from trial')" 10
budget=$(($(count t.db 'select count(*) from trial') + 20))
(sweep --resume) > out
sound t.db
no_twice t.db
equal runs "$(count t.db 'select count(*) from run')" 1
# What was loaded on the device more often than it is stored was in flight at a kill: one trial a kill at most. Finals load
# again and are not counted (they happen once, at the end, for at most 8).
loads=$(wc -l < loads); trials=$(count t.db 'select count(*) from trial')
[ "$loads" -le $((trials + 2 * coordinator_kills + 20 + 8)) ] || fail "$loads loads for $trials trials after $coordinator_kills kills"
