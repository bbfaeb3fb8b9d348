#!/bin/sh
# Runs cmocka programs one after another; prints the log of those that fail; ends with one line of counts.
passed=0; failed=0; cases=0; skipped=0
for program in "$@"; do
    log="$program.log"
    if "$program" > "$log" 2>&1; then passed=$((passed + 1)); printf '  ok      %s\n' "$(basename "$program")"
    else failed=$((failed + 1)); printf '  FAILED  %s\n' "$(basename "$program")"; cat "$log"; fi
    # "[==========] 3 test(s) run." or, by newer versions, "[==========] name: 3 test(s) run."; one line a group
    for n in $(sed -n 's/^\[==========\].* \([0-9]*\) test(s) run\..*/\1/p' "$log"); do cases=$((cases + n)); done
    for n in $(sed -n 's/^ *\([0-9]*\) SKIPPED TEST(S)$/\1/p' "$log"); do skipped=$((skipped + n)); done
done
printf 'unit programs: %s passed, %s failed; %s cases, %s of them skipped\n' "$passed" "$failed" "$cases" "$skipped"
[ "$failed" -eq 0 ]
