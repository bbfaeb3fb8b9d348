/* cuda.c: a problem as a call of NVIDIA's libraries. See cuda.h. */
#include "kernels/vendor/cuda.h"

enum { WORKSPACE_BYTES = 256 << 20 };

nt_status nt__vendor_cuda_plan(const nt_problem *problem, nt_vendor vendor, int64_t algorithm, nt_plan *out)
{
    nt_product_shape p = nt__product_of(problem);
    nt_vendor_conv conv = {
        .n = p.images,
        .c = p.channels,
        .k = p.filters,
        .h = p.height,
        .w = p.width,
        .r = p.filter_size,
        .s = p.filter_size,
        .stride = p.stride,
        .pad = p.border,
        .groups = 1,
        .precision = problem->precision,
        .layout = problem->layout,
        .workspace_bytes = WORKSPACE_BYTES,
    };
    *out = (nt_plan){.stage_count = 1, .workspace_bytes = WORKSPACE_BYTES};
    nt_stage_vendor_conv(&out->stage[0], vendor, "convolve", algorithm, &conv);
    return NT_OK;
}
