# Random keys and sizes at the screen, for the long run under AddressSanitizer: make fuzz-top.
sh "$TESTS/screen/make_db.sh" t.db
export XDG_RUNTIME_DIR="$PWD/run" XDG_CONFIG_HOME="$PWD/config" NNTUNE_LIBCUDA=/nonexistent PYTHONDONTWRITEBYTECODE=1
mkdir run
python3 "$TESTS/screen/fuzz.py" "$NNTUNE" t.db "${EVENTS:-100000}" "${SEED:-1}"
