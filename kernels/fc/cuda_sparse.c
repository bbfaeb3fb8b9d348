/* cuda_sparse.c: fully connected layers with 2:4 sparse weights. See gemm/sparse.h. */
#include "kernels/gemm/sparse.h"

static const nt_constraint constraints[] = {NT__SPARSE_CONSTRAINTS("n")};
static const nt_constraint gemm_constraints[] = {NT__GEMM_SPARSE_CONSTRAINTS("n")};

NT__SPARSE_ROW(nt_kernel_fc_cuda_sparse, "fc", constraints);
NT__GEMM_SPARSE_ROW(nt_kernel_fc_cuda_gemm_sparse, "fc", gemm_constraints);
