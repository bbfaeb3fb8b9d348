/* layer.c: the layer conv3x3: 3x3 convolution with stride 1 and a border of one zero: its shapes, sizes and work. */
#include "kernels/common/shape.h"
#include "kernels/conv3x3/conv3x3.h"

/* The 3x3 convolutions of ResNet-50, the first being the default. */
static const nt_named_shape shapes[] = {
    {"64x56x56", "c=64,k=64,h=56,w=56"},
    {"128x28x28", "c=128,k=128,h=28,w=28"},
    {"256x14x14", "c=256,k=256,h=14,w=14"},
    {"512x7x7", "c=512,k=512,h=7,w=7"},
};

static const nt_shape_key keys[] = {
    {.key = "c", .meaning = "input channels"},
    {.key = "k", .meaning = "output channels", .same_as = "c"},
    {.key = "h", .meaning = "height"},
    {.key = "w", .meaning = "width"},
};

static const nt_shape_table table = {
    .layer = "conv3x3",
    .keys = keys,
    .key_count = sizeof keys / sizeof keys[0],
    .form = "CxHxW",
    .example = "64x56x56 (CxHxW with k = c) or c=64,k=64,h=56,w=56",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
};

static nt_status parse_shape(const char *text, nt_shape *out, nt_error *err)
{
    return nt_shape_table_parse(&table, text, out, err);
}

static nt_status extents(const nt_problem *problem, nt_extents *out, nt_error *err)
{
    nt_conv3x3 d = nt_conv3x3_of(problem);
    nt_status status = nt_problem_batch_check(problem, err);
    if (status != NT_OK)
        return status;
    *out = (nt_extents){.out_channels = d.k};
    if (!NT_PRODUCT(&out->in, d.n, d.c, d.h, d.w) || !NT_PRODUCT(&out->weight, d.k, d.c, 9) ||
        !NT_PRODUCT(&out->out, d.n, d.k, d.h, d.w))
        return nt_problem_too_large(problem, err);
    out->out_channel_stride = problem->layout == NT_NHWC ? 1 : d.h * d.w;
    out->reduction = 9 * d.c;
    out->flop = 2.0 * (double)out->out * (double)out->reduction;
    out->bytes = nt_extents_tensor_bytes(problem, out);
    return NT_OK;
}

const nt_layer nt_layer_conv3x3 = {
    .name = "conv3x3",
    .summary = "3x3 convolution, stride 1, border of one zero",
    .shape_keys = "c,k,h,w",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
    .form = "CxHxW with k = c",
    .parse_shape = parse_shape,
    .extents = extents,
    .reference_rows = nt_conv3x3_reference_rows,
    .reference = nt_conv3x3_reference,
    .reference_cuda_source = nt_embed_conv3x3_reference_cu,
    .reference_cuda_plan = nt__conv3x3_reference_cuda_plan,
};
