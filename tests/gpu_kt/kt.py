"""Kernel Tuner on the listed configurations of its own convolution example. Usage: kt.py FOLDER OUT.json ITERATIONS [CODE..]

FOLDER has convolution.cu. Its CuPy back end where CuPy is there, else its cuda-python one; brute force; no verification, as
in the example. OUT.json gets what Kernel Tuner says of each configuration and the wall time of tune_kernel alone: imports
and the making of inputs are not counted."""
import json
import sys
import time

import configurations

folder, out, iterations = sys.argv[1], sys.argv[2], int(sys.argv[3])
codes = [int(code) for code in sys.argv[4:]] or configurations.LISTED

import numpy
import kernel_tuner

try:
    import cupy  # noqa: F401

    lang = "CUPY"
except ImportError:
    lang = "NVCUDA"

wanted = [configurations.row_of(code) for code in codes]
parameters = {"filter_height": [17], "filter_width": [17]}
for at, name in enumerate(configurations.NAMES):
    parameters[name] = sorted({row[at] for row in wanted})
random = numpy.random.default_rng(1)
output = numpy.zeros(4096 * 4096, dtype=numpy.float32)
image = random.standard_normal((4096 + 16) * (4096 + 16)).astype(numpy.float32)
weights = random.standard_normal(17 * 17).astype(numpy.float32)
source = open(folder + "/convolution.cu").read()

begin = time.perf_counter()
results, environment = kernel_tuner.tune_kernel(
    "convolution_kernel", source, (4096, 4096), [output, image, weights], parameters,
    grid_div_x=["block_size_x", "tile_size_x"], grid_div_y=["block_size_y", "tile_size_y"], cmem_args={"d_filter": weights},
    restrictions=[f"({configurations.CODE}) in {codes}"], iterations=iterations, lang=lang, strategy="brute_force", verbose=True)
wall = time.perf_counter() - begin
rows = []
for result in results:
    row = [int(result[name]) for name in configurations.NAMES]
    times = [float(t) for t in result["times"]] if "times" in result else []
    failed = "__error__" in result or not isinstance(result.get("time"), (int, float))
    rows.append({"code": configurations.code_of(row), "ms": None if failed else float(result["time"]), "samples_ms": times,
                 "compile_ms": float(result.get("compile_time", 0)), "benchmark_ms": float(result.get("benchmark_time", 0))})
    print("kernel_tuner", dict(zip(configurations.NAMES, row)), rows[-1])
json.dump({"tuner": "Kernel Tuner " + kernel_tuner.__version__, "back_end": lang, "iterations": iterations, "wall_s": wall, "rows": rows},
          open(out, "w"))
print(f"kernel_tuner: {len(rows)} configurations in {wall:.2f} s by {lang}")
