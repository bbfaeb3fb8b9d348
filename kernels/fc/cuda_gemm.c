/* cuda_gemm.c: fully connected layers as matrix products; a small batch wants outputs as rows (transposed) and narrow
 * tiles. See gemm/. */
#include "kernels/gemm/gemm.h"

#define PIXELS "n"
static const nt_constraint constraints[] = {NT__GEMM_CONSTRAINTS(PIXELS, "1", "1", "4096")};
static const nt_constraint exact_constraints[] = {NT__GEMM_CONSTRAINTS(PIXELS, "1", "2", "4096")};

NT__GEMM_ROW(nt_kernel_fc_cuda_gemm, "fc", NT__GEMM_ALL, constraints);
NT__GEMM_EXACT_ROW(nt_kernel_fc_cuda_gemm3, "fc", exact_constraints);
