/* softmax.h: the error bound of softmax, y_i = exp(x_i - m) / sum_j exp(x_j - m) with m the largest x of the row.
 *
 * With u the rounding unit of f32 and d_i = m - x_i >= 0, a kernel computes, to first order in u:
 *   x_i - m                one rounding: off by u d_i
 *   the exponential        exp(t (1 + e)) = exp(t) (1 + t e): the rounding above, and where 2^x is computed the product
 *                          with log2(e) and that constant itself, 3 u d_i in all; the function adds at most 4 u
 *   the sum of c terms     c - 1 additions in any order (Higham, Accuracy and Stability of Numerical Algorithms, 4.2),
 *                          and the errors of its terms: 3 u sum_j y_j d_j + 4 u
 *   quotient and product   1/s and the product with it: 3 u
 * Together |out - y_i| <= u y_i (c - 1 + 4 + 4 + 3 + 3 (d_i + sum_j y_j d_j)). Kernels charge n = c + 12 additions, and
 * abs_i = y_i (1 + (d_i + sum_j y_j d_j) * 6 / n): gamma_n abs_i covers it, with 3 n of its 6/n for second-order terms,
 * which are below the first-order ones as long as n u < 1/4.
 * exp underflows below about -87; y_i then is less than 2^-125 and is not judged below 2^-100: see `abs`. */
#ifndef NT_SOFTMAX_H
#define NT_SOFTMAX_H

#include "kernels/common/rows.h"

/* c + 12: additions that kernels with f32 sums charge. */
double nt_softmax_additions(const nt_problem *problem);

extern const char nt_embed_softmax_reference_cu[];

#endif
