"""Judges both tuners' runs. Usage: judge.py FOLDER with kt.json, ours.json, kt_again.json, ours_again.json (see check.sh).
Prints figure, bar and verdict a line; exit 1 when one is short. A winner is at least as good when the interval of its median
reaches below the other's, in the eyes of the same tuner."""
import json
import math
import os
import sys

folder = sys.argv[1]
kt, ours, kt_again, ours_again = (json.load(open(f"{folder}/{name}.json")) for name in ("kt", "ours", "kt_again", "ours_again"))
short = False


def verdict(what, figure, bar, right, value=None):
    """Printed, and kept where all judges of a GPU keep theirs; `value` is the figure as a number."""
    global short
    short = short or not right
    print(f"{what}: {figure} (bar {bar}): {'pass' if right else 'SHORT'}")
    if "JUDGE_FIGURES" in os.environ:
        with open(os.environ["JUDGE_FIGURES"], "a") as file:
            print(json.dumps({"bar": "kt", "figure": what, "unit": "", "value": value, "lo": None, "hi": None, "must": bar,
                              "verdict": "holds" if right else "short"}), file=file)


def done(run):
    return [row for row in run["rows"] if row["ms"] is not None]


def median_interval(samples):
    """Distribution-free, 95 %: order statistics by the binomial distribution."""
    ordered, n = sorted(samples), len(samples)
    if n < 6:
        return ordered[0], ordered[-1]
    rank, tail = 0, 0.0
    while tail + math.comb(n, rank) / 2**n <= 0.025:
        tail += math.comb(n, rank) / 2**n
        rank += 1
    rank = max(rank - 1, 0)
    return ordered[rank], ordered[n - 1 - rank]


def row_of(run, code):
    return next(row for row in done(run) if row["code"] == code)


def interval(row):
    return (row["lo_ms"], row["hi_ms"]) if "lo_ms" in row else median_interval(row["samples_ms"])


print(f"{kt['tuner']} ({kt['back_end']}, {kt['iterations']} repeats) against {ours['tuner']}, the same {len(kt['rows'])} configurations")
for run, name in ((kt, "Kernel Tuner"), (ours, "nntune")):
    print(f"  {name}: {len(run['rows'])} configurations, {len(done(run))} timed, {run['wall_s']:.2f} s, {len(run['rows']) / run['wall_s']:.2f} a second")
verdict("configurations of both", f"{len(kt['rows'])} and {len(ours['rows'])}", 60, len(kt["rows"]) == len(ours["rows"]) == 60, len(ours["rows"]))
verdict("timed by nntune, where Kernel Tuner could", len(done(ours)), f">= {len(done(kt))}", len(done(ours)) >= len(done(kt)), len(done(ours)))
ratio = len(ours["rows"]) / ours["wall_s"] / (len(kt["rows"]) / kt["wall_s"])
verdict("configurations a second, nntune over Kernel Tuner", f"{ratio:.2f}", ">= 10", ratio >= 10, ratio)

theirs_code = min(done(kt), key=lambda row: row["ms"])["code"]
ours_code = ours["winner"]
print(f"  winners: Kernel Tuner's {theirs_code}, nntune's {ours_code}")
for run, eyes in ((kt_again, "Kernel Tuner"), (ours_again, "nntune")):
    mine, theirs = interval(row_of(run, ours_code)), interval(row_of(run, theirs_code))
    verdict(f"nntune's winner in the eyes of {eyes}", f"{mine[0]:.4f}..{mine[1]:.4f} ms", f"reaches {theirs[0]:.4f}..{theirs[1]:.4f} ms, Kernel Tuner's",
            ours_code == theirs_code or mine[0] <= theirs[1], sum(mine) / 2)
sys.exit(short)
