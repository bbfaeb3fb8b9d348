#!/bin/sh
# Runs the judge of hardware counters on a machine with an NVIDIA GPU and Nsight Compute.
# Usage: NNTUNE=program JUDGE=program sh check.sh FOLDER [worker] [slope] [ncu] [zeroing] [advice]    (all parts without a name)
set -u
out=${1:?a folder for the results is needed}; shift
parts=${*:-worker zeroing advice ncu slope}
ncu=$(command -v ncu || ls -d /opt/nvidia/nsight-compute/*/ncu /usr/local/cuda/bin/ncu 2> /dev/null | tail -n 1)
missed=0
now() { date +%s%N; }
twelve=sm__throughput.avg.pct_of_peak_sustained_elapsed,gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed
twelve=$twelve,l1tex__throughput.avg.pct_of_peak_sustained_active,lts__throughput.avg.pct_of_peak_sustained_elapsed
twelve=$twelve,gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed,gpu__time_duration.sum,sm__cycles_elapsed.max
twelve=$twelve,sm__warps_active.avg.pct_of_peak_sustained_active,dram__bytes_read.sum,dram__bytes_write.sum
twelve=$twelve,l1tex__t_sector_hit_rate.pct,smsp__issue_active.avg.pct_of_peak_sustained_active

worker() { "$JUDGE" worker "$NNTUNE" 500 || missed=1; }
advice() { "$JUDGE" advice || missed=1; }
# Nothing is judged here: what the first pass depends on.
starts() { for ranges in 32 128 512; do for launches in 0 1 100; do "$JUDGE" starts $ranges $launches; done; done; }
zeroing() { "$JUDGE" steps && "$JUDGE" zeroing || missed=1; }

ncu() {
    flop=
    for op in fadd fmul ffma dadd dmul dfma hadd hmul hfma; do
        flop=$flop,smsp__sass_thread_inst_executed_op_${op}_pred_on.sum
    done
    "$JUDGE" counted > "$out/ours.txt" || missed=1
    "$ncu" --csv --print-units base --replay-mode application --cache-control none --clock-control none -k regex:judge_ \
        --metrics "sm__warps_active.avg.pct_of_peak_sustained_active,dram__bytes_read.sum,dram__bytes_write.sum,gpu__time_duration.sum$flop" \
        --log-file "$out/ncu.csv" "$JUDGE" plain || missed=1
    "$JUDGE" compare "$out/ours.txt" "$out/ncu.csv" || missed=1
}

# Cost of a launch as the slope between 64 and 256 launches.
slope() {
    "$JUDGE" count 64 64 256 | tee "$out/count.txt" || missed=1
    for n in 64 256; do
        begin=$(now)
        "$ncu" --csv --clock-control none -k regex:judge_ --metrics "$twelve" --log-file "$out/slope$n.csv" "$JUDGE" launch $n || missed=1
        echo "ncu $n launches $((($(now) - begin) / 1000000)) ms" | tee -a "$out/count.txt"
    done
    "$JUDGE" slope "$out/count.txt" || missed=1
}

for part in $parts; do
    echo "== $part"
    "$part"
done
exit $missed
