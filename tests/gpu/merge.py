"""merge.py RESULTS..: puts what run.sh brought back from GPU machines, the later after the earlier, into RESULTS.md. Also
takes a folder, as check.sh leaves one.

RESULTS.md itself is what is known: figures, winners, notes and explanations of bars that these archives do not hold stay as
they are. A bar that was judged as a whole takes the place of its earlier figures; of one that was judged in part, the figures
that came back do. NNTUNE and JUDGES name the two programs."""
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.environ.get("RESULTS_MD", os.path.join(HERE, "RESULTS.md"))
sys.path.insert(0, HERE)
import keep


def sections(text):
    """{heading: lines}; what stands before the first one is under the empty heading."""
    found, at = {"": []}, ""
    for line in text.splitlines():
        if line.startswith("## "):
            at = line[3:]
            found[at] = []
        else:
            found[at].append(line)
    return found


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split(" | ")] if line.startswith("| ") else []


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def figure_of(line):
    """A row of the table of figures as the line of JSON that it came from, to the digits that the table has."""
    bar, name, value, interval, must, verdict = (re.split(r" ?\| ?", line.strip()[1:-1]) + [""] * 6)[:6]
    first, _, unit = value.strip().partition(" ")
    lo, _, hi = interval.strip().partition(" to ")
    return {"bar": bar.strip(), "figure": name.strip(), "unit": unit.strip(), "value": number(first), "lo": number(lo),
            "hi": number(hi), "must": must.strip(), "verdict": verdict.strip()}


def seed(folder, old):
    """Files of the bars as RESULTS.md knows them."""
    for line in old.get("Figures", []):
        if line.startswith("| ") and not line.startswith("| bar |"):
            row = figure_of(line)
            with open(os.path.join(folder, row["bar"] + ".jsonl"), "a") as file:
                print(json.dumps(row), file=file)
    for line in old[""]:
        judged = re.match(r"\| bar (\w+) judged at \| (.*) \|$", line)
        if judged and judged[2] != "never":
            keep.write(os.path.join(folder, judged[1] + ".done"), judged[2] + "\n")
    for line in old.get("Details", []):
        bar = re.match(r"- bar (\w+): ", line)
        if bar:
            with open(os.path.join(folder, bar[1] + ".md"), "a") as file:
                print(line, file=file)


def add(folder, archive):
    """The archive's bars over those of the folder. The newest commit."""
    with tempfile.TemporaryDirectory() as room:
        try:
            if os.path.isdir(archive):
                for name in os.listdir(archive):
                    if name.endswith((".jsonl", ".md", ".done", ".db")):
                        shutil.copy(os.path.join(archive, name), room)
            else:
                with tarfile.open(archive) as tar:
                    tar.extractall(room)
        except (OSError, tarfile.TarError) as why:
            sys.exit(f"merge.py: '{archive}' is no archive of run.sh: {why}")
        if os.path.exists(os.path.join(room, "parts", "table")):
            keep.put_together(room)
        done = sorted(name for name in os.listdir(room) if name.endswith(".done"))
        if not done:
            sys.exit(f"merge.py: {archive} holds no judged step")
        judged = {name: keep.read(os.path.join(room, name)).strip() for name in done}
        if any("--quick" in line for line in judged.values()):
            sys.exit(f"merge.py: {archive} is of a rehearsal (QUICK=1), whose verdicts mean nothing")
        for name, line in judged.items():
            add_bar(folder, room, name[:-len(".done")], line)
        for name in os.listdir(room):
            if name.endswith(".db"):
                os.replace(os.path.join(room, name), os.path.join(folder, name))
        return max(judged.values(), key=lambda line: line.split(" ")[1:3]).split(" ")[0]


def add_bar(folder, room, bar, line):
    new, known = (keep.figures_of(keep.read(os.path.join(where, bar + ".jsonl"))) for where in (room, folder))
    before = keep.read(os.path.join(folder, bar + ".done")).strip()
    part = os.path.exists(os.path.join(room, bar + ".left")) and bool(known)
    rows = {**known, **new} if part else new
    keep.write(os.path.join(folder, bar + ".jsonl"), "".join(row + "\n" for row in rows.values()))
    if part and before and "parts since" not in line and before.split(" ")[0] != line.split(" ")[0]:
        line += ", parts since " + (before.split("parts since ")[-1] if "parts since" in before else before.split(" ")[0])
    if part and before and "not whole" not in before:
        line = line.replace(", not whole", "")
    keep.write(os.path.join(folder, bar + ".done"), line + "\n")
    detail = os.path.join(folder, bar + ".md")
    if os.path.exists(os.path.join(room, bar + ".md")):
        os.replace(os.path.join(room, bar + ".md"), detail)
    elif os.path.exists(detail):
        os.remove(detail)


def bullets(lines):
    """Points of a list, whose later lines are indented."""
    found = []
    for line in lines:
        if line.startswith("- "):
            found.append(line)
        elif line.startswith("  ") and found:
            found[-1] += "\n" + line
    return found


def finished(text, old):
    """The report with what only the results before know: the device, winners, digests, explanations."""
    new = sections(text)
    named = {tuple(cells(line)[:1]) for line in new[""]}
    kept = [line for line in old[""] if re.match(r"\| (device|architecture|driver|compiler|database [^|]*) \| ", line) and
            tuple(cells(line)[:1]) not in named]
    while new[""] and not new[""][-1]:
        new[""].pop()
    at = next(i for i, line in enumerate(new[""]) if line.startswith("| written |")) + 1
    place = [line for line in kept if not line.startswith("| database")]
    new[""] = new[""][:at] + place + new[""][at:] + [line for line in kept if line.startswith("| database")] + [""]
    if sum(line.startswith("| c=") for line in new.get("Winners", [])) == 0 and "Winners" in old:
        new["Winners"] = old["Winners"]
    short = {f"{row['bar']}, {row['figure']}" for row in map(figure_of, filter(lambda l: l.startswith("| "), new["Figures"]))
             if row["verdict"] == "short"}
    why = "Why some are short"
    said = bullets(new.get(why, []))
    told = {point[2:].split(": ")[0] for point in said}
    said += [point for point in bullets(old.get(why, []))
             if point[2:].split(": ")[0] in short and point[2:].split(": ")[0] not in told]
    new[why] = ["", *said, ""]
    order = [name for name in ("", "Figures", why, "Winners", "Details") if name in new and (name != why or short)]
    body = "\n".join("\n".join(([f"## {name}"] if name else []) + new[name]) for name in order)
    unexplained = sorted(short - {point[2:].split(": ")[0] for point in said})
    return body.rstrip() + "\n", unexplained


def main():
    if len(sys.argv) < 2:
        sys.exit("merge.py: name what run.sh brought back: make gpu-merge RESULTS=results.tgz")
    old = sections(keep.read(RESULTS))
    with tempfile.TemporaryDirectory() as folder:
        seed(folder, old)
        for archive in sys.argv[1:]:
            commit = add(folder, archive)
        digests = subprocess.run("sha256sum ./*.db 2> /dev/null | sed 's|\\./||'", shell=True, cwd=folder, capture_output=True, text=True)
        keep.write(os.path.join(folder, "digests"), digests.stdout)
        subprocess.run([os.environ["JUDGES"], "report", "--nntune", os.environ["NNTUNE"], "--out", folder, "--commit", commit,
                        "--explanations", os.path.join(HERE, "explanations.txt")], check=True)
        text, unexplained = finished(keep.read(os.path.join(folder, "RESULTS.md")), old)
    keep.write(RESULTS, text)
    print(f"written: {RESULTS}")
    for name in unexplained:
        print(f"  say in {os.path.join(HERE, 'explanations.txt')} why it is short, then merge again: {name}")


if __name__ == "__main__":
    main()
