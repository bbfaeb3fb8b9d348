"""What an attached screen costs: itself, as a share of a core, and the sweep it shows.

usage: bar_top_attached.py NNTUNE [--device cpu|cuda:0] [--pairs 10] [--seconds 60] [--only cpu|pairs]

Cost of the screen: processor time of `nntune top` on a terminal of 120x40, attached to a running sweep, at 2 and at 10
frames a second, over --seconds each; the interval is that of the tenths of it.
Cost to the sweep: pairs of equal sweeps, one with a screen attached and one without, the order turned round from pair to
pair. Throughput is trials a second; times are compared configuration by configuration. Figures are medians over the
pairs, with the interval of the middle eight of ten."""
import argparse, os, shutil, sqlite3, statistics, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "screen"))
sys.path.insert(0, os.path.join(HERE, "..", "gpu"))
sys.dont_write_bytecode = True
import figures as kept
from ptylib import Terminal

short = []


def say(name, figure, bar, unit, interval, note=""):
    verdict = "ok" if abs(figure) <= bar else "SHORT"
    if verdict != "ok":
        short.append(name)
    print(f"{name:44} {figure:8.3f} {unit} bar {bar:<5g} [{interval[0]:.3f}, {interval[1]:.3f}]  {verdict}  {note}", flush=True)
    kept.store("attached", name, unit, figure, interval, f"within {bar:g}", "holds" if verdict == "ok" else "short")


# A wide interval is reached by the least samples: each trial is the same work, so throughput says what a screen costs and
# not how long the machine was too restless for a narrow one.
WIDE = "5"


def sweep_command(args, database, budget):
    return [args.nntune, "sweep", "conv3x3", "--device", args.device, "--shape", args.shape, "--batch", "1", "--precision",
            "fp32", "--strategy", "random", "--seed", "5", "--ci", WIDE, "--budget", budget, "--db", database, "-q"]


class Screen:
    """`nntune top` on a terminal that somebody reads."""

    def __init__(self, nntune, database, interval="0.5"):
        self.terminal = Terminal([nntune, "top", "--db", database, "--interval", interval], 120, 40)
        if not self.terminal.until(b"trials of run"):
            sys.exit(f"no screen was drawn: {self.terminal.seen[-500:]}")
        self.done = False
        self.thread = threading.Thread(target=self.drain)
        self.thread.start()

    def drain(self):
        while not self.done:
            self.terminal.read(0.2)
            self.terminal.seen = b""

    def processor_s(self):
        total = 0
        for task in os.listdir(f"/proc/{self.terminal.pid}/task"):
            with open(f"/proc/{self.terminal.pid}/task/{task}/schedstat") as file:
                total += int(file.read().split()[0]) / 1e9
        return total

    def close(self):
        self.done = True
        self.thread.join()
        self.terminal.keys(b"q")
        self.terminal.wait()
        self.terminal.close()


def wait_for_trials(database, count, sweep):
    while sweep.poll() is None:
        try:
            with sqlite3.connect(database) as db:
                if db.execute("select count(*) from trial").fetchone()[0] >= count:
                    return
        except sqlite3.Error:
            pass
        time.sleep(0.1)
    sys.exit("the sweep ended early")


def trials_of(database):
    with sqlite3.connect(database) as db:
        return db.execute("select count(*) from trial").fetchone()[0]


def own_cost(args, room):
    database = f"{room}/own.db"
    sweep = subprocess.Popen(sweep_command(args, database, "1h"), stdout=subprocess.DEVNULL)
    wait_for_trials(database, 5, sweep)
    for interval, bar in (("0.5", 0.5), ("0.1", 3.0)):
        screen = Screen(args.nntune, database, interval)
        time.sleep(2)
        before, parts, begin = trials_of(database), [], time.monotonic()
        used = screen.processor_s()
        for _ in range(10):
            at, now = time.monotonic(), screen.processor_s()
            time.sleep(args.seconds / 10)
            parts.append((screen.processor_s() - now) / (time.monotonic() - at) * 100)
        share = (screen.processor_s() - used) / (time.monotonic() - begin) * 100
        rate = (trials_of(database) - before) / (time.monotonic() - begin)
        screen.close()
        say(f"screen at {1 / float(interval):.0f} Hz", share, bar, "% of a core", (min(parts), max(parts)),
            f"{rate:.1f} trials/s")
    sweep.terminate()
    sweep.wait()


def one_sweep(args, room, number, watched):
    """Trials a second, and the time of each configuration."""
    database = f"{room}/{number}{'w' if watched else ''}.db"
    sweep = subprocess.Popen(sweep_command(args, database, str(args.trials)), stdout=subprocess.DEVNULL)
    screen = None
    if watched:
        wait_for_trials(database, 1, sweep)
        screen = Screen(args.nntune, database)
    if sweep.wait() != 0:
        sys.exit("a sweep failed")
    if screen is not None:
        screen.close()
    with sqlite3.connect(database) as db:
        times = dict(db.execute("select kernel || params, first_time_ns from trials where outcome = 'ok'"))
        # From the first trial stored to the last, so that opening the device and making inputs do not count.
        count, first, last = db.execute("select count(*), min(stored_unix_s), max(stored_unix_s) from trials").fetchone()
    return (count - 1) / (last - first), times


def pairs(args, room):
    one_sweep(args, room, "warm", False)  # compiles
    rates, times = [], []
    for number in range(args.pairs):
        order = (False, True) if number % 2 == 0 else (True, False)
        found = {watched: one_sweep(args, room, number, watched) for watched in order}
        rates.append((found[True][0] / found[False][0] - 1) * 100)
        both = found[True][1].keys() & found[False][1].keys()
        times.append((statistics.median(found[True][1][c] / found[False][1][c] for c in both) - 1) * 100)
        print(f"  pair {number + 1}: throughput {rates[-1]:+.2f} %, times {times[-1]:+.3f} % ({len(both)} configurations), "
              f"load {os.getloadavg()[0]:.1f}", flush=True)
    skip = len(rates) // 10
    for name, values, bar in (("throughput with a screen, change", rates, 1.0), ("trial times with a screen, change", times, 0.3)):
        ordered = sorted(values)
        say(name, statistics.median(values), bar, "%", (ordered[skip], ordered[-1 - skip]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("nntune", type=os.path.abspath)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--shape", default="c=32,k=32,h=14,w=14")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", choices=("cpu", "pairs"))
    args = parser.parse_args()
    room = tempfile.mkdtemp(prefix="nntune-bar-top-")
    os.environ.update(HOME=room, XDG_RUNTIME_DIR=room, NNTUNE_LOCK_DIR=f"{room}/locks")
    print(f"{args.device}, load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    if args.only != "pairs":
        own_cost(args, room)
    if args.only != "cpu":
        pairs(args, room)
    shutil.rmtree(room, ignore_errors=True)  # a worker may still take its files away
    print("short: " + ", ".join(short) if short else "all hold")
    sys.exit(1 if short else 0)


main()
