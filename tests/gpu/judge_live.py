"""The bar of live sampling: what `nntune top` at 10 Hz costs a process that it watches, and itself.

For a load bound by device memory and one of matrix products, in processes of their own, windows without and with a
watcher follow each other; the load's rate in a watched window is compared with the windows before and after it. Bars:
the load loses under 1 %, the watcher uses under 5 % of one core. Values are printed beside `nvidia-smi dmon`.
Usage: judge_live.py NNTUNE [--seconds 30] [--rest 3] [--sources gpm,pm,nvml] [--loads dram,gemm] [--sweep]"""
import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import figures as kept

HERE = os.path.dirname(os.path.abspath(__file__))
FIELDS = ["busy_pct", "sm_active_pct", "occupancy_pct", "tensor_pct", "dram_pct", "dram_read_pct", "dram_write_pct",
          "dram_read_bytes_per_s", "sm_clock_mhz", "power_mw"]
MOST_LOSS_PCT, MOST_CORE_PCT, SETTLE_S = 1.0, 5.0, 1.0
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / TICKS


class Load:
    def __init__(self, kind, folder):
        self.path = os.path.join(folder, kind)
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "live_load.py"), kind, self.path])
        deadline = time.time() + 60
        while not self.blocks() and time.time() < deadline and self.process.poll() is None:
            time.sleep(0.2)

    def blocks(self):
        if not os.path.exists(self.path):
            return []
        with open(self.path) as file:
            return [tuple(map(float, line.split())) for line in file if line.endswith("\n")]

    def rate(self, begin, end):
        rates = [rate for at, rate in self.blocks() if begin + SETTLE_S <= at <= end]
        return statistics.median(rates) if rates else float("nan")

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Watcher:
    def __init__(self, nntune, source, folder):
        self.out = open(os.path.join(folder, "top"), "w+")
        self.errors = open(os.path.join(folder, "errors"), "w+")
        self.process = subprocess.Popen([nntune, "top", "--json", "--source", source, "--interval", "0.1"],
                                        stdout=self.out, stderr=self.errors)
        deadline = time.time() + 15
        while os.fstat(self.out.fileno()).st_size == 0 and time.time() < deadline and self.process.poll() is None:
            time.sleep(0.05)

    def cpu(self):
        return cpu_seconds(self.process.pid) if self.process.poll() is None else float("nan")

    def stop(self):
        """How long it took to end, its exit code, its frames, what it said."""
        begin = time.time()
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=20)
        took = time.time() - begin
        self.out.seek(0)
        self.errors.seek(0)
        return took, code, [json.loads(line) for line in self.out], self.errors.read().strip()


def medians(frames):
    found = {}
    for field in FIELDS:
        values = [frame[field] for frame in frames if frame.get(field) is not None]
        if values:
            found[field] = (statistics.median(values), frames[-1]["sources"].get(field, ""))
    return found


def show_values(frames):
    for field, (value, source) in medians(frames).items():
        print(f"      {field:24} {value:16.2f}  {source}")


def dmon():
    """What another reader sees in the first seconds of a load, while clocks settle."""
    time.sleep(1)
    try:
        text = subprocess.run(["nvidia-smi", "dmon", "--gpm-metrics", "2,3,10", "-c", "4"], capture_output=True, text=True)
    except OSError as why:
        print(f"    {why}")
        return
    print("    nvidia-smi dmon --gpm-metrics 2,3,10:")
    print("\n".join("      " + line for line in text.stdout.splitlines()))


def rest(seconds):
    begin = time.time()
    time.sleep(seconds)
    return begin, time.time()


def watch(nntune, source, seconds, folder):
    watcher = Watcher(nntune, source, folder)
    begin, before = time.time(), watcher.cpu()
    time.sleep(seconds)
    end, after = time.time(), watcher.cpu()
    return begin, end, 100 * (after - before) / (end - begin), watcher.stop()


def judge(args, kind, folder):
    """Windows in a row: rest, source, rest, source, ..., rest."""
    load = Load(kind, folder)
    dmon()
    rests, watched = [rest(args.rest)], []
    for source in args.sources:
        watched.append((source, watch(args.nntune, source, args.seconds, folder)))
        rests.append(rest(args.rest))
    for i, (source, (begin, end, core_pct, (took, code, frames, said))) in enumerate(watched):
        around = [load.rate(*rests[i]), load.rate(*rests[i + 1])]
        rate = load.rate(begin, end)
        loss = 100 * (1 - rate / statistics.mean(around))
        rate_hz = len(frames) / max(frames[-1]["time_unix_s"] - frames[0]["time_unix_s"], 1e-9) if len(frames) > 1 else 0
        sides = sorted(100 * (1 - rate / side) for side in around)
        kept.judge("live", f"{kind} load watched by {source}: what it loses", "%", loss, sides, "<=", MOST_LOSS_PCT)
        kept.judge("live", f"{kind} load watched by {source}: our share of one core", "%", core_pct, None, "<=",
                   MOST_CORE_PCT)
        kept.judge("live", f"{kind} load watched by {source}: frames over those due", "", len(frames) / (10 * args.seconds),
                   None, ">=", 0.8)
        kept.judge("live", f"{kind} load watched by {source}: exit code", "", code, None, "==", 0)
        print(f"      load {around[0]:.3f} {rate:.3f} {around[1]:.3f} launches/s; {rate_hz:.1f} frames/s, ended in "
              f"{took * 1e3:.0f} ms")
        if said:
            print("      said: " + said[-500:])
        if frames:
            show_values(frames[5:] or frames)
            lags = [frame["lag_s"] for frame in frames if frame["lag_s"] is not None]
            known = sum(frame["samples"] != 0 for frame in frames)
            print(f"      frames with values {known}, overflows {frames[-1]['lost']}, median age "
                  f"{statistics.median(lags) if lags else float('nan'):.2f} s")
    load.stop()


def judge_sweep(args, folder):
    """A pm watcher lets the counters go within a second of a sweep's start, and takes them again behind it."""
    watcher = Watcher(args.nntune, "pm", folder)
    time.sleep(1)
    database = os.path.join(folder, "t.db")
    begin = time.time()
    sweep = subprocess.run([args.nntune, "sweep", "conv3x3", "--db", database, "--budget", "4s", "-q"], capture_output=True,
                           text=True)
    end = time.time()
    time.sleep(2.5)
    took, code, frames, said = watcher.stop()
    later = [frame["time_unix_s"] for frame in frames if frame["source"] != "pm"]
    gave_way = min(later) - begin if later else float("nan")
    again = frames and frames[-1]["source"] == "pm"
    kept.judge("live", "sweep beside pm: exit code", "", sweep.returncode, None, "==", 0)
    kept.judge("live", "sweep beside pm: until the counters are let go, its start included", "s", gave_way, None, "<=", 1.5)
    kept.judge("live", "sweep beside pm: pm again at the end", "", int(bool(again)), None, "==", 1)
    print(f"      the sweep took {end - begin:.1f} s")
    print("      said: " + said[-700:])
    if sweep.returncode != 0:
        print(sweep.stderr[-700:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("nntune")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rest", type=float, default=3)
    parser.add_argument("--sources", type=lambda text: text.split(","), default=["gpm", "pm", "nvml"])
    parser.add_argument("--loads", type=lambda text: text.split(","), default=["dram", "gemm"])
    parser.add_argument("--sweep", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for kind in args.loads:
            if kind:
                judge(args, kind, folder)
        if args.sweep:
            judge_sweep(args, folder)
    return 1 if kept.short else 0


sys.exit(main())
