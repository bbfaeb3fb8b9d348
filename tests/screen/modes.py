"""Terminal modes before and after: the screen of `nntune top` on a real pty, ended in every way there is.

usage: modes.py NNTUNE DATABASE
"""
import os, signal, sys, termios, time

from ptylib import Terminal, check, code, failures, killed

NNTUNE, DATABASE = sys.argv[1:3]


def ended(name, act, wanted):
    """`act` ends the program; `wanted` judges its wait status; then the terminal has to be as before."""
    t = Terminal([NNTUNE, "top", "--db", DATABASE])
    shown = t.until(b"trials of run")
    check(f"{name}: a screen was drawn", shown, t.seen[-300:])
    during = termios.tcgetattr(t.slave)
    check(f"{name}: the screen changed the modes", during != t.before)
    act(t)
    status = t.wait()
    check(f"{name}: ended as it should", wanted(status), str(status))
    t.check_restored(name)
    t.close()


def storm(t):
    """1,000 changes of size, faster than anybody can draw."""
    for i in range(1000):
        t.resize(1 + i * 7 % 200, 1 + i * 13 % 60)
        os.kill(t.pid, signal.SIGWINCH)
        if i % 20 == 0:
            t.read(0.002)
    t.resize(100, 30)
    t.read(0.3)
    t.seen = t.seen[t.seen.rfind(b"\x1b[?1049h"):]
    os.write(t.master, b"q")


ended("q", lambda t: os.write(t.master, b"q"), code(0))
ended("q behind what is no UTF-8", lambda t: (os.write(t.master, b"\xff\xc3"), time.sleep(0.2), os.write(t.master, b"q")), code(0))
ended("Ctrl-C", lambda t: os.write(t.master, b"\x03"), code(130))
for name in ("SIGTERM", "SIGHUP"):
    number = getattr(signal, name)
    ended(name, lambda t: os.kill(t.pid, number), code(128 + number))
for name in ("SIGSEGV", "SIGABRT"):
    number = getattr(signal, name)
    ended(name, lambda t: os.kill(t.pid, number), killed(number))
ended("resize storm", storm, code(0))
# Suspended and resumed, under a shell with job control as people have it.
for name in ("stopped", "go"):
    if os.path.exists(name):
        os.unlink(name)
t = Terminal(["/bin/sh", "-c", f"set -m; '{NNTUNE}' top --db '{DATABASE}'; touch stopped; "
              "until [ -e go ]; do sleep 0.1; done; fg > /dev/null; exit $?"])
check("Ctrl-Z: a screen was drawn", t.until(b"trials of run"))
time.sleep(0.2)
os.write(t.master, b"\x1a")
end = time.time() + 10
while time.time() < end and not os.path.exists("stopped"):
    t.read(0.05)
check("Ctrl-Z: it stopped", os.path.exists("stopped"))
check("Ctrl-Z: modes as before", termios.tcgetattr(t.slave) == t.before)
check("Ctrl-Z: left the other screen", t.seen.rfind(b"\x1b[?1049l") > t.seen.rfind(b"\x1b[?1049h"))
t.seen = b""
open("go", "w").close()
check("fg: drawn again", t.until(b"trials of run"), t.seen[-200:])
os.write(t.master, b"q")
status = t.wait()
check("fg: ended well", code(0)(status), str(status))
check("fg: modes as before", termios.tcgetattr(t.slave) == t.before)
t.close()

# The terminal vanishes: no busy loop, no process left.
t = Terminal([NNTUNE, "top", "--db", DATABASE])
t.until(b"trials of run")
os.close(t.slave)
os.close(t.master)
end = time.time() + 10
status = None
while time.time() < end and status is None:
    pid, found = os.waitpid(t.pid, os.WNOHANG)
    status = found if pid else None
    time.sleep(0.05)
check("terminal gone: it ends", status is not None)
if status is None:
    os.kill(t.pid, signal.SIGKILL)
sys.exit(1 if failures else 0)
