"""What run.sh's OUT knows, as one archive: keep.py OUT ARCHIVE [--fast]. Also puts the figures of slices together.

OUT/parts holds a file of figures and a line of when for each slice; OUT/<step>.jsonl and OUT/<step>.done are made of them. A
step with slices that were not judged, or not to their end, gets OUT/<step>.left. Databases are copied as SQLite reads them,
so that a log beside them, and a writer, do no harm. The archive is replaced at once or not at all; two calls wait for each
other, so that the later one has the last word."""
import argparse
import fcntl
import json
import os
import sqlite3
import tarfile
import tempfile

KEPT = (".jsonl", ".md", ".done", ".left", ".log", ".txt", ".csv", ".json", ".best")
NOT_IN = {"cache", "site", "locks", "wheels", "results"}
MOST_TEXT, MOST_DATABASE, MOST_ARCHIVE = 2 << 20, 64 << 20, 15 << 20


def table(out):
    """{step: [slice, ..]} as run.sh listed them."""
    steps = {}
    with open(os.path.join(out, "parts", "table")) as file:
        for line in file:
            step, slice_ = line.split()
            steps.setdefault(step, []).append(slice_)
    return steps


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path) as file:
        return file.read()


def write(path, text):
    with open(path + ".tmp", "w") as file:
        file.write(text)
    os.replace(path + ".tmp", path)


def figures_of(text):
    """Lines by their figure, the last of each; half a line is left out."""
    found = {}
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        found[row["bar"], row["figure"]] = line
    return found


def put_together(out):
    for step, slices in table(out).items():
        names = [os.path.join(out, "parts", f"{step}.{slice_}") for slice_ in slices]
        texts = [read(name + ".jsonl") for name in names]
        done = [read(name + ".done").strip() for name in names]
        if not any(texts):
            continue
        rows = figures_of("".join(text if text.endswith("\n") else text + "\n" for text in texts))
        # Parts that ran side by side wrote in any order.
        lines = [rows[key] for key in (sorted(rows) if slices == ["on"] else rows)]
        write(os.path.join(out, step + ".jsonl"), "".join(line + "\n" for line in lines))
        left = [slice_ for slice_, line in zip(slices, done) if not line or "not whole" in line or "cut off" in line]
        judged = sorted((line for line in done if line), key=lambda line: line.split(" ")[1:3])
        if judged:
            others = sorted({line.split(" ")[0] for line in judged} - {judged[-1].split(" ")[0]})
            known = judged[-1].replace(", not whole", "").replace(", cut off", "")
            write(os.path.join(out, step + ".done"),
                  known + (f", parts since {others[0]}" if others else "") + (", not whole" if left else "") + "\n")
        if left:
            write(os.path.join(out, step + ".left"), " ".join(left) + "\n")
        elif os.path.exists(os.path.join(out, step + ".left")):
            os.remove(os.path.join(out, step + ".left"))


def files_of(out):
    """(name, size) of what is worth keeping, databases last and large ones last of all."""
    found = []
    for folder, folders, files in os.walk(out):
        folders[:] = sorted(f for f in folders if f not in NOT_IN)
        for file in sorted(files):
            path = os.path.join(folder, file)
            size = os.path.getsize(path)
            if (file.endswith(KEPT) and size <= MOST_TEXT) or (file.endswith(".db") and size <= MOST_DATABASE):
                found.append((os.path.relpath(path, out), size))
    return sorted(found, key=lambda row: (row[0].endswith(".db"), row[1] if row[0].endswith(".db") else 0))


def copy_of(path, room):
    """The database as a file of its own."""
    target = os.path.join(room, "copy.db")
    if os.path.exists(target):
        os.remove(target)
    source, copy = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5), sqlite3.connect(target)
    try:
        source.backup(copy)
    finally:
        source.close()
        copy.close()
    return target


def pack(out, archive, fast):
    partial = archive + ".tmp"
    with tempfile.TemporaryDirectory() as room, open(partial, "wb") as raw:
        with tarfile.open(fileobj=raw, mode="w:gz", compresslevel=1 if fast else 6) as tar:
            for name, size in files_of(out):
                path = os.path.join(out, name)
                try:
                    if name.endswith(".db"):
                        if raw.tell() + size / 4 > MOST_ARCHIVE:
                            print(f"keep.py: {name} is left out: the archive would be too large")
                            continue
                        path = copy_of(path, room)
                    tar.add(path, name)
                except (OSError, sqlite3.Error) as why:  # it went away, or is being made
                    print(f"keep.py: {name}: {why}")
    os.replace(partial, archive)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("archive")
    parser.add_argument("--fast", action="store_true")
    options = parser.parse_args()
    lock = open(os.path.join(options.out, "parts", "lock"), "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    put_together(options.out)
    pack(options.out, options.archive, options.fast)


if __name__ == "__main__":
    main()
