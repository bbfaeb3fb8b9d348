/* layer.c: the layer dwconv3x3: depthwise 3x3 convolution: each channel has a filter of its own. */
#include "kernels/common/shape.h"
#include "kernels/conv/conv.h"

/* One that stands for many, then those of MobileNetV2. */
static const nt_named_shape shapes[] = {
    {"256x28x28", "c=256,h=28,w=28"},
    {"mobile-32", "c=32,h=112,w=112"},
    {"mobile-96s2", "c=96,h=112,w=112,stride=2"},
    {"mobile-144", "c=144,h=56,w=56"},
    {"mobile-144s2", "c=144,h=56,w=56,stride=2"},
    {"mobile-192", "c=192,h=28,w=28"},
    {"mobile-192s2", "c=192,h=28,w=28,stride=2"},
    {"mobile-384", "c=384,h=14,w=14"},
    {"mobile-576", "c=576,h=14,w=14"},
    {"mobile-576s2", "c=576,h=14,w=14,stride=2"},
    {"mobile-960", "c=960,h=7,w=7"},
};

static const nt_shape_key keys[] = {{.key = "c", .meaning = "channels"}, NT_CONV_KEYS_HW, NT_CONV_KEY_STRIDE(1)};

static const nt_shape_table table = {
    .layer = "dwconv3x3",
    .keys = keys,
    .key_count = sizeof keys / sizeof keys[0],
    .form = "CxHxW",
    .example = "256x28x28 (CxHxW) or c=256,h=28,w=28",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
};

static nt_status parse_shape(const char *text, nt_shape *out, nt_error *err)
{
    return nt_shape_table_parse(&table, text, out, err);
}

const nt_layer nt_layer_dwconv3x3 = {
    .name = "dwconv3x3",
    .summary = "depthwise 3x3 convolution with a border of one zero, stride 1 or more",
    .shape_keys = "c,h,w,stride",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
    .form = "CxHxW",
    NT_CONV_LAYER_FUNCTIONS,
};
