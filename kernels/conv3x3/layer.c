/* layer.c: the layer conv3x3: 3x3 convolution with stride 1 and a border of one zero: its shapes, sizes and work. */
#include "core/mem.h"
#include "kernels/conv3x3/conv3x3.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_COUNT = 4 };
static const char *const keys[KEY_COUNT] = {"c", "k", "h", "w"};

/* The 3x3 convolutions of ResNet-50, the first being the default. */
static const nt_named_shape shapes[] = {
    {"64x56x56", "c=64,k=64,h=56,w=56"},
    {"128x28x28", "c=128,k=128,h=28,w=28"},
    {"256x14x14", "c=256,k=256,h=14,w=14"},
    {"512x7x7", "c=512,k=512,h=7,w=7"},
};

#define FORMS    "64x56x56 (CxHxW with k = c) or c=64,k=64,h=56,w=56"
#define KEY_HINT "c input channels, k output channels, h height, w width: --shape " FORMS

/* ---- shapes ---------------------------------------------------------------------------------------------------------- */

static void fill(nt_shape *out, const int64_t sizes[KEY_COUNT])
{
    *out = (nt_shape){.count = KEY_COUNT};
    for (int i = 0; i < KEY_COUNT; i++) {
        nt_copy(out->dim[i].key, sizeof out->dim[i].key, keys[i]);
        out->dim[i].size = sizes[i];
    }
}

static nt_status parse_size(const char *shape, const char *key, const char *text, int64_t *out, nt_error *err)
{
    long long value = 0;
    if (!nt_parse_i64(text, &value) || value < 1) {
        nt_fail(err, NT_USAGE, "shape '%s': %s is '%s', not a whole number from 1 up to 2147483647", shape, key, text);
        return nt_hint(err, "%s", KEY_HINT);
    }
    if (value > INT32_MAX) {
        nt_fail(err, NT_USAGE, "shape '%s': %s is %lld, more than 2147483647", shape, key, value);
        return nt_hint(err, "%s", KEY_HINT);
    }
    *out = value;
    return NT_OK;
}

static nt_status unknown_key(const char *shape, const char *key, nt_error *err)
{
    int near = nt_nearest(key, keys, KEY_COUNT);
    bool is_batch = strcmp(key, "n") == 0 || strcmp(key, "b") == 0 || strcmp(key, "batch") == 0;
    nt_fail(err, NT_USAGE, "shape '%s': conv3x3 has no key '%s'; its keys are c, k, h, w", shape, key);
    if (is_batch)
        return nt_hint(err, "the batch is an option of its own: --batch 8");
    if (near >= 0)
        return nt_hint(err, "did you mean '%s'? %s", keys[near], KEY_HINT);
    return nt_hint(err, "%s", KEY_HINT);
}

static nt_status parse_pair(const char *shape, char *word, int64_t sizes[KEY_COUNT], nt_error *err)
{
    char *sign = strchr(word, '=');
    if (sign == NULL) {
        nt_fail(err, NT_USAGE, "shape '%s': '%s' is not key=size", shape, word);
        return nt_hint(err, "%s", KEY_HINT);
    }
    *sign = '\0';
    for (int i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i], word) != 0)
            continue;
        if (sizes[i] != 0)
            return nt_fail(err, NT_USAGE, "shape '%s' gives %s twice", shape, word);
        return parse_size(shape, keys[i], sign + 1, &sizes[i], err);
    }
    return unknown_key(shape, word, err);
}

/* c=..,k=..,h=..,w=.. in any order. */
static nt_status parse_pairs(const char *shape, char *text, nt_shape *out, nt_error *err)
{
    int64_t sizes[KEY_COUNT] = {0};
    char *rest = NULL;
    for (char *word = strtok_r(text, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
        nt_status status = parse_pair(shape, word, sizes, err);
        if (status != NT_OK)
            return status;
    }
    for (int i = 0; i < KEY_COUNT; i++)
        if (sizes[i] == 0) {
            nt_fail(err, NT_USAGE, "shape '%s' leaves out %s", shape, keys[i]);
            return nt_hint(err, "%s", KEY_HINT);
        }
    fill(out, sizes);
    return NT_OK;
}

/* CxHxW */
static nt_status parse_triple(const char *shape, char *text, nt_shape *out, nt_error *err)
{
    static const char *const names[3] = {"c", "h", "w"};
    int64_t sizes[3] = {0};
    char *word = text;
    for (int i = 0; i < 3; i++) {
        char *end = word != NULL ? strchr(word, 'x') : NULL;
        if (word == NULL || (i == 2 && end != NULL)) {
            nt_fail(err, NT_USAGE, "shape '%s' is not of the form CxHxW", shape);
            return nt_hint(err, "%s", KEY_HINT);
        }
        if (end != NULL)
            *end++ = '\0';
        nt_status status = parse_size(shape, names[i], word, &sizes[i], err);
        if (status != NT_OK)
            return status;
        word = end;
    }
    fill(out, (const int64_t[KEY_COUNT]){sizes[0], sizes[0], sizes[1], sizes[2]});
    return NT_OK;
}

static nt_status parse_shape(const char *text, nt_shape *out, nt_error *err)
{
    if (strlen(text) > 200)
        return nt_fail(err, NT_USAGE, "a shape of %zu characters; a shape is %s", strlen(text), FORMS);
    if (text[0] == '\0' || (strchr(text, '=') == NULL && strchr(text, 'x') == NULL)) {
        nt_fail(err, NT_USAGE, "shape '%s' is unknown; conv3x3 names 64x56x56, 128x28x28, 256x14x14 and 512x7x7", text);
        return nt_hint(err, "any other: --shape %s", FORMS);
    }
    char *copy = nt_strdup(text);
    nt_status status =
        strchr(text, '=') != NULL ? parse_pairs(text, copy, out, err) : parse_triple(text, copy, out, err);
    free(copy);
    return status;
}

/* ---- sizes and work ---------------------------------------------------------------------------------------------------- */

/* The product of the factors; false when it passes 2^59, so that bytes and sums of bytes fit as well. */
static bool product(int64_t *out, int count, const int64_t *factors)
{
    *out = 1;
    for (int i = 0; i < count; i++)
        if (__builtin_mul_overflow(*out, factors[i], out) || *out > (INT64_MAX >> 4))
            return false;
    return true;
}

#define PRODUCT(out, ...) \
    product(out, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]){__VA_ARGS__})

static nt_status extents(const nt_problem *problem, nt_extents *out, nt_error *err)
{
    nt_conv3x3 d = nt_conv3x3_of(problem);
    const nt_precision_row *row = &nt_precisions[problem->precision];
    if (d.n < 1)
        return nt_fail(err, NT_USAGE, "batch is %lld, but the least is 1", (long long)d.n);
    *out = (nt_extents){.out_channels = d.k};
    if (!PRODUCT(&out->in, d.n, d.c, d.h, d.w) || !PRODUCT(&out->weight, d.k, d.c, 9) ||
        !PRODUCT(&out->out, d.n, d.k, d.h, d.w)) {
        nt_str text = {0};
        nt_problem_print(&text, problem);
        nt_fail(err, NT_USAGE, "%s is too large: a tensor has more elements than 64 bits can address",
                nt_str_text(&text));
        nt_str_done(&text);
        return nt_hint(err, "make c, k, h, w or the batch smaller");
    }
    out->out_channel_stride = problem->layout == NT_NHWC ? 1 : d.h * d.w;
    out->reduction = 9 * d.c;
    out->flop = 2.0 * (double)out->out * (double)out->reduction;
    out->bytes = (double)out->in * (double)nt_dtype_bytes(row->in) +
                 (double)out->weight * (double)nt_dtype_bytes(row->weight) +
                 (double)out->out * (double)nt_dtype_bytes(row->out);
    return NT_OK;
}

const nt_layer nt_layer_conv3x3 = {
    .name = "conv3x3",
    .summary = "3x3 convolution, stride 1, border of one zero",
    .shape_keys = "c,k,h,w",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
    .form = "CxHxW with k = c",
    .parse_shape = parse_shape,
    .extents = extents,
    .reference_rows = nt_conv3x3_reference_rows,
    .reference = nt_conv3x3_reference,
    .reference_cuda_source = nt_embed_conv3x3_reference_cu,
    .reference_cuda_plan = nt__conv3x3_reference_cuda_plan,
};
