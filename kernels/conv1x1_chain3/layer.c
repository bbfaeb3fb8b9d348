/* layer.c: the layer conv1x1_chain3: its shapes, sizes and fp64 reference. */
#include "kernels/conv1x1_chain3/chain3.h"

#include "kernels/conv/product.h"

#include "core/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUN = 32 /* pixels */, BLOCK = NT_PRODUCT_BLOCK, THREADS = 256 };

/* The 1x1 convolutions of ResNet-50's bottlenecks by stage, without what lies between them; one block's expansion with
 * the next one's reduction; MobileNetV2's expansions and projections. */
static const nt_named_shape shapes[] = {
    {"256-64-64-256x56", "c=256,k1=64,k2=64,k=256,h=56,w=56"},
    {"512-128-128-512x28", "c=512,k1=128,k2=128,k=512,h=28,w=28"},
    {"1024-256-256-1024x14", "c=1024,k1=256,k2=256,k=1024,h=14,w=14"},
    {"2048-512-512-2048x7", "c=2048,k1=512,k2=512,k=2048,h=7,w=7"},
    {"64-256-64-256x56", "c=64,k1=256,k2=64,k=256,h=56,w=56"},
    {"mobile-24-144-24-144x56", "c=24,k1=144,k2=24,k=144,h=56,w=56"},
    {"mobile-32-192-32-192x28", "c=32,k1=192,k2=32,k=192,h=28,w=28"},
    {"mobile-64-384-64-384x14", "c=64,k1=384,k2=64,k=384,h=14,w=14"},
    {"mobile-96-576-96-576x14", "c=96,k1=576,k2=96,k=576,h=14,w=14"},
    {"mobile-160-960-160-960x7", "c=160,k1=960,k2=160,k=960,h=7,w=7"},
};

static const nt_shape_key keys[] = {
    {.key = "c", .meaning = "input channels"},
    {.key = "k1", .meaning = "channels after the first convolution", .most = NT_CHAIN3_MOST_BETWEEN},
    {.key = "k2", .meaning = "after the second", .same_as = "k1", .most = NT_CHAIN3_MOST_BETWEEN},
    {.key = "k", .meaning = "output channels", .same_as = "c"},
    {.key = "h", .meaning = "height"},
    {.key = "w", .meaning = "width"},
};

static const nt_shape_table table = {
    .layer = "conv1x1_chain3",
    .keys = keys,
    .key_count = sizeof keys / sizeof keys[0],
    .form = "CxK1xHxW",
    .example = "256x64x56x56 (CxK1xHxW with k2 = k1, k = c) or c=256,k1=64,k2=64,k=256,h=56,w=56",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
};

static nt_status parse_shape(const char *text, nt_shape *out, nt_error *err)
{
    return nt_shape_table_parse(&table, text, out, err);
}

nt_chain3 nt_chain3_of(const nt_problem *problem)
{
    const nt_shape *s = &problem->shape;
    nt_chain3 d = {.n = problem->batch,
                   .c = nt_shape_get(s, "c"),
                   .k1 = nt_shape_get(s, "k1"),
                   .k2 = nt_shape_get(s, "k2"),
                   .k = nt_shape_get(s, "k"),
                   .h = nt_shape_get(s, "h"),
                   .w = nt_shape_get(s, "w")};
    d.pixels = d.n * d.h * d.w;
    return d;
}

static nt_status extents(const nt_problem *problem, nt_extents *out, nt_error *err)
{
    const nt_shape *s = &problem->shape;
    int64_t c = nt_shape_get(s, "c"), k1 = nt_shape_get(s, "k1"), k2 = nt_shape_get(s, "k2"), k = nt_shape_get(s, "k");
    int64_t h = nt_shape_get(s, "h"), w = nt_shape_get(s, "w"), first, third;
    nt_status status = nt_problem_batch_check(problem, err);
    if (status != NT_OK)
        return status;
    *out = (nt_extents){.out_channels = k, .reduction = c + k1 + k2};
    if (!NT_PRODUCT(&out->in, problem->batch, c, h, w) || !NT_PRODUCT(&out->out, problem->batch, k, h, w) ||
        !NT_PRODUCT(&first, c, k1) || !NT_PRODUCT(&third, k2, k))
        return nt_problem_too_large(problem, err);
    out->out_channel_stride = problem->layout == NT_NHWC ? 1 : h * w;
    out->weight = first + k1 * k2 + third;
    out->flop = 2.0 * (double)(problem->batch * h * w) * (double)out->weight;
    out->bytes = nt_extents_tensor_bytes(problem, out);
    return NT_OK;
}

/* Outputs of each convolution keep the size of its inputs. */
static void amend_weight(const nt_problem *problem, float *weight)
{
    nt_chain3 d = nt_chain3_of(problem);
    if (problem->fill == NT_FILL_FILE)
        return;
    for (int i = 0; i < 3; i++) {
        nt_chain3_step step = nt_chain3_step_of(&d, i);
        float scale = ldexpf(1.0f, -(int)floor(log2((double)step.in) / 2));
        for (int64_t j = 0; j < step.in * step.out; j++)
            weight[step.weight + j] *= scale;
    }
}

/* ---- the bound ----------------------------------------------------------------------------------------------------- */

static double rounding_of(const nt_problem *problem)
{
    const nt_precision_row *row = &nt_precisions[problem->precision];
    return row->unit_accumulate > 0 ? row->unit_out / row->unit_accumulate : 0;
}

double nt_chain3_additions(const nt_problem *problem)
{
    nt_chain3 d = nt_chain3_of(problem);
    return (double)(d.c + d.k1 + d.k2) + 2 * rounding_of(problem);
}

/* ---- the reference ------------------------------------------------------------------------------------------------- */

static int64_t padded(int64_t k)
{
    return (k + BLOCK - 1) / BLOCK * BLOCK;
}

/* A run of pixels: values and the bound's q of each step, [RUN][channels], and weights in blocks, as they are and as
 * magnitudes. */
typedef struct operands {
    nt_chain3 d;
    bool is_nhwc;
    double *value[4], *bound[4]; /* of in (its magnitudes), t1, t2, out */
    double *weight[3], *size[3];
} operands;

static void pack_step(const nt_chain3_step *step, const float *weight, bool magnitude, double *to)
{
    for (int64_t first = 0; first < step->out; first += BLOCK)
        for (int64_t c = 0; c < step->in; c++)
            for (int64_t k = first; k < first + BLOCK; k++) {
                double w = k < step->out ? (double)weight[step->weight + k * step->in + c] : 0;
                *to++ = magnitude ? fabs(w) : w;
            }
}

static operands operands_of(const nt_problem *problem, const float *weight, bool bound)
{
    operands o = {.d = nt_chain3_of(problem), .is_nhwc = problem->layout == NT_NHWC};
    for (int i = 0; i < 4; i++) {
        int64_t channels = i == 0 ? o.d.c : padded(nt_chain3_step_of(&o.d, i - 1).out);
        o.value[i] = nt_alloc_zero((size_t)(RUN * channels), sizeof(double));
        o.bound[i] = nt_alloc_zero((size_t)(RUN * channels), sizeof(double));
    }
    for (int i = 0; i < 3; i++) {
        nt_chain3_step step = nt_chain3_step_of(&o.d, i);
        o.weight[i] = nt_alloc_zero((size_t)(padded(step.out) * step.in), sizeof(double));
        pack_step(&step, weight, false, o.weight[i]);
        o.size[i] = bound ? nt_alloc_zero((size_t)(padded(step.out) * step.in), sizeof(double)) : NULL;
        if (bound)
            pack_step(&step, weight, true, o.size[i]);
    }
    return o;
}

static void operands_done(operands *o)
{
    for (int i = 0; i < 4; i++) {
        free(o->value[i]);
        free(o->bound[i]);
        free(i < 3 ? o->weight[i] : NULL);
        free(i < 3 ? o->size[i] : NULL);
    }
}

/* Element of a tensor of `channels`. */
static int64_t place(const operands *o, int64_t channels, int64_t pixel, int64_t channel)
{
    int64_t area = o->d.h * o->d.w;
    return o->is_nhwc ? pixel * channels + channel : (pixel / area * channels + channel) * area + pixel % area;
}

static void read_run(const operands *o, const float *in, int64_t first, int64_t pixels)
{
    for (int64_t p = 0; p < pixels; p++)
        for (int64_t c = 0; c < o->d.c; c++) {
            double x = (double)in[place(o, o->d.c, first + p, c)];
            o->value[0][p * o->d.c + c] = x;
            o->bound[0][p * o->d.c + c] = fabs(x);
        }
}

/* out += in x step, where in has rows of `stride`. */
static void multiply(const double *in, int64_t stride, const double *weight, const nt_chain3_step *step, int64_t pixels,
                     double *out)
{
    int64_t k = padded(step->out);
    memset(out, 0, (size_t)(pixels * k) * sizeof *out);
    nt_product_add(&(nt_matrix_product){in, weight, out, pixels, step->in, k, stride, step->in * BLOCK});
}

/* Values after convolution i, and with magnitudes its q. */
static void run_step(const operands *o, int i, int64_t pixels, double rounding)
{
    nt_chain3_step step = nt_chain3_step_of(&o->d, i);
    int64_t stride = i == 0 ? o->d.c : padded(step.in), k = padded(step.out);
    multiply(o->value[i], stride, o->weight[i], &step, pixels, o->value[i + 1]);
    for (int64_t j = 0; j < pixels * k; j++)
        o->value[i + 1][j] = o->value[i + 1][j] > 0 ? o->value[i + 1][j] : 0;
    if (o->size[i] == NULL)
        return;
    multiply(o->bound[i], stride, o->size[i], &step, pixels, o->bound[i + 1]);
    for (int64_t j = 0; i < 2 && j < pixels * k; j++)
        o->bound[i + 1][j] =
            (i == 0 ? (double)step.in : 1) * o->bound[i + 1][j] + ((double)step.out + rounding) * o->value[i + 1][j];
}

static int64_t reference_rows(const nt_problem *problem)
{
    return nt_div_up(nt_chain3_of(problem).pixels, RUN);
}

static void reference(const nt_problem *problem, nt_bound bound, const float *in, const float *weight, double *out,
                      double *abs, int64_t begin, int64_t end)
{
    (void)bound;
    if (begin >= end)
        return;
    operands o = operands_of(problem, weight, abs != NULL);
    double additions = nt_chain3_additions(problem);
    int64_t k = padded(o.d.k);
    for (int64_t row = begin; row < end; row++) {
        int64_t first = row * RUN, pixels = o.d.pixels - first < RUN ? o.d.pixels - first : RUN;
        read_run(&o, in, first, pixels);
        for (int i = 0; i < 3; i++)
            run_step(&o, i, pixels, rounding_of(problem));
        for (int64_t p = 0; p < pixels; p++)
            for (int64_t channel = 0; channel < o.d.k; channel++) {
                int64_t at = place(&o, o.d.k, first + p, channel);
                out[at] = o.value[3][p * k + channel];
                if (abs != NULL)
                    abs[at] = o.bound[3][p * k + channel] / additions;
            }
    }
    operands_done(&o);
}

extern const char nt_embed_conv1x1_chain3_reference_cu[];

static nt_status reference_cuda_plan(const nt_problem *problem, nt_bound bound, nt_plan *out, nt_error *err)
{
    nt_chain3 d = nt_chain3_of(problem);
    (void)bound;
    const char *refusal = nt_chain3_cuda_refuses(problem);
    if (refusal != NULL)
        return nt_fail(err, NT_USAGE, "the reference of this problem cannot be computed on a CUDA device: %s", refusal);
    *out = (nt_plan){.stage_count = 1};
    nt_stage *stage = &out->stage[0];
    nt_stage_kernel(stage, "nt_chain3_reference", (uint32_t)d.pixels, 1, 1, THREADS, 1, 1);
    stage->smem_dynamic_bytes = (uint32_t)(2 * (d.k1 + d.k2) * (int64_t)sizeof(double));
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_REF, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_ABS, 0);
    const int64_t sizes[] = {d.c, d.k1, d.k2, d.k, d.h * d.w, problem->layout == NT_NCHW};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        nt_stage_arg_i32(stage, sizes[i]);
    nt_stage_arg_f32(stage, (float)rounding_of(problem));
    return NT_OK;
}

/* ---- what kernels share -------------------------------------------------------------------------------------------- */

const char *nt_chain3_cuda_refuses(const nt_problem *problem)
{
    nt_chain3 d = nt_chain3_of(problem);
    if (d.pixels > INT32_MAX - 1024)
        return "batch x h x w must be below 2^31";
    if (d.c > 65536 || d.k > 65536)
        return "c and k must be at most 65536";
    return NULL;
}

size_t nt_chain3_between(const nt_problem *problem, size_t at[2])
{
    nt_chain3 d = nt_chain3_of(problem);
    size_t element = nt_dtype_bytes(nt_precisions[problem->precision].out);
    at[0] = 0;
    at[1] = ((size_t)(d.pixels * d.k1) * element + 255) / 256 * 256;
    return at[1] + (size_t)(d.pixels * d.k2) * element;
}

const nt_layer nt_layer_conv1x1_chain3 = {
    .name = "conv1x1_chain3",
    .summary = "three 1x1 convolutions, each followed by relu",
    .shape_keys = "c,k1,k2,k,h,w",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof shapes[0],
    .form = "CxK1xHxW with k2 = k1, k = c",
    .parse_shape = parse_shape,
    .extents = extents,
    .amend_weight = amend_weight,
    .reference_rows = reference_rows,
    .reference = reference,
    .reference_cuda_source = {nt_embed_conv1x1_chain3_reference_cu},
    .reference_cuda_plan = reference_cuda_plan,
};
