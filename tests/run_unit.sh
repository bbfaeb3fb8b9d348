#!/bin/sh
# Runs cmocka programs one after another, since some test time limits; those named in PURE only compute, so they come first
# and share the cores. Prints the log of those that fail; ends with one line of counts.
passed=0; failed=0; cases=0; skipped=0
for program in "$@"; do rm -f "$program.ended"; done
for program in "$@"; do
    case " ${PURE:-} " in *" $(basename "$program") "*) echo "$program" ;; esac
done | xargs -P "$(nproc 2> /dev/null || echo 2)" -I '{}' sh -c '"$1" > "$1.log" 2>&1; echo $? > "$1.ended"' run '{}'
for program in "$@"; do
    log="$program.log"
    [ -e "$program.ended" ] || { "$program" > "$log" 2>&1; echo $? > "$program.ended"; }
    if [ "$(cat "$program.ended")" = 0 ]; then passed=$((passed + 1)); printf '  ok      %s\n' "$(basename "$program")"
    else failed=$((failed + 1)); printf '  FAILED  %s\n' "$(basename "$program")"; cat "$log"; fi
    rm -f "$program.ended"
    # "[==========] 3 test(s) run." or, by newer versions, "[==========] name: 3 test(s) run."; one line a group
    for n in $(sed -n 's/^\[==========\].* \([0-9]*\) test(s) run\..*/\1/p' "$log"); do cases=$((cases + n)); done
    for n in $(sed -n 's/^ *\([0-9]*\) SKIPPED TEST(S)$/\1/p' "$log"); do skipped=$((skipped + n)); done
done
printf 'unit programs: %s passed, %s failed; %s cases, %s of them skipped\n' "$passed" "$failed" "$cases" "$skipped"
[ "$failed" -eq 0 ]
