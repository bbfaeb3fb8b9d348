# Kernels of vendors' libraries on the cpu: missing, of the wrong kind, beside ours, alone; never the winner of a problem.
. "$TESTS/process_lib.sh"
sweep() { "$NNTUNE" sweep conv3x3 --device cpu --wait --batch 1 --precision fp32 --shape 4x6x7 --db t.db "$@"; }

# A library that is not there, or is another: its kernels take no part, with the reason, and the sweep goes on.
NNTUNE_ONEDNN=/nonexistent.so sweep --vendor also --budget 2 > out 2> err || fail "a missing library ended the sweep: $(cat err)"
grep -q 'oneDNN takes no part: .*/nonexistent.so' err || fail "nothing said of the missing library: $(cat err)"
refused "only a missing library" 2 'no cpu kernel serves' 'nonexistent' -- env NNTUNE_ONEDNN=/nonexistent.so "$NNTUNE" sweep \
    conv3x3 --device cpu --wait --batch 1 --precision fp32 --shape 4x6x7 --db t.db --vendor only --budget 2
NNTUNE_ONEDNN=libm.so.6 sweep --vendor also --budget 2 > out 2> err || fail "a wrong library ended the sweep: $(cat err)"
grep -q 'oneDNN takes no part: .*no oneDNN' err || fail "nothing said of the wrong library: $(cat err)"
refused "no vendor measured" 1 'no run that measured' '--vendor also' -- "$NNTUNE" best --vs-vendor --db t.db
equal "vendors' trials without a library" "$(count t.db 'select count(*) from trials where vendor')" 0

# Where oneDNN is, it is measured and verified like ours, compared, and does not win.
sweep --vendor only --budget 2 > out 2> err || { grep -q 'Debian has it' err && exit 0; fail "oneDNN alone: $(cat err)"; }
equal "trials of oneDNN alone that are not ok" "$(count t.db "select count(*) from trials where vendor and outcome not in ('ok', 'abandoned')")" 0
at_least "trials of oneDNN" "$(count t.db "select count(*) from trials where vendor and kernel = 'onednn' and outcome = 'ok'")" 1
sweep --kernel onednn --budget 2 > out 2> err || fail "oneDNN by its name alone: $(cat err)"
grep -q ' onednn ' out || fail "oneDNN by its name alone has no winner: $(cat out)"
sweep --vendor only --dry-run > out 2> err || fail "oneDNN alone in a dry run: $(cat err)"
grep -q 'kernel onednn: ' out || fail "no space of oneDNN in a dry run: $(cat out)"
refused "no vendor's kernel" 2 "no vendor's library has one" "^  'nntune layers" -- "$NNTUNE" sweep conv1x1_chain3 --device cpu --vendor only
equal "winners of vendors" "$(count t.db 'select count(*) from best where vendor')" 0
sweep --vendor also --budget 12 > out 2> err || fail "oneDNN beside ours: $(cat err)"
equal "vendors' kernels in the finals" "$(count t.db 'select count(*) from trials where vendor and run = (select max(run) from runs) and rank > 1')" 1
equal "lines of the vendor in the summary" "$(grep -c '^    vendor: onednn takes .* times our time (cold)$' out)" 1
equal "winners of vendors" "$(count t.db 'select count(*) from best where vendor')" 0
sweep --vendor also --budget 2 --json > out 2> err || fail "oneDNN beside ours, as JSON: $(cat err)"
tail -n 1 out | python3 -c 'import json, sys; d = json.loads(sys.stdin.read()); p = d["problems"][0]
assert p["vendor_best"]["kernel"] == "onednn" and abs(p["vendor_best"]["ratio"] - d["vendor_ratio_cold"]) < 1e-9, p["vendor_best"]
assert d["vendor_ratio_hot"] is None' || fail "the summary of a vendor beside ours: $(tail -n 1 out)"
"$NNTUNE" best --vs-vendor --db t.db > out || fail "best --vs-vendor"
grep -q 'onednn' out && grep -q '^cold: the vendor takes .* geometric mean of 1$' out || fail "best --vs-vendor: $(cat out)"
"$NNTUNE" rerun "$(count t.db "select max(trial) from trials where vendor and outcome = 'ok'")" --db t.db > out 2> err ||
    fail "rerun of a vendor's trial: $(cat err)"
sound t.db
no_twice t.db
