/* layer.c: the layer attention: its shapes, sizes and fp64 reference. */
#include "kernels/attention/attention.h"

#include "kernels/common/launch.h"

#include "core/mem.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK_OF_KEYS = 32, MOST_HEAD = 128 };

/* ViT-B/16 (12 heads, 197 tokens, 64 wide), ViT-L/16 and BERT-base with its longest input; a long sequence. */
static const nt_named_shape shapes[] = {
    {"12x197x64", "heads=12,tokens=197,d=64"},
    {"16x197x64", "heads=16,tokens=197,d=64"},
    {"12x512x64", "heads=12,tokens=512,d=64"},
    {"8x1024x128", "heads=8,tokens=1024,d=128"},
};

static const nt_shape_key keys[] = {
    {.key = "heads", .meaning = "heads"},
    {.key = "tokens", .meaning = "tokens"},
    {.key = "d", .meaning = "width of a head"},
};

static const nt_shape_table table = {
    .layer = "attention",
    .keys = keys,
    .key_count = sizeof keys / sizeof keys[0],
    .form = "HEADSxTOKENSxD",
    .example = "12x197x64 (HEADSxTOKENSxD) or heads=12,tokens=197,d=64",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
};

static nt_status parse_shape(const char *text, nt_shape *out, nt_error *err)
{
    return nt_shape_table_parse(&table, text, out, err);
}

/* Two matrix products; the softmax between them is not counted, as the field does. */
static nt_status extents(const nt_problem *problem, nt_extents *out, nt_error *err)
{
    nt_attention a = nt_attention_of(problem);
    nt_status status = nt_problem_batch_check(problem, err);
    if (status != NT_OK)
        return status;
    *out = (nt_extents){.out_channels = 1, .out_channel_stride = 1, .reduction = a.tokens};
    int64_t scores;
    if (!NT_PRODUCT(&out->out, a.n, a.tokens, a.heads, a.d) || !NT_PRODUCT(&out->in, out->out, 3) ||
        !NT_PRODUCT(&scores, a.n, a.heads, a.tokens, a.tokens))
        return nt_problem_too_large(problem, err);
    out->flop = 4.0 * (double)scores * (double)a.d;
    out->bytes = nt_extents_tensor_bytes(problem, out);
    return NT_OK;
}

/* ---- the bound ----------------------------------------------------------------------------------------------------- */

double nt_attention_additions(const nt_problem *problem)
{
    const nt_precision_row *row = &nt_precisions[problem->precision];
    double tokens = (double)nt_attention_of(problem).tokens, blocks = ceil(tokens / BLOCK_OF_KEYS);
    double rounding = row->unit_accumulate > 0 ? row->unit_out / row->unit_accumulate : 0;
    return 2 * tokens + 10 * blocks + 16 + rounding;
}

static float charge_of(const nt_problem *problem)
{
    return (float)(2 / nt_attention_additions(problem));
}

/* ---- the reference ------------------------------------------------------------------------------------------------- */

/* One query's keys: y_j, and w_j of the bound. */
typedef struct scores {
    double *y, *w;
} scores;

/* Fills the scores of one query and returns the sum of y_i w_i plus 6 R; y is normalised. */
static double weigh(const float *q, const float *k, int64_t stride, int64_t tokens, int64_t d, scores s)
{
    double largest = -INFINITY, smallest = INFINITY, sum = 0, mean = 0, scale = 1 / sqrt((double)d);
    for (int64_t j = 0; j < tokens; j++) {
        double score = 0, size = 0;
        for (int64_t t = 0; t < d; t++) {
            double product = (double)q[t] * (double)k[j * stride + t];
            score += product;
            size += fabs(product);
        }
        s.y[j] = score * scale;
        s.w[j] = (double)(d + 2) * size * scale;
        largest = fmax(largest, s.y[j]);
        smallest = fmin(smallest, s.y[j]);
    }
    for (int64_t j = 0; j < tokens; j++) {
        s.w[j] += 3 * (largest - s.y[j]);
        s.y[j] = exp(s.y[j] - largest);
        sum += s.y[j];
        mean += s.y[j] * s.w[j];
    }
    for (int64_t j = 0; j < tokens; j++)
        s.y[j] /= sum;
    return mean / sum + 6 * (largest - smallest);
}

static int64_t reference_rows(const nt_problem *problem)
{
    nt_attention a = nt_attention_of(problem);
    return a.n * a.tokens * a.heads;
}

static void reference(const nt_problem *problem, nt_bound bound, const float *in, const float *weight, double *out,
                      double *abs, int64_t begin, int64_t end)
{
    nt_attention a = nt_attention_of(problem);
    int64_t width = a.heads * a.d, stride = 3 * width;
    double charge = (double)charge_of(problem);
    scores s = {nt_alloc_zero((size_t)a.tokens, sizeof(double)), nt_alloc_zero((size_t)a.tokens, sizeof(double))};
    (void)bound, (void)weight;
    for (int64_t row = begin; row < end; row++) {
        int64_t head = row % a.heads, token = row / a.heads;
        const float *q = in + token * stride + head * a.d, *k = in + token / a.tokens * a.tokens * stride + head * a.d;
        const float *v = k + 2 * width;
        double common = weigh(q, k + width, stride, a.tokens, a.d, s);
        for (int64_t t = 0; t < a.d; t++) {
            double sum = 0, size = 0;
            for (int64_t j = 0; j < a.tokens; j++) {
                double x = s.y[j] * (double)v[j * stride + t];
                sum += x;
                size += fabs(x) * (1 + charge * (s.w[j] + common));
            }
            out[row * a.d + t] = sum;
            if (abs != NULL)
                abs[row * a.d + t] = size;
        }
    }
    free(s.y);
    free(s.w);
}

static nt_status reference_cuda_plan(const nt_problem *problem, nt_bound bound, nt_plan *out, nt_error *err)
{
    nt_attention a = nt_attention_of(problem);
    (void)bound;
    nt_status status = nt_launch_reference(out, "nt_attention_reference", a.n * a.tokens * a.heads * a.d, err);
    nt_stage *stage = &out->stage[0];
    if (status != NT_OK)
        return status;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_REF, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_ABS, 0);
    nt_stage_arg_i64(stage, a.n * a.tokens * a.heads * a.d);
    nt_stage_arg_i32(stage, a.heads);
    nt_stage_arg_i32(stage, a.tokens);
    nt_stage_arg_i32(stage, a.d);
    nt_stage_arg_f32(stage, charge_of(problem));
    return NT_OK;
}

/* ---- what the CUDA kernels share --------------------------------------------------------------------------------- */

const char *nt__attention_cuda_refuses(const nt_problem *problem, int64_t step)
{
    nt_attention a = nt_attention_of(problem);
    if (a.d % step != 0)
        return step == 4 ? "the width of a head must be a multiple of 4"
                         : "the width of a head must be a multiple of 16";
    if (a.d > MOST_HEAD)
        return "the width of a head must be at most 128";
    if (a.tokens > INT32_MAX - 4096 || a.heads > INT32_MAX / (3 * a.d))
        return "tokens and heads x width must be below 2^31";
    return NULL;
}

int64_t nt_attention_blocks(const nt_problem *problem, int64_t queries)
{
    nt_attention a = nt_attention_of(problem);
    return a.n * a.heads * nt_div_up(a.tokens, queries);
}

void nt_attention_options(const nt_problem *problem, nt_str *out)
{
    int d = (int)nt_attention_of(problem).d;
    nt_str_addf(out, " -DHEAD_DIM=%d -DSCALE=%.9ef", d, 1.4426950408889634 / sqrt((double)d));
}

const nt_layer nt_layer_attention = {
    .name = "attention",
    .summary = "softmax(q k^T / sqrt(d)) v for each head, from one packed tensor",
    .shape_keys = "heads,tokens,d",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
    .form = "HEADSxTOKENSxD",
    .parse_shape = parse_shape,
    .extents = extents,
    .reference_rows = reference_rows,
    .reference = reference,
    .reference_cuda_source = {nt_embed_attention_reference_cu},
    .reference_cuda_plan = reference_cuda_plan,
};
