/* layer.c: the layer relu: max(x, 0), element by element. kernels/common/map.h has what it shares with other
 * elementwise layers. */
#include "kernels/common/map.h"

/* Of ResNet-50, MobileNetV2 and VGG-16, and one large enough to show the memory roof. */
static const nt_named_shape shapes[] = {
    {"64x112x112", "c=64,h=112,w=112"},     {"64x56x56", "c=64,h=56,w=56"},       {"256x56x56", "c=256,h=56,w=56"},
    {"128x28x28", "c=128,h=28,w=28"},       {"512x28x28", "c=512,h=28,w=28"},     {"256x14x14", "c=256,h=14,w=14"},
    {"1024x14x14", "c=1024,h=14,w=14"},     {"512x7x7", "c=512,h=7,w=7"},         {"2048x7x7", "c=2048,h=7,w=7"},
    {"32x112x112", "c=32,h=112,w=112"},     {"96x112x112", "c=96,h=112,w=112"},   {"144x56x56", "c=144,h=56,w=56"},
    {"192x28x28", "c=192,h=28,w=28"},       {"576x14x14", "c=576,h=14,w=14"},     {"960x7x7", "c=960,h=7,w=7"},
    {"64x224x224", "c=64,h=224,w=224"},     {"128x112x112", "c=128,h=112,w=112"}, {"512x14x14", "c=512,h=14,w=14"},
    {"1024x512x512", "c=1024,h=512,w=512"},
};

static const nt_shape_table table = {
    .layer = "relu",
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
    return nt__map_extents(problem, false, out, err);
}

static void reference(const nt_problem *problem, nt_bound bound, const float *in, const float *weight, double *out,
                      double *abs, int64_t begin, int64_t end)
{
    (void)bound, (void)weight;
    nt__map_reference(problem, in, NULL, out, abs, begin, end);
}

static nt_status reference_cuda_plan(const nt_problem *problem, nt_bound bound, nt_plan *out, nt_error *err)
{
    (void)bound;
    return nt__map_reference_cuda_plan(problem, false, out, err);
}

const nt_layer nt_layer_relu = {
    .name = "relu",
    .summary = "max(x, 0), element by element",
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
