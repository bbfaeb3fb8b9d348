"""Figures of judges in Python: printed with bar, interval and verdict, and kept as a line of JSON in the file that
JUDGE_FIGURES names, as figures.c keeps them."""
import json
import math
import os
import re

short = 0


def keep(bar, figure, unit, value, interval, must, verdict):
    lo, hi = interval if interval else (None, None)
    known = [None if x is None or not math.isfinite(x) else x for x in (value, lo, hi)]
    text = f"  {figure:64} {'unknown' if known[0] is None else format(known[0], '.5g'):>10} {unit:8}"
    if known[1] is not None and known[2] is not None:
        text += f" [{known[1]:.5g}, {known[2]:.5g}]"
    print(f"{text}  {must}  {verdict}", flush=True)
    store(bar, figure, unit, known[0], known[1:], must, verdict)


def store(bar, figure, unit, value, interval, must, verdict):
    path = os.environ.get("JUDGE_FIGURES")
    if path:
        with open(path, "a") as file:
            lo, hi = interval or (None, None)
            print(json.dumps({"bar": bar, "figure": figure, "unit": unit, "value": value, "lo": lo, "hi": hi, "must": must,
                              "verdict": verdict}), file=file)


def judge(bar, figure, unit, value, interval, sign, limit):
    """sign: <=, >= or ==. What could not be had is short. True when it holds."""
    global short
    known = value is not None and math.isfinite(value)
    holds = known and {"<=": value <= limit, ">=": value >= limit, "==": value == limit}[sign]
    short += not holds
    keep(bar, figure, unit, value, interval, f"{sign} {limit:g}", "holds" if holds else "short")
    return holds


def tell(bar, figure, unit, value, interval=None):
    keep(bar, figure, unit, value, interval, "", "")


def spread(values):
    """Least and most, where there are several."""
    values = [v for v in values if v is not None and math.isfinite(v)]
    return (min(values), max(values)) if len(values) > 1 else None


def say(bar, name, figure, limit, passed, more=""):
    """For figures that are words, as "3 right, 0 not": printed as they are; kept as their first number and the rest."""
    global short
    short += not passed
    print(f"{name}: {figure} (bar {limit}){more}: {'pass' if passed else 'SHORT'}", flush=True)
    number = re.match(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", str(figure))
    rest = str(figure)[number.end():].strip() if number else str(figure)
    store(bar, name, rest, float(number.group()) if number else None, None, str(limit), "holds" if passed else "short")
