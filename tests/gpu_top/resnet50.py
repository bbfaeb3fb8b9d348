"""ResNet-50 inference in bf16 on random images, batch 64, until it is told to stop: a load that people know."""
import signal

import torch
from torch import nn

stopped = False


def stop(*_):
    global stopped
    stopped = True


def convolution(inputs, outputs, size, stride=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False), nn.BatchNorm2d(outputs))


class Bottleneck(nn.Module):
    def __init__(self, inputs, middle, stride):
        super().__init__()
        self.way = nn.Sequential(convolution(inputs, middle, 1), nn.ReLU(), convolution(middle, middle, 3, stride), nn.ReLU(),
                                 convolution(middle, 4 * middle, 1))
        same = stride == 1 and inputs == 4 * middle
        self.short = nn.Identity() if same else convolution(inputs, 4 * middle, 1, stride)

    def forward(self, x):
        return torch.relu(self.way(x) + self.short(x))


def network():
    layers = [convolution(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for middle, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            layers.append(Bottleneck(inputs, middle, stride if block == 0 else 1))
            inputs = 4 * middle
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


def main():
    signal.signal(signal.SIGTERM, stop)
    model = network().eval().cuda().to(torch.bfloat16, memory_format=torch.channels_last)
    images = torch.randn(64, 3, 224, 224, device="cuda", dtype=torch.bfloat16).to(memory_format=torch.channels_last)
    with torch.inference_mode():
        while not stopped:
            for _ in range(20):
                model(images)
            torch.cuda.synchronize()


main()
