/* cuda_gemm.c: 1x1 convolutions as matrix products: with stride 1 the pixels are a matrix as they are. See gemm/. */
#include "kernels/gemm/gemm.h"

#define PIXELS "(n * h * w)"
static const nt_constraint constraints[] = {NT__GEMM_CONSTRAINTS(PIXELS, "1", "1", "4096")};
static const nt_constraint exact_constraints[] = {NT__GEMM_CONSTRAINTS(PIXELS, "1", "2", "4096")};
static const nt_constraint first_constraints[] = {NT__GEMM_CONSTRAINTS(PIXELS, "1", "1", "2147483647")};

NT__GEMM_ROW(nt_kernel_conv1x1_cuda_gemm, "conv1x1", NT__GEMM_ALL, constraints);
NT__GEMM_EXACT_ROW(nt_kernel_conv1x1_cuda_gemm3, "conv1x1", exact_constraints);
NT__GEMM_FIRST_ROW(nt_kernel_conv1x1_cuda_gemm_first, "conv1x1", NT__GEMM_ALL, first_constraints);
NT__GEMM_EXACT_FIRST_ROW(nt_kernel_conv1x1_cuda_gemm3_first, "conv1x1", exact_constraints);
