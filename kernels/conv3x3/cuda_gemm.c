/* cuda_gemm.c: conv3x3 as a matrix product by the copy engine and tensor cores of compute capability 9.0 (gemm/): in
 * the types of its tensor cores, and in fp32 by three products of parts.
 *
 * What counts is that tiles fill whole waves of the device; few pixels (small batches and images) want filters as rows,
 * narrow tiles and a reduction that clusters share. */
#include "kernels/gemm/gemm.h"

#define PIXELS "(n * h * w)"
static const nt_constraint constraints[] = {NT__GEMM_CONSTRAINTS(PIXELS, "9", "1", "4096")};
static const nt_constraint exact_constraints[] = {NT__GEMM_CONSTRAINTS(PIXELS, "9", "2", "4096")};
static const nt_constraint first_constraints[] = {NT__GEMM_CONSTRAINTS(PIXELS, "9", "1", "2147483647")};

NT__GEMM_ROW(nt_kernel_conv3x3_cuda_gemm, "conv3x3", NT__GEMM_ALL, constraints);
NT__GEMM_EXACT_ROW(nt_kernel_conv3x3_cuda_gemm3, "conv3x3", exact_constraints);
NT__GEMM_FIRST_ROW(nt_kernel_conv3x3_cuda_gemm_first, "conv3x3", NT__GEMM_ALL, first_constraints);
NT__GEMM_EXACT_FIRST_ROW(nt_kernel_conv3x3_cuda_gemm3_first, "conv3x3", exact_constraints);
