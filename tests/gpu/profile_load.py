"""A PyTorch program that nobody wrote for nntune: ResNet-50 with random weights, 50 warm-up and 100 iterations, the latter
in an NVTX range `steady`; and where they are short the 100 twice more behind it, for steadier wall times. Prints one JSON line.
Usage: profile_load.py BATCH [--forever] [--torch-profiler FILE]"""
import json
import os
import sys
import time

import torch
import torchvision

WARM_UP, STEADY = 50, 100


def kernels_of(profile, path):
    profile.export_chrome_trace(path)
    with open(path) as file:
        events = [e for e in json.load(file)["traceEvents"] if e.get("cat") == "kernel"]
    return len(events), sum(e["dur"] for e in events) * 1000


def iterate(model, images, name):
    start = time.perf_counter()
    for _ in range(STEADY):
        torch.cuda.nvtx.range_push(name)
        model(images)
        torch.cuda.nvtx.range_pop()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def main():
    batch = int(sys.argv[1])
    torch.manual_seed(1)
    model = torchvision.models.resnet50(weights=None).cuda().eval()
    images = torch.randn(batch, 3, 224, 224, device="cuda")
    torch.cuda.synchronize()
    begun = float(os.environ.get("PROFILE_BEGUN", time.time()))
    figures = {"startup_s": time.time() - begun}
    with torch.inference_mode():
        for _ in range(WARM_UP):
            model(images)
        torch.cuda.synchronize()
        profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])
        if "--torch-profiler" in sys.argv:
            profile.start()
        torch.cuda.nvtx.range_push("steady")
        figures["steady_s"] = [iterate(model, images, "iteration")]
        torch.cuda.nvtx.range_pop()
        if "--torch-profiler" in sys.argv:
            profile.stop()
            figures["kernels"], figures["gpu_ns"] = kernels_of(profile, sys.argv[-1])
        figures["steady_s"] += [iterate(model, images, "again") for _ in range(2 if batch < 64 else 0)]
        while "--forever" in sys.argv:
            model(images)
            torch.cuda.synchronize()
    print(json.dumps(figures), flush=True)


main()
