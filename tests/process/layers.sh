# Layers of other kinds than convolutions through the whole program: without a weight (relu, attention), with a second operand
# in its place (add), with whole rows (layernorm), with optional sizes (maxpool). Each precision gives right trials, both layouts
# where there are two, and nothing is wrong, crashed or refused. The budgets are trials, not seconds.
. "$TESTS/process_lib.sh"
while read -r layer shape precisions layouts; do
    "$NNTUNE" sweep "$layer" --device cpu --wait --shape "$shape" --batch 2 --precision "$precisions" --layout "$layouts" --budget 8 -q --vendor never --db l.db > out 2> err || fail "$layer: exit $?: $(cat err)"
    for precision in $(echo "$precisions" | tr ',' ' '); do
        at_least "$layer $precision, trials ok" "$(count l.db "select count(*) from trials where layer = '$layer' and precision = '$precision' and outcome = 'ok'")" 1
    done
    equal "layouts of $layer" "$(count l.db "select count(distinct layout) from trials where layer = '$layer' and outcome = 'ok'")" "$(echo "$layouts" | tr ',' '\n' | wc -l)"
done <<'END'
relu c=9,h=7,w=6 fp32,int8 nhwc
add c=9,h=7,w=6 bf16 nhwc,nchw
maxpool c=9,h=7,w=8,window=2,stride=1 int8 nhwc,nchw
layernorm rows=5,c=37 fp16 nhwc
attention heads=2,tokens=19,d=16 fp32,bf16 nhwc
conv1x1_chain3 c=9,k1=5,k2=6,k=7,h=3,w=4 bf16 nhwc
END
equal "trials that failed" "$(count l.db "select count(*) from trials where outcome not in ('ok', 'abandoned', 'pruned')")" 0
equal "errors of what rounds nothing" "$(count l.db "select count(*) from trials where layer in ('relu', 'maxpool') and error_impl > 0")" 0
# a table of a layer without a weight
"$NNTUNE" table build relu --db l.db -o relu.ntb > out 2>&1 || fail "table of relu: $(cat out)"
"$NNTUNE" table lookup relu.ntb relu --shape c=9,h=7,w=6 --batch 2 --precision fp32 > out 2>&1 || fail "lookup: $(cat out)"
grep -q 'this device: measured at this shape and batch' out || fail "lookup found: $(cat out)"
# and of one with three preparations
"$NNTUNE" table build conv1x1_chain3 --db l.db -o chain.ntb > out 2>&1 || fail "table of conv1x1_chain3: $(cat out)"
"$NNTUNE" table lookup chain.ntb conv1x1_chain3 --shape c=9,k1=5,k2=6,k=7,h=3,w=4 --batch 2 --precision bf16 > out 2>&1 || fail "lookup: $(cat out)"
grep -q 'this device: measured at this shape and batch' out || fail "lookup found: $(cat out)"
# without --precision a layer is swept in those that it has kernels for
"$NNTUNE" sweep avgpool --device cpu --shape c=9,h=7,w=6 --dry-run > out 2>&1 || fail "default precisions of avgpool: $(cat out)"
grep -q int8 out && fail "avgpool has no int8: $(cat out)"
# and one that it has not is refused with what there is
refused "int8 of avgpool" 2 'precisions served: fp32, fp16, bf16' -- "$NNTUNE" sweep avgpool --device cpu --shape c=9,h=7,w=6 --precision int8 --dry-run
refused "a window larger than the image" 2 'does not fit' -- "$NNTUNE" sweep maxpool --device cpu --shape c=9,h=1,w=3,window=2 --dry-run
