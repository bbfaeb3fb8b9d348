"""What goes wrong while the screen is shown: it is said on the screen, keys go on being answered, and the terminal is as
before.

usage: trouble.py NNTUNE DATABASE [LIBRARY of a fake GPU]
"""
import os, shutil, sqlite3, subprocess, sys, time

from ptylib import Terminal, check, code, failures

NNTUNE, DATABASE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
LIBRARY = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None


def shown(name, arguments, happen, words, wanted=code(0), environment={}, leave=b"q", first=b"trials of run"):
    """Starts a screen, lets something happen, and waits for the words that tell of it."""
    t = Terminal([NNTUNE, "top", *arguments], 120, 30, environment)
    check(f"{name}: a screen was drawn", t.until(first), t.seen[-300:])
    t.read(0.7)
    t.seen = b""
    happen(t)
    found = t.until(words, 20)
    check(f"{name}: it says so", found, t.seen[-600:])
    if leave:
        t.keys(b"9")
        check(f"{name}: keys are answered", t.until(b"keys"), t.seen[-300:])
        t.keys(leave)
    status = t.wait()
    check(f"{name}: ended as it should", wanted(status), str(status))
    t.check_restored(name)
    seen = t.seen
    t.close()
    return seen


def copy(name, journal=None):
    shutil.copy(DATABASE, name)
    if journal:
        with sqlite3.connect(name) as db:
            db.execute(f"pragma journal_mode = {journal}")
    return os.path.abspath(name)


# The sweep dies.
sweep = subprocess.Popen([NNTUNE, "sweep", "conv3x3", "--device", "fake", "--shape", "4x7x7", "--budget", "1h", "-q", "--db",
                          "dies.db"], stdout=subprocess.DEVNULL)
for _ in range(300):
    time.sleep(0.1)
    try:
        with sqlite3.connect("dies.db") as db:
            if db.execute("select count(*) from trials").fetchone()[0] > 0:
                break
    except sqlite3.Error:
        pass
shown("sweep killed", ["--db", "dies.db"], lambda t: sweep.kill(), b"ended without a word")
sweep.wait()

# The database: gone, cut off, overwritten by something else, locked.
shown("database gone", ["--db", copy("gone.db")], lambda t: os.unlink("gone.db"), b"was removed or replaced")
shown("database replaced", ["--db", copy("replaced.db")], lambda t: os.replace(copy("other.db"), "replaced.db"),
      b"was removed or replaced")


def cut(t):
    os.truncate("cut.db", os.path.getsize("cut.db") // 3 // 4096 * 4096)
    t.keys(b"2sregisters\r")


shown("database cut off", ["--db", copy("cut.db", "delete")], cut, b"! ")


def overwrite(t):
    with open("overwritten.db", "r+b") as file:
        file.write(os.urandom(os.path.getsize("overwritten.db")))
    t.keys(b"2sregisters\r")


shown("database overwritten", ["--db", copy("overwritten.db", "delete")], overwrite, b"! ")

# Locked by somebody who does not let go: keys are answered meanwhile, and it goes on once the lock is gone.
path = copy("locked.db", "delete")
t = Terminal([NNTUNE, "top", "--db", path], 120, 30)
check("database locked: a screen was drawn", t.until(b"trials of run"))
holder = sqlite3.connect(path, isolation_level=None)
holder.execute("begin exclusive")
t.read(1.5)
t.seen = b""
t.keys(b"9")
check("database locked: keys are answered", t.until(b"leave; a sweep goes on"), t.seen[-300:])
holder.execute("rollback")
t.keys(b"2")
check("database locked: it goes on", t.until(b"trials of run"), t.seen[-300:])
t.keys(b"q")
check("database locked: ended as it should", code(0)(t.wait()))
t.check_restored("database locked")
t.close()

# A schema of tomorrow is refused before anything is drawn.
path = copy("newer.db")
with sqlite3.connect(path) as db:
    db.execute("pragma user_version = 99")
t = Terminal([NNTUNE, "top", "--db", path], 120, 30)
status = t.wait()
check("newer schema: refused", status is not None and os.WEXITSTATUS(status) == 1 and b"schema version 99" in t.seen, t.seen)
check("newer schema: no screen was begun", b"\x1b[?1049h" not in t.seen)
t.close()

# A full disk: a log that cannot be written ends the program, for whoever reads it would miss frames; what P cannot write
# is said on the screen.
t = Terminal([NNTUNE, "top", "--db", DATABASE, "--device", "cpu", "--log", "/dev/full"], 120, 30)
status = t.wait()
check("log on a full disk: ended with 1", code(1)(status) and b"cannot write the log: No space left" in t.seen, t.seen)
t.close()
os.mkdir("room")
os.chdir("room")
shown("no room for P", ["--db", DATABASE], lambda t: (os.rmdir("../room"), t.keys(b"P")), b"cannot")
os.chdir("..")

# A GPU falls off the bus: its view says so, the rest goes on.
if LIBRARY:
    lost = os.path.abspath("lost")
    environment = {"NNTUNE_LIBCUDA": LIBRARY, "NNTUNE_NVML": LIBRARY, "NNTUNE_NVRTC": LIBRARY, "FAKE_LOST": lost, "FAKE_PID": "4000002"}
    shown("GPU lost", ["--device", "cuda:0", "--view", "devices"], lambda t: open(lost, "w").close(), b"fake error",
          environment=environment, first=b"gpm")
    os.unlink(lost)
sys.exit(1 if failures else 0)
