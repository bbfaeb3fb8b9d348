"""T1 files against this program, by counting for itself. Usage: t1_spaces.py NNTUNE FILE.json...

For each file: exported as T1 it is equal as JSON; and its space, tuned by a kernel that is a stub, has as many legal
configurations as this script finds by trying every combination, and as Kernel Tuner finds where that is installed. A line
each; exit 1 when one differs. Expressions of the files are evaluated by Python here: give it files that you trust."""
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile


def canonical(value):
    return json.dumps(value, sort_keys=True)


def values_of(parameter):
    values = parameter["Values"]
    return list(eval(values)) if isinstance(values, str) else list(values)


def brute_force(space):
    names = [p["Name"] for p in space["TuningParameters"]]
    lists = [values_of(p) for p in space["TuningParameters"]]
    conditions = [compile(c["Expression"], "condition", "eval") for c in space.get("Conditions", [])]
    builtins = {"__builtins__": {}, "ceil": math.ceil, "floor": math.floor, "min": min, "max": max, "abs": abs}
    return sum(
        all(eval(c, builtins, dict(zip(names, row))) for c in conditions) for row in itertools.product(*lists)
    )


def kernel_tuner(space):
    try:
        from kernel_tuner.searchspace import Searchspace
    except ImportError:
        return None
    parameters = {p["Name"]: values_of(p) for p in space["TuningParameters"]}
    # No limit of threads: the files state theirs.
    return Searchspace(parameters, [c["Expression"] for c in space.get("Conditions", [])], 2**40).size


def counted(nntune, t1, folder):
    """The same space with a kernel that needs neither its source nor a GPU."""
    stub = json.loads(json.dumps(t1))
    kernel = {"Language": "C", "KernelName": "stub", "KernelFile": "stub.c", "GlobalSizeType": "CUDA", "GlobalSize": {"X": "1"},
              "LocalSize": {"X": "1"}, "ProblemSize": [16],
              "Arguments": [{"Name": "out", "Type": "float", "MemoryType": "Vector", "Size": 16, "AccessType": "WriteOnly"}]}
    stub["KernelSpecification"] = kernel
    with open(os.path.join(folder, "stub.c"), "w") as file:
        file.write("void stub(float *out, int64_t begin, int64_t end) { (void)out; }\n")
    path = os.path.join(folder, "stub.json")
    json.dump(stub, open(path, "w"))
    run = subprocess.run([nntune, "sweep", "--spec", path, "--device", "cpu", "--dry-run", "--json"], capture_output=True, text=True)
    if run.returncode != 0:
        return f"exit {run.returncode}: {run.stderr.strip()}"
    spaces = json.loads(run.stdout.splitlines()[0])["spaces"]
    return int(spaces[0]["legal"])


def main():
    nntune, failed = sys.argv[1], False
    for path in sys.argv[2:]:
        t1 = json.load(open(path))
        out = subprocess.run([nntune, "export", "--format", "t1", "--spec", path], capture_output=True, text=True)
        same = out.returncode == 0 and canonical(json.loads(out.stdout)) == canonical(t1)
        with tempfile.TemporaryDirectory() as folder:
            ours = counted(nntune, t1, folder)
        wanted, theirs = brute_force(t1["ConfigurationSpace"]), kernel_tuner(t1["ConfigurationSpace"])
        right = same and ours == wanted and theirs in (None, wanted)
        print(f"{os.path.basename(path)}: exported {'equal' if same else 'CHANGED: ' + out.stderr.strip()}; {ours} legal, counted one by one {wanted}, "
              f"by Kernel Tuner {'(not installed)' if theirs is None else theirs}: {'pass' if right else 'DIFFERS'}")
        failed = failed or not right
    sys.exit(failed)


main()
