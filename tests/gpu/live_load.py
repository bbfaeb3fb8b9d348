"""A foreign load for judge_live.py: keeps the GPU busy until it is told to stop, and writes one line a block of launches:
the time of its end and the launches a second in it. Blocks are queued ahead, so the GPU never waits for this process.
Usage: live_load.py dram|gemm|conv OUTPUT"""
import signal
import sys
import time

import torch

BLOCK_S = 0.1
stopped = False


def stop(*_):
    global stopped
    stopped = True


def make_step(kind):
    if kind == "dram":  # 2 GiB moved by each launch, far beyond the L2
        source = torch.randn(1 << 29, device="cuda", dtype=torch.bfloat16)
        target = torch.empty_like(source)
        return lambda: torch.clamp_min(source, 0, out=target)
    if kind == "conv":  # a 3x3 convolution of a ResNet, bf16
        images = torch.randn(64, 256, 56, 56, device="cuda", dtype=torch.bfloat16).to(memory_format=torch.channels_last)
        weights = torch.randn(256, 256, 3, 3, device="cuda", dtype=torch.bfloat16).to(memory_format=torch.channels_last)
        return lambda: torch.nn.functional.conv2d(images, weights, padding=1)
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    c = torch.empty_like(a)
    return lambda: torch.matmul(a, b, out=c)


def run_block(step, count):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(count):
        step()
    end.record()
    return begin, end


def main():
    kind, path = sys.argv[1:]
    signal.signal(signal.SIGTERM, stop)
    step = make_step(kind)
    for _ in range(3):
        begin, end = run_block(step, 20)
        end.synchronize()
    count = max(1, round(BLOCK_S * 1e3 / (begin.elapsed_time(end) / 20)))
    with open(path, "w", buffering=1) as out:
        pending = [run_block(step, count), run_block(step, count)]
        while not stopped:
            pending.append(run_block(step, count))
            begin, end = pending.pop(0)
            end.synchronize()
            out.write(f"{time.time():.4f} {count / begin.elapsed_time(end) * 1e3:.6f}\n")
    torch.cuda.synchronize()


main()
