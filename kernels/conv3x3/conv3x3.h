/* conv3x3.h: what the files of this layer share beside conv.h. */
#ifndef NT_CONV3X3_H
#define NT_CONV3X3_H

#include "kernels/conv/conv.h"

/* Winograd's error bound. With F(m x m, 3 x 3), m = 2 or 4 (winograd.cuh has the matrices),
 *   Y = A^T (sum over channels of U . V) A,  U = G g G^T,  V = B^T d B.
 * Each term of an output passes through a fixed number n of roundings, each a factor 1 + e with |e| <= u, and its
 * coefficients' magnitudes are those of the matrices, so that with gamma = n u / (1 - n u)
 *   |Y' - Y| <= gamma |A^T| (sum of (|G||g||G^T|) . (|B^T||d||B|)) |A|,
 * the composition of the bound of a sum of products (N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd
 * edition, section 3.1) with itself; B. Barabasz, A. Anderson, K. Soodhalter and D. Gregg (Error Analysis and Improving
 * the Accuracy of Winograd Convolution for Deep Neural Networks, 2020) have it for norms. Matrices with larger entries
 * amplify more: of inputs and weights that are all of one magnitude the right-hand side is 64/9 |x| conv |w| for m = 2,
 * 28 to 256 times it for m = 4, by the place in the tile (test_conv3x3_layer.c). A scaling of places leaves it as it
 * is, since |A|, |G| and |B| share it.
 *
 * Roundings of one output, as winograd.cuh computes: of U one, made in double, and one more for that double; of V, two
 * passes of one addition for m = 2, of two and a product with 5 for m = 4 (other factors are powers of two); of the sum
 * one a channel; of Y two passes of a pair and m / 2 terms beside it. */
static inline double nt_winograd_additions(const nt_problem *problem, int out_tile)
{
    return (double)nt_conv_of(problem).c + 2 + (out_tile == 2 ? 2 + 4 : 2 * 3 + 2 * 3);
}

/* The fp64 reference on the host, with Winograd's bounds (reference.c), and on a device. */
void nt_conv3x3_reference(const nt_problem *problem, nt_bound bound, const float *in, const float *weight, double *out,
                          double *abs, int64_t begin, int64_t end);
nt_status nt_conv3x3_reference_cuda_plan(const nt_problem *problem, nt_bound bound, nt_plan *out, nt_error *err);

/* Kernels of stride 1: NULL when the problem has it and is within the limits of CUDA kernels. */
const char *nt__conv3x3_cuda_refuses(const nt_problem *problem);

#endif
