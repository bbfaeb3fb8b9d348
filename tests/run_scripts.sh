#!/bin/sh
# run_scripts.sh NAME script...: runs shell tests one after another, each in an empty folder with its own HOME, caches and
# locks, and prints the log of those that fail. A script fails by a non-zero exit. NNTUNE is the program under test.
set -u
suite=$1; shift
passed=0; failed=0
export LC_ALL=C.UTF-8
here=$(cd "$(dirname "$0")" && pwd)
for script in "$@"; do
    name=$(basename "$script" .sh)
    room=$(mktemp -d)
    mkdir "$room/work" "$room/home"
    begin=$(date +%s)
    if (cd "$room/work" && env -i PATH="$PATH" LC_ALL=C.UTF-8 HOME="$room/home" TMPDIR="$room" NNTUNE="$NNTUNE" \
            NNTUNE_LOCK_DIR="$room/locks" NNTUNE_FAKE_STATE="$room/fake-state" TESTS="$here" \
            UPDATE="${UPDATE:-}" EVENTS="${EVENTS:-}" SEED="${SEED:-}" \
            sh -eu "$here/../$script") > "$room/log" 2>&1; then
        passed=$((passed + 1)); printf '  ok      %s (%s s)\n' "$name" $(($(date +%s) - begin))
    else
        failed=$((failed + 1)); printf '  FAILED  %s\n' "$name"; cat "$room/log"
    fi
    rm -rf "$room"
done
printf '%s: %s passed, %s failed\n' "$suite" "$passed" "$failed"
[ "$failed" -eq 0 ]
