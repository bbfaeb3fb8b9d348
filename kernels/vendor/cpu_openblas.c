/* cpu_openblas.c: OpenBLAS's matrix product as a rival, where a layer is one as it lies in memory: fc and the NHWC 1x1
 * convolution of stride 1. */
#include "core/vendor_call.h"
#include "kernels/conv/conv.h"
#include "kernels/kernel.h"

static const char *refuses(const nt_problem *problem)
{
    nt_conv d = nt_conv_of(problem);
    return d.stride != 1 || d.pad != 0 ? "it multiplies pixels as they lie: stride 1 alone" : NULL;
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    nt_conv d = nt_conv_of(problem);
    nt_vendor_conv conv = {.n = d.n,
                           .c = d.c,
                           .k = d.k,
                           .h = d.h,
                           .w = d.w,
                           .r = 1,
                           .s = 1,
                           .stride = 1,
                           .groups = 1,
                           .precision = problem->precision,
                           .layout = problem->layout};
    (void)config;
    (void)device;
    (void)err;
    *out = (nt_plan){.stage_count = 1};
    nt_stage_vendor_conv(&out->stage[0], NT_VENDOR_OPENBLAS, "multiply", 0, &conv);
    return NT_OK;
}

#define ROW(of_layer, of_layouts)                           \
    const nt_kernel nt_kernel_##of_layer##_cpu_openblas = { \
        .name = "openblas",                                 \
        .summary = "OpenBLAS",                              \
        .layer = #of_layer,                                 \
        .device = NT_DEVICE_CPU,                            \
        .vendor = NT_VENDOR_OPENBLAS,                       \
        .precisions = NT_BIT(NT_FP32),                      \
        .layouts = of_layouts,                              \
        .bound = NT_BOUND_DIRECT,                           \
        .additions = nt_conv_additions,                     \
        .refuses = refuses,                                 \
        .plan = plan,                                       \
    };

ROW(conv1x1, NT_BIT(NT_NHWC))
ROW(fc, NT_BIT(NT_NHWC))
