# Every kind of plot is drawn by the real gnuplot from a database that real sweeps made; its script gives the same picture again;
# what cannot be drawn is said, with what would be right.
. "$TESTS/process_lib.sh"
command -v gnuplot > /dev/null || fail "gnuplot is not installed: apt-get install gnuplot-nox"
"$NNTUNE" sweep conv3x3 --device cpu --shape 4x5x6 --batch 1,2 --precision fp32,int8 --kernel direct --budget 16 --seed 1 --db t.db -q > out
run=$(count t.db 'select max(run) from runs')
# What a CPU has not: a second device with the same problems and name, occupancies. The times stay those measured.
sqlite3 -bail t.db "
    insert into device select id + 100, 'cuda', 'GPU-1', name, 'sm_90', 90, 132, memory_bytes, l2_bytes, 227328, 233472, 1024,
        65536, 65536, 1024, 2048, 32, 32, 1980, 2619 from device limit 1;
    insert into environment select id + 100, device_id + 100, driver, compiler, features from environment limit 1;
    insert into run select id + 100, 101, 101, source, state, command, options, nntune_version, seed, strategy, host,
        started_unix_s, ended_unix_s, compile_s, verify_s, measure_s, idle_s, total_s, 4.8e12, '{\"fp32\":6.7e13}', 'a formula'
        from run where id = $run;
    create temp table copy as select * from trial where run_id = $run;
    update copy set id = id + 1000, run_id = run_id + 100, occupancy_limit_pct = 25 * (1 + id % 4), occupancy_limiter = 'registers';
    insert into trial select * from copy;
    insert into sample select trial_id + 1000, phase, launches_per_sample, ns, per_block from sample;
    insert into rollup select run_id + 100, problem_id, cache, outcome, trials, least_time_ns, least_trial_id + 1000 from rollup;
    insert into counter select id, 'occupancy_pct', occupancy_limit_pct * 0.9, '%', 'made up', 1, 'cold' from copy;"
for kind in heatmap roofline batch precision occupancy convergence budget samples devices crossover; do
    device=; [ $kind = occupancy ] && device='--device cuda'
    "$NNTUNE" plot $kind --db t.db $device -o $kind.svg -q 2> err || fail "$kind: $(cat err)"
    grep -q '</svg>' $kind.svg || fail "$kind.svg is no picture"
    mv $kind.svg first.svg
    gnuplot $kind.gp 2> err || fail "$kind.gp: $(cat err)"
    [ -s err ] && fail "$kind.gp warns: $(cat err)"
    cmp first.svg $kind.svg || fail "the script of $kind draws another picture"
    "$NNTUNE" plot $kind --db t.db $device -o - > text || fail "$kind as text"
    [ "$(wc -l < text)" -ge 5 ] || fail "$kind as text: $(cat text)"
done
"$NNTUNE" top --device cpu --json --interval 0.2 --frames 4 --log frames.log > /dev/null 2> err || fail "top: $(cat err)"
[ -s frames.log ] || fail "top wrote no log"
tail -1 frames.log | cut -c 1-40 >> frames.log
"$NNTUNE" plot live --log frames.log -o live.svg -q 2> err || fail "live: $(cat err)"
grep -q '1 lines of the log are no frames' live.svg || fail "a line cut short is not said"
mv live.svg first.svg; gnuplot live.gp; cmp first.svg live.svg || fail "the script of live draws another picture"

# The cpu against the GPU: its times made twice the cpu's at batch 1 and half at 2, so that they cross between, without copies;
# copies are unknown, then given, then as a profile has them.
cp t.db cross.db
sqlite3 cross.db "delete from final; delete from sample;
    update trial set time_ns = time_ns * f, time_lo_ns = time_lo_ns * f, time_hi_ns = time_hi_ns * f from
        (select id as p, case batch when 1 then 2.0 else 0.5 end as f from problem) where run_id > 100 and problem_id = p"
words() { "$NNTUNE" plot crossover --db cross.db --precision fp32 "$@" -o - | tr '\n' ' ' | tr -s ' '; }
words > text; grep -q 'Without copies, the GPU is faster from batch 2 on; the lines cross at 1\.' text || fail "$(cat text)"
grep -q 'copies are unknown: no profile of this GPU' text || fail "unknown copies are not said: $(cat text)"
words --link 1000 > text; grep -q 'With copies, the GPU is faster from batch 2 on' text || fail "fast copies: $(cat text)"
grep -q 'inputs at 1e+03 GB/s and outputs at 1e+03 GB/s, as given' text || fail "a given rate is not said: $(cat text)"
words --link 0.00001 > text; grep -q 'With copies, the GPU is not faster at the largest batch' text || fail "slow copies: $(cat text)"
sqlite3 cross.db "insert into profile_work (run_id, number, kind, process, device_uuid, start_ns, duration_ns, bytes, direction)
        values (1, 1, 'copy', 0, 'GPU-1', 0, 100000, 2000000, 'host to device'), (1, 2, 'copy', 0, 'GPU-1', 0, 200000, 2000000, 'device to host'),
               (1, 3, 'copy', 0, 'GPU-1', 0, 900000, 2000, 'host to device'), (1, 4, 'copy', 0, 'GPU-2', 0, 1, 2000000, 'host to device')" ||
    fail "the profile cannot be made up"
words > text; grep -q 'inputs at 20 GB/s and outputs at 10 GB/s, as measured' text || fail "a profile's copies: $(cat text)"

# The same in words by the comparison, either way round.
"$NNTUNE" compare run:$run run:$((run + 100)) --db cross.db --link 1000 > text || [ $? -eq 5 ] || fail "compare"
grep -q 'fp32: the GPU is faster without copies from batch 2 on (the lines cross at 1\..*; with copies from batch 2 on' text ||
    fail "crossover by compare: $(cat text)"
"$NNTUNE" compare run:$((run + 100)) run:$run --db cross.db --link 0.00001 > text || [ $? -eq 5 ] || fail "compare"
grep -q 'without copies from batch 2 on .*; with copies not at the largest batch' text || fail "turned round: $(cat text)"

# Both devices of one name are told apart.
grep -q '(\.\.GPU-1)' devices.svg || fail "two devices of one name look the same"

# Other formats, by the name's end; an old file is replaced; nothing is left behind.
echo old > p.png; "$NNTUNE" plot budget --db t.db -o p.png -q; head -c 4 p.png | grep -q PNG || fail "no PNG"
"$NNTUNE" plot budget --db t.db -o p.pdf -q; head -c 4 p.pdf | grep -q PDF || fail "no PDF"
"$NNTUNE" plot budget --db t.db -o bare -q; [ -s bare.svg ] && [ -s bare.gp ] || fail "a bare name is no SVG"
mkdir "it's"; "$NNTUNE" plot budget --db t.db -o "it's/a 'b'.svg" -q; (cd "it's" && gnuplot "a 'b'.gp" && [ -s "a 'b'.svg" ])

plot_refuses() { # words that the message must have, exit code, arguments
    words=$1; wanted=$2; shift 2
    code=0; "$NNTUNE" plot "$@" --db t.db > out 2> err || code=$?
    equal "exit of plot $*" $code "$wanted"
    grep -q -e "$words" err || fail "plot $*: $(cat err)"
}
plot_refuses 'kinds: heatmap' 2 pie
plot_refuses "did you mean 'heatmap'" 2 heatmaps
plot_refuses '.svg, .png or .pdf' 2 budget -o p.bmp
plot_refuses 'nntune top --log' 2 live
plot_refuses 'no-such.log' 1 live --log no-such.log
plot_refuses 'parameters: ' 2 heatmap --x nothing
plot_refuses 'no-such-folder' 1 budget -o no-such-folder/p.svg
plot_refuses 'that match' 1 budget --precision bf16
plot_refuses 'occupancy' 1 occupancy --device cpu
plot_refuses 'two devices' 1 devices --device cpu
plot_refuses 'on a cpu and on a GPU' 1 crossover --device cpu
plot_refuses 'link' 2 crossover --link 0
plot_refuses 'control characters' 2 budget -o 'a
b.svg'

# Without gnuplot: said, script and data kept, text drawn.
mkdir nothing
PATH=$PWD/nothing "$NNTUNE" plot budget --db t.db -o later.svg > text 2> err
grep -q 'gnuplot is not installed' err && [ -s later.gp ] && [ -s later.dat ] && [ ! -e later.svg ] || fail "without gnuplot: $(cat err)"
grep -q 'Where the time' text || fail "no text instead"
gnuplot later.gp && [ -s later.svg ] || fail "the script kept for later does not run"
# A gnuplot that has no such terminal.
mkdir poor; printf '#!/bin/sh\necho dumb unknown svg\n' > poor/gnuplot; chmod +x poor/gnuplot
code=0; PATH=$PWD/poor:$PATH "$NNTUNE" plot budget --db t.db -o p2.png 2> err || code=$?
equal "exit without the terminal" $code 2
grep -q "terminal 'pngcairo'" err || fail "$(cat err)"

# One trial, and a time that is no number.
cp t.db one.db
"$NNTUNE" plot convergence --db one.db --run "$run" --batch 1 --precision int8 -o one.svg -q || fail "few points"
sqlite3 one.db "pragma ignore_check_constraints = 1; update trial set time_ns = 9e999, time_lo_ns = -1, time_hi_ns = null where id = 2;
    delete from sample where trial_id > 6; delete from final; delete from counter where trial_id > 6; delete from rollup;
    delete from trial where id > 3"
for kind in convergence heatmap samples precision batch; do
    "$NNTUNE" plot $kind --db one.db -o one.svg -q 2> err || grep -q 'nothing to plot' err || fail "$kind of three: $(cat err)"
done
