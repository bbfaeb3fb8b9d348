#!/usr/bin/env python3
"""Planted slow-downs: does 'nntune compare' find them, and nothing else, in two runs minutes apart?

planted.py NNTUNE [--device cuda|cpu] [--problems 200]

A kernel that multiplies and adds as often as its parameter `work` says is swept at many sizes, twice, each run in processes of its
own, into a database of its own. In the second run 20 of 200 problems do 3 % more. The kernel's memory traffic is small, so that
3 % more work is 3 % more time; that is measured first, and the planted figure is what came out.

Bars: at least 18 of the 20 are `slower`, at most 2 of the other 180 are `faster` or `slower`; a run with itself is `same` everywhere.
Ends with exit code 1 when short.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gpu"))
import figures as kept

PLAIN, MORE = 1000, 1030
CUDA = """
__global__ void planted(const float *x, float *y, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float a = x[i], b = a;
    for (int k = 0; k < work; k++)
        b = fmaf(b, 0.5f, a);
    y[i] = b;
}
"""
C = """
#include <math.h>
void planted(const float *x, float *y, int count, int64_t begin, int64_t end)
{
    for (int64_t i = begin * 64; i < end * 64 && i < count; i++) {
        float a = x[i], b = a;
        for (int k = 0; k < work; k++)
            b = b * 0.5f + a;
        y[i] = b;
    }
}
"""
REFERENCE = """
void planted_reference(const float *x, float *y, int count)
{
    for (int i = 0; i < count; i++)
        y[i] = 2 * x[i];
}
"""
CUDA_REFERENCE = """
__global__ void planted_reference(const float *x, float *y, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        y[i] = 2 * x[i];
}
"""


def write_kernel(folder, cuda):
    spec = {
        "nntune_spec": 1, "name": "planted", "language": "cuda" if cuda else "c",
        "sources": ["planted.cu" if cuda else "planted.c"], "sizes": {"n": 4096},
        "parameters": [{"name": "work", "values": [PLAIN, MORE], "default": PLAIN, "help": "multiplications of an element"}],
        "arguments": [{"name": "x", "type": "f32", "count": "n"}, {"name": "y", "type": "f32", "count": "n", "access": "write"},
                      {"name": "count", "type": "i32", "value": "n"}],
        "kernels": [{"entry": "planted", "grid": "(n + 255) // 256", "block": "256"} if cuda else
                    {"entry": "planted", "grid": "(n + 63) // 64"}],
        "reference": {"language": "cuda", "sources": ["reference.cu"], "entry": "planted_reference", "grid": "(n + 255) // 256",
                      "block": 256} if cuda else {"sources": ["reference.c"], "entry": "planted_reference"},
        "tolerance": {"relative": 1e-5, "absolute": 1e-6}, "flop": f"{2 * PLAIN} * n", "bytes": "8 * n"}
    texts = {"planted.cu" if cuda else "planted.c": CUDA if cuda else C, ("reference.cu" if cuda else "reference.c"): CUDA_REFERENCE if cuda else REFERENCE,
             "planted.json": json.dumps(spec)}
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    return os.path.join(folder, "planted.json")


class Judge:
    def __init__(self, options, folder):
        self.o, self.folder = options, folder
        self.spec = write_kernel(folder, options.device != "cpu")
        # Sizes that fill the device many times over, all different.
        first, step = (1 << 20, 1 << 14) if options.device != "cpu" else (1 << 14, 1 << 9)
        self.sizes = [first + step * i for i in range(options.problems)]
        self.planted = set(self.sizes[::10])

    def nntune(self, *words, allowed=(0,)):
        done = subprocess.run([self.o.nntune, *words], capture_output=True, text=True)
        if done.returncode not in allowed:
            sys.exit(f"planted: {' '.join(words[:4])}: exit {done.returncode}: {done.stderr.strip()[-400:]}")
        return done.stdout

    def sweep(self, database, sizes, work):
        """At most 64 values of an option at once."""
        for at in range(0, len(sizes), 50):
            some = sizes[at:at + 50]
            self.nntune("sweep", "--spec", self.spec, "--device", self.o.device, "--shape", ",".join(f"n={n}" for n in some),
                        "--param", f"work={work}", "--budget", str(len(some)), "--db", database, "-q", "--wait")

    def run(self, name, planted):
        database = os.path.join(self.folder, name)
        self.sweep(database, [n for n in self.sizes if n not in planted], PLAIN)
        if planted:
            self.sweep(database, sorted(planted), MORE)
        return database

    def compare(self, a, b):
        return json.loads(self.nntune("compare", a, b, "--json", allowed=(0, 5)))


def size_of(problem):
    return int(problem["shape"].split("n=")[1].split(",")[0])


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("nntune")
    p.add_argument("--device", default="cuda")
    p.add_argument("--problems", type=int, default=200)
    o = p.parse_args()
    print(f"about {o.problems * 2 * 0.4:.0f} s", flush=True)
    with tempfile.TemporaryDirectory(prefix="nntune-planted-") as folder:
        judge = Judge(o, folder)
        before = judge.run("before.db", set())
        after = judge.run("after.db", judge.planted)
        itself, told = judge.compare(before, before), judge.compare(before, after)
    same = sum(row["verdict"] == "same" for row in itself["problems"])
    rows = {size_of(row): row for row in told["problems"]}
    found = sum(rows[n]["verdict"] == "slower" for n in judge.planted)
    wrong = sum(row["verdict"] in ("slower", "faster") for n, row in rows.items() if n not in judge.planted)
    unclear = sum(row["verdict"] == "unclear" for row in rows.values())
    ratios = sorted(rows[n]["ratio"] for n in judge.planted)
    least = -(-18 * len(judge.planted) // 20)
    drift = told["drift_pct"]
    print(f"planted: {100 * (ratios[len(ratios) // 2] - 1):.2f} % measured in the middle of {len(ratios)}; noise between blocks "
          f"{told['noise_pct']:.2f} %, all moved by {'an unknown amount' if drift is None else f'{drift:+.2f} %'}")
    kept.tell("planted", f"more time, measured in the middle of {len(ratios)}", "%", 100 * (ratios[len(ratios) // 2] - 1))
    kept.tell("planted", "noise between blocks", "%", told["noise_pct"])
    kept.judge("planted", f"found of {len(judge.planted)}", "", found, None, ">=", least)
    kept.judge("planted", f"wrong of {len(rows) - len(judge.planted)}", "", wrong, None, "<=", 2)
    kept.tell("planted", "unclear", "", unclear)
    kept.judge("planted", f"a run with itself: same of {len(itself['problems'])}", "", same, None, "==", len(itself["problems"]))
    sys.exit(1 if kept.short else 0)


if __name__ == "__main__":
    main()
