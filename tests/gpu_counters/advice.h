/* advice.h: kernels with one fault each, and their repaired twins, for the rules of advice (core/advice.h). */
#ifndef COUNTERS_ADVICE_H
#define COUNTERS_ADVICE_H

#include <stddef.h>
#include <stdint.h>

/* Every kernel is `extern "C" __global__ void judge(const float *in, float *out, long long n)`. */
typedef struct advice_kernel {
    const char *source;
    uint32_t threads, smem_bytes;
    double waves; /* blocks: so many times what the device holds at once; 0: `blocks` */
    uint32_t blocks;
    long long n;
    double flop, bytes; /* that its problem needs */
} advice_kernel;

typedef struct advice_pair {
    const char *rule;
    advice_kernel faulty, repaired;
} advice_pair;

extern const advice_pair advice_pairs[];
extern const size_t advice_pair_count;

#endif
