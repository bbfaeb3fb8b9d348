/* cuda_sparse.c: 1x1 convolutions with stride 1 and 2:4 sparse weights. See gemm/sparse.h. */
#include "kernels/gemm/sparse.h"

static const nt_constraint constraints[] = {NT__SPARSE_CONSTRAINTS("(n * h * w)")};
static const nt_constraint gemm_constraints[] = {NT__GEMM_SPARSE_CONSTRAINTS("(n * h * w)")};

NT__SPARSE_ROW(nt_kernel_conv1x1_cuda_sparse, "conv1x1", constraints);
NT__GEMM_SPARSE_ROW(nt_kernel_conv1x1_cuda_gemm_sparse, "conv1x1", gemm_constraints);
