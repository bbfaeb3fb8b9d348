/* reference.c: the fp64 reference of the convolutions and the magnitude that their error bound multiplies (conv.h).
 *
 * An output row is a sum of matrix products, (pixels x c) times (c x k), one for each tap; |x| conv |w| is the same
 * over magnitudes. A depthwise convolution is a sum of elementwise products. Where a pixel of the output is a pixel of
 * the input (fc, NHWC 1x1), pixels lie one after another through rows and images, and a "row" is a run of them. */
#include "kernels/conv/conv.h"
#include "kernels/conv/product.h"

#include "core/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUN = 32 /* pixels */, BLOCK = NT_PRODUCT_BLOCK };

typedef struct operands {
    nt_conv d;
    bool is_nhwc, is_flat;
    int64_t k;                               /* d.k padded to whole blocks */
    int64_t pixels;                          /* of a row */
    int64_t line_pixels;                     /* of a line of input, with its border */
    const float *filters;                    /* as given */
    double *weight;                          /* [k / BLOCK][tap][c][BLOCK]; flat: of one block; depthwise: [tap][k] */
    double *line;                            /* [line_pixels][c] */
    double *sum;                             /* [pixels][k] */
    double *scale, *shift, *shift_magnitude; /* batch norm: a, b and |beta| + |mean a|, [k] */
} operands;

static double value_of(float x, bool magnitude)
{
    return magnitude ? fabs((double)x) : (double)x;
}

static bool is_flat(const nt_conv *d, nt_layout layout)
{
    return d->taps == 1 && d->stride == 1 && d->pad == 0 && d->groups == 1 && layout == NT_NHWC;
}

/* Element of the filters: output channel k, tap, input channel c. */
static int64_t filter_at(const operands *o, int64_t k, int64_t tap, int64_t c)
{
    int64_t taps = o->d.taps * o->d.taps, channels = o->d.c / o->d.groups;
    return o->is_nhwc ? (k * taps + tap) * channels + c : (k * channels + c) * taps + tap;
}

/* One block of output channels: [tap][c][BLOCK]. */
static void pack_block(const operands *o, int64_t first, bool magnitude, double *to)
{
    for (int64_t tap = 0; tap < o->d.taps * o->d.taps; tap++)
        for (int64_t c = 0; c < o->d.c; c++)
            for (int64_t k = first; k < first + BLOCK; k++)
                *to++ = k < o->d.k ? value_of(o->filters[filter_at(o, k, tap, c)], magnitude) : 0;
}

static void pack_weight(const operands *o, bool magnitude)
{
    int64_t taps = o->d.taps * o->d.taps;
    if (o->d.groups > 1) {
        for (int64_t tap = 0; tap < taps; tap++)
            for (int64_t k = 0; k < o->d.k; k++)
                o->weight[tap * o->k + k] = value_of(o->filters[filter_at(o, k, tap, 0)], magnitude);
        return;
    }
    for (int64_t first = 0; first < o->k && !o->is_flat; first += BLOCK)
        pack_block(o, first, magnitude, o->weight + first * taps * o->d.c);
}

/* Input row y of an image with its border; rows outside are zeros. */
static void pack_line(const operands *o, const float *image, int64_t y, bool magnitude)
{
    const nt_conv *d = &o->d;
    memset(o->line, 0, (size_t)(o->line_pixels * d->c) * sizeof *o->line);
    if (y < 0 || y >= d->h)
        return;
    for (int64_t x = 0; x < d->w; x++)
        for (int64_t c = 0; c < d->c; c++) {
            int64_t at = o->is_nhwc ? (y * d->w + x) * d->c + c : (c * d->h + y) * d->w + x;
            o->line[(x + d->pad) * d->c + c] = value_of(image[at], magnitude);
        }
}

/* sum[x][k] += line * weight, elementwise, for a tap at column s of the line. */
static void add_depthwise(const operands *o, int64_t tap, int64_t s)
{
    const double *w = o->weight + tap * o->k;
    for (int64_t x = 0; x < o->pixels; x++) {
        const double *in = o->line + (x * o->d.stride + s) * o->d.c;
        double *sum = o->sum + x * o->k;
        for (int64_t k = 0; k < o->d.k; k++)
            sum[k] += in[k] * w[k];
    }
}

static void add_row(const operands *o, const float *in, int64_t row, bool magnitude)
{
    const nt_conv *d = &o->d;
    const float *image = in + row / d->out_h * d->c * d->h * d->w;
    int64_t taps = d->taps * d->taps;
    for (int64_t r = 0; r < d->taps; r++) {
        pack_line(o, image, row % d->out_h * d->stride + r - d->pad, magnitude);
        for (int64_t s = 0; s < d->taps; s++) {
            int64_t tap = r * d->taps + s;
            if (d->groups > 1)
                add_depthwise(o, tap, s);
            else
                nt_product_add(&(nt_matrix_product){o->line + s * d->c, o->weight + tap * d->c * BLOCK, o->sum,
                                                    o->pixels, d->c, o->k, d->stride * d->c, taps * d->c * BLOCK});
        }
    }
}

/* A run of pixels; the weights of a block of output channels are packed when their turn comes, because those of an fc
 * are many. */
static void add_run(const operands *o, const float *in, int64_t first, int64_t pixels, bool magnitude)
{
    int64_t c = o->d.c;
    for (int64_t i = 0; i < pixels * c; i++)
        o->line[i] = value_of(in[first * c + i], magnitude);
    for (int64_t k = 0; k < o->k; k += BLOCK) {
        double part[RUN * BLOCK] = {0};
        pack_block(o, k, magnitude, o->weight);
        nt_product_add(&(nt_matrix_product){o->line, o->weight, part, pixels, c, BLOCK, c, 0});
        for (int64_t p = 0; p < pixels; p++)
            memcpy(o->sum + p * o->k + k, part + p * BLOCK, BLOCK * sizeof *part);
    }
}

static double finish(const operands *o, double z, int64_t k, bool magnitude)
{
    if (!o->d.batch_norm)
        return z;
    if (magnitude)
        return nt_activation_slope(o->d.act) * (fabs(o->scale[k]) * z + o->shift_magnitude[k]);
    return nt_activation_of(o->d.act, o->scale[k] * z + o->shift[k]);
}

/* Row `row` from its sums; a run of flat pixels is as one that begins at pixel row * RUN. */
static void write_row(const operands *o, int64_t row, int64_t pixels, bool magnitude, double *out)
{
    const nt_conv *d = &o->d;
    int64_t first = row * (o->is_flat ? RUN : d->out_w), image = row / d->out_h, y = row % d->out_h;
    for (int64_t x = 0; x < pixels; x++)
        for (int64_t k = 0; k < d->k; k++) {
            int64_t at = o->is_nhwc ? (first + x) * d->k + k : ((image * d->k + k) * d->out_h + y) * d->out_w + x;
            out[at] = finish(o, o->sum[x * o->k + k], k, magnitude);
        }
}

static void rows(const operands *o, const float *in, bool magnitude, double *out, int64_t begin, int64_t end)
{
    int64_t all = o->d.n * o->d.out_h * o->d.out_w;
    pack_weight(o, magnitude);
    for (int64_t row = begin; row < end; row++) {
        int64_t pixels = o->is_flat && all - row * RUN < RUN ? all - row * RUN : o->pixels;
        memset(o->sum, 0, (size_t)(o->pixels * o->k) * sizeof *o->sum);
        if (o->is_flat)
            add_run(o, in, row * RUN, pixels, magnitude);
        else
            add_row(o, in, row, magnitude);
        write_row(o, row, pixels, magnitude, out);
    }
}

/* gamma, beta, mean and variance follow the filters. */
static void read_batch_norm(operands *o, const float *weight)
{
    const float *gamma = weight + nt_conv_filters(&o->d), *beta = gamma + o->d.k, *mean = beta + o->d.k;
    const float *variance = mean + o->d.k;
    for (int64_t k = 0; k < o->d.k; k++) {
        o->scale[k] = (double)gamma[k] / sqrt((double)variance[k] + NT_CONV_EPSILON);
        o->shift[k] = (double)beta[k] - (double)mean[k] * o->scale[k];
        o->shift_magnitude[k] = fabs((double)beta[k]) + fabs((double)mean[k] * o->scale[k]);
    }
}

static operands operands_of(const nt_problem *problem, const float *weight)
{
    operands o = {.d = nt_conv_of(problem), .is_nhwc = problem->layout == NT_NHWC, .filters = weight};
    int64_t taps = o.d.taps * o.d.taps;
    o.is_flat = is_flat(&o.d, problem->layout);
    o.k = (o.d.k + BLOCK - 1) / BLOCK * BLOCK;
    o.pixels = o.is_flat ? RUN : o.d.out_w;
    o.line_pixels = o.is_flat ? RUN : o.d.w + 2 * o.d.pad;
    int64_t words = o.d.groups > 1 ? o.k * taps : (o.is_flat ? BLOCK : o.k) * taps * o.d.c;
    o.weight = nt_alloc_zero((size_t)words, sizeof *o.weight);
    o.line = nt_alloc_zero((size_t)(o.line_pixels * o.d.c), sizeof *o.line);
    o.sum = nt_alloc_zero((size_t)(o.pixels * o.k), sizeof *o.sum);
    if (o.d.batch_norm) {
        o.scale = nt_alloc_zero((size_t)(3 * o.d.k), sizeof *o.scale);
        o.shift = o.scale + o.d.k;
        o.shift_magnitude = o.shift + o.d.k;
        read_batch_norm(&o, weight);
    }
    return o;
}

int64_t nt_conv_reference_rows(const nt_problem *problem)
{
    nt_conv d = nt_conv_of(problem);
    int64_t pixels = d.n * d.out_h * d.out_w;
    return is_flat(&d, problem->layout) ? (pixels + RUN - 1) / RUN : d.n * d.out_h;
}

void nt_conv_reference(const nt_problem *problem, nt_bound bound, const float *in, const float *weight, double *out,
                       double *abs, int64_t begin, int64_t end)
{
    (void)bound;
    if (begin >= end)
        return;
    operands o = operands_of(problem, weight);
    rows(&o, in, false, out, begin, end);
    if (abs != NULL)
        rows(&o, in, true, abs, begin, end);
    free(o.weight);
    free(o.line);
    free(o.sum);
    free(o.scale);
}
