"""Occupancy and DRAM bandwidth of `nntune top` against `nvidia-smi dmon --gpm-metrics`, on three loads taken in turn.

usage: accuracy.py NNTUNE [--seconds 12] [--loads dram,gemm,conv]
Both watch at the same time, a value a second; the medians have to be within 3 points. Intervals are the quartiles."""
import argparse, json, os, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "gpu"))
import figures as kept

BAR_POINTS = 3
METRICS = {"sm_active_pct": 2, "occupancy_pct": 3, "dram_pct": 10}  # as NVML numbers them


def dmon_rows(text):
    """The last columns of each row are the metrics asked for, in their order; '-' is unknown."""
    found = {name: [] for name in METRICS}
    for line in text.splitlines():
        words = line.split()
        if line.startswith("#") or len(words) <= len(METRICS):
            continue
        for name, word in zip(METRICS, words[-len(METRICS):]):
            if word != "-":
                found[name].append(float(word))
    return found


def top_rows(text):
    frames = [json.loads(line) for line in text.splitlines() if line.strip()]
    return {name: [f[name] for f in frames if f.get(name) is not None] for name in METRICS}


def watch(nntune, seconds):
    count = str(seconds)
    dmon = subprocess.Popen(["nvidia-smi", "dmon", "-i", "0", "-d", "1", "-c", count, "--gpm-metrics",
                             ",".join(map(str, METRICS.values()))], stdout=subprocess.PIPE, text=True)
    top = subprocess.Popen([nntune, "top", "--device", "cuda:0", "--source", "gpm", "--json", "--interval", "1", "--frames",
                            count], stdout=subprocess.PIPE, text=True)
    return dmon_rows(dmon.communicate()[0]), top_rows(top.communicate()[0])


def judge(load, dmon, top):
    for name in ("occupancy_pct", "dram_pct"):
        if len(dmon[name]) < 5 or len(top[name]) < 5:
            print(f"{load} {name}: too few values: {len(dmon[name])} of nvidia-smi, {len(top[name])} of ours")
            kept.judge("accuracy", f"{load} load: {name} off nvidia-smi's", "points", None, None, "<=", BAR_POINTS)
            continue
        ours, theirs = statistics.median(top[name]), statistics.median(dmon[name])
        quartiles = statistics.quantiles(top[name], n=4)
        kept.judge("accuracy", f"{load} load: {name} off nvidia-smi's", "points", abs(ours - theirs), None, "<=", BAR_POINTS)
        kept.tell("accuracy", f"{load} load: {name}, ours", "%", ours, (quartiles[0], quartiles[2]))
        kept.tell("accuracy", f"{load} load: {name}, nvidia-smi's", "%", theirs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("nntune", type=os.path.abspath)
    parser.add_argument("--seconds", type=int, default=12)
    parser.add_argument("--loads", default="dram,gemm,conv", type=lambda text: text.split(","))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for load in args.loads:
            path = os.path.join(folder, load)
            process = subprocess.Popen([sys.executable, os.path.join(HERE, "..", "gpu", "live_load.py"), load, path])
            deadline = time.time() + 90
            while not (os.path.exists(path) and os.path.getsize(path) > 0) and time.time() < deadline:
                time.sleep(0.2)
            time.sleep(3)  # clocks settle
            if process.poll() is not None:
                sys.exit(f"the load {load} ended early")
            judge(load, *watch(args.nntune, args.seconds))
            process.terminate()
            process.wait()
    sys.exit(1 if kept.short else 0)


if __name__ == "__main__":
    main()
