"""Our run as JSON for judge.py. Usage: ours.py NNTUNE DATABASE WALL_S OUT.json. Prints every trial: the raw log."""
import csv
import io
import json
import subprocess
import sys

import configurations

nntune, database, wall, out = sys.argv[1:]
columns = ["params", "outcome", "time_ns", "time_lo_ns", "time_hi_ns", "samples", "compile_ms", "measure_ms", "rank"]
text = subprocess.run([nntune, "query", "--csv", "--db", database, f"select {', '.join(columns)} from trials"], capture_output=True, text=True, check=True).stdout
rows, winner = [], None
for line in csv.DictReader(io.StringIO(text)):
    params = json.loads(line["params"])
    code = configurations.code_of([params[name] for name in configurations.NAMES])
    ok = line["outcome"] == "ok"
    # A trial that was given up as surely too slow is timed, though without an interval.
    timed = ok or line["outcome"] == "abandoned"
    rows.append({"code": code, "outcome": line["outcome"], "ms": float(line["time_ns"] or 0) / 1e6 if timed else None,
                 "lo_ms": float(line["time_lo_ns"] or "nan") / 1e6, "hi_ms": float(line["time_hi_ns"] or "nan") / 1e6})
    if line["rank"] == "1":
        winner = code
    print("nntune", params, {key: line[key] for key in columns[1:]})
version = subprocess.run([nntune, "--version"], capture_output=True, text=True, check=True).stdout.strip()
json.dump({"tuner": version, "wall_s": float(wall), "winner": winner, "rows": rows}, open(out, "w"))
print(f"nntune: {len(rows)} configurations in {float(wall):.2f} s, everything from start to end of the program")
