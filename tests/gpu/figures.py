"""Figures of judges in Python: printed with bar, interval and verdict, and kept as a line of JSON in the file that
JUDGE_FIGURES names, as figures.c keeps them."""
import json
import math
import os

short = 0


def keep(bar, figure, unit, value, interval, must, verdict):
    lo, hi = interval if interval else (None, None)
    known = [None if x is None or not math.isfinite(x) else x for x in (value, lo, hi)]
    text = f"  {figure:64} {'unknown' if known[0] is None else format(known[0], '.5g'):>10} {unit:8}"
    if known[1] is not None and known[2] is not None:
        text += f" [{known[1]:.5g}, {known[2]:.5g}]"
    print(f"{text}  {must}  {verdict}", flush=True)
    path = os.environ.get("JUDGE_FIGURES")
    if path:
        with open(path, "a") as file:
            print(json.dumps({"bar": bar, "figure": figure, "unit": unit, "value": known[0], "lo": known[1],
                              "hi": known[2], "must": must, "verdict": verdict}), file=file)


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
