# Outputs of a user's kernel in every type: right ones pass, one element off by the least step is found and named, elements
# that nobody writes are found in integers too; and what a launch reads and writes is put back before each sample.
. "$TESTS/process_lib.sh"
export NNTUNE_CACHE_DIR="$PWD/cache"
python3 - << 'END'
import json
# type, C type, a value near the type's limit, the least step there as an expression over element 7
rows = [("u8", "uint8_t", "255 - i"), ("i8", "int8_t", "i - 128"), ("i16", "int16_t", "i - 32768"), ("u16", "uint16_t", "65535 - i"),
        ("i32", "int32_t", "INT32_MIN + i"), ("u32", "uint32_t", "UINT32_MAX - (uint32_t)i"),
        ("i64", "int64_t", "INT64_MIN + i"), ("u64", "uint64_t", "UINT64_MAX - (uint64_t)i"),
        ("f16", "uint16_t", "0x3c00 + i"), ("bf16", "uint16_t", "0x3f80 + i"), ("f8e4m3", "uint8_t", "0x38 + i"),
        ("f32", "float", "1 + i * 0x1p-23f"), ("f64", "double", "1 + i * 0x1p-52")]
names = [row[0] for row in rows]
parameters = ", ".join("%s *%s_" % (c, n) for n, c, _ in rows)
body = "\n".join("        %s_[i] = (%s)(%s);" % (n, c, e) for n, c, e in rows)
fault = "\n".join("    if (which == %d) { if (how == 0) %s_[7] = %s_[6]; }" % (i, n, n) for i, n in enumerate(names))
open("types.c", "w").write("""#include <stdint.h>
void types(const int32_t *x, %s, int64_t begin, int64_t end)
{
    for (int64_t at = begin; at < end; at++) {
        int i = x[at];
        if (how == 1 && at == 0)
            continue;
%s
    }
    if (end <= 7 || begin > 6)
        return;
%s
}
""" % (parameters, body, fault))
open("reference.c", "w").write("""#include <stdint.h>
void reference(const int32_t *x, %s)
{
    for (int at = 0; at < 8; at++) {
        int i = x[at];
%s
    }
}
""" % (parameters, body))
json.dump({"nntune_spec": 1, "name": "types", "language": "c", "sources": ["types.c"], "sizes": {"n": 8},
           "parameters": [{"name": "which", "values": list(range(len(rows)))}, {"name": "how", "values": [2, 0, 1]}],
           "arguments": [{"name": "x", "type": "i32", "count": "n", "fill": "index"}] +
                        [{"name": n, "type": n, "count": "n", "access": "write",
                          "tolerance": {"absolute": 0, "relative": 0}} for n in names],
           "kernels": [{"entry": "types", "grid": "n"}],
           "reference": {"sources": ["reference.c"], "entry": "reference"}}, open("types.json", "w"))
open("names", "w").write("\n".join(names) + "\n")
END
types=$(wc -l < names)

# ---- right in every type; one element of one type off
"$NNTUNE" sweep --spec types.json --where 'how == 2 and which == 0' --budget 1 --ci 50 -q --db right.db > out 2> err || fail "right outputs: $(cat err)"
equal "right outputs" "$(count right.db "select count(*) from trials where outcome = 'ok' and error_impl = 0")" 1
code=0; "$NNTUNE" sweep --spec types.json --where 'how == 0' --budget "$types" --strategy exhaustive -q --db off.db > out 2> err || code=$?
equal "outputs off: exit" $code 4
i=0
while read -r type; do
    equal "$type off by a step" "$(count off.db "select count(*) from trials where outcome = 'wrong_result' and json_extract(params, '\$.which') = $i and reason like '$type, input set 1: 1 of 8 elements %element 7:%'")" 1
    i=$((i + 1))
done < names
equal "digits of 64-bit integers" "$(count off.db "select count(*) from trials where reason like 'i32,%: -2147483642 where the reference has -2147483641'")" 1

# ---- an element that is not written: 255 is the right value of it in u8, and the poison of the first set
code=0; "$NNTUNE" sweep --spec types.json --where 'how == 1 and which == 0' --budget 1 -q --db left.db > out 2> err || code=$?
equal "unwritten: exit" $code 4
equal "unwritten" "$(count left.db "select count(*) from trials where outcome = 'wrong_result'")" 1
python3 - << 'END'
import json
spec = json.load(open("types.json"))
spec["name"] = "mask"
spec["arguments"] = [a for a in spec["arguments"] if a["name"] in ("x", "u8")]
spec["parameters"] = [{"name": "how", "values": [0, 1]}]
spec["sources"] = ["mask.c"]
spec["reference"]["sources"] = ["mask_reference.c"]
spec["kernels"][0]["entry"] = "mask"
json.dump(spec, open("mask.json", "w"))
open("mask.c", "w").write("""#include <stdint.h>
void mask(const int32_t *x, uint8_t *y, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        if (how == 0 || x[i] < 4)
            y[i] = x[i] < 4 ? 0 : 255;
}
""")
open("mask_reference.c", "w").write("""#include <stdint.h>
void reference(const int32_t *x, uint8_t *y)
{
    for (int i = 0; i < 8; i++)
        y[i] = x[i] < 4 ? 0 : 255;
}
""")
END
code=0; "$NNTUNE" sweep --spec mask.json --budget 2 --ci 50 -q --db mask.db > out 2> err || code=$?
equal "a mask whose ones are not written" "$(count mask.db "select group_concat(outcome || ' ' || reason, '|') from (select outcome, coalesce(reason, '') reason from trials order by json_extract(params, '\$.how'))")" "ok |wrong_result u8, input set 2: 4 of 8 elements are off by more than the tolerance (worst inf times); the first is element 4: 165 where the reference has 255"

# ---- a buffer that is read and written does not drift: this kernel crashes where it finds what 25,000 launches left
cat > drift.c <<'C'
void drift(float *y, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        if ((y[i] += 1) > 25000)
            *(volatile int *)8 = 1;
}
C
cat > drift.json <<'J'
{"nntune_spec": 1, "name": "drift", "language": "c", "sources": ["drift.c"], "sizes": {"n": 4},
 "parameters": [{"name": "a", "values": [1, 2]}],
 "arguments": [{"name": "y", "type": "f32", "count": "n", "access": "readwrite", "fill": "constant", "constant": 0}],
 "kernels": [{"entry": "drift", "grid": "n"}], "reference": {"configuration": {}}}
J
"$NNTUNE" sweep --spec drift.json --cache hot --budget 2 --ci 50 -q --db drift.db > out 2> err || fail "a kernel in place: $(cat err) $(count drift.db 'select outcome, reason from trials')"
equal "in place" "$(count drift.db "select sum(outcome in ('ok', 'abandoned')) || ' of ' || count(*) from trials")" "2 of 2"
