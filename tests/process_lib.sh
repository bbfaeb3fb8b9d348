# lib.sh: helpers of the process tests; sourced.
fail() { echo "FAILED: $*" >&2; exit 1; }
count() { sqlite3 "$1" "$2"; }
equal() { [ "$2" = "$3" ] || fail "$1: expected '$3', found '$2'"; }
at_least() { [ "$2" -ge "$3" ] || fail "$1: expected at least $3, found $2"; }
sound() { equal "integrity of $1" "$(count "$1" 'pragma integrity_check')" ok; }
# no_twice DB: no trial stands twice in a run.
no_twice() {
    equal "trials stored twice" "$(count "$1" "select count(*) from (select 1 from trial group by run_id, problem_id, kernel_id, configuration_id, cache having count(*) > 1)")" 0
}
# gone PID SECONDS: no process of the group or child is left after that time.
children_of() { pgrep -f -- "(--compile-child|--device-worker|--counter-worker) $1( |\$)" || true; }
gone() {
    i=0
    while [ -n "$(children_of "$1")" ]; do
        i=$((i + 1)); [ $i -le $(($2 * 10)) ] || fail "children of $1 are left after $2 s: $(children_of "$1")"
        sleep 0.1
    done
}
# until_true SECONDS WHAT CONDITION: waits for a shell condition instead of for a time.
until_true() {
    i=0
    until eval "$3"; do
        i=$((i + 1)); [ $i -le $(($1 * 20)) ] || fail "after $1 s still not so: $2"
        sleep 0.05
    done
}
# refused NAME EXIT PATTERN... -- COMMAND...: exits with that code and says each pattern on stderr (cases apart).
refused() {
    name=$1; wanted=$2; shift 2; : > patterns
    while [ "$1" != -- ]; do printf '%s\n' "$1" >> patterns; shift; done
    shift; code=0; "$@" > refused.out 2> refused.err || code=$?
    [ "$code" -eq "$wanted" ] || fail "$name: exit $code, expected $wanted: $(cat refused.err)"
    while read -r pattern; do grep -qi -e "$pattern" refused.err || fail "$name: no word of '$pattern' in: $(cat refused.err)"; done < patterns
}
