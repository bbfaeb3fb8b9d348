"""The bar of `nntune profile` on a PyTorch program: torchvision's ResNet-50 with random weights, profile_load.py.

Kernels in the range `steady` must be as many as PyTorch's own profiler counts, their GPU time within 3 % of its sum; start-up
at most 1.5 s longer than unprofiled, steady wall time at most 10 % longer at batch 8 and 3 % at batch 128 (medians of
alternating runs); and killed in the middle, with its command, the database is sound and holds what was flushed.
Usage: judge_profile.py NNTUNE [--repeats 5] [--batches 8,128] [--parts wall,torch,kill] [--keep FOLDER]"""
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

HERE = os.path.dirname(os.path.abspath(__file__))
LOAD = [sys.executable, os.path.join(HERE, "profile_load.py")]
MOST_STARTUP_S, MOST_GPU_PCT, MOST_WALL_PCT = 1.5, 3.0, {8: 10.0, 128: 3.0}
results = []


def verdict(good, text):
    results.append(good)
    print(f"{'ok    ' if good else 'SHORT '} {text}", flush=True)


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


def compare(nntune, folder, batch, repeats):
    plain, ours = [], []
    document = None
    for _ in range(repeats):
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
    pairs = [statistics.median(o["steady_s"]) / statistics.median(p["steady_s"]) for p, o in zip(plain, ours)]
    more = 100 * (statistics.median(pairs) - 1)
    alone = [statistics.median(f["steady_s"]) for f in plain]
    bar = MOST_WALL_PCT.get(batch, 10.0)
    for name, side in (("plain", plain), ("ours", ours)):
        print(f"   {name}: start-up {[round(f['startup_s'], 2) for f in side]}, steady "
              f"{[round(s, 4) for f in side for s in f['steady_s']]} s")
    print(f"batch {batch}: whole program {whole[0]:.2f} s, recorded and summed up {whole[1]:.2f} s")
    verdict(startup[1] - startup[0] <= MOST_STARTUP_S,
            f"batch {batch}: start-up {startup[0]:.2f} s, {startup[1] - startup[0]:+.2f} s recorded "
            f"(at most {MOST_STARTUP_S})")
    verdict(more <= bar, f"batch {batch}: steady wall time {more:+.2f} % by {len(pairs)} pairs (at most {bar})")
    if max(alone) > (1 + bar / 100) * min(alone):
        print(f"   unrecorded runs differ by {100 * (max(alone) / min(alone) - 1):.0f} % among themselves: this machine "
              "needs more --repeats for a verdict")
    return document


def against_torch(document, folder, batch):
    theirs, _ = run(LOAD + [str(batch), "--torch-profiler", f"{folder}/torch.json"], "stdout")
    rows = {row["range"]: row for row in document["ranges"]}
    steady, iteration = rows["steady"], rows["iteration"]
    off = 100 * (steady["total_ns"] / theirs["gpu_ns"] - 1)
    verdict(steady["kernels"] == theirs["kernels"],
            f"batch {batch}: {steady['kernels']} kernels in the range, PyTorch's profiler has {theirs['kernels']}")
    verdict(abs(off) <= MOST_GPU_PCT, f"batch {batch}: GPU time {steady['total_ns'] / 1e6:.3f} ms, PyTorch "
            f"{theirs['gpu_ns'] / 1e6:.3f} ms, {off:+.2f} % (within {MOST_GPU_PCT})")
    verdict(iteration["calls"] == 100 and iteration["kernels"] == steady["kernels"] and document["unplaced"] == 0,
            f"batch {batch}: {iteration['calls']} iterations with {iteration['kernels']} kernels, "
            f"{document['unplaced']} without their launch")
    verdict(document["dropped"] == 0 and document["lost_bytes"] == 0 and document["processes"][0]["ended"],
            f"batch {batch}: {document['dropped']} records dropped, {document['lost_bytes']} bytes lost, whole to the end")
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
    verdict(sound == "ok" and count(path) >= kernels >= 2000,
            f"killed: integrity {sound}, {count(path)} kernels are there of {kernels} seen before, {placed} in ranges")


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
    options = parser.parse_args()
    nntune = os.path.abspath(options.nntune)
    with tempfile.TemporaryDirectory() as folder:
        folder = options.keep or folder
        run(LOAD + ["1"], "stdout")  # whose files come from the disk
        for batch in map(int, options.batches.split(",")):
            document = compare(nntune, folder, batch, options.repeats)
            if "torch" in options.parts:
                against_torch(document, folder, batch)
        if "kill" in options.parts:
            killed(nntune, folder)
    sys.exit(0 if all(results) else 1)


main()
