"""`nntune sweep --tui` on a real pty: the screen beside a sweep in one process. However screen or sweep end, the terminal
is as before and everything measured is kept.

usage: sweep_tui.py NNTUNE
"""
import os, signal, sqlite3, subprocess, sys, time

from ptylib import Terminal, check, code, failures, killed

NNTUNE = sys.argv[1]


def trials(database):
    with sqlite3.connect(database) as db:
        return db.execute("select count(*) from trials").fetchone()[0]


def state(database):
    with sqlite3.connect(database) as db:
        return db.execute("select state from runs").fetchone()[0]


def children(pid):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return found.stdout.split()


def sweep(name, act, wanted, budget="10m", **environment):
    """Starts a sweep with its screen; `act` ends it; `wanted` judges how."""
    database = f"{name.replace(' ', '_')}.db"
    t = Terminal([NNTUNE, "sweep", "conv3x3", "--device", "fake", "--shape", "4x7x7", "--budget", budget, "--tui", "--db",
                  database], environment=environment)
    check(f"{name}: a screen was drawn", t.until(b"run 1 running"), t.seen[-300:])
    for _ in range(200):
        t.read(0.05)
        if trials(database) > 0:
            break
    workers = children(t.pid)
    act(t)
    status = t.wait()
    check(f"{name}: ended as it should", wanted(status), str(status))
    t.check_restored(name)
    check(f"{name}: trials are kept", trials(database) > 0)
    time.sleep(0.2)
    left = [pid for pid in workers if os.path.exists(f"/proc/{pid}")]
    for _ in range(20):
        if left:
            time.sleep(0.1)
            left = [pid for pid in left if os.path.exists(f"/proc/{pid}")]
    check(f"{name}: no child is left", not left, str(left))
    t.close()
    return database, t.seen[t.seen.rfind(b"\x1b[?1049l"):]


# It ends by itself: the screen goes, and what people read otherwise follows: held-back messages, the table.
database, after = sweep("to its end", lambda t: None, code(0), budget="300")
check("to its end: the table follows", b"best" in after and b"run 1 tunes" in after, after[-600:])
check("to its end: done", state(database) == "done")

database, after = sweep("Ctrl-C", lambda t: t.keys(b"\x03"), code(130))
check("Ctrl-C: says how to go on", b"--resume" in after, after[-600:])
check("Ctrl-C: interrupted", state(database) == "interrupted")
for name in ("SIGTERM", "SIGHUP"):
    number = getattr(signal, name)
    database, after = sweep(name, lambda t: os.kill(t.pid, number), code(128 + number))
    check(f"{name}: interrupted", state(database) == "interrupted")
sweep("SIGSEGV", lambda t: os.kill(t.pid, signal.SIGSEGV), killed(signal.SIGSEGV))


def leave(t):
    t.keys(b"q")
    check("q: says that the sweep goes on", t.until(b"the screen was left; the sweep goes on"), t.seen[-400:])
    t.check_restored("q, still running")
    t.until(b"\r")
    behind = t.seen.rfind(b"the screen was left")
    for _ in range(100):
        t.read(0.05)
        if b" tried, " in t.seen[behind:]:
            break
    check("q: the line of progress is back", b" tried, " in t.seen[behind:], t.seen[-400:])
    t.keys(b"\x03")


sweep("q", leave, code(130))


def use(t):
    """Keys, another size, and back."""
    t.keys(b"2")
    check("keys: another view", t.until(b"trials of run 1"), t.seen[-300:])
    t.seen = b""
    t.resize(60, 16)
    check("resized: drawn anew", t.until(b"\x1b[H") or t.until(b"\x1b[2J"), t.seen[-300:])
    t.keys(b"\x03")


sweep("keys and sizes", use, code(130))

# Ctrl-Z stops the whole program and gives the terminal back; fg draws anew and the sweep goes on.
for name in ("stopped", "go"):
    if os.path.exists(name):
        os.unlink(name)
t = Terminal(["/bin/sh", "-c", f"set -m; '{NNTUNE}' sweep conv3x3 --device fake --shape 4x7x7 --budget 10m --tui --db z.db; "
              "touch stopped; until [ -e go ]; do sleep 0.1; done; fg > /dev/null; exit $?"])
check("Ctrl-Z: a screen was drawn", t.until(b"run 1 running"))
time.sleep(0.3)
t.keys(b"\x1a")
for _ in range(200):
    t.read(0.05)
    if os.path.exists("stopped"):
        break
check("Ctrl-Z: it stopped", os.path.exists("stopped"))
t.check_restored("Ctrl-Z")
count = trials("z.db")
t.seen = b""
open("go", "w").close()
check("fg: drawn again", t.until(b"run 1"), t.seen[-200:])
for _ in range(100):
    t.read(0.05)
    if trials("z.db") > count + 5:
        break
check("fg: the sweep goes on", trials("z.db") > count)
t.keys(b"\x03")
status = t.wait()
check("fg: ended well", code(130)(status), str(status))
t.check_restored("fg")
t.close()

# A pipe has no screen: it says so and tunes.
done = subprocess.run([NNTUNE, "sweep", "conv3x3", "--device", "fake", "--shape", "4x7x7", "--budget", "5", "--tui", "--db",
                       "pipe.db"], capture_output=True, stdin=subprocess.DEVNULL)
check("pipe: tunes without", done.returncode == 0 and b"no screen, because" in done.stderr, done.stderr)
check("pipe: no control bytes", b"\x1b" not in done.stdout + done.stderr)
done = subprocess.run([NNTUNE, "sweep", "conv3x3", "--device", "fake", "--tui", "--json", "--db", "x.db"], capture_output=True)
check("--json: refused", done.returncode == 2 and b"--tui and --json" in done.stderr, done.stderr)
sys.exit(1 if failures else 0)
