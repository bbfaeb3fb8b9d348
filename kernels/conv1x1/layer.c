/* layer.c: the layer conv1x1: 1x1 convolution, a matrix product over pixels. */
#include "kernels/common/shape.h"
#include "kernels/conv/conv.h"

/* ResNet-50: reductions and expansions of its stages, the first being the default, and its shortcuts with stride 2;
 * then MobileNetV2 and YOLOv3. */
static const nt_named_shape shapes[] = {
    {"256-64x56x56", "c=256,k=64,h=56,w=56"},
    {"64-64x56x56", "c=64,k=64,h=56,w=56"},
    {"64-256x56x56", "c=64,k=256,h=56,w=56"},
    {"512-128x28x28", "c=512,k=128,h=28,w=28"},
    {"128-512x28x28", "c=128,k=512,h=28,w=28"},
    {"1024-256x14x14", "c=1024,k=256,h=14,w=14"},
    {"256-1024x14x14", "c=256,k=1024,h=14,w=14"},
    {"2048-512x7x7", "c=2048,k=512,h=7,w=7"},
    {"512-2048x7x7", "c=512,k=2048,h=7,w=7"},
    {"resnet-256-512s2", "c=256,k=512,h=56,w=56,stride=2"},
    {"resnet-512-1024s2", "c=512,k=1024,h=28,w=28,stride=2"},
    {"resnet-1024-2048s2", "c=1024,k=2048,h=14,w=14,stride=2"},
    {"mobile-32-16", "c=32,k=16,h=112,w=112"},
    {"mobile-16-96", "c=16,k=96,h=112,w=112"},
    {"mobile-96-24", "c=96,k=24,h=56,w=56"},
    {"mobile-24-144", "c=24,k=144,h=56,w=56"},
    {"mobile-144-32", "c=144,k=32,h=28,w=28"},
    {"mobile-32-192", "c=32,k=192,h=28,w=28"},
    {"mobile-192-64", "c=192,k=64,h=14,w=14"},
    {"mobile-64-384", "c=64,k=384,h=14,w=14"},
    {"mobile-384-96", "c=384,k=96,h=14,w=14"},
    {"mobile-576-160", "c=576,k=160,h=7,w=7"},
    {"mobile-160-960", "c=160,k=960,h=7,w=7"},
    {"mobile-960-320", "c=960,k=320,h=7,w=7"},
    {"mobile-320-1280", "c=320,k=1280,h=7,w=7"},
    {"yolo-128-64", "c=128,k=64,h=104,w=104"},
    {"yolo-256-128", "c=256,k=128,h=52,w=52"},
    {"yolo-512-256", "c=512,k=256,h=26,w=26"},
    {"yolo-1024-512", "c=1024,k=512,h=13,w=13"},
    {"yolo-1024-255", "c=1024,k=255,h=13,w=13"},
};

static const nt_shape_key keys[] = {NT_CONV_KEY_C, NT_CONV_KEY_K, NT_CONV_KEYS_HW, NT_CONV_KEY_STRIDE(1)};

static const nt_shape_table table = {
    .layer = "conv1x1",
    .keys = keys,
    .key_count = sizeof keys / sizeof keys[0],
    .form = "CxHxW",
    .example = "64x56x56 (CxHxW with k = c) or c=256,k=64,h=56,w=56",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
};

static nt_status parse_shape(const char *text, nt_shape *out, nt_error *err)
{
    return nt_shape_table_parse(&table, text, out, err);
}

const nt_layer nt_layer_conv1x1 = {
    .name = "conv1x1",
    .summary = "1x1 convolution: a matrix product over pixels; stride 1 or more",
    .shape_keys = "c,k,h,w,stride",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
    .form = "CxHxW with k = c",
    NT_CONV_LAYER_FUNCTIONS,
};
