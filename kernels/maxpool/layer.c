/* layer.c: the layer maxpool: the largest element of each window. Of ResNet-50 (3x3 at steps of 2), VGG-16 (2x2)
 * and the pyramid of YOLOv3-SPP (5x5 to 13x13 at steps of 1). */
#include "kernels/common/pool.h"

static const nt_named_shape shapes[] = {
    {"64x112x112", "c=64,h=112,w=112"},
    {"64x224x224-2x2", "c=64,h=224,w=224,window=2"},
    {"128x112x112-2x2", "c=128,h=112,w=112,window=2"},
    {"256x56x56-2x2", "c=256,h=56,w=56,window=2"},
    {"512x28x28-2x2", "c=512,h=28,w=28,window=2"},
    {"512x14x14-2x2", "c=512,h=14,w=14,window=2"},
    {"512x13x13-5x5s1", "c=512,h=13,w=13,window=5,stride=1"},
    {"512x13x13-9x9s1", "c=512,h=13,w=13,window=9,stride=1"},
    {"512x13x13-13x13s1", "c=512,h=13,w=13,window=13,stride=1"},
};

static const nt_shape_key keys[] = {
    {.key = "c", .meaning = "channels"},
    {.key = "h", .meaning = "height"},
    {.key = "w", .meaning = "width"},
    {.key = "window", .meaning = "side of the window (left out: 3)", .is_optional = true, .dflt = 3, .most = 1024},
    {.key = "stride", .meaning = "step (left out: 2)", .is_optional = true, .dflt = 2},
};

static const nt_shape_table table = {
    .layer = "maxpool",
    .keys = keys,
    .key_count = sizeof keys / sizeof keys[0],
    .form = "CxHxW",
    .example = "64x112x112 (CxHxW) or c=64,h=112,w=112,window=2,stride=2",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
};

static nt_status parse_shape(const char *text, nt_shape *out, nt_error *err)
{
    return nt_shape_table_parse(&table, text, out, err);
}

const nt_layer nt_layer_maxpool = {
    .name = "maxpool",
    .summary = "largest of a window, by default 3x3 at steps of 2; border (window - 1) / 2",
    .shape_keys = "c,h,w,window,stride",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
    .form = "CxHxW",
    .parse_shape = parse_shape,
    .extents = nt__pool_extents,
    .reference_rows = nt__pool_reference_rows,
    .reference = nt__pool_reference,
    .reference_cuda_source = {nt_embed_common_pool_reference_cu},
    .reference_cuda_plan = nt__pool_reference_cuda_plan,
};
