# `nntune doctor` without a GPU: exit 3 with the reason, every section there, JSON that says the same.
. "$TESTS/process_lib.sh"
export NNTUNE_LIBCUDA=/nonexistent NNTUNE_NVML=/nonexistent NNTUNE_LIBCUPTI=/nonexistent
export XDG_DATA_HOME="$PWD/data" NNTUNE_CACHE_DIR="$PWD/cache"
code=0; "$NNTUNE" doctor > text 2> err || code=$?
equal "exit" $code 3
equal "standard error" "$(cat err)" ""
for section in system driver libraries counters tools places; do
    grep -q "^$section\$" text || fail "no section $section: $(cat text)"
done
grep -q -e "bad   cuda driver .*named by NNTUNE_LIBCUDA" -e "bad   cuda driver .*built without NVIDIA's CUDA headers" text || fail "the driver: $(cat text)"
grep -q "bad   cupti .*CUPTI.*not found" text || fail "CUPTI: $(cat text)"
grep -q "NNTUNE_LIBCUPTI" text || fail "what to do about CUPTI: $(cat text)"
grep -q "ok    cache .*$PWD/cache" text || fail "the cache: $(cat text)"
grep -q "none  database .*$PWD/data.*not there yet" text || fail "the database: $(cat text)"
equal "last line" "$(tail -n 1 text)" "hardware counters do not work: there is no usable GPU"

code=0; "$NNTUNE" doctor --json > json || code=$?
equal "exit with --json" $code 3
[ ! -e /usr/bin/python3 ] || python3 - <<'END' || fail "JSON"
import json
found = json.load(open("json"))
assert found["type"] == "doctor" and found["schema_version"] == 1 and found["counters_work"] is False, found
assert found["reason"] == "there is no usable GPU", found
checks = {(c["section"], c["name"]): c for c in found["checks"]}
assert checks["counters", "counters"]["finding"] == "bad" and checks["counters", "counters"]["next"], checks
assert all(c["finding"] in ("ok", "note", "bad", "none") for c in found["checks"])
END

# What is missing is named with what to do.
code=0; NNTUNE_CC=/nonexistent/cc "$NNTUNE" doctor > text || code=$?
equal "exit without a compiler" $code 3
grep -q "bad   c compiler .*/nonexistent/cc" text || fail "the compiler: $(cat text)"
code=0; PATH=/nonexistent "$NNTUNE" doctor > text || code=$?
grep -q "note  gnuplot " text || fail "gnuplot: $(cat text)"
