"""Prints the share of lines that a fuzz run reached in the sources of a path, from llvm-cov's export on stdin, with a
verdict against a bar; exit 1 when short. Arguments: NAME SOURCES BAR_PCT WORDS."""
import json
import sys

name, sources, bar, words = sys.argv[1:]
lines = reached = 0
for file in json.load(sys.stdin)["data"][0]["files"]:
    if ("/" + file["filename"]).find("/" + sources) >= 0:
        lines += file["summary"]["lines"]["count"]
        reached += file["summary"]["lines"]["covered"]
if lines == 0:
    sys.exit(f"fuzz {name}: no line of {sources} was compiled into the target")
share = 100 * reached / lines
verdict = "pass" if share >= float(bar) else "SHORT"
print(f"fuzz {name}: {words}; {share:.1f} % of the {lines} lines of {sources}* (bar {bar} %): {verdict}")
sys.exit(verdict != "pass")
