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
children_of() { pgrep -f -- "(--compile-child|--device-worker) $1( |\$)" || true; }
gone() {
    i=0
    while [ -n "$(children_of "$1")" ]; do
        i=$((i + 1)); [ $i -le $(($2 * 10)) ] || fail "children of $1 are left after $2 s: $(children_of "$1")"
        sleep 0.1
    done
}
