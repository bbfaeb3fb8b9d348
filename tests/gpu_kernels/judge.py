#!/usr/bin/env python3
"""Judges CUDA kernels on a GPU. NNTUNE names the program; results go to OUT, which later calls go on with.

    judge.py verify OUT [SECONDS [I/N [TRIALS]]] every kernel of ours x precision x layout on odd shapes, against the reference
    judge.py bench OUT I/N [SECONDS]    slice I of N of grid.tsv: ours beside the vendors' libraries, hot and cold
    judge.py report OUT                 the ratios of all cells so far against their bars, and OUT/kernels.md
    judge.py sparse OUT [SECONDS]       2:4 sparse weights against dense ones, tf32 against fp32, on fully connected layers
    judge.py fused OUT [SECONDS]        fused kernels against the same work as launches of their own, with the predicted gain
    judge.py sanitize OUT [SECONDS [I/N]] compute-sanitizer (memcheck, racecheck) on one configuration of each kernel

Each prints a line a figure with its bar and verdict. Exit 1 when one is short, 3 without a GPU. What SECONDS do not
suffice for is said to be left, and the same command goes on with it.
"""
import json
import math
import os
import sqlite3
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # nothing is left in the source tree
import fused

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "gpu"))
import figures as kept

DEVICE = os.environ.get("JUDGE_DEVICE", "cuda")  # another one rehearses where there is no GPU
NNTUNE = os.environ.get("NNTUNE", "build/nntune")
VENDORS = ("cudnn", "cublaslt")
# Sizes that fit no tile: of images and of matrices. A kernel that refuses them (its channels must fill whole 16 bytes, for
# example) gets those of EVEN.
EVEN = {
    "chain": "c=72,k1=24,k2=40,k=136,h=7,w=9,c=128,k1=264,k2=64,k=200,h=6,w=5",
    "image": "c=16,k=24,h=9,w=11,c=64,k=72,h=7,w=13,c=128,k=264,h=6,w=5",
    "matrix": "c=144,k=72,c=528,k=1000",
}
ODD = {
    "image": "c=16,k=24,h=9,w=11,c=64,k=72,h=7,w=13,c=3,k=5,h=15,w=8,c=128,k=264,h=6,w=5",
    "matrix": "c=136,k=72,c=528,k=1000,c=5,k=7",
    "narrow": "c=3,k=5,h=15,w=9,c=3,k=72,h=18,w=32,c=2,k=24,h=9,w=11,c=4,k=40,h=17,w=22",
    "plane": "c=16,h=9,w=11,c=64,h=7,w=13,c=3,h=15,w=8,c=129,h=6,w=5",
    "window": "c=16,h=9,w=11,window=2,c=64,h=7,w=13,window=3,stride=2,c=3,h=15,w=8,window=5,stride=1",
    "rows": "rows=7,c=197,rows=3,c=1000,rows=9,c=64,rows=1,c=5",
    "chain": "c=72,k1=24,k2=40,k=136,h=7,w=9,c=5,k1=33,k2=3,k=17,h=3,w=5,c=128,k1=264,k2=64,k=200,h=6,w=5",
    "heads": "heads=3,tokens=37,d=48,heads=2,tokens=197,d=64,heads=1,tokens=1,d=16",
}
CELL_SECONDS = 5  # of one cell and cache mode; both begin with what the cells before found
part_name = ""  # the bar that figures are kept as


def say(name, figure, bar, passed, more=""):
    kept.say(part_name, name, figure, bar, passed, more)


def nntune(*words, seconds=120):
    """Runs the program; its exit code, or 124 when it took too long."""
    try:
        return subprocess.run([NNTUNE, *words], timeout=seconds, stdout=subprocess.DEVNULL).returncode
    except subprocess.TimeoutExpired:
        return 124


def rows(path, sql, *values):
    if not os.path.exists(path):
        return []
    with sqlite3.connect(path) as db:
        return db.execute(sql, values).fetchall()


def cuda_kernels():
    """(layer, shape keys, kernel) of each CUDA kernel that is ours."""
    layers = json.loads(subprocess.run([NNTUNE, "layers", "--json"], check=True, capture_output=True).stdout)["layers"]
    for layer in layers:
        detail = json.loads(
            subprocess.run([NNTUNE, "layers", layer["layer"], "--json"], check=True, capture_output=True).stdout)
        for kernel in detail["layers"][0]["kernels"]:
            if kernel["device_kind"] == DEVICE.split(":")[0] and kernel["kernel"] not in VENDORS:
                yield layer["layer"], layer["shape_keys"].split(","), kernel


def wanted_kernels(part):
    """Part "I/N" of them, and of these those that KERNELS="conv3x3.shift fc.gemm" names."""
    index, count = (int(x) for x in part.split("/"))
    every, only = list(cuda_kernels()), os.environ.get("KERNELS", "").split()
    unknown = set(only) - {f"{layer}.{kernel['kernel']}" for layer, _, kernel in every}
    if unknown:
        sys.exit(f"judge.py: KERNELS: there is no {' '.join(sorted(unknown))} on {DEVICE}; 'nntune layers' lists them")
    return [row for number, row in enumerate(every) if number % count == index % count and
            (not only or f"{row[0]}.{row[2]['kernel']}" in only)]


def odd_shapes(keys, kernel):
    """Lists of shapes, the next one for who refuses the one before."""
    if "heads" in keys or "rows" in keys:
        return [ODD["heads" if "heads" in keys else "rows"]]
    if "k1" in keys:
        return [ODD["chain"], EVEN["chain"]]
    if kernel.startswith("strip"):
        return [ODD["narrow"]]
    if "k" in keys:
        kind = "image" if "h" in keys else "matrix"
        return [ODD[kind], EVEN[kind]]
    return [ODD["window" if kernel == "window" else "plane"]] if "h" in keys else [None]


def lines_of(path):
    """What was done before, the latest last."""
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return file.read().splitlines()


def add_line(path, line):
    with open(path, "a") as file:
        file.write(line + "\n")


def usable():
    if nntune("sweep", "conv3x3", "--device", DEVICE, "--dry-run", "-q") == 3:
        sys.exit(3)


# ---- verify ------------------------------------------------------------------------------------------------------------


def judge_outcomes(path, after, layer, kernel, precision, layout):
    """Of runs later than `after`."""
    these = "from trials where run > ? and layer = ? and kernel = ? and precision = ? and layout = ?"
    key = (after, layer, kernel, precision, layout)
    counts = dict(rows(path, f"select outcome, count(*) {these} group by outcome", *key))
    right = counts.get("ok", 0) + counts.get("abandoned", 0)
    name = f"{layer}.{kernel} {precision} {layout}"
    if not counts:
        print(f"{name}: serves none of the odd shapes")
        return
    wrong = sum(counts.get(o, 0) for o in ("wrong_result", "crashed", "timed_out", "launch_failed", "compile_failed"))
    spills = rows(path, f"select count(*) {these} and spill_bytes > 0", *key)[0][0]
    say(name, f"{right} right, {wrong} not", "some, 0", right > 0 and wrong == 0, f", {spills} with spills")
    for outcome, params, reason in rows(
            path, f"select outcome, params, reason {these} and outcome not in ('ok', 'abandoned', 'pruned') limit 3", *key):
        print(f"    {outcome}: {params}: {reason}")


def sweep_odd(layer, kernel, layout, shapes, trials, path, seconds):
    problems = 4 * (2 if trials > 2 else 1) * len(kernel["precisions"])
    for some in shapes:
        words = ["--shape", some] if some else []
        code = nntune("sweep", layer, "--device", DEVICE, "--kernel", kernel["kernel"], *words, "--batch",
                      "1,3" if trials > 2 else "3", "--precision", ",".join(kernel["precisions"]), "--layout", layout,
                      "--strategy", "random", "--budget", str(problems * trials), "--ci", "10", "--cache", "hot", "--seed",
                      "3", "--profile", "none", "--db", path, "-q", seconds=seconds)
        if code != 2:
            return


def verify(out, seconds, part="0/1", trials="6"):
    """Part I of N: parts may run side by side, each with an OUT and a NNTUNE_LOCK_DIR of its own; no time is judged here.
    So many TRIALS of each problem. Kernels that KERNELS names are judged anew."""
    end = time.time() + seconds
    path, done_path = os.path.join(out, "verify.db"), os.path.join(out, "verify.done")
    # Kernels whose sweeps came to their end, each with the last run before them.
    done = dict(line.split() for line in lines_of(done_path))
    for layer, keys, kernel in wanted_kernels(part):
        name = f"{layer}.{kernel['kernel']}"
        if name not in done or os.environ.get("KERNELS"):
            if time.time() > end:
                print(f"{name}: left for another call")
                continue
            done[name] = (rows(path, "select max(id) from run") or [(0,)])[0][0] or 0
            for layout in kernel["layouts"]:
                sweep_odd(layer, kernel, layout, odd_shapes(keys, kernel["kernel"]), int(trials), path,
                          max(20, end - time.time()))
            add_line(done_path, f"{name} {done[name]}")
        for precision in kernel["precisions"]:
            for layout in kernel["layouts"]:
                judge_outcomes(path, int(done[name]), layer, kernel["kernel"], precision, layout)


# ---- bench -------------------------------------------------------------------------------------------------------------


def grid():
    with open(os.path.join(HERE, "grid.tsv")) as lines:
        for line in lines:
            if not line.startswith("#"):
                layer, shape, precision, layout, batch, us = line.rstrip("\n").split("\t")
                yield layer, shape, precision, layout, int(batch), float(us)


def best(path, cell, cache, vendor):
    """Least time and floor of a cell in ns, with kernel and params; None where nothing ran."""
    found = rows(path, "select time_ns, floor_ns, kernel, params from trials where layer = ? and shape = ? and "
                       "precision = ? and layout = ? and batch = ? and cache = ? and vendor = ? and outcome = 'ok' "
                       "order by time_ns limit 1", *cell[:5], cache, vendor)
    return found[0] if found else None


def carry_best(out, path, cell):
    """The cell's least times as lines of bench.best, which is small enough to be carried where bench.db is not."""
    for cache in ("hot", "cold"):
        for vendor in (0, 1):
            found = best(path, cell, cache, vendor)
            if found:
                add_line(os.path.join(out, "bench.best"), json.dumps([cell[:5], cache, vendor, found]))


def carried(out):
    """{(cell, cache, vendor): least time, floor, kernel, params} of bench.best."""
    rows_of = [json.loads(line) for line in lines_of(os.path.join(out, "bench.best"))]
    return {(tuple(cell), cache, vendor): tuple(found) for cell, cache, vendor, found in rows_of}


def bench(out, part, seconds):
    index, count = (int(x) for x in part.split("/"))
    end = time.time() + seconds
    path = os.path.join(out, "bench.db")
    left = 0
    # Cells that ran to their end; one may lack a side (a library that does not do it), so the database does not tell.
    done_path = os.path.join(out, "bench.done")
    done = lines_of(done_path)
    for number, cell in enumerate(grid()):
        if number % count != index % count:
            continue
        name = " ".join(map(str, cell[:5]))
        if name in done:
            continue
        if time.time() + 2 * CELL_SECONDS > end:
            left += 1
            continue
        layer, shape, precision, layout, batch, _ = cell
        code = nntune("sweep", layer, "--device", DEVICE, "--shape", shape, "--precision", precision, "--layout", layout,
                      "--batch", str(batch), "--vendor", "also", "--warm-start", "auto", "--no-warn", "cold-start", "--cache",
                      "both", "--ci", "1", "--profile", "none",
                      "--budget", f"{2 * CELL_SECONDS}s", "--db", path, "-q", seconds=60 + 2 * CELL_SECONDS)
        print(f"{layer} {shape} batch {batch} {precision} {layout}: exit {code}", flush=True)
        if code in (0, 4):
            carry_best(out, path, cell)
            add_line(done_path, name)
    if left:
        print(f"slice {part}: {left} cells left for another call")


def ratio_of(path, before, cell, cache):
    def least(cache, vendor):
        return best(path, cell, cache, vendor) or before.get((cell[:5], cache, vendor))

    ours, theirs = least(cache, 0), least(cache, 1)
    if not ours or not theirs:
        return None
    # Below three periods of an empty kernel the floor is taken off both.
    floor = ours[1] if ours[1] and min(ours[0], theirs[0]) < 3 * ours[1] else 0
    us, them = ours[0] - floor, theirs[0] - floor
    # Hot times of the vendor are compared with those recorded: slower ones do not count.
    hot = least("hot", 1)
    valid = bool(hot) and hot[0] <= 1.1 * cell[5] * 1000
    return dict(ours=ours, theirs=theirs, ratio=them / us if us > 0 else None, valid=valid)


def mean(ratios):
    return math.exp(sum(math.log(r) for r in ratios) / len(ratios)) if ratios else float("nan")


def strong(cell):
    """The bar of a cell that is asked for by name."""
    layer, shape, precision, layout, batch, _ = cell
    if layer == "conv3x3" and precision in ("bf16", "fp16") and layout == "nhwc" and batch == 128:
        return 0.8
    if layer == "fc" and shape == "c=4096,k=4096":
        return {("bf16", 8192): 0.9, ("fp8", 1024): 0.8, ("int8", 1024): 0.8}.get((precision, batch))
    return None


def cell_line(cell, cache, r):
    layer, shape, precision, layout, batch, us = cell
    if r is None:
        return f"| {layer} {shape} | {batch} | {precision} | {layout} | {cache} | | | | |\n"
    ratio = f"{r['ratio']:.2f}" if r["ratio"] else ""
    return (f"| {layer} {shape} | {batch} | {precision} | {layout} | {cache} | {r['ours'][0] / 1000:.2f} ({r['ours'][2]}) "
            f"| {r['theirs'][0] / 1000:.2f} ({r['theirs'][2]}) | {ratio} | {'' if r['valid'] else f'vendor recorded {us}'} |\n")


def report(out):
    path = os.path.join(out, "bench.db")
    cells, before = list(grid()), carried(out)
    seen = {(cell, cache): ratio_of(path, before, cell, cache) for cell in cells for cache in ("hot", "cold")}
    with open(os.path.join(out, "kernels.md"), "w") as md:
        md.write("| problem | batch | precision | layout | cache | ours us | vendor us | ratio | note |\n" + "|---" * 9 + "|\n")
        for cell in cells:
            for cache in ("hot", "cold"):
                md.write(cell_line(cell, cache, seen[cell, cache]))
    for cache in ("hot", "cold"):
        valid = {c: r["ratio"] for (c, k), r in seen.items() if k == cache and r and r["valid"] and r["ratio"]}
        measured = sum(1 for (c, k), r in seen.items() if k == cache and r)
        say(f"{cache} cells measured", f"{measured} of {len(cells)}", "all", measured == len(cells),
            f", {len(valid)} of them count")
        if not valid:
            say(f"{cache} geometric mean", "unknown", "1.0", False)
            continue
        say(f"{cache} geometric mean", f"{mean(valid.values()):.3f}", "1.0", mean(valid.values()) >= 1.0)
        small = [r for c, r in valid.items() if c[4] in (1, 8)]
        if small:
            say(f"{cache} batch 1 and 8", f"{mean(small):.3f}", "1.2", mean(small) >= 1.2)
        worst = min(valid, key=valid.get)
        say(f"{cache} least cell", f"{valid[worst]:.2f} at {' '.join(map(str, worst[:5]))}", "0.7", valid[worst] >= 0.7)
        for cell, ratio in valid.items():
            if strong(cell):
                say(f"{cache} {' '.join(map(str, cell[:5]))}", f"{ratio:.2f}", str(strong(cell)), ratio >= strong(cell))
    print(f"{os.path.join(out, 'kernels.md')} has every cell")


# ---- sparse ------------------------------------------------------------------------------------------------------------

SPARSE_SHAPES = ("c=4096,k=4096", "c=1024,k=4096")
SPARSE_BATCHES = (1024, 8192, 64)
# (slower precision, faster one, how much faster it is said to be, vendors' rows as well); judged is the first.
PAIRS = (("fp16", "fp16_sparse", 2, False), ("fp32", "tf32", 8, True), ("int8", "int8_sparse", 2, False),
         ("bf16", "bf16_sparse", 2, False))


def pair_cells():
    for slow, fast, claim, vendors in PAIRS:
        for batch in SPARSE_BATCHES:
            for shape in SPARSE_SHAPES:
                yield shape, batch, slow, fast, claim, vendors


def pair_sweep(path, shape, batch, slow, fast, vendors):
    return nntune("sweep", "fc", "--device", DEVICE, "--shape", shape, "--batch", str(batch), "--precision",
                  f"{slow},{fast}", "--vendor", "also" if vendors else "never", "--max-error", "1", "--ci", "1",
                  "--profile", "none", "--budget", f"{2 * CELL_SECONDS}s", "--db", path, "-q",
                  seconds=60 + 2 * CELL_SECONDS)


def gain(slow, fast):
    """How much faster; below three periods of an empty kernel the floor is taken off both."""
    floor = fast[1] if fast[1] and min(slow[0], fast[0]) < 3 * fast[1] else 0
    return (slow[0] - floor) / (fast[0] - floor) if fast[0] > floor else None


def pair_report(out, path):
    ahead = []
    with open(os.path.join(out, "sparse.md"), "w") as md:
        md.write("| fc, cold | batch | precisions | slower us | faster us | gain | claim |\n" + "|---" * 7 + "|\n")
        for shape, batch, slow, fast, claim, vendors in pair_cells():
            quick = best(path, ("fc", shape, fast, "nhwc", batch), "cold", 0)
            for vendor in (0, 1) if vendors else (0,):
                plain = best(path, ("fc", shape, slow, "nhwc", batch), "cold", vendor)
                if not plain or not quick:
                    continue
                ratio = gain(plain, quick)
                md.write(f"| {shape} | {batch} | {slow}, {fast} | {plain[0] / 1000:.2f} ({plain[2]}) | "
                         f"{quick[0] / 1000:.2f} ({quick[2]}) | {f'{ratio:.2f}' if ratio else ''} | {claim} |\n")
                print(f"fc {shape} batch {batch}: {fast} ({quick[2]}) {f'{ratio:.2f}' if ratio else 'unknown'} times as "
                      f"fast as {slow} ({plain[2]}), claim {claim}", flush=True)
                if (slow, fast) == PAIRS[0][:2] and ratio and ratio > 1:
                    ahead.append(batch)
    say("shapes where sparse fp16 is faster than dense fp16", f"{len(ahead)}, {sum(b >= 1024 for b in ahead)} at batch 1024 "
        "or more", "2, 1", len(ahead) >= 2 and any(b >= 1024 for b in ahead))
    print(f"{os.path.join(out, 'sparse.md')} has the table")


def sparse(out, seconds):
    end = time.time() + seconds
    path, done_path = os.path.join(out, "sparse.db"), os.path.join(out, "sparse.done")
    done = set(open(done_path).read().splitlines()) if os.path.exists(done_path) else set()
    left = 0
    for shape, batch, slow, fast, _, vendors in pair_cells():
        name = f"{shape} {batch} {slow}"
        if name in done:
            continue
        if time.time() + 2 * CELL_SECONDS + 10 > end:
            left += 1
            continue
        code = pair_sweep(path, shape, batch, slow, fast, vendors)
        print(f"fc {shape} batch {batch} {slow},{fast}: exit {code}", flush=True)
        if code in (0, 4):
            with open(done_path, "a") as file:
                file.write(name + "\n")
    if left:
        print(f"{left} cells left for another call")
    pair_report(out, path)


# ---- sanitize ----------------------------------------------------------------------------------------------------------


def first_of(shapes):
    """The first of several shapes: "c=1,k=2,c=3,k=4" begins the next where a name comes again."""
    some = {}
    for word in shapes.split(","):
        name, value = word.split("=")
        if name in some:
            break
        some[name] = value
    return ",".join(f"{name}={value}" for name, value in some.items())


def sanitizer_says(path):
    """Its last summary and whether all are clean and a trial ran under it; None where it came to no end."""
    if not os.path.exists(path):
        return None
    with open(path) as file:
        lines = file.read().splitlines()
    found = [line for line in lines if "ERROR SUMMARY" in line or "RACECHECK SUMMARY" in line]
    ran = any(line == "trials ok: 1" for line in lines)
    if not found:
        return None
    summary = found[-1].split("SUMMARY:")[-1].strip() + ("" if ran else ", and no trial came to its end")
    return summary, ran and all(" 0 errors" in s or " 0 hazards" in s for s in found)


def sanitize_one(layer, keys, kernel, tool, log):
    shapes = odd_shapes(keys, kernel["kernel"])
    more = ["--shape", first_of(shapes[-1])] if shapes[-1] else []
    words = ["compute-sanitizer", "--tool", tool, "--target-processes", "all", "--error-exitcode", "9", "--log-file", log,
             NNTUNE, "sweep", layer, "--device", DEVICE, "--kernel", kernel["kernel"], *more, "--batch", "1", "--precision",
             kernel["precisions"][-1], "--layout", kernel["layouts"][0], "--budget", "1", "--cache", "hot", "--profile", "none",
             "--db", log + ".db", "-q"]
    for old in (log, log + ".db"):
        if os.path.exists(old):
            os.remove(old)
    try:
        subprocess.run(words, timeout=90, stdout=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as why:
        print(f"{layer}.{kernel['kernel']} {tool}: {why}")
    ended = rows(log + ".db", "select count(*) from trials where outcome in ('ok', 'abandoned')")
    if os.path.exists(log) and ended:
        add_line(log, f"trials ok: {ended[0][0]}")


def sanitize(out, seconds, part="0/1"):
    """Part I of N, as of verify. A log that came to its end is not made again, but of kernels that KERNELS names."""
    end = time.time() + seconds
    for layer, keys, kernel in wanted_kernels(part):
        for tool in ("memcheck", "racecheck"):
            name = f"{layer}.{kernel['kernel']} {tool}"
            log = os.path.join(out, f"{layer}.{kernel['kernel']}.{tool}.txt")
            if not sanitizer_says(log) or os.environ.get("KERNELS"):
                if time.time() > end:
                    print(f"{name}: left for another call")
                    continue
                sanitize_one(layer, keys, kernel, tool, log)
            summary, clean = sanitizer_says(log) or ("no summary", False)
            say(name, summary, "0", clean)


def main():
    words = sys.argv[1:]
    parts = ("verify", "bench", "report", "sparse", "fused", "sanitize")
    if len(words) < 2 or words[0] not in parts or (words[0] == "bench" and len(words) < 3):
        print(__doc__, file=sys.stderr)
        return 2
    global part_name
    part, out = words[0], words[1]
    part_name = "vendor" if part in ("bench", "report") else part
    os.makedirs(out, exist_ok=True)
    os.environ.setdefault("XDG_CACHE_HOME", os.path.join(os.path.abspath(out), "cache"))
    if part == "report":
        report(out)
        return int(kept.short > 0)
    usable()
    if part == "bench":
        bench(out, words[2], float(words[3]) if len(words) > 3 else 280)
    elif part == "fused":
        fused.judge(out, float(words[2]) if len(words) > 2 else 420, nntune, rows, say)
    elif part == "verify":
        verify(out, float(words[2]) if len(words) > 2 else 180, *words[3:5])
    elif part == "sparse":
        sparse(out, float(words[2]) if len(words) > 2 else 280)
    else:
        sanitize(out, float(words[2]) if len(words) > 2 else 180, *words[3:4])
    return int(kept.short > 0)


if __name__ == "__main__":
    sys.exit(main())
