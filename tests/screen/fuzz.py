"""Random keys and sizes at the screen through a pty: no crash, no leak, memory flat.

usage: fuzz.py NNTUNE DATABASE [EVENTS [SEED]]
"""
import fcntl, os, pty, random, select, struct, sys, termios, threading, time

NNTUNE, DATABASE = sys.argv[1:3]
EVENTS = int(sys.argv[3]) if len(sys.argv) > 3 else 20000
random.seed(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
KEYS = [bytes([c]) for c in range(1, 127) if chr(c) not in "qP\x03\x1a\x1c\x11\x13\x0f\x16\x19"] + [
    b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[D", b"\x1b[5~", b"\x1b[6~", b"\x1bOH", b"\x1bOF", b"\x1bOP", b"\x1b[17~", b"\xc3\xa9", b"\xff"]
WORDS = [b"/tile_m=64 occ>20\r", b"/time<20us\r", b"/nothing=\r\x1b", b"stime\r", b"Socc\r", b"s\r", b"/\x15\r", b"2t\x1bjt", b"6", b"4xyxy", b"5llhhjj", b"2G", b"2g\r"]

pid, master = pty.fork()
if pid == 0:
    os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
    os.environ.setdefault("ASAN_OPTIONS", "quarantine_size_mb=4")  # else what is freed counts as resident
    os.execv(NNTUNE, [NNTUNE, "top", "--db", DATABASE, "--interval", "0.1"])
drawn, log, done = 0, bytearray(), False


def drain():
    global drawn
    while not done:
        if select.select([master], [], [], 0.1)[0]:
            try:
                data = os.read(master, 65536)
            except OSError:
                return
            drawn += len(data)
            log.extend(data)
            del log[:-20000]


def resident_kib():
    with open(f"/proc/{pid}/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


thread = threading.Thread(target=drain)
thread.start()
early = None
alive = True
for i in range(EVENTS):
    kind = random.random()
    try:
        if kind < 0.02:
            fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", random.randint(1, 100), random.randint(1, 300), 0, 0))
        else:
            os.write(master, random.choice(WORDS) if kind < 0.07 else random.choice(KEYS))
    except OSError:
        alive = False
        break
    if i % 10 == 0:
        time.sleep(0.002)  # so that screens are drawn between the keys, and not only behind them all
    if i % 100 == 0:
        if os.waitpid(pid, os.WNOHANG)[0]:
            alive = False
            break
    if i == EVENTS // 2:
        time.sleep(0.5)
        early = resident_kib()
late = resident_kib() if alive else 0
status = None
if alive:
    os.write(master, b"\r\x1b")
    time.sleep(0.3)
    os.write(master, b"\x1b")
    time.sleep(0.3)
    os.write(master, b"q")
    for _ in range(2400):  # keys wait in the terminal's buffer, and the program may be built with sanitizers
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            break
        status = None
        time.sleep(0.05)
done = True
thread.join()
print(f"  {EVENTS} events, {drawn} bytes drawn, resident {early} then {late} KiB, status {status}")
ok = alive and status == 0 and late < early * 1.25 + 4096
if not ok:
    sys.stdout.write(log[-4000:].decode("utf-8", "replace"))
sys.exit(0 if ok else 1)
