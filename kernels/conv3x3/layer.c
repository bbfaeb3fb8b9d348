/* layer.c: the layer conv3x3: 3x3 convolution with a border of one zero. */
#include "kernels/common/shape.h"
#include "kernels/conv3x3/conv3x3.h"

extern const char nt_embed_conv3x3_winograd_cuh[], nt_embed_conv3x3_reference_cu[];

/* The 3x3 convolutions of ResNet-50, the first being the default, those of its strides, then what VGG-16 and YOLOv3 add
 * to them. */
static const nt_named_shape shapes[] = {
    {"64x56x56", "c=64,k=64,h=56,w=56"},
    {"128x28x28", "c=128,k=128,h=28,w=28"},
    {"256x14x14", "c=256,k=256,h=14,w=14"},
    {"512x7x7", "c=512,k=512,h=7,w=7"},
    {"resnet-128s2", "c=128,k=128,h=56,w=56,stride=2"},
    {"resnet-256s2", "c=256,k=256,h=28,w=28,stride=2"},
    {"resnet-512s2", "c=512,k=512,h=14,w=14,stride=2"},
    {"vgg-1-1", "c=3,k=64,h=224,w=224"},
    {"vgg-1-2", "c=64,k=64,h=224,w=224"},
    {"vgg-2-1", "c=64,k=128,h=112,w=112"},
    {"vgg-2-2", "c=128,k=128,h=112,w=112"},
    {"vgg-3-1", "c=128,k=256,h=56,w=56"},
    {"vgg-3-2", "c=256,k=256,h=56,w=56"},
    {"vgg-4-1", "c=256,k=512,h=28,w=28"},
    {"vgg-4-2", "c=512,k=512,h=28,w=28"},
    {"vgg-5", "c=512,k=512,h=14,w=14"},
    {"yolo-1", "c=3,k=32,h=416,w=416"},
    {"yolo-2s2", "c=32,k=64,h=416,w=416,stride=2"},
    {"yolo-3", "c=32,k=64,h=208,w=208"},
    {"yolo-4s2", "c=64,k=128,h=208,w=208,stride=2"},
    {"yolo-5", "c=64,k=128,h=104,w=104"},
    {"yolo-6s2", "c=128,k=256,h=104,w=104,stride=2"},
    {"yolo-7", "c=128,k=256,h=52,w=52"},
    {"yolo-8s2", "c=256,k=512,h=52,w=52,stride=2"},
    {"yolo-9", "c=256,k=512,h=26,w=26"},
    {"yolo-10s2", "c=512,k=1024,h=26,w=26,stride=2"},
    {"yolo-11", "c=512,k=1024,h=13,w=13"},
};

static const nt_shape_key keys[] = {NT_CONV_KEY_C, NT_CONV_KEY_K, NT_CONV_KEYS_HW, NT_CONV_KEY_STRIDE(1)};

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

const char *nt__conv3x3_cuda_refuses(const nt_problem *problem)
{
    return nt_conv_of(problem).stride != 1 ? "it has stride 1 alone" : nt_conv_cuda_refuses(problem);
}

const nt_layer nt_layer_conv3x3 = {
    .name = "conv3x3",
    .summary = "3x3 convolution with a border of one zero, stride 1 or more",
    .shape_keys = "c,k,h,w,stride",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
    .form = "CxHxW with k = c",
    .parse_shape = parse_shape,
    .extents = nt_conv_extents,
    .reference_rows = nt_conv_reference_rows,
    .reference = nt_conv3x3_reference,
    .reference_cuda_source = {nt_embed_conv_reference_cu, nt_embed_conv3x3_winograd_cuh, nt_embed_conv3x3_reference_cu},
    .reference_cuda_plan = nt_conv3x3_reference_cuda_plan,
};
