/* cuda_gemm.c: 3x3 convolutions with batch norm and activation applied to the sums before they are stored. See gemm/.
 */
#include "kernels/gemm/gemm.h"

#define PIXELS "(n * h * w)"
static const nt_constraint constraints[] = {NT__GEMM_CONSTRAINTS(PIXELS, "9", "1", "4096")};
static const nt_constraint exact_constraints[] = {NT__GEMM_CONSTRAINTS(PIXELS, "9", "2", "4096")};
static const nt_constraint first_constraints[] = {NT__GEMM_CONSTRAINTS(PIXELS, "9", "1", "2147483647")};

NT__GEMM_ROW(nt_kernel_conv_bn_relu_cuda_gemm, "conv_bn_relu", NT__GEMM_FLOATS, constraints);
NT__GEMM_EXACT_ROW(nt_kernel_conv_bn_relu_cuda_gemm3, "conv_bn_relu", exact_constraints);
NT__GEMM_FIRST_ROW(nt_kernel_conv_bn_relu_cuda_gemm_first, "conv_bn_relu", NT__GEMM_FLOATS, first_constraints);
NT__GEMM_EXACT_FIRST_ROW(nt_kernel_conv_bn_relu_cuda_gemm3_first, "conv_bn_relu", exact_constraints);
