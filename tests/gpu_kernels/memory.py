#!/usr/bin/env python3
"""Judges memory-bound kernels, and attention, on a GPU. NNTUNE names the program; results go to OUT/memory.db.

    memory.py cells OUT [SECONDS]      time of each cell at batch 128 against what its bytes cost at this GPU's own roof
    memory.py attention OUT [SECONDS]  attention beside PyTorch's scaled_dot_product_attention, back to back

A cell passes at 1.1 times (floor + bytes / roof) or at 95 % of the rate of our relu on about the same bytes in the same
run. The roof is what our relu reaches on 2 GiB. Each prints a line a figure with its bar and verdict. Exit 1 when one is
short, 3 without a GPU. What SECONDS do not suffice for is left, and the same command goes on with it.
"""
import json
import os
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gpu"))
import figures as kept

DEVICE = os.environ.get("JUDGE_DEVICE", "cuda")
NNTUNE = os.environ.get("NNTUNE", "build/nntune")
# A rehearsal has neither the memory nor the time.
BATCH, ROOF_H = (128, 512) if DEVICE == "cuda" else (1, 32)
ROOF = ("relu", f"1024x{ROOF_H}x512", 1, "fp32")
BYTES = {"fp32": 4, "fp16": 2, "bf16": 2}
PRECISIONS = ("fp32", "fp16", "bf16")
# layer, shape, and elements moved per image: in and out (and the second operand)
CELLS = (
    ("relu", "256x56x56", 2 * 256 * 56 * 56),
    ("add", "256x56x56", 3 * 256 * 56 * 56),
    ("maxpool", "64x112x112", 64 * (112 * 112 + 56 * 56)),
    ("avgpool", "256x56x56-2x2", 256 * (56 * 56 + 28 * 28)),
    ("avgpool", "2048x7x7", 2048 * (49 + 1)),
    ("softmax", "2364x197", 2 * 2364 * 197),
    ("softmax", "1024x1024", 2 * 1024 * 1024),
    ("layernorm", "197x768", 2 * 197 * 768),
)
# relu cells of about the same bytes, by elements per image
LADDER = tuple((f"{c}x56x56", 2 * c * 56 * 56) for c in (4, 16, 64, 256, 512))
SECONDS_A_CELL = 5
part = "memory"


def say(name, figure, bar, passed, more=""):
    kept.say(part, name, figure, bar, passed, more)


def row(path, layer, shape, batch, precision):
    """Least time and its floor of our kernels, ns; None where nothing was measured."""
    if not os.path.exists(path):
        return None
    listed = json.loads(subprocess.run([NNTUNE, "layers", layer, "--json"], check=True, capture_output=True).stdout)
    dims = {s["name"]: s["shape"] for s in listed["layers"][0]["shapes"]}.get(shape)
    c, h, w = (shape.split("x") + ["", ""])[:3]
    with sqlite3.connect(path) as db:
        return db.execute(
            "select time_ns, floor_ns, kernel from trials where layer = ? and shape = ? and batch = ? and precision = ? "
            "and cache = 'cold' and outcome = 'ok' and coalesce(error_prec, 0) <= 0.01 order by time_ns limit 1",
            (layer, dims or f"c={c},h={h},w={w}", batch, precision)).fetchone()


def measured(path, layer, shape, batch, precision, end):
    found = row(path, layer, shape, batch, precision)
    if found is None and time.time() < end:
        code = subprocess.run([NNTUNE, "sweep", layer, "--device", DEVICE, "--shape", shape, "--batch", str(batch),
                               "--precision", precision, "--budget", f"{SECONDS_A_CELL}s", "--cache", "cold", "--profile",
                               "none", "--db", path, "-q"], stdout=subprocess.DEVNULL).returncode
        if code == 3:
            sys.exit(3)
        found = row(path, layer, shape, batch, precision)
    return found


def relu_rate(path, moved, precision, end):
    """Bytes a ns of our relu on the rung of the ladder nearest to `moved` bytes, its floor taken off."""
    size = BYTES[precision]
    shape, elements = min(LADDER, key=lambda rung: abs(rung[1] * BATCH * size - moved))
    found = measured(path, "relu", shape, BATCH, precision, end)
    return elements * BATCH * size / found[0] if found else None


def cells(out, seconds):
    end, path = time.time() + seconds, os.path.join(out, "memory.db")
    roof = measured(path, *ROOF, end)
    if roof is None:
        print("the roof was not measured: left for another call")
        return
    rate = 2 * 4 * 1024 * ROOF_H * 512 / roof[0]  # bytes a ns
    print(f"roof: {rate / 1e3:.2f} TB/s by relu on 2 GiB")
    for layer, shape, elements in CELLS:
        for precision in PRECISIONS:
            found = measured(path, layer, shape, BATCH, precision, end)
            if found is None:
                print(f"{layer} {shape} {precision}: left for another call")
                continue
            moved = elements * BATCH * BYTES[precision]
            allowed, like = 1.1 * ((found[1] or 0) + moved / rate), relu_rate(path, moved, precision, end)
            share = moved / found[0] / like if like else float("nan")
            say(f"{layer} {shape} batch {BATCH} {precision} ({found[2]})", f"{found[0] / 1e3:.2f} us",
                f"{allowed / 1e3:.2f} us, or 95 % of relu's rate", found[0] <= allowed or share >= 0.95,
                f", {100 * share:.0f} % of relu's rate")


def sdpa_us(batch, precision):
    """Median of 30 samples of CUDA-graph replays over a ring of inputs beyond L2, or None without PyTorch."""
    try:
        import torch
    except ImportError:
        return None
    kind = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[precision]
    one = batch * 197 * 3 * 12 * 64
    slots = max(2, min(256, int(200e6 / (one * BYTES[precision])) + 1))
    ring = [torch.randn(batch, 197, 3, 12, 64, device="cuda", dtype=kind).permute(2, 0, 3, 1, 4) for _ in range(slots)]

    def run():
        for qkv in ring:
            torch.nn.functional.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2])

    run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    times = []
    for _ in range(30):
        begin, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        stop.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(stop) * 1e3 / slots)
    return sorted(times)[15]


def attention(out, seconds):
    end, path = time.time() + seconds, os.path.join(out, "memory.db")
    for precision in ("fp16", "bf16", "fp32"):
        for batch in (1, 8, 32):
            found = measured(path, "attention", "12x197x64", batch, precision, end)
            theirs = sdpa_us(batch, precision) if found else None
            if found is None or theirs is None:
                print(f"attention batch {batch} {precision}: {'left for another call' if not found else 'no PyTorch here'}")
                continue
            say(f"attention batch {batch} {precision} ({found[2]})", f"{found[0] / 1e3:.2f} us", f"{theirs:.2f} us by SDPA",
                found[0] / 1e3 <= theirs, f", {theirs * 1e3 / found[0]:.2f} times as fast")


if __name__ == "__main__":
    parts = {"cells": cells, "attention": attention}
    if len(sys.argv) < 3 or sys.argv[1] not in parts:
        sys.exit(__doc__)
    os.makedirs(sys.argv[2], exist_ok=True)
    part = "memory" if sys.argv[1] == "cells" else "attention"
    parts[sys.argv[1]](sys.argv[2], float(sys.argv[3]) if len(sys.argv) > 3 else 1e9)
    sys.exit(1 if kept.short else 0)
