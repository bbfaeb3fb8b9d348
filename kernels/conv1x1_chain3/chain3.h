/* chain3.h: three 1x1 convolutions, each followed by relu: sizes, the error bound, and what its kernels share.
 *
 * Weights are those of the first convolution [k1][c], of the second [k2][k1] and of the third [k][k2], one after
 * another; layouts differ in the tensors in and out alone. With x a pixel: t1 = relu(W1 x)   t2 = relu(W2 t1)   out =
 * relu(W3 t2)
 *
 * Error bound. Kernels store t1 and t2, in memory or on the chip, as the output's type, which rounds by u_out; sums of
 * n products are off by n u (Higham, Accuracy and Stability of Numerical Algorithms, 3.1), and relu makes no error
 * larger. To first order |t1^ - t1|   <= c u |W1||x| + u_out t1                                                     =
 * e1 |t2^ - t2|   <= |W2| e1 + k1 u |W2| t1 + u_out t2                                          = e2 |out^ - out| <=
 * |W3| e2 + k2 u |W3| t2 so with r = u_out / u, as in nt_chain3_additions, q1 = c |W1||x| + (k1 + r) t1   q2 = |W2| q1
 * + (k2 + r) t2   abs = |W3| q2 / n,   n = c + k1 + k2 + 2 r and gamma_n abs covers the sum. The rounding of fp16's
 * subnormals between is covered where a sum of magnitudes |W||x| is 1/4 or more. Bounds in terms of |W3||W2||W1||x|
 * alone would be hundreds of times wider.
 *
 * Kernels that keep t1 and t2 in f32 stay within the same bound. Random weights are scaled by a power of two near one
 * over the root of their inputs, or values would leave the range of fp16. */
#ifndef NT_CHAIN3_H
#define NT_CHAIN3_H

#include "kernels/common/launch.h"
#include "kernels/common/shape.h"
#include "kernels/kernel.h"

typedef struct nt_chain3 {
    int64_t n, c, k1, k2, k, h, w;
    int64_t pixels; /* n * h * w */
} nt_chain3;

nt_chain3 nt_chain3_of(const nt_problem *problem);

double nt_chain3_additions(const nt_problem *problem); /* n above */

/* Step i of 3: channels in and out, and where its weights begin. */
typedef struct nt_chain3_step {
    int64_t in, out, weight; /* elements */
} nt_chain3_step;

static inline nt_chain3_step nt_chain3_step_of(const nt_chain3 *d, int i)
{
    const nt_chain3_step steps[3] = {
        {d->c, d->k1, 0}, {d->k1, d->k2, d->k1 * d->c}, {d->k2, d->k, d->k1 * d->c + d->k2 * d->k1}};
    return steps[i];
}

/* Limits that keep index computations of CUDA kernels in range; NULL within them. */
const char *nt_chain3_cuda_refuses(const nt_problem *problem);

/* Step i as a problem of the layer conv1x1. */
nt_problem nt_chain3_problem(const nt_problem *problem, int i);
/* Three launches from those of conv1x1: appends the plan that a kernel of it has for step i, with its buffers where
 * they lie in the chain, weights packed behind those before and `between` bytes of workspace kept free. */
void nt_chain3_append(const nt_problem *problem, int i, const nt_plan *step, nt_plan *out);

/* Where the results of steps 1 and 2 of three launches lie in the workspace, and its size. */
size_t nt_chain3_between(const nt_problem *problem, size_t at[2]);

/* Most channels between the convolutions: two rows of them in fp64 fit the 48 KiB of shared memory of every GPU. */
enum { NT_CHAIN3_MOST_BETWEEN = 1536 };

/* For constraints of CUDA rows: the larger of two, the most channels of a result, and the bytes or elements that a pixel takes in shared memory, of the whole
 * chain and of one convolution of it; ROW gives what a row of so many channels takes. */
#define NT__CHAIN3_LARGER(A, B)   "(" A " if " A " > " B " else " B ")"
#define NT__CHAIN3_WIDEST         NT__CHAIN3_LARGER("k", NT__CHAIN3_LARGER("k1", "k2"))
#define NT__CHAIN3_FUSED_ROW(ROW) "(" NT__CHAIN3_LARGER(ROW("c"), ROW("k2")) " + " ROW("k1") ")"
#define NT__CHAIN3_ONE_ROW(ROW)   NT__CHAIN3_LARGER(ROW("c"), NT__CHAIN3_LARGER(ROW("k1"), ROW("k2")))

/* Of the rows with three launches. */
#define NT__CHAIN3_PARTS                                                                                               \
    {.name = "parts",                                                                                                  \
     .help = "blocks that share the channels of the same pixels",                                                      \
     .NT_INTS(1, 2, 4, 8, 16),                                                                                         \
     .dflt = 0,                                                                                                        \
     .use = NT_PARAM_LAUNCH}

#endif
