"""The bar of `nntune profile` on a PyTorch program: torchvision's ResNet-50 with random weights, profile_load.py.

Kernels in the range `steady` must be as many as PyTorch's own profiler counts, their GPU time within 3 % of its sum; start-up
at most 1.5 s longer than unprofiled, steady wall time at most 10 % longer at batch 8 and 3 % at batch 128 (medians of
alternating runs); and killed in the middle, with its command, the database is sound and holds what was flushed.
Usage: judge_profile.py NNTUNE [--repeats 5] [--batches 8,128] [--parts wall,torch,kill,chosen] [--keep FOLDER] [--warm FILE]
--repeats is the most: three pairs are enough where all of them say the same of every bar. --warm FILE is there once the
program's files have come from the disk; where it is there, that is not done again."""
import argparse
import json
import os
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import figures as kept

HERE = os.path.dirname(os.path.abspath(__file__))
LOAD = [sys.executable, os.path.join(HERE, "profile_load.py")]
FEWEST_PAIRS = 3
MOST_STARTUP_S, MOST_GPU_PCT, MOST_WALL_PCT = 1.5, 3.0, {8: 10.0, 128: 3.0}


def verdict(figure, unit, value, sign, limit, interval=None):
    kept.judge("profile", figure, unit, value, interval, sign, limit)


def run(command, output):
    begun = time.time()
    done = subprocess.run(command, env=dict(os.environ, PROFILE_BEGUN=str(begun)), capture_output=True, text=True,
                          timeout=120)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    text = done.stdout if output == "stdout" else done.stderr
    figures = json.loads([line for line in text.splitlines() if line.startswith("{")][0])
    figures["whole_s"] = time.time() - begun
    return figures, done


def ratios(plain, ours):
    return [statistics.median(o["steady_s"]) / statistics.median(p["steady_s"]) for p, o in zip(plain, ours)]


def agreed(plain, ours, wall_pct):
    """Whether every pair is on the same side of each bar."""
    later = {o["startup_s"] - p["startup_s"] <= MOST_STARTUP_S for p, o in zip(plain, ours)}
    slower = {100 * (ratio - 1) <= wall_pct for ratio in ratios(plain, ours)}
    return len(ours) >= FEWEST_PAIRS and len(later) == len(slower) == 1


def compare(nntune, folder, batch, repeats):
    plain, ours = [], []
    document = None
    bar = MOST_WALL_PCT.get(batch, 10.0)
    while len(ours) < repeats and not agreed(plain, ours, bar):
        plain.append(run(LOAD + [str(batch)], "stdout")[0])
        figures, done = run([nntune, "profile", "--json", "--db", f"{folder}/t.db", "--trace", f"{folder}/t.json", "--"] +
                            LOAD + [str(batch)], "stderr")
        ours.append(figures)
        document = json.loads(done.stdout)
        warnings = [line for line in done.stderr.splitlines() if line.startswith("nntune:")]
        if warnings:
            print("  ", "; ".join(warnings))
    startup = [statistics.median(f["startup_s"] for f in side) for side in (plain, ours)]
    whole = [statistics.median(f["whole_s"] for f in side) for side in (plain, ours)]
    pairs = ratios(plain, ours)
    more = 100 * (statistics.median(pairs) - 1)
    alone = [statistics.median(f["steady_s"]) for f in plain]
    for name, side in (("plain", plain), ("ours", ours)):
        print(f"   {name}: start-up {[round(f['startup_s'], 2) for f in side]}, steady "
              f"{[round(s, 4) for f in side for s in f['steady_s']]} s")
    print(f"batch {batch}: whole program {whole[0]:.2f} s, recorded and summed up {whole[1]:.2f} s")
    verdict(f"batch {batch}: start-up, how much longer recorded", "s", startup[1] - startup[0], "<=", MOST_STARTUP_S,
            kept.spread([o["startup_s"] - p["startup_s"] for p, o in zip(plain, ours)]))
    verdict(f"batch {batch}: steady wall time, how much longer recorded, {len(pairs)} pairs", "%", more, "<=", bar,
            kept.spread([100 * (pair - 1) for pair in pairs]))
    if max(alone) > (1 + bar / 100) * min(alone):
        print(f"   unrecorded runs differ by {100 * (max(alone) / min(alone) - 1):.0f} % among themselves: this machine "
              "needs more --repeats for a verdict")
    return document


def against_torch(document, folder, batch):
    theirs, _ = run(LOAD + [str(batch), "--torch-profiler", f"{folder}/torch.json"], "stdout")
    rows = {row["range"]: row for row in document["ranges"]}
    steady, iteration = rows["steady"], rows["iteration"]
    off = 100 * (steady["total_ns"] / theirs["gpu_ns"] - 1)
    verdict(f"batch {batch}: kernels in the range, over PyTorch's own count", "", steady["kernels"] / theirs["kernels"], "==",
            1)
    verdict(f"batch {batch}: GPU time off PyTorch's, either way", "%", abs(off), "<=", MOST_GPU_PCT)
    verdict(f"batch {batch}: iterations found", "", iteration["calls"], "==", 100)
    verdict(f"batch {batch}: kernels outside of iterations", "", steady["kernels"] - iteration["kernels"], "==", 0)
    verdict(f"batch {batch}: work without its launch, records dropped, bytes lost", "",
            document["unplaced"] + document["dropped"] + document["lost_bytes"], "==", 0)
    verdict(f"batch {batch}: whole to the end", "", int(document["processes"][0]["ended"]), "==", 1)
    print(f"   first iteration {iteration['first_ns'] / 1e6:.3f} ms, later {iteration['steady_ns'] / 1e6:.3f} ms; idle "
          f"{document['idle_pct']:.1f} %, copies {document['copy_pct']:.2f} %, peak memory "
          f"{(document['memory_peak_bytes'] or 0) / 2**20:.0f} MiB, {len(document['kernels'])} names")
    for row in document["kernels"][:5]:
        print(f"   {row['calls']:6d} {row['total_ns'] / 1e6:9.3f} ms {row['share_pct']:5.1f} %  occupancy at most "
              f"{row['occupancy_limit_pct']} by {row['occupancy_limiter']}  {row['kernel'][:70]}")


def killed(nntune, folder):
    path = f"{folder}/killed.db"
    process = subprocess.Popen([nntune, "profile", "--db", path, "--"] + LOAD + ["8", "--forever"], start_new_session=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    kernels, deadline = 0, time.time() + 60
    while kernels < 2000 and time.time() < deadline and process.poll() is None:
        time.sleep(0.5)
        if os.path.exists(path):
            kernels = count(path)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    with sqlite3.connect(path) as database:
        sound = database.execute("pragma integrity_check").fetchone()[0]
        placed = database.execute("select count(*) from profile_work where \"range\" is not null").fetchone()[0]
    verdict("killed: the database is sound", "", int(sound == "ok"), "==", 1)
    verdict("killed: kernels that were there before and are not now", "", max(0, kernels - count(path)), "==", 0)
    verdict("killed: kernels that are there", "", count(path), ">=", 2000)
    kept.tell("profile", "killed: of them in ranges", "", placed)


def chosen(nntune, folder):
    """Counters of the convolutions and products of batch 8: every one plausible, and the recording as without them."""
    plain, done = run([nntune, "profile", "--json", "--db", f"{folder}/t.db", "--"] + LOAD + ["8"], "stderr")
    without = json.loads(done.stdout)
    _, done = run([nntune, "profile", "--json", "--counters", "gemm|conv|xmma|cudnn|cutlass", "--launches", "3", "--db",
                   f"{folder}/t.db", "--"] + LOAD + ["8"], "stderr")
    print(done.stderr[-500:])
    document = json.loads(done.stdout)
    counts = document["counters"]
    limit = {row["kernel"]: row["occupancy_limit_pct"] for row in document["kernels"]}
    rows = [row for row in counts["kernels"] if row["name"] == "occupancy_pct"]
    above = [row["kernel"] for row in rows if row["most"] is None or row["most"] > (limit.get(row["kernel"]) or 100) + 2]
    bytes_read = [row["median"] for row in counts["kernels"] if row["name"] == "dram_read_bytes"]
    judged = lambda *rest: kept.judge("chosen", *rest)
    judged("launches counted", "", counts["launches"], None, ">=", 20)
    judged("passes of the usual set", "", counts["passes"], None, "==", 1)
    judged("kernels with counters", "", len(rows), None, ">=", 5)
    judged("of them with an occupancy unknown or above their limit", "", len(above), None, "<=", 0)
    judged("of them with DRAM bytes unknown", "", sum(b is None for b in bytes_read), None, "<=", 0)
    judged("launches counted in vain", "", counts["disturbed"], None, "<=", 0)
    judged("kernel calls recorded, over those without counting", "", document["kernel_calls"] / without["kernel_calls"],
           None, "==", 1)
    counted_ms = sum(row["median"] for row in counts["kernels"] if row["name"] == "counter_time_ns") / 1e6
    recorded = {row["kernel"]: row["median_ns"] for row in without["kernels"]}
    recorded_ms = sum(recorded.get(row["kernel"], 0) for row in rows) / 1e6
    kept.tell("chosen", "durations under the counters over recorded ones", "", counted_ms / recorded_ms if recorded_ms else None)


def count(path):
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10) as database:
            return database.execute("select count(*) from profile_work where kind = 'kernel'").fetchone()[0]
    except sqlite3.OperationalError:  # its tables are being made
        return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("nntune")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--batches", default="8,128")
    parser.add_argument("--parts", default="wall,torch,kill")
    parser.add_argument("--keep")
    parser.add_argument("--warm", type=os.path.abspath)
    options = parser.parse_args()
    nntune = os.path.abspath(options.nntune)
    with tempfile.TemporaryDirectory() as folder:
        folder = options.keep or folder
        if not (options.warm and os.path.exists(options.warm)):
            run(LOAD + ["1"], "stdout")  # whose files come from the disk
        if options.warm:
            open(options.warm, "w").close()
        if "chosen" in options.parts:
            chosen(nntune, folder)
        for batch in map(int, options.batches.split(",")) if "wall" in options.parts else []:
            document = compare(nntune, folder, batch, options.repeats)
            if "torch" in options.parts:
                against_torch(document, folder, batch)
        if "kill" in options.parts:
            killed(nntune, folder)
    sys.exit(1 if kept.short else 0)


main()
