/* layer.c: the layer conv_bn_relu: 3x3 convolution, batch norm as inference has it, activation.
 *
 * The weight buffer holds the filters, then gamma, beta, mean and variance of k each, all in the weights' type.
 * Activations: the shape key `act`. */
#include "kernels/common/shape.h"
#include "kernels/conv/conv.h"

#include <math.h>

/* The stages of ResNet-50; one of YOLOv3 with the activation nearest to its leaky relu. */
static const nt_named_shape shapes[] = {
    {"64x56x56", "c=64,k=64,h=56,w=56"},
    {"128x28x28", "c=128,k=128,h=28,w=28"},
    {"256x14x14", "c=256,k=256,h=14,w=14"},
    {"512x7x7", "c=512,k=512,h=7,w=7"},
    {"resnet-128s2", "c=128,k=128,h=56,w=56,stride=2"},
    {"resnet-256s2", "c=256,k=256,h=28,w=28,stride=2"},
    {"resnet-512s2", "c=512,k=512,h=14,w=14,stride=2"},
    {"yolo-silu", "c=128,k=256,h=52,w=52,act=silu"},
};

static const nt_shape_key keys[] = {
    NT_CONV_KEY_C,
    NT_CONV_KEY_K,
    NT_CONV_KEYS_HW,
    NT_CONV_KEY_STRIDE(1),
    {.key = "act",
     .meaning = "activation (relu, relu6, silu, gelu or none)",
     .is_optional = true,
     .dflt = NT_ACT_RELU,
     .least = NT_ACT_RELU,
     .most = NT_ACT_COUNT - 1,
     .is_word = true},
};

static const nt_shape_table table = {
    .layer = "conv_bn_relu",
    .keys = keys,
    .key_count = sizeof keys / sizeof keys[0],
    .form = "CxHxW",
    .example = "64x56x56 (CxHxW with k = c) or c=64,k=64,h=56,w=56,act=silu",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
};

static nt_status parse_shape(const char *text, nt_shape *out, nt_error *err)
{
    return nt_shape_table_parse(&table, text, out, err);
}

/* A variance is positive: half to three halves of what a normal fill usually has. */
static void amend_weight(const nt_problem *problem, float *weight)
{
    nt_conv d = nt_conv_of(problem);
    float *variance = weight + nt_conv_filters(&d) + 3 * d.k;
    for (int64_t k = 0; k < d.k; k++)
        variance[k] = 0.5f + fabsf(variance[k]);
}

const nt_layer nt_layer_conv_bn_relu = {
    .name = "conv_bn_relu",
    .summary = "3x3 convolution, batch norm and activation: relu unless act=relu6, silu, gelu or none",
    .shape_keys = "c,k,h,w,stride,act",
    .word_key = "act",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
    .form = "CxHxW with k = c",
    .amend_weight = amend_weight,
    NT_CONV_LAYER_FUNCTIONS,
};
