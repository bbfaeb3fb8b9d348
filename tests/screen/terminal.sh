# The terminal after every way of ending, and random keys and sizes. FUZZ=100000 for the long run.
command -v python3 > /dev/null || { echo "python3 is not installed: apt-get install python3" >&2; exit 1; }
sh "$TESTS/screen/make_db.sh" t.db
export XDG_RUNTIME_DIR="$PWD/run" XDG_CONFIG_HOME="$PWD/config" NNTUNE_LIBCUDA=/nonexistent
mkdir run
python3 "$TESTS/screen/modes.py" "$NNTUNE" t.db
python3 "$TESTS/screen/fuzz.py" "$NNTUNE" t.db "${FUZZ:-3000}"
# Where no screen can be drawn there are lines, and a word on why.
script -qec "env TERM=dumb '$NNTUNE' top --frames 1 --interval 0.1" /dev/null > dumb < /dev/null
grep -q "no full screen, because" dumb || { cat dumb; exit 1; }
grep -q "^[0-9:.]* *cpu *cpu" dumb || { cat dumb; exit 1; }
"$NNTUNE" top --db t.db > lines
grep -q "^run 1 done, 2 min 5 s: 160 tried, 132 ok, best 24 us igemm" lines || { cat lines; exit 1; }
