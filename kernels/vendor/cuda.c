/* cuda.c: a problem as a call of NVIDIA's libraries. See cuda.h. */
#include "kernels/vendor/cuda.h"

enum { WORKSPACE_BYTES = 256 << 20 };

nt_status nt__vendor_cuda_plan(const nt_problem *problem, nt_vendor vendor, int64_t algorithm, nt_plan *out)
{
    nt_conv c = nt_conv_of(problem);
    nt_vendor_conv conv = {
        .n = c.n,
        .c = c.c,
        .k = c.k,
        .h = c.h,
        .w = c.w,
        .r = c.taps,
        .s = c.taps,
        .stride = c.stride,
        .pad = c.pad,
        .groups = c.groups,
        .precision = problem->precision,
        .layout = problem->layout,
        .workspace_bytes = WORKSPACE_BYTES,
    };
    *out = (nt_plan){.stage_count = 1, .workspace_bytes = WORKSPACE_BYTES};
    nt_stage_vendor_conv(&out->stage[0], vendor, "convolve", algorithm, &conv);
    return NT_OK;
}
