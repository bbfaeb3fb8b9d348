/* attention.h: softmax(q k^T / sqrt(d)) v for each head: sizes, the error bound, and limits that its kernels share.
 *
 * In is what one fused projection gives, [n][tokens][q, k, v][heads][d]; out is [n][tokens][heads][d].
 *
 * Error bound. For one query let s_j be its scores, S_j = sum_t |q_t k_jt| / sqrt(d), m the largest score, D_j = m -
 * s_j, y_j the softmax and o = sum_j y_j v_j. With u the rounding unit of f32 a kernel computes, to first order in u:
 *   s_j            d products and additions and the scale: off by (d + 2) u S_j (Higham, Accuracy and Stability of
 *                  Numerical Algorithms, 3.1)
 *   exp(s_j - m)   3 u D_j + 4 u, as in softmax.h; the error of m is common to all j and leaves o as it is
 *   rescaling      a kernel that walks the keys in B blocks and lifts m as it goes multiplies B - 1 times by
 *                  exp(m_old - m_new): 5 u each and 3 u of the whole lift, which is at most R = max_j D_j
 *   rounding of y  unit_p where y is rounded to fp16 or bf16 for the tensor cores
 *   sums           tokens u for sum_j y_j v_j and for sum_j y_j; the quotient 3 u
 * Every relative error e_j of exp(s_j - m) enters o as sum_j y_j |v_j| (e_j + sum_i y_i e_i). Kernels charge
 *   n = 2 tokens + 10 B + 16 + unit_p / u     (B blocks of 32 keys)
 *   abs = sum_j y_j |v_j| (1 + (w_j + sum_i y_i w_i + 6 R) 2 / n),   w_j = (d + 2) S_j + 3 D_j
 * so that gamma_n abs covers the sum; the factor 2 is for terms of second order, which stay below the first-order ones
 * while all e_j < 1. One n serves every kernel of a precision, those that do not round y as well. */
#ifndef NT_ATTENTION_H
#define NT_ATTENTION_H

#include "kernels/common/shape.h"
#include "kernels/kernel.h"

typedef struct nt_attention {
    int64_t n, heads, tokens, d;
} nt_attention;

static inline nt_attention nt_attention_of(const nt_problem *problem)
{
    return (nt_attention){problem->batch, nt_shape_get(&problem->shape, "heads"),
                          nt_shape_get(&problem->shape, "tokens"), nt_shape_get(&problem->shape, "d")};
}

double nt_attention_additions(const nt_problem *problem); /* n above */

/* Limits of the CUDA kernels: d a multiple of `step` and at most 128, indices within 32 bits; NULL within them. */
const char *nt__attention_cuda_refuses(const nt_problem *problem, int64_t step);
/* Blocks of `queries` queries each: heads * batch * ceil(tokens / queries). */
int64_t nt_attention_blocks(const nt_problem *problem, int64_t queries);
/* -DHEAD_DIM= and -DSCALE= (log2(e) / sqrt(d)), for exponentials to base 2. */
void nt_attention_options(const nt_problem *problem, nt_str *out);

extern const char nt_embed_attention_reference_cu[];
extern const char nt_embed_common_prelude_cuh[], nt_embed_common_vector_cuh[], nt_embed_common_tensor_core_cuh[];

#endif
