/* layer.c: the layer fc: every output is a sum over all inputs: out[n][k] = sum over c of in[n][c] weight[k][c]. */
#include "kernels/common/shape.h"
#include "kernels/conv/conv.h"

/* A square one that stands for many, ResNet-50, VGG-16, MobileNetV2; of ViT-B/16 the projections, whose batch counts
 * tokens: 197 an image. */
static const nt_named_shape shapes[] = {
    {"1024x1024", "c=1024,k=1024"}, {"2048x1000", "c=2048,k=1000"}, {"4096x4096", "c=4096,k=4096"},
    {"vgg-6", "c=25088,k=4096"},    {"vgg-8", "c=4096,k=1000"},     {"mobile", "c=1280,k=1000"},
    {"vit-qkv", "c=768,k=2304"},    {"vit-out", "c=768,k=768"},     {"vit-mlp-1", "c=768,k=3072"},
    {"vit-mlp-2", "c=3072,k=768"},  {"vit-head", "c=768,k=1000"},
};

static const nt_shape_key keys[] = {{.key = "c", .meaning = "inputs"}, {.key = "k", .meaning = "outputs"}};

static const nt_shape_table table = {
    .layer = "fc",
    .keys = keys,
    .key_count = sizeof keys / sizeof keys[0],
    .form = "CxK",
    .example = "2048x1000 (CxK) or c=2048,k=1000",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
};

static nt_status parse_shape(const char *text, nt_shape *out, nt_error *err)
{
    return nt_shape_table_parse(&table, text, out, err);
}

const nt_layer nt_layer_fc = {
    .name = "fc",
    .summary = "fully connected: a matrix product, for a small batch a matrix times a vector",
    .shape_keys = "c,k",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
    .form = "CxK",
    NT_CONV_LAYER_FUNCTIONS,
};
