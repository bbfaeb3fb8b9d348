#!/bin/sh
# Runs cmocka programs one after another; prints the log of those that fail; ends with one line of counts.
passed=0; failed=0; cases=0
for program in "$@"; do
    log="$program.log"
    if "$program" > "$log" 2>&1; then passed=$((passed + 1)); printf '  ok      %s\n' "$(basename "$program")"
    else failed=$((failed + 1)); printf '  FAILED  %s\n' "$(basename "$program")"; cat "$log"; fi
    n=$(sed -n 's/^\[==========\].*: \([0-9]*\) test(s) run\..*/\1/p' "$log" | head -1); cases=$((cases + ${n:-0}))
done
printf 'unit programs, %s cases: %s passed, %s failed\n' "$cases" "$passed" "$failed"
[ "$failed" -eq 0 ]
