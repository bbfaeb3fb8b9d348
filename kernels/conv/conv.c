/* conv.c: the layers that are convolutions, as rows; sizes and work of their problems; activations. */
#include "kernels/conv/conv.h"

#include "kernels/common/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct kind {
    const char *layer;
    int64_t taps, pad, stride; /* the usual stride */
    bool depthwise, batch_norm, is_product;
} kind;

static const kind kinds[] = {
    {"conv3x3", 3, 1, 1, false, false, false},     {"conv1x1", 1, 0, 1, false, false, false},
    {"conv7x7", 7, 3, 2, false, false, false},     {"dwconv3x3", 3, 1, 1, true, false, false},
    {"conv_bn_relu", 3, 1, 1, false, true, false}, {"fc", 1, 0, 1, false, false, true},
};

static const kind *kind_of(const char *layer)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].layer, layer) == 0)
            return &kinds[i];
    abort(); /* a layer whose row names the functions of this file stands in the table above */
}

static int64_t out_size(int64_t size, const nt_conv *d)
{
    int64_t room = size + 2 * d->pad - d->taps;
    return room < 0 ? 0 : room / d->stride + 1;
}

nt_conv nt_conv_of(const nt_problem *problem)
{
    const nt_shape *shape = &problem->shape;
    const kind *row = kind_of(problem->layer);
    nt_conv d = {.n = problem->batch,
                 .c = nt_shape_get(shape, "c"),
                 .h = row->is_product ? 1 : nt_shape_get(shape, "h"),
                 .w = row->is_product ? 1 : nt_shape_get(shape, "w"),
                 .taps = row->taps,
                 .pad = row->pad,
                 .stride = nt_shape_get_or(shape, "stride", row->stride),
                 .batch_norm = row->batch_norm};
    d.k = row->depthwise ? d.c : nt_shape_get(shape, "k");
    d.groups = row->depthwise ? d.c : 1;
    d.act = row->batch_norm ? (nt_activation)nt_shape_get_or(shape, "act", NT_ACT_RELU) : NT_ACT_NONE;
    d.out_h = out_size(d.h, &d);
    d.out_w = out_size(d.w, &d);
    return d;
}

nt_status nt_conv_extents(const nt_problem *problem, nt_extents *out, nt_error *err)
{
    nt_conv d = nt_conv_of(problem);
    nt_status status = nt_problem_batch_check(problem, err);
    if (status != NT_OK)
        return status;
    *out = (nt_extents){.out_channels = d.k};
    if (!NT_PRODUCT(&out->in, d.n, d.c, d.h, d.w) || !NT_PRODUCT(&out->weight, d.k, d.c / d.groups, d.taps, d.taps) ||
        !NT_PRODUCT(&out->out, d.n, d.k, d.out_h, d.out_w))
        return nt_problem_too_large(problem, err);
    out->out_channel_stride = problem->layout == NT_NHWC ? 1 : d.out_h * d.out_w;
    out->reduction = d.taps * d.taps * (d.c / d.groups);
    out->flop = 2.0 * (double)out->out * (double)out->reduction;
    if (d.batch_norm)
        out->weight += 4 * d.k;
    out->bytes = nt_extents_tensor_bytes(problem, out);
    return NT_OK;
}

double nt_conv_additions(const nt_problem *problem)
{
    nt_conv d = nt_conv_of(problem);
    int64_t channels = d.c / d.groups; /* of a filter */
    return (double)(d.taps * d.taps * channels) + (d.batch_norm ? NT_CONV_EPILOGUE_ADDITIONS : 0);
}

double nt_conv_chain_additions(const nt_problem *problem)
{
    const nt_precision_row *row = &nt_precisions[problem->precision];
    return nt_conv_additions(problem) + 2 * row->unit_out / row->unit_accumulate;
}

/* ---- activations ----------------------------------------------------------------------------------------------------- */

double nt_activation_of(nt_activation act, double x)
{
    switch (act) {
    case NT_ACT_RELU:
        return x > 0 ? x : 0;
    case NT_ACT_RELU6:
        return x <= 0 ? 0 : x < 6 ? x : 6;
    case NT_ACT_SILU:
        return x / (1 + exp(-x));
    case NT_ACT_GELU:
        return 0.5 * x * (1 + erf(x * 0.70710678118654752440)); /* 1 / sqrt 2 */
    default:
        return x;
    }
}

/* silu: at x = 2.40, gelu: at x = sqrt 2, rounded up. */
double nt_activation_slope(nt_activation act)
{
    return act == NT_ACT_SILU ? 1.1 : act == NT_ACT_GELU ? 1.13 : 1;
}
