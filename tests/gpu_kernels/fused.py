"""Fused kernels against the same work as launches of their own (judge.py fused). Results go to OUT/fused.db.

Each kernel of a cell gets a sweep and the same seconds, so that the search favours neither side. A side's time is its
fastest, inputs cold. A chain of convolutions has a third rival: the sum of its convolutions tuned one by one as conv1x1,
which may each have another configuration.

Predicted gain: what fusing saves are the writes and reads of what lies between, at the rate that our relu reaches on 2 GiB
in the same run: 1 + saved bytes / rate / fused time. Where that stays in L2 the rate is higher and the prediction too
high; launches that are saved are not in it, and at small batch are most of the gain.
"""
import math
import os
import time

ROOF = ("relu", "c=1024,h=512,w=512", 1, "fp32")
ROOF_BYTES = 2 * 4 * 1024 * 512 * 512
KERNEL_SECONDS = 4
PRECISION, ELEMENT = "bf16", 2
STAGES = ((64, 56), (128, 28), (256, 14), (512, 7))  # channels and side of ResNet-50's 3x3 convolutions
CHAINS = ((256, 64, 56), (512, 128, 28), (1024, 256, 14), (2048, 512, 7))  # channels out and between, side
NORM = (("gemm", "shift"), ("gemm_chain", "shift_chain", "chain"))
CHAIN = (("mma", "mma_cluster"), ("mma_three", "gemm_three"))


class Bench:
    """Sweeps and their rows; `nntune` runs the program, `rows` reads a database."""

    def __init__(self, out, seconds, nntune, rows):
        self.path, self.end, self.nntune, self.rows = os.path.join(out, "fused.db"), time.time() + seconds, nntune, rows
        self.left = 0

    def found(self, layer, shape, batch, precision, kernel):
        return self.rows(self.path, "select time_ns, floor_ns, kernel from trials where layer = ? and shape = ? and batch = ? "
                         "and precision = ? and kernel like ? and cache = 'cold' and outcome = 'ok' order by time_ns limit 1",
                         layer, shape, batch, precision, kernel)

    def measure(self, layer, shape, batch, precision, kernel=None):
        """(ns, floor, kernel) of the fastest trial; None where there is none or no time for one."""
        found = self.found(layer, shape, batch, precision, kernel or "%")
        if not found and time.time() + KERNEL_SECONDS < self.end:
            self.nntune("sweep", layer, "--device", "cuda", "--shape", shape, "--batch", str(batch), "--precision", precision,
                        "--layout", "nhwc", *(["--kernel", kernel] if kernel else []), "--cache", "cold", "--ci", "1",
                        "--profile", "none", "--budget", f"{KERNEL_SECONDS}s", "--db", self.path, "-q")
            found = self.found(layer, shape, batch, precision, kernel or "%")
        return found[0] if found else None

    def side(self, layer, shape, batch, kernels):
        """The fastest of several kernels. A cell whose kernels there was no time for is left."""
        found = [self.measure(layer, shape, batch, PRECISION, kernel) for kernel in kernels]
        found = [f for f in found if f]
        if not found and time.time() + KERNEL_SECONDS >= self.end:
            self.left += 1
        return min(found) if found else None

    def roof(self):
        """Bytes a ns of our relu."""
        found = self.measure(*ROOF)
        return ROOF_BYTES / found[0] if found else None


def predicted(fused_ns, saved_bytes, roof):
    return f"{1 + saved_bytes / roof / fused_ns:.2f}" if roof else "unknown"


def tell(say, name, fused, rival, bar, saved, roof):
    """A cell's line; its gain, None where a side is unknown."""
    if not fused or not rival:
        say(name, "unknown", bar, False)
        return None
    gain = rival[0] / fused[0]
    say(name, f"{gain:.2f}", bar, gain >= bar if bar > 1 else gain > bar,
        f", predicted {predicted(fused[0], saved, roof)}; {fused[2]} {fused[0] / 1000:.2f} us against {rival[2]} "
        f"{rival[0] / 1000:.2f} us, an empty kernel {(fused[1] or math.nan) / 1000:.2f} us")
    return gain


def judge_norm(bench, say, roof):
    gains = []
    for channels, side in STAGES:
        shape, out_bytes = f"c={channels},k={channels},h={side},w={side}", 32 * channels * side * side * ELEMENT
        fused, rival = (bench.side("conv_bn_relu", shape, 32, kernels) for kernels in NORM)
        # The sums and what batch norm makes of them are written and read once each.
        gains.append(tell(say, f"conv_bn_relu {channels}x{side}x{side} batch 32 {PRECISION}", fused, rival, 1.2, 4 * out_bytes,
                          roof))
    known = all(gains)
    mean = math.exp(sum(map(math.log, gains)) / len(gains)) if known else math.nan
    say("conv_bn_relu geometric mean", f"{mean:.3f}" if known else "unknown", 1.3, known and mean >= 1.3)


def one_by_one(bench, steps, side, batch):
    """The three convolutions tuned apart, as one row; None where one is not known."""
    found = [bench.measure("conv1x1", f"c={c},k={k},h={side},w={side}", batch, PRECISION) for c, k in steps]
    if not all(found):
        return None
    return sum(f[0] for f in found), found[0][1], "conv1x1 one by one (" + ", ".join(f[2] for f in found) + ")"


def judge_chain(bench, say, roof):
    for channels, between, side in CHAINS:
        for batch in (1, 8):
            shape = f"c={channels},k1={between},k2={between},k={channels},h={side},w={side}"
            fused, rival = (bench.side("conv1x1_chain3", shape, batch, kernels) for kernels in CHAIN)
            apart = one_by_one(bench, ((channels, between), (between, between), (between, channels)), side, batch)
            rivals = [r for r in (rival, apart) if r]
            tell(say, f"conv1x1_chain3 {channels}-{between}-{between}-{channels} at {side}x{side} batch {batch} {PRECISION}",
                 fused, min(rivals) if rivals else None, 1.0, 4 * batch * between * side * side * ELEMENT, roof)


def judge(out, seconds, nntune, rows, say):
    bench = Bench(out, seconds, nntune, rows)
    roof = bench.roof()
    print(f"our relu on 2 GiB: {roof * 1e9 / 1e12:.2f} TB/s" if roof else "our relu on 2 GiB: unknown", flush=True)
    judge_norm(bench, say, roof)
    judge_chain(bench, say, roof)
    if bench.left:
        print(f"{bench.left} sides left for another call")
