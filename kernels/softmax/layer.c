/* layer.c: the layer softmax: exp(x_i) over its sum in each row: its shapes and its fp64 reference. */
#include "kernels/softmax/softmax.h"

#include <math.h>

/* The scores of ViT-B/16's 12 heads and 197 tokens, the classifiers of ImageNet, and long rows. */
static const nt_named_shape shapes[] = {
    {"2364x197", "rows=2364,c=197"}, {"197x197", "rows=197,c=197"},     {"1x1000", "rows=1,c=1000"},
    {"128x1000", "rows=128,c=1000"}, {"1024x1024", "rows=1024,c=1024"}, {"512x4096", "rows=512,c=4096"},
};

static const nt_shape_table table = {
    .layer = "softmax",
    .keys = nt__rows_keys,
    .key_count = NT_ROWS_KEYS,
    .form = "ROWSxC",
    .example = "128x1000 (ROWSxC) or rows=128,c=1000",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
};

static nt_status parse_shape(const char *text, nt_shape *out, nt_error *err)
{
    return nt_shape_table_parse(&table, text, out, err);
}

/* An element is compared, subtracted, exponentiated, added and divided. */
static nt_status extents(const nt_problem *problem, nt_extents *out, nt_error *err)
{
    return nt__rows_extents(problem, 0, 5, out, err);
}

double nt_softmax_additions(const nt_problem *problem)
{
    return (double)nt_rows_of(problem).c + 12;
}

static void reference_row(const float *in, int64_t c, double charge, double *out, double *abs)
{
    double largest = -INFINITY, sum = 0, spread = 0;
    for (int64_t i = 0; i < c; i++)
        largest = fmax(largest, (double)in[i]);
    for (int64_t i = 0; i < c; i++) {
        double distance = largest - (double)in[i], e = exp(-distance);
        out[i] = e;
        sum += e;
        spread += e * distance;
    }
    spread /= sum;
    for (int64_t i = 0; i < c; i++) {
        out[i] /= sum;
        if (abs != NULL)
            abs[i] = out[i] * (1 + charge * (largest - (double)in[i] + spread)) + 0x1p-100;
    }
}

static void reference(const nt_problem *problem, nt_bound bound, const float *in, const float *weight, double *out,
                      double *abs, int64_t begin, int64_t end)
{
    int64_t c = nt_rows_of(problem).c;
    double charge = (double)(float)(6 / nt_softmax_additions(problem));
    (void)bound, (void)weight;
    for (int64_t row = begin; row < end; row++)
        reference_row(in + row * c, c, charge, out + row * c, abs != NULL ? abs + row * c : NULL);
}

static nt_status reference_cuda_plan(const nt_problem *problem, nt_bound bound, nt_plan *out, nt_error *err)
{
    (void)bound;
    return nt__rows_reference_cuda_plan(problem, "nt_softmax_reference", false,
                                        (float)(6 / nt_softmax_additions(problem)), out, err);
}

const nt_layer nt_layer_softmax = {
    .name = "softmax",
    .summary = "exp(x) over its sum in each row",
    .shape_keys = "rows,c",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
    .form = "ROWSxC",
    .parse_shape = parse_shape,
    .extents = extents,
    .reference_rows = nt__rows_reference_rows,
    .reference = reference,
    .reference_cuda_source = {nt_embed_softmax_reference_cu},
    .reference_cuda_plan = reference_cuda_plan,
};
