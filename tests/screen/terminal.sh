# The terminal after every way of ending, and random keys and sizes. EVENTS=100000 for the long run.
command -v python3 > /dev/null || { echo "python3 is not installed: apt-get install python3" >&2; exit 1; }
sh "$TESTS/screen/make_db.sh" t.db
export XDG_RUNTIME_DIR="$PWD/run" XDG_CONFIG_HOME="$PWD/config" NNTUNE_LIBCUDA=/nonexistent
mkdir run
export PYTHONDONTWRITEBYTECODE=1
python3 "$TESTS/screen/modes.py" "$NNTUNE" t.db
python3 "$TESTS/screen/sweep_tui.py" "$NNTUNE"
cc -shared -fPIC -o libfake.so "$TESTS/unit/fake_nvidia.c" "$TESTS/unit/fake_nvidia_tools.c"
gpu=libfake.so
NNTUNE_LIBCUDA="$PWD/libfake.so" "$NNTUNE" devices -q | grep -q '^cuda:0' || gpu= # a build without CUDA's headers watches none
python3 "$TESTS/screen/trouble.py" "$NNTUNE" t.db $gpu
python3 "$TESTS/screen/fuzz.py" "$NNTUNE" t.db "${EVENTS:-3000}"
# A sweep is found by itself, and one that was killed is shown as such.
"$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --budget 1h -q --db live.db > sweep.out 2>&1 & sweep=$!
until ls run/nntune/sweep-*.json > /dev/null 2>&1; do sleep 0.05; done
until "$NNTUNE" top --dump text > found 2> err && grep -q "run 1 running" found; do sleep 0.1; done
grep -q " tried, " found || { cat found; exit 1; }
kill -9 $sweep; wait $sweep 2> /dev/null || true
"$NNTUNE" top --db live.db --dump text > found
grep -q "run 1 ended without a word" found || { cat found; exit 1; }
"$NNTUNE" top --dump text > found
[ -z "$(ls run/nntune)" ] || { echo "a dead sweep's file stays: $(ls run/nntune)" >&2; exit 1; }

# Where no screen can be drawn there are lines, and a word on why.
script -qec "env TERM=dumb '$NNTUNE' top --frames 1 --interval 0.1" /dev/null > dumb < /dev/null
grep -q "no full screen, because" dumb || { cat dumb; exit 1; }
grep -q "^[0-9:.]* *cpu *cpu" dumb || { cat dumb; exit 1; }
"$NNTUNE" top --db t.db > lines
grep -q "^run 1 done, 2 min 5 s: 160 tried, 132 ok, best 24 us igemm" lines || { cat lines; exit 1; }
