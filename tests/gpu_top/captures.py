"""The screen of `nntune top` on a device, and its log from the same process: what one shows the other holds.

usage: captures.py NNTUNE DEVICE OUT [--beside resnet50|sweep|nothing] [--seconds 20]
A screen of 120x40 is shown beside a load; then it is paused and its views of devices and overview are dumped (key P), as
text for the documents and as JSON; each value of the view has to stand in one frame of the log."""
import argparse, glob, json, math, os, shutil, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "screen"))
sys.path.insert(0, os.path.join(HERE, "..", "gpu"))
sys.dont_write_bytecode = True
import figures as kept
from ptylib import Terminal, check, code, failures


def beside(args, folder):
    if args.beside == "resnet50":
        return subprocess.Popen([sys.executable, os.path.join(HERE, "resnet50.py")], stdout=subprocess.DEVNULL)
    if args.beside == "sweep":
        return subprocess.Popen([args.nntune, "sweep", "conv3x3", "--device", args.device, "--profile", "all", "--budget", "10m",
                                 "-q", "--db", f"{folder}/sweep.db"], stdout=subprocess.DEVNULL)
    return None


def dump(t, view):
    """The view in front as files; their name without the ending."""
    before = set(glob.glob("*.json"))
    t.keys(view)
    t.read(1)
    t.keys(b"P")
    t.until(b"written: ", 10)
    t.read(0.3)
    found = sorted(set(glob.glob("*.json")) - before)
    check(f"view {view.decode()} was dumped", len(found) == 1, str(t.seen[-300:]))
    return found[0][:-len(".json")] if found else None


def frame_with(values, frames):
    """Whether one frame holds every value that the view shows."""
    def same(a, b):
        return (a is None and b is None) or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9))
    names = [name for name in values if name in frames[0]]
    check("the log has what the view has", len(names) >= 3, f"{sorted(values)} {sorted(frames[0])}")
    return any(all(same(values[name], frame[name]) for name in names) for frame in frames), len(names)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("nntune", type=os.path.abspath)
    parser.add_argument("device")
    parser.add_argument("out", type=os.path.abspath)
    parser.add_argument("--beside", choices=("resnet50", "sweep", "nothing"), default="nothing")
    parser.add_argument("--seconds", type=float, default=20)
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="nntune-captures-")
    os.chdir(folder)
    load = beside(args, folder)
    command = [args.nntune, "top", "--device", args.device, "--log", "frames"]
    if args.beside == "sweep":
        while not os.path.exists("sweep.db") and load.poll() is None:
            time.sleep(0.2)
        time.sleep(args.seconds)
        command += ["--db", "sweep.db"]
    t = Terminal(command, 120, 40)
    t.until(args.device.split(":")[0].encode())
    t.read(args.seconds)
    t.keys(b"p")
    t.read(1.5)
    devices, overview = dump(t, b"7"), dump(t, b"1")
    t.keys(b"q")
    check("ended well", code(0)(t.wait()))
    t.check_restored("the screen")
    if load is not None:
        load.terminate()
        load.wait()
    with open("frames") as file:
        frames = [json.loads(line) for line in file]
    with open(f"{devices}.json") as file:
        values = {row["name"]: row["value"] for row in json.load(file)["rows"]}
    agrees, names = frame_with(values, frames)
    check(f"screen and log agree on {names} values of {len(frames)} frames", agrees, f"{values} {frames[-1]}")
    for name, what in ((devices, "devices"), (overview, "overview")):
        shutil.copy(f"{name}.txt", f"{args.out}/{args.beside}-{what}.txt")
    shutil.copy("frames", f"{args.out}/{args.beside}-frames.jsonl")
    print(f"  captures in {args.out}: {args.beside}-devices.txt, {args.beside}-overview.txt, {args.beside}-frames.jsonl")
    shutil.rmtree(folder)
    kept.judge("captures", f"beside {args.beside}: what is not as it must be", "", len(failures), None, "<=", 0)
    kept.judge("captures", f"beside {args.beside}: values of the screen that one frame of the log holds", "",
               names if agrees else 0, None, ">=", 3)
    sys.exit(1 if failures else 0)


main()
