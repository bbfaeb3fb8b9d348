/* layer.c: the layer avgpool: the average of each image, or of windows. Of the heads of ResNet-50, MobileNetV2,
 * ResNet-18 and YOLOv3's Darknet-53, and the 2x2 downsampling of ResNet-50-D. */
#include "kernels/common/pool.h"

static const nt_named_shape shapes[] = {
    {"2048x7x7", "c=2048,h=7,w=7"},
    {"1280x7x7", "c=1280,h=7,w=7"},
    {"512x7x7", "c=512,h=7,w=7"},
    {"1024x8x8", "c=1024,h=8,w=8"},
    {"256x56x56-2x2", "c=256,h=56,w=56,window=2"},
    {"512x28x28-2x2", "c=512,h=28,w=28,window=2"},
    {"1024x14x14-2x2", "c=1024,h=14,w=14,window=2"},
};

static const nt_shape_key keys[] = {
    {.key = "c", .meaning = "channels"},
    {.key = "h", .meaning = "height"},
    {.key = "w", .meaning = "width"},
    {.key = "window", .meaning = "side of the window (left out: the whole image)", .is_optional = true, .most = 1024},
    {.key = "stride", .meaning = "step (left out: the window)", .is_optional = true, .same_as = "window"},
};

static const nt_shape_table table = {
    .layer = "avgpool",
    .keys = keys,
    .key_count = sizeof keys / sizeof keys[0],
    .form = "CxHxW",
    .example = "2048x7x7 (CxHxW) or c=2048,h=7,w=7,window=2,stride=2",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
};

static nt_status parse_shape(const char *text, nt_shape *out, nt_error *err)
{
    return nt_shape_table_parse(&table, text, out, err);
}

const nt_layer nt_layer_avgpool = {
    .name = "avgpool",
    .summary = "average of the whole image, or of windows; no border",
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
