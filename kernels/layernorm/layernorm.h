/* layernorm.h: the error bound of layernorm, y_i = g_i (x_i - m) r + b_i with m the mean of the row, v the mean of
 * (x_j - m)^2 and r = 1 / sqrt(v + 1e-5).
 *
 * With u the rounding unit of f32, A = mean|x| and z_i = x_i - m, kernels that take the mean first and the variance of
 * the differences then compute, to first order in u:
 *   m'        the sum of c terms and 1/c: off by e = c u A at most (Higham, Accuracy and Stability of Numerical
 *             Algorithms, 4.2: any order of c - 1 additions)
 *   x_i - m'  off by u |z_i| + e: the cancellation in x - mean is here
 *   v'        squares, their sum and 1/c: relative (c + 4) u; the roundings of z_j: 2 u; e enters by
 *             mean (z_j - e)^2 = v + e^2 alone, because the z_j sum to zero (Chan, Golub and LeVeque, Algorithms for
 *             computing the sample variance, 1983). Off by (c + 6) u v + e^2
 *   r'        half the relative error of v' + 1e-5, and 4 u for the square root, the quotient and the constant:
 *             ((c + 6) / 2 + 4) u + e^2 r^2 / 2
 *   y_i       the products with r and g and the sum with b: 3 u (|g_i z_i r| + |b_i|)
 *
 * Together |out - y_i| <= u |g_i| r ((c/2 + 11) |z_i| + c A) + 3 u |b_i| + |g_i z_i| r e^2 r^2 / 2.
 * Kernels charge n = c + 12 additions and abs_i = |g_i| r (|z_i| + A) + |b_i|, so that gamma_n abs_i covers it: the
 * last term is within the c/2 u |z_i| left over while c u (A r)^2 < 1, a mean of up to 147 deviations at c = 768.
 * Sums in fp16 round at 2^-11, once for each addition of the longest chain: that chain takes the place of c. */
#ifndef NT_LAYERNORM_H
#define NT_LAYERNORM_H

#include "kernels/common/rows.h"

#define NT_LAYERNORM_EPSILON 1e-5f

/* c + 12: additions that kernels with f32 sums charge. */
double nt_layernorm_additions(const nt_problem *problem);

extern const char nt_embed_layernorm_reference_cu[];

#endif
