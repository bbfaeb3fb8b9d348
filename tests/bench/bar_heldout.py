#!/usr/bin/env python3
"""Held-out batches: what a table loses on batches that it has not measured, and whether it said so.

bar_heldout.py NNTUNE [--device cpu|cuda] [--layer L,..] [--shape S] [--precision P,..] [--batches 1,2,4,..] [--budget S] [--rounds N]
    [--seconds S] [--folder DIR]

The batches are a ladder. One database is swept on every second step, another on the steps between; each is swept once more
from what it found, so that neighbours' winners are known at each of its batches. A table of the first answers for the steps
between. Where its answer is not the winner that the second database found there, both are measured again, alternately, each time
in a new process ('nntune table check' of a table of one entry). Loss is the answer's time over the winner's, less 1.

--seconds is for all of it: no third round begins after that. --folder keeps the databases; sweeps that came to their end there are not made again.

Bars: the geometric mean of all losses is at most 5 %; for 90 % of the pairs of layer and precision the loss is at most what
'nntune table build' printed (another batch, mean at most) and 2 points. Ends with exit code 1 when short.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gpu"))
import figures as kept

MOST_LOSS_PCT, POINTS, SHARE = 5.0, 2.0, 0.9
STUDENT_95 = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26}


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("nntune")
    p.add_argument("--device", default="cpu")
    p.add_argument("--layer", default="conv3x3")
    p.add_argument("--shape", default="64x14x14")
    p.add_argument("--precision", default="fp32,int8")
    p.add_argument("--batches", default="1,2,4,8,16,32,64")
    p.add_argument("--budget", type=float, default=12, help="seconds for a problem, in each of two sweeps")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=math.inf)
    p.add_argument("--folder", type=os.path.abspath)
    return p.parse_args()


class Bar:
    def __init__(self, options, folder):
        self.o, self.folder = options, folder
        self.batches = [int(b) for b in options.batches.split(",")]
        self.layers = options.layer.split(",")
        self.pairs = len(self.layers) * len(options.precision.split(","))

    def path(self, name):
        return os.path.join(self.folder, name)

    def nntune(self, *words, allowed=(0,)):
        done = subprocess.run([self.o.nntune, *words], capture_output=True, text=True)
        if done.returncode not in allowed:
            sys.exit(f"bar-heldout: {' '.join(words)}: exit {done.returncode}: {done.stderr.strip()[-500:]}")
        return done.stdout

    def seconds(self):
        sweeps = 2 * self.o.budget * len(self.batches) * self.pairs
        return sweeps + 2 * 2.5 * self.o.rounds * (len(self.batches) // 2) * self.pairs

    def sweep(self, database, batches):
        budget = self.o.budget * len(batches) * len(self.o.precision.split(","))
        for layer in self.layers:
            words = ["sweep", layer, "--device", self.o.device, "--shape", self.o.shape, "--precision", self.o.precision,
                     "--batch", ",".join(map(str, batches)), "--budget", f"{budget}s", "--db", database, "-q", "--wait"]
            self.once(f"{database} {layer} first", words)
            self.once(f"{database} {layer} again", [*words, "--warm-start", database, "--seed", "2"])

    def once(self, name, words):
        path = self.path("swept.done")
        if not os.path.exists(path) or os.path.basename(name) not in open(path).read().splitlines():
            self.nntune(*words)
            with open(path, "a") as file:
                file.write(os.path.basename(name) + "\n")

    def table(self, database, name):
        told = json.loads(self.nntune("table", "build", "--db", database, "-o", self.path(name), "--json"))
        with open(self.path(name)) as file:
            return told, json.load(file)

    def answer(self, entry, first):
        """The entry of the first table that serves this problem, with its problem."""
        got = json.loads(self.nntune("table", "lookup", self.path("first.json"), entry["layer"], "--shape", entry["shape"],
                                     "--batch", str(entry["batch"]), "--precision", entry["precision"], "--layout",
                                     entry["layout"], "--json"))
        for e in first["entries"]:
            if e["kernel"] == got["kernel"] and e["params"] == got["params"] and e["precision"] == entry["precision"] and \
                    e["layer"] == entry["layer"]:
                return {**entry, "kernel": e["kernel"], "params": e["params"], "source_hash": e["source_hash"],
                        "artefact_key": e["artefact_key"]}
        sys.exit(f"bar-heldout: the answer for batch {entry['batch']} is no entry of the table: {got}")

    def measure(self, document, entry):
        with open(self.path("one.json"), "w") as file:
            json.dump({**document, "entries": [{**entry, "from_batch": entry["batch"]}]}, file)
        got = json.loads(self.nntune("table", "check", self.path("one.json"), "--device", self.o.device, "--json", "--wait",
                                     allowed=(0, 5)))
        return got["entries"][0]["time_ns"]


def measure_all(bar, second, answers, end):
    """losses[i][round]: logarithms of the answer's time over the winner's."""
    losses = [[] for _ in answers]
    for turn in range(bar.o.rounds):
        if turn >= 2 and time.time() > end:
            break
        for i, (entry, answer) in enumerate(zip(second["entries"], answers)):
            if answer["kernel"] == entry["kernel"] and answer["params"] == entry["params"]:
                losses[i].append(0.0)
                continue
            pair = [answer, entry] if turn % 2 == 0 else [entry, answer]
            took = {id(e): bar.measure(second, e) for e in pair}
            if None in took.values():
                sys.exit(f"bar-heldout: batch {entry['batch']}: no time for the answer or the winner")
            losses[i].append(math.log(took[id(answer)] / took[id(entry)]))
    return losses


def percent(logarithm):
    return 100 * math.expm1(logarithm)


def judge(bar, told, second, losses):
    rounds = [statistics.fmean(l[t] for l in losses) for t in range(len(losses[0]))]
    middle = statistics.fmean(statistics.median(l) for l in losses)
    half = STUDENT_95.get(len(rounds) - 1, 2.2) * statistics.stdev(rounds) / math.sqrt(len(rounds)) if len(rounds) > 1 else math.nan
    good = percent(middle) <= MOST_LOSS_PCT
    print(f"loss on batches left out, geometric mean of {len(losses)} problems: {percent(middle):.2f} % "
          f"({percent(middle - half):.2f}..{percent(middle + half):.2f}), bar {MOST_LOSS_PCT:g} %: {'holds' if good else 'short'}")
    kept.store("heldout", f"loss on batches left out, geometric mean of {len(losses)} problems", "%", percent(middle),
               (percent(middle - half), percent(middle + half)) if len(rounds) > 1 else None, f"<= {MOST_LOSS_PCT:g}",
               "holds" if good else "short")
    honest, pairs = 0, {}
    for entry, loss in zip(second["entries"], losses):
        pairs.setdefault((entry["layer"], entry["precision"]), []).append(statistics.median(loss))
    for (layer, precision), values in sorted(pairs.items()):
        said = [r["upper_pct"] for r in told["regret"]
                if (r["layer"], r["precision"], r["left_out"]) == (layer, precision, "batch")]
        said = said[0] if said else None
        measured = percent(statistics.fmean(values))
        honestly = said is not None and measured <= said + POINTS
        honest += honestly
        print(f"  {layer} {precision}: measured {measured:.2f} %, printed "
              f"{'unknown' if said is None else f'{said:.2f} %'}: {'kept' if honestly else 'not kept'}")
        kept.tell("heldout", f"{layer} {precision}: loss measured", "%", measured)
        kept.tell("heldout", f"{layer} {precision}: loss printed", "%", said)
    kept_all = honest >= SHARE * len(pairs)
    print(f"printed loss kept to {POINTS:g} points by {honest} of {len(pairs)} pairs, bar {SHARE:.0%}: "
          f"{'holds' if kept_all else 'short'}")
    kept.store("heldout", f"pairs whose printed loss is kept to {POINTS:g} points, of {len(pairs)}", "", honest, None,
               f">= {SHARE * len(pairs):g}", "holds" if kept_all else "short")
    return good and kept_all


def main():
    options = arguments()
    end = time.time() + options.seconds
    with tempfile.TemporaryDirectory(prefix="nntune-heldout-") as folder:
        bar = Bar(options, options.folder or folder)
        if len(bar.batches) < 3:
            sys.exit("bar-heldout: a ladder has three steps or more")
        print(f"about {bar.seconds():.0f} s", flush=True)
        bar.sweep(bar.path("first.db"), bar.batches[0::2])
        bar.sweep(bar.path("second.db"), bar.batches[1::2])
        told, first = bar.table(bar.path("first.db"), "first.json")
        _, second = bar.table(bar.path("second.db"), "second.json")
        answers = [bar.answer(e, first) for e in second["entries"]]
        losses = measure_all(bar, second, answers, end)
        for e, a, l in zip(second["entries"], answers, losses):
            same = a["kernel"] == e["kernel"] and a["params"] == e["params"]
            print(f"  {e['layer']} {e['shape']} batch {e['batch']} {e['precision']}: {percent(statistics.median(l)):+.2f} % "
                  f"({a['kernel']} for {e['kernel']}{', the winner itself' if same else ''})")
        sys.exit(0 if judge(bar, told, second, losses) else 1)


if __name__ == "__main__":
    main()
