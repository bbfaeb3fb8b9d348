/* advice_kernels.c: see advice.h. Each pair differs in its fault and in as little else as the fault allows. */
#include "tests/gpu_counters/advice.h"

#include <math.h>

#define HEAD "extern \"C\" __global__ void judge(const float *in, float *out, long long n) {\n"
#define INDEX \
    "    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x, step = (long long)gridDim.x * blockDim.x;\n"

#define MIB (1LL << 20)

/* n float4 from in to out, `ROUNDS` times over. */
#define STREAM(rounds)                                                                      \
    HEAD INDEX "    const float4 *from = (const float4 *)in; float4 *to = (float4 *)out;\n" \
               "    for (int r = 0; r < " rounds "; r++)\n"                                 \
               "        for (long long k = i; k < n; k += step) {\n"                        \
               "            float4 v = from[k]; v.x += r; to[k] = v;\n"                     \
               "        }\n"                                                                \
               "}\n"

/* One warp's worth of threads each follows a chain of additions through one register. */
static const char chain[] = HEAD INDEX "    float a = in[i % n];\n"
                                       "    for (int r = 0; r < 2048; r++) a = a * 0.999f + 0.001f;\n"
                                       "    out[i] = a;\n"
                                       "}\n";

static const char tiny[] = HEAD "    if (threadIdx.x < n) out[threadIdx.x] = in[threadIdx.x];\n}\n";

/* 96 sums at once; with two blocks of 1024 threads wanted an SM there are 32 registers for them. */
#define SUMS(bounds)                                                                             \
    "extern \"C\" __global__ void __launch_bounds__(" bounds                                     \
    ") judge(const float *in, float *out, long long n) {\n" INDEX "    float sum[96];\n"         \
    "    for (int s = 0; s < 96; s++) sum[s] = in[(i + s) % n];\n"                               \
    "    for (int r = 0; r < 64; r++) {\n"                                                       \
    "        float v = in[(i + r) % n];\n"                                                       \
    "        _Pragma(\"unroll\") for (int s = 0; s < 96; s++) sum[s] = sum[s] * v + (float)s;\n" \
    "    }\n"                                                                                    \
    "    float all = 0;\n"                                                                       \
    "    _Pragma(\"unroll\") for (int s = 0; s < 96; s++) all += sum[s];\n"                      \
    "    out[i % n] = all;\n"                                                                    \
    "}\n"

/* Reads one float in `stride`, writes side by side. */
#define GATHER(stride)                                                                            \
    HEAD INDEX "    float sum = 0;\n"                                                             \
               "    for (int r = 0; r < 16; r++) sum += in[((i + r * step) * " stride ") % n];\n" \
               "    out[i] = sum;\n"                                                              \
               "}\n"

/* Every thread reads words of shared memory `stride` apart from its neighbour's. */
#define TILE(stride)                                                                                  \
    HEAD "    __shared__ float tile[32 * 33];\n" INDEX                                                \
         "    for (int k = threadIdx.x; k < 32 * 33; k += blockDim.x) tile[k] = in[k % n];\n"         \
         "    __syncthreads();\n"                                                                     \
         "    float sum = 0;\n"                                                                       \
         "    volatile float *seen = tile;\n"                                                         \
         "    for (int r = 0; r < 512; r++) sum += seen[(threadIdx.x % 32) * " stride " + r % 32];\n" \
         "    out[i] = sum;\n"                                                                        \
         "}\n"

/* Each load's address is known when the load before it has come. */
static const char chase[] = HEAD INDEX "    long long at = i * 977 % n;\n"
                                       "    float sum = 0;\n"
                                       "    for (int r = 0; r < 256; r++) {\n"
                                       "        float v = in[at];\n"
                                       "        sum += v;\n"
                                       "        at = (at + 7919 + (v > 1e30f ? 1 : 0)) % n;\n"
                                       "    }\n"
                                       "    out[i] = sum;\n"
                                       "}\n";

/* Loads from a table that fits L2, waiting for each, beside dynamic shared memory that is asked for. */
static const char crowded[] = HEAD "    extern __shared__ float tile[];\n" INDEX "    tile[threadIdx.x] = in[i % n];\n"
                                   "    __syncthreads();\n"
                                   "    long long at = i % n;\n"
                                   "    float sum = tile[(threadIdx.x + 1) % blockDim.x];\n"
                                   "    for (int r = 0; r < 128; r++) {\n"
                                   "        float v = in[at];\n"
                                   "        sum += v;\n"
                                   "        at = (at + 1031 + (v > 1e30f ? 1 : 0)) % n;\n"
                                   "    }\n"
                                   "    out[i] = sum;\n"
                                   "}\n";

#define STREAMED(bytes_needed) (bytes_needed) / 32, (bytes_needed) /* one addition for 16 bytes in and 16 out */
#define NAN_FLOP               ((double)NAN)                       /* what its problem needs plays no part */

const advice_pair advice_pairs[] = {
    {"launch", {tiny, 32, 0, 0, 1, 32, 32, 256}, {STREAM("1"), 512, 0, 4, 0, 16 * MIB, STREAMED(512.0 * (1 << 20))}},
    {"spills",
     {SUMS("1024, 2"), 1024, 0, 2, 0, MIB, NAN_FLOP, NAN_FLOP},
     {SUMS("256"), 256, 0, 2, 0, MIB, NAN_FLOP, NAN_FLOP}},
    {"at_roof",
     {STREAM("1"), 512, 0, 4, 0, 32 * MIB, STREAMED(1024.0 * (1 << 20))},
     {STREAM("1"), 64, 0, 0, 132, 4 * MIB, STREAMED(128.0 * (1 << 20))}},
    {"uncoalesced",
     {GATHER("32"), 256, 0, 8, 0, 64 * MIB, NAN_FLOP, NAN_FLOP},
     {GATHER("1"), 256, 0, 8, 0, 64 * MIB, NAN_FLOP, NAN_FLOP}},
    {"bank_conflicts",
     {TILE("32"), 256, 0, 4, 0, MIB, NAN_FLOP, NAN_FLOP},
     {TILE("33"), 256, 0, 4, 0, MIB, NAN_FLOP, NAN_FLOP}},
    {"extra_traffic",
     {STREAM("3"), 512, 0, 4, 0, 16 * MIB, STREAMED(512.0 * (1 << 20))},
     {STREAM("1"), 512, 0, 4, 0, 16 * MIB, STREAMED(512.0 * (1 << 20))}},
    {"few_blocks", {chain, 256, 0, 0, 8, MIB, NAN_FLOP, NAN_FLOP}, {chain, 256, 0, 1, 0, MIB, NAN_FLOP, NAN_FLOP}},
    {"tail", {chain, 256, 0, 1.1, 0, MIB, NAN_FLOP, NAN_FLOP}, {chain, 256, 0, 2, 0, MIB, NAN_FLOP, NAN_FLOP}},
    {"dram_bound",
     {STREAM("2"), 512, 0, 4, 0, 16 * MIB, STREAMED(512.0 * (1 << 20))},
     {STREAM("1"), 512, 0, 4, 0, 16 * MIB, STREAMED(512.0 * (1 << 20))}},
    {"occupancy",
     {crowded, 128, 96 * 1024, 2, 0, MIB, 1e6, 4.0 * (1 << 20)},
     {crowded, 128, 1024, 2, 0, MIB, 1e6, 4.0 * (1 << 20)}},
    {"in_flight",
     {chase, 32, 0, 0, 132, 64 * MIB, 1e6, 4.0 * (1 << 20)},
     {chain, 512, 0, 2, 0, MIB, 1e6, 4.0 * (1 << 20)}},
};
const size_t advice_pair_count = sizeof advice_pairs / sizeof advice_pairs[0];
