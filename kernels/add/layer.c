/* layer.c: the layer add: the sum of two tensors; the second operand stands where
 * other layers have their weight. kernels/common/map.h has what it shares with other elementwise layers. */
#include "kernels/common/map.h"

/* The residual sums of ResNet-50, MobileNetV2, YOLOv3 and ViT-B/16 (197 tokens of 768). */
static const nt_named_shape shapes[] = {
    {"256x56x56", "c=256,h=56,w=56"},   {"512x28x28", "c=512,h=28,w=28"},     {"1024x14x14", "c=1024,h=14,w=14"},
    {"2048x7x7", "c=2048,h=7,w=7"},     {"24x56x56", "c=24,h=56,w=56"},       {"32x28x28", "c=32,h=28,w=28"},
    {"64x14x14", "c=64,h=14,w=14"},     {"96x14x14", "c=96,h=14,w=14"},       {"160x7x7", "c=160,h=7,w=7"},
    {"64x208x208", "c=64,h=208,w=208"}, {"128x104x104", "c=128,h=104,w=104"}, {"256x52x52", "c=256,h=52,w=52"},
    {"512x26x26", "c=512,h=26,w=26"},   {"1024x13x13", "c=1024,h=13,w=13"},   {"768x197x1", "c=768,h=197,w=1"},
};

static const nt_shape_table table = {
    .layer = "add",
    .keys = nt__map_keys,
    .key_count = NT_MAP_KEYS,
    .form = "CxHxW",
    .example = NT_MAP_EXAMPLE,
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
};

static nt_status parse_shape(const char *text, nt_shape *out, nt_error *err)
{
    return nt_shape_table_parse(&table, text, out, err);
}

static nt_status extents(const nt_problem *problem, nt_extents *out, nt_error *err)
{
    return nt__map_extents(problem, true, out, err);
}

static void reference(const nt_problem *problem, nt_bound bound, const float *in, const float *weight, double *out,
                      double *abs, int64_t begin, int64_t end)
{
    (void)bound;
    nt__map_reference(problem, in, weight, out, abs, begin, end);
}

static nt_status reference_cuda_plan(const nt_problem *problem, nt_bound bound, nt_plan *out, nt_error *err)
{
    (void)bound;
    return nt__map_reference_cuda_plan(problem, true, out, err);
}

const nt_layer nt_layer_residual_add = {
    .name = "add",
    .summary = "sum of two tensors: a residual connection",
    .shape_keys = "c,h,w",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
    .form = "CxHxW",
    .parse_shape = parse_shape,
    .extents = extents,
    .reference_rows = nt__map_reference_rows,
    .reference = reference,
    .reference_cuda_source = {nt_embed_common_map_reference_cu},
    .reference_cuda_plan = reference_cuda_plan,
};
