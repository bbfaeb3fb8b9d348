"""The bars of the screen on long runs: times of whole commands, memory and answers to keys of a screen on a terminal.

usage: bar_top.py NNTUNE [MILLION.db]    (the database is made where it is missing, which takes a minute)
A command draws one view and ends, so its time holds exec, opening and reading. Figures are medians of 9 with their 96 %
interval by order; beside them the processor time, which other work on the machine does not move.
"""
import os, resource, shutil, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "screen"))
sys.dont_write_bytecode = True
from ptylib import Terminal

NNTUNE = os.path.abspath(sys.argv[1])
short = []


def say(name, figure, bar, unit, interval, note=""):
    verdict = "ok" if figure <= bar else "SHORT"
    if figure > bar:
        short.append(name)
    print(f"{name:44} {figure:8.1f} {unit:3} bar {bar:<6g} [{interval[0]:.1f}, {interval[1]:.1f}]  {verdict}  {note}", flush=True)


def interval(values):
    """Of the median, 96 %, from nine or more."""
    ordered, skip = sorted(values), max(0, int((len(values) - 2 * len(values) ** 0.5) / 2))
    return ordered[skip], ordered[-1 - skip]


def command(database, name, bar_ms, *options):
    wall, cpu = [], []
    for _ in range(9):
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run([NNTUNE, "top", "--db", database, "--dump", "csv", *options], capture_output=True)
        wall.append((time.monotonic() - begin) * 1e3)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3)
        if done.returncode != 0:
            sys.exit(done.stderr.decode())
    say(name, statistics.median(wall), bar_ms, "ms", interval(wall), f"cpu {statistics.median(cpu):.0f} ms")


def make(database, trials, room):
    if os.path.exists(database):
        return
    subprocess.run(["sh", os.path.join(HERE, "..", "screen", "make_db.sh"), database], check=True, cwd=room,
                   env=os.environ | {"NNTUNE": NNTUNE})
    with open(os.path.join(HERE, "top_million.sql")) as file:
        subprocess.run(["sqlite3", "-bail", database], input=file.read().replace("1000000", str(trials)), text=True, check=True)


def until(t, text, seconds=60):
    """Seconds until the text is drawn."""
    begin = time.monotonic()
    found = t.until(text, seconds)
    if not found:
        sys.exit(f"the screen never drew {text}: {t.seen[-500:]}")
    took = time.monotonic() - begin
    t.seen = b""
    return took


def ended(t):
    t.keys(b"q")
    t.wait()
    t.close()


def memory(database, name, bar_mib):
    """The most that was resident after every view, sorts and filters."""
    t = Terminal([NNTUNE, "top", "--db", database], 120, 40)
    until(t, b"trials of run")
    for keys in (b"2", b"stile_m\r", b"Sachieved\r", b"/tile_m=9999\r", b"/\x15\r", b"sbatch\r", b"G", b"\r", b"5", b"4", b"7", b"8"):
        t.keys(keys)
        t.read(3 if len(keys) > 3 or keys == b"4" else 0.5)
    with open(f"/proc/{t.pid}/status") as file:
        peak = next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))
    ended(t)
    say(name, peak, bar_mib, "MiB", (peak, peak))


def keys(database, name, bar_ms):
    """Answers to keys while a sort by a parameter reads through the run."""
    t = Terminal([NNTUNE, "top", "--db", database, "--view", "trials"], 120, 40)
    until(t, b"trials of run")
    took, last_ms = [], 0
    for turn in range(10):
        t.keys(b"s\x15" + (b"stages" if turn % 2 else b"tile_m") + b"\r")
        until(t, b"reading ...")
        begin = time.monotonic()
        t.keys(b"/")
        took.append(until(t, b"filter: "))
        for letter in b"qwertyuiop":
            t.keys(bytes([letter]))
            took.append(until(t, bytes([letter])))
        last_ms = max(last_ms, (time.monotonic() - begin) * 1e3)
        t.keys(b"\x1b")
        t.read(4)
        t.seen = b""
    ended(t)
    say(name, max(took) * 1e3, bar_ms, "ms", (min(took) * 1e3, max(took) * 1e3),
        f"median {statistics.median(took) * 1e3:.2f} ms of {len(took)} keys, the last {last_ms:.0f} ms after its sort began")


def main():
    room = tempfile.mkdtemp(prefix="nntune-bar-top-")
    os.environ.update(HOME=room, XDG_RUNTIME_DIR=room, NNTUNE_LOCK_DIR=f"{room}/locks", NNTUNE_FAKE_STATE=f"{room}/state",
                      NNTUNE_LIBCUDA="/nonexistent", TZ="UTC")
    million = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else f"{room}/million.db"
    make(million, 1000000, room)
    make(f"{room}/some.db", 10000, room)
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    command(million, "first frame", 100)
    for key in ("time", "outcome", "occ", "batch"):
        command(million, f"trials by {key}", 200, "--view", "trials", "--sort", key)
    for words in ("time<18001", "outcome=crashed", "occ>100", "batch=7", "batch=8"):
        command(million, f"filter {words}, by time", 200, "--view", "trials", "--filter", words, "--sort", "time")
    command(million, "trials by outcome, then time", 200, "--view", "trials", "--sort", "outcome,time")
    command(million, "trials by a parameter, then time", 1500, "--view", "trials", "--sort", "tile_m,time")
    command(million, "trials by a counter", 1500, "--view", "trials", "--sort", "achieved")
    command(million, "filter tile_m=64 occ>20, by time", 1500, "--view", "trials", "--filter", "tile_m=64 occ>20", "--sort", "time")
    command(million, "filter tile_m=9999, by time: none", 1500, "--view", "trials", "--filter", "tile_m=9999", "--sort", "time")
    keys(million, "a key, while a parameter is sorted by", 50)
    memory(f"{room}/some.db", "memory at 10,000 trials", 50)
    memory(million, "memory at 1,000,000 trials", 200)
    shutil.rmtree(room)
    print("short: " + ", ".join(short) if short else "all hold")
    sys.exit(1 if short else 0)


main()
