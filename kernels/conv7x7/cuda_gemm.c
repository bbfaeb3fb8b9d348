/* cuda_gemm.c: 7x7 convolutions as matrix products; three channels are too few for the copy engine. See gemm/. */
#include "kernels/gemm/gemm.h"

#define PIXELS "(n * h * w)"
static const nt_constraint constraints[] = {NT__GEMM_CONSTRAINTS(PIXELS, "49", "1", "4096")};
static const nt_constraint exact_constraints[] = {NT__GEMM_CONSTRAINTS(PIXELS, "49", "2", "4096")};

NT__GEMM_ROW(nt_kernel_conv7x7_cuda_gemm, "conv7x7", NT__GEMM_ALL, constraints);
NT__GEMM_EXACT_ROW(nt_kernel_conv7x7_cuda_gemm3, "conv7x7", exact_constraints);
