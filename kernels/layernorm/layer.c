/* layer.c: the layer layernorm: rows brought to mean 0 and variance 1, then scaled and shifted: its shapes and its fp64
 * reference. The weight is gamma[c], then beta[c]. */
#include "kernels/layernorm/layernorm.h"

#include <math.h>

/* ViT-B/16's 197 tokens of 768, its pieces, BERT-large and longer rows. */
static const nt_named_shape shapes[] = {
    {"197x768", "rows=197,c=768"},   {"1x768", "rows=1,c=768"},         {"384x1024", "rows=384,c=1024"},
    {"512x4096", "rows=512,c=4096"}, {"256x12288", "rows=256,c=12288"},
};

static const nt_shape_table table = {
    .layer = "layernorm",
    .keys = nt__rows_keys,
    .key_count = NT_ROWS_KEYS,
    .form = "ROWSxC",
    .example = "197x768 (ROWSxC) or rows=197,c=768",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
};

static nt_status parse_shape(const char *text, nt_shape *out, nt_error *err)
{
    return nt_shape_table_parse(&table, text, out, err);
}

/* An element is added, differenced, squared, added, scaled twice and shifted. */
static nt_status extents(const nt_problem *problem, nt_extents *out, nt_error *err)
{
    return nt__rows_extents(problem, 2, 7, out, err);
}

double nt_layernorm_additions(const nt_problem *problem)
{
    return (double)nt_rows_of(problem).c + 12;
}

static void reference_row(const float *in, const float *weight, int64_t c, double *out, double *abs)
{
    double mean = 0, size = 0, variance = 0;
    for (int64_t i = 0; i < c; i++) {
        mean += (double)in[i];
        size += fabs((double)in[i]);
    }
    mean /= (double)c;
    size /= (double)c;
    for (int64_t i = 0; i < c; i++)
        variance += ((double)in[i] - mean) * ((double)in[i] - mean);
    double r = 1 / sqrt(variance / (double)c + (double)NT_LAYERNORM_EPSILON);
    for (int64_t i = 0; i < c; i++) {
        double z = (double)in[i] - mean, gamma = (double)weight[i], beta = (double)weight[c + i];
        out[i] = z * r * gamma + beta;
        if (abs != NULL)
            abs[i] = fabs(gamma) * r * (fabs(z) + size) + fabs(beta);
    }
}

static void reference(const nt_problem *problem, nt_bound bound, const float *in, const float *weight, double *out,
                      double *abs, int64_t begin, int64_t end)
{
    int64_t c = nt_rows_of(problem).c;
    (void)bound;
    for (int64_t row = begin; row < end; row++)
        reference_row(in + row * c, weight, c, out + row * c, abs != NULL ? abs + row * c : NULL);
}

static nt_status reference_cuda_plan(const nt_problem *problem, nt_bound bound, nt_plan *out, nt_error *err)
{
    (void)bound;
    return nt__rows_reference_cuda_plan(problem, "nt_layernorm_reference", true, NT_LAYERNORM_EPSILON, out, err);
}

const nt_layer nt_layer_layernorm = {
    .name = "layernorm",
    .summary = "rows to mean 0 and variance 1, then scaled and shifted",
    .shape_keys = "rows,c",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
    .form = "ROWSxC",
    .parse_shape = parse_shape,
    .extents = extents,
    .reference_rows = nt__rows_reference_rows,
    .reference = reference,
    .reference_cuda_source = {nt_embed_layernorm_reference_cu},
    .reference_cuda_plan = reference_cuda_plan,
};
