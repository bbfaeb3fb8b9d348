/* cuda.h: what the rows of NVIDIA's libraries share: the call that a problem is, with the workspace that the libraries'
 * users commonly give them (256 MiB). */
#ifndef NT_VENDOR_CUDA_H
#define NT_VENDOR_CUDA_H

#include "core/vendor_call.h"
#include "kernels/conv/conv.h"
#include "kernels/kernel.h"

nt_status nt__vendor_cuda_plan(const nt_problem *problem, nt_vendor vendor, int64_t algorithm, nt_plan *out);

#define NT__NUMBERS_0_TO_31                                                                                           \
    NT_INTS(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, \
            29, 30, 31)

#define NT__VENDOR_ALL_PRECISIONS \
    (NT_BIT(NT_FP32) | NT_BIT(NT_TF32) | NT_BIT(NT_FP16) | NT_BIT(NT_BF16) | NT_BIT(NT_INT8) | NT_BIT(NT_FP8))

#endif
