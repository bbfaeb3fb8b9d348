/* cpu_onednn.c: oneDNN's convolutions and inner product as rivals, one row a layer. Weights are moved into the
 * library's layout once, untimed; activations stay as the problem has them, or are moved there and back within the
 * time. */
#include "core/vendor_call.h"
#include "kernels/conv/conv.h"
#include "kernels/kernel.h"

static const nt_param params[] = {
    {.name = "algorithm",
     .help = "direct, or what the library chooses, which may be Winograd",
     .NT_STRINGS("direct", "auto"),
     .dflt = 1,
     .use = NT_PARAM_LAUNCH},
    {.name = "own_layout",
     .help = "activations are moved into the library's favourite layout and back, within the time",
     .NT_INTS(0, 1),
     .dflt = 0,
     .is_bool = true,
     .use = NT_PARAM_LAUNCH},
};

static int64_t up(int64_t x, int64_t step)
{
    return (x + step - 1) / step * step;
}

/* Layouts of the library are blocks of at most 64 channels; Winograd's weights are 36 a filter of 9. What it needs less
 * of is not used; what it needs more of it says when the call is made. */
static void set_room(const nt_conv *d, const nt_precision_row *row, bool is_auto, nt_vendor_conv *conv)
{
    int64_t taps = d->taps * d->taps * (is_auto && d->taps == 3 ? 4 : 1);
    int64_t filters = d->groups > 1 ? up(d->c, 64) * taps : up(d->k, 64) * up(d->c, 64) * taps;
    int64_t in = d->n * up(d->c, 64) * d->h * d->w, out = d->n * up(d->k, 64) * d->out_h * d->out_w;
    conv->packed_bytes = filters * (int64_t)nt_dtype_bytes(row->weight) + up(d->k, 64) * 16 + 4096;
    conv->workspace_bytes =
        !conv->own_layout ? 0 : in * (int64_t)nt_dtype_bytes(row->in) + out * (int64_t)nt_dtype_bytes(row->out) + 4096;
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    nt_conv d = nt_conv_of(problem);
    int64_t algorithm = config->index[0];
    nt_vendor_conv conv = {.n = d.n,
                           .c = d.c,
                           .k = d.k,
                           .h = d.h,
                           .w = d.w,
                           .r = d.taps,
                           .s = d.taps,
                           .stride = d.stride,
                           .pad = d.pad,
                           .groups = d.groups,
                           .precision = problem->precision,
                           .layout = problem->layout,
                           .own_layout = nt_config_int(params, config, "own_layout") != 0};
    (void)device;
    (void)err;
    set_room(&d, &nt_precisions[problem->precision], algorithm == 1, &conv);
    *out = (nt_plan){.prepare_count = 1,
                     .stage_count = 1,
                     .packed_bytes = (size_t)conv.packed_bytes,
                     .workspace_bytes = (size_t)conv.workspace_bytes};
    nt_stage_vendor_conv(&out->prepare[0], NT_VENDOR_ONEDNN, "prepare_weights", algorithm, &conv);
    nt_stage_vendor_conv(&out->stage[0], NT_VENDOR_ONEDNN, "convolve", algorithm, &conv);
    return NT_OK;
}

#define ROW(of_layer)                                                      \
    const nt_kernel nt_kernel_##of_layer##_cpu_onednn = {                  \
        .name = "onednn",                                                  \
        .summary = "oneDNN",                                               \
        .layer = #of_layer,                                                \
        .device = NT_DEVICE_CPU,                                           \
        .vendor = NT_VENDOR_ONEDNN,                                        \
        .precisions = NT_BIT(NT_FP32) | NT_BIT(NT_BF16) | NT_BIT(NT_INT8), \
        .layouts = NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW),                      \
        .params = params,                                                  \
        .param_count = sizeof params / sizeof params[0],                   \
        .bound = NT_BOUND_DIRECT,                                          \
        .additions = nt_conv_additions,                                    \
        .plan = plan,                                                      \
    };

ROW(conv3x3)
ROW(conv1x1)
ROW(conv7x7)
ROW(dwconv3x3)
ROW(fc)
