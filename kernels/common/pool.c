/* pool.c: the layers maxpool and avgpool: sizes, extents and fp64 references. */
#include "kernels/common/pool.h"

#include "kernels/common/launch.h"

#include <math.h>
#include <string.h>

nt_pool nt_pool_of(const nt_problem *problem)
{
    const nt_shape *s = &problem->shape;
    nt_pool p = {.n = problem->batch,
                 .c = nt_shape_get(s, "c"),
                 .h = nt_shape_get(s, "h"),
                 .w = nt_shape_get(s, "w"),
                 .is_max = strcmp(problem->layer, "maxpool") == 0};
    int64_t window = nt_shape_get_or(s, "window", p.is_max ? 3 : 0);
    p.is_global = window == 0;
    p.window_h = p.is_global ? p.h : window;
    p.window_w = p.is_global ? p.w : window;
    p.stride = nt_shape_get_or(s, "stride", p.is_max ? 2 : p.is_global ? 1 : window);
    p.pad = p.is_max ? (window - 1) / 2 : 0;
    p.out_h = (p.h + 2 * p.pad - p.window_h) / p.stride + 1;
    p.out_w = (p.w + 2 * p.pad - p.window_w) / p.stride + 1;
    return p;
}

nt_status nt__pool_extents(const nt_problem *problem, nt_extents *out, nt_error *err)
{
    nt_pool p = nt_pool_of(problem);
    nt_status status = nt_problem_batch_check(problem, err);
    if (status != NT_OK)
        return status;
    if (p.h + 2 * p.pad < p.window_h || p.w + 2 * p.pad < p.window_w) {
        nt_fail(err, NT_USAGE, "a window of %lld x %lld does not fit into %lld x %lld with a border of %lld",
                (long long)p.window_h, (long long)p.window_w, (long long)p.h, (long long)p.w, (long long)p.pad);
        return nt_hint(err, "make h and w larger or window smaller");
    }
    *out = (nt_extents){.out_channels = 1, .out_channel_stride = 1, .reduction = p.window_h * p.window_w};
    int64_t work;
    if (!NT_PRODUCT(&out->in, p.n, p.c, p.h, p.w) || !NT_PRODUCT(&out->out, p.n, p.c, p.out_h, p.out_w) ||
        !NT_PRODUCT(&work, out->out, p.window_h, p.window_w))
        return nt_problem_too_large(problem, err);
    out->flop = (double)work;
    out->bytes = nt_extents_tensor_bytes(problem, out);
    return NT_OK;
}

/* ---- the reference ------------------------------------------------------------------------------------------------ */

int64_t nt__pool_reference_rows(const nt_problem *problem)
{
    return problem->batch * nt_pool_of(problem).out_h;
}

/* Distances in elements of pixels and channels. */
typedef struct strides {
    int64_t pixel, channel;
} strides;

static strides strides_of(const nt_problem *problem, int64_t c, int64_t pixels)
{
    return problem->layout == NT_NHWC ? (strides){c, 1} : (strides){1, pixels};
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* One output: `at` is channel 0's first pixel of its image. */
static void window(const nt_pool *p, const float *at, strides s, int64_t oy, int64_t ox, double *value,
                   double *magnitude)
{
    int64_t y0 = oy * p->stride - p->pad, x0 = ox * p->stride - p->pad;
    double largest = -INFINITY, sum = 0, size = 0;
    for (int64_t y = most(y0, 0); y < least(y0 + p->window_h, p->h); y++)
        for (int64_t x = most(x0, 0); x < least(x0 + p->window_w, p->w); x++) {
            double v = (double)at[(y * p->w + x) * s.pixel];
            largest = fmax(largest, v);
            sum += v;
            size += fabs(v);
        }
    double k = (double)p->window_h * (double)p->window_w;
    *value = p->is_max ? largest : sum / k;
    *magnitude = p->is_max ? fabs(largest) : size / k;
}

void nt__pool_reference(const nt_problem *problem, nt_bound bound, const float *in, const float *weight, double *out,
                        double *abs, int64_t begin, int64_t end)
{
    nt_pool p = nt_pool_of(problem);
    strides from = strides_of(problem, p.c, p.h * p.w), to = strides_of(problem, p.c, p.out_h * p.out_w);
    (void)bound, (void)weight;
    for (int64_t row = begin; row < end; row++) {
        int64_t n = row / p.out_h, oy = row % p.out_h;
        for (int64_t ox = 0; ox < p.out_w; ox++)
            for (int64_t c = 0; c < p.c; c++) {
                double value, magnitude;
                window(&p, in + n * p.c * p.h * p.w + c * from.channel, from, oy, ox, &value, &magnitude);
                int64_t i = n * p.c * p.out_h * p.out_w + (oy * p.out_w + ox) * to.pixel + c * to.channel;
                out[i] = value;
                if (abs != NULL)
                    abs[i] = magnitude;
            }
    }
}

static void size_args(nt_stage *stage, const nt_pool *p)
{
    const int64_t sizes[] = {p->n, p->c, p->h, p->w, p->out_h, p->out_w};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        nt_stage_arg_i32(stage, sizes[i]);
}

nt_status nt__pool_reference_cuda_plan(const nt_problem *problem, nt_bound bound, nt_plan *out, nt_error *err)
{
    nt_pool p = nt_pool_of(problem);
    (void)bound;
    nt_status status = nt_launch_reference(out, "nt_pool_reference", p.n * p.c * p.out_h * p.out_w, err);
    nt_stage *stage = &out->stage[0];
    if (status != NT_OK)
        return status;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_REF, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_ABS, 0);
    size_args(stage, &p);
    const int64_t more[] = {p.window_h, p.window_w, p.stride, p.pad, p.is_max, problem->layout == NT_NCHW};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        nt_stage_arg_i32(stage, more[i]);
    return NT_OK;
}
