/* layer.c: the layer conv7x7: the first convolution of ResNet: 7x7 with a border of three zeros, stride 2. */
#include "kernels/common/shape.h"
#include "kernels/conv/conv.h"

static const nt_named_shape shapes[] = {
    {"resnet", "c=3,k=64,h=224,w=224"},
};

static const nt_shape_key keys[] = {NT_CONV_KEY_C, NT_CONV_KEY_K, NT_CONV_KEYS_HW, NT_CONV_KEY_STRIDE(2)};

static const nt_shape_table table = {
    .layer = "conv7x7",
    .keys = keys,
    .key_count = sizeof keys / sizeof keys[0],
    .form = "CxKxHxW",
    .example = "3x64x224x224 (CxKxHxW) or c=3,k=64,h=224,w=224",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
};

static nt_status parse_shape(const char *text, nt_shape *out, nt_error *err)
{
    return nt_shape_table_parse(&table, text, out, err);
}

const nt_layer nt_layer_conv7x7 = {
    .name = "conv7x7",
    .summary = "7x7 convolution with a border of three zeros; stride 2 unless given",
    .shape_keys = "c,k,h,w,stride",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
    .form = "CxKxHxW",
    NT_CONV_LAYER_FUNCTIONS,
};
