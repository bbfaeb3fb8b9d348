"""The 60 configurations of Kernel Tuner's convolution example that both tuners are given, filter fixed at 17x17, and how one
is written as a number, so that an expression can hold the list. Drawn once from those that fit a block of 1024 threads and
48 KiB of static shared memory: python3 configurations.py draws them again and prints the list below."""
import random

NAMES = ["block_size_x", "block_size_y", "tile_size_x", "tile_size_y", "use_padding", "read_only"]
VALUES = [[16 * i for i in range(1, 9)], [2**i for i in range(6)], list(range(1, 9)), list(range(1, 9)), [0, 1], [0, 1]]
CODE = "((((block_size_x * 64 + block_size_y) * 16 + tile_size_x) * 16 + tile_size_y) * 2 + use_padding) * 2 + read_only"

LISTED = [
    1052950, 1056842, 1056903, 1056987, 1057231, 1065033, 1065123, 1065164, 1065242, 1081425,
    1081733, 2099400, 2101577, 2101637, 2105633, 2113628, 2129996, 2130184, 3147874, 3147993,
    3148295, 3149979, 3150114, 3150214, 3150232, 3150342, 3162437, 4195792, 4195869, 4196640,
    4196872, 4198553, 4198556, 4198789, 4202641, 5245082, 5245089, 5245271, 5247173, 5247179,
    5251152, 5251156, 5251158, 5251271, 6292568, 6293597, 6295693, 7341196, 7341270, 7341272,
    7341322, 7341346, 7341389, 7342406, 7344277, 7344281, 7348321, 7348486, 7348487, 8392860,
]


def code_of(row):
    return eval(CODE, {}, dict(zip(NAMES, row)))


def row_of(code):
    read_only, padding, ty = code % 2, code // 2 % 2, code // 4 % 16
    return [code // 65536, code // 1024 % 64, code // 64 % 16, ty, padding, read_only]


def legal(row):
    bx, by, tx, ty, padding, _ = row
    width = bx * tx + 16
    if padding and bx % 32 != 0 and (width - bx) % 32 != 0:
        width += (32 - (width - bx)) & 31
    # The last: a run of more than some milliseconds only costs time, in both alike.
    return 64 <= bx * by <= 1024 and (padding == 0 or bx % 32 != 0) and 4 * width * (by * ty + 16) <= 48 * 1024 and tx * ty >= 2


def draw():
    import itertools

    rows = [list(row) for row in itertools.product(*VALUES) if legal(row)]
    return sorted(code_of(row) for row in random.Random(17).sample(rows, 60))


if __name__ == "__main__":
    print(draw())
