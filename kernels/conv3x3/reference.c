/* reference.c: the fp64 reference of conv3x3 and the magnitude that its error bound multiplies.
 *
 * An output row is a sum of matrix products, (pixels x c) times (c x k), one for each tap; |x| conv |w| is the same
 * over magnitudes, and Winograd's bound the same over the 16 places of transformed magnitudes. So one product of
 * doubles, vectorised over output channels, carries everything. No rule of IEEE arithmetic is relaxed: vectors only
 * regroup independent sums. */
#include "kernels/conv3x3/conv3x3.h"

#include "core/mem.h"
#include "kernels/conv/conv.h"
#include "kernels/conv/product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- operands ------------------------------------------------------------------------------------------------------------ */

typedef struct operands {
    nt_conv d;
    bool is_nhwc;
    int64_t k;       /* d.k padded to whole blocks */
    double *weight;  /* [k / NT_PRODUCT_BLOCK][tap][c][NT_PRODUCT_BLOCK] */
    double *line[3]; /* input rows y - 1, y, y + 1 as [w + 3][c]; a border of zeros left, two right */
    double *sum;     /* [w + 1][k] */
} operands;

static double magnitude_or(double x, bool magnitude)
{
    return magnitude ? fabs(x) : x;
}

static void pack_weight(operands *o, const float *weight, bool magnitude)
{
    int64_t c_count = o->d.c;
    double *to = o->weight;
    for (int64_t first = 0; first < o->k; first += NT_PRODUCT_BLOCK)
        for (int64_t tap = 0; tap < 9; tap++)
            for (int64_t c = 0; c < c_count; c++)
                for (int64_t k = first; k < first + NT_PRODUCT_BLOCK; k++) {
                    int64_t at = o->is_nhwc ? (k * 9 + tap) * c_count + c : (k * c_count + c) * 9 + tap;
                    *to++ = k < o->d.k ? magnitude_or((double)weight[at], magnitude) : 0;
                }
}

/* |G||g||G^T| over magnitudes in place of the nine taps: [k / NT_PRODUCT_BLOCK][16 places][c][NT_PRODUCT_BLOCK]. */
static double *transform_weight(const operands *o)
{
    int64_t plane = o->d.c * NT_PRODUCT_BLOCK, blocks = o->k / NT_PRODUCT_BLOCK;
    double *to = nt_alloc_zero((size_t)(16 * plane * blocks), sizeof *to);
    static const double g[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}, {0, 0, 1}};
    for (int64_t block = 0; block < blocks; block++)
        for (int place = 0; place < 16; place++)
            for (int tap = 0; tap < 9; tap++) {
                double factor = g[place / 4][tap / 3] * g[place % 4][tap % 3];
                const double *from = o->weight + (9 * block + tap) * plane;
                double *sum = to + (16 * block + place) * plane;
                for (int64_t x = 0; factor != 0 && x < plane; x++)
                    sum[x] += factor * from[x];
            }
    return to;
}

/* Input row y of an image with its border; rows outside are zeros. */
static void pack_line(const operands *o, const float *image, int64_t y, bool magnitude, double *to)
{
    const nt_conv *d = &o->d;
    memset(to, 0, (size_t)((d->w + 3) * d->c) * sizeof *to);
    if (y < 0 || y >= d->h)
        return;
    for (int64_t x = 0; x < d->w; x++)
        for (int64_t c = 0; c < d->c; c++) {
            int64_t at = o->is_nhwc ? (y * d->w + x) * d->c + c : (c * d->h + y) * d->w + x;
            to[(x + 1) * d->c + c] = magnitude_or((double)image[at], magnitude);
        }
}

/* Output row `row` (counted through the batch) from sums [w][k]. */
static void write_row(const operands *o, int64_t row, const double *sum, double *out)
{
    const nt_conv *d = &o->d;
    int64_t image = row / d->h, y = row % d->h;
    for (int64_t x = 0; x < d->w; x++)
        for (int64_t k = 0; k < d->k; k++) {
            int64_t at = o->is_nhwc ? (row * d->w + x) * d->k + k : ((image * d->k + k) * d->h + y) * d->w + x;
            out[at] = sum[x * o->k + k];
        }
}

static operands operands_of(const nt_problem *problem)
{
    operands o = {.d = nt_conv_of(problem), .is_nhwc = problem->layout == NT_NHWC};
    o.k = (o.d.k + NT_PRODUCT_BLOCK - 1) / NT_PRODUCT_BLOCK * NT_PRODUCT_BLOCK;
    o.weight = nt_alloc_zero((size_t)(9 * o.d.c * o.k), sizeof *o.weight);
    for (int i = 0; i < 3; i++)
        o.line[i] = nt_alloc_zero((size_t)((o.d.w + 3) * o.d.c), sizeof *o.line[i]);
    o.sum = nt_alloc_zero((size_t)((o.d.w + 1) * o.k), sizeof *o.sum);
    return o;
}

static void operands_done(operands *o)
{
    free(o->weight);
    for (int i = 0; i < 3; i++)
        free(o->line[i]);
    free(o->sum);
}

/* ---- rows ---------------------------------------------------------------------------------------------------------------- */

/* |B^T||d||B| at column place j for one line of row place i: the two rows and columns that meet there. `from` is the
 * sum of two lines; tile t begins at its pixel 2 t. */
static void transform_columns(const operands *o, const double *from, int64_t tiles, int j, double *to)
{
    static const int pairs[4][2] = {{0, 2}, {1, 2}, {1, 2}, {1, 3}};
    int64_t c = o->d.c;
    for (int64_t t = 0; t < tiles; t++) {
        const double *left = from + (2 * t + pairs[j][0]) * c, *right = from + (2 * t + pairs[j][1]) * c;
        for (int64_t i = 0; i < c; i++)
            to[t * c + i] = left[i] + right[i];
    }
}

typedef struct winograd {
    double *weight;  /* from transform_weight */
    double *rows[2]; /* two input rows; their sum in rows[0] */
    double *tiles;   /* [tiles][c] */
    double *places;  /* [tiles][k] */
} winograd;

/* Adds the products of place column j, over the row places of this output row, to the outputs that use it. */
static void winograd_column(const operands *o, const winograd *v, const float *image, int64_t y, int j)
{
    static const int pairs[4][2] = {{0, 2}, {1, 2}, {1, 2}, {1, 3}};
    const nt_conv *d = &o->d;
    int64_t tiles = (d->w + 1) / 2, top = y / 2 * 2 - 1, plane = d->c * NT_PRODUCT_BLOCK;
    memset(v->places, 0, (size_t)(tiles * o->k) * sizeof *v->places);
    for (int n = 0; n < 3; n++) {
        int i = n + (int)(y % 2); /* rows of |A^T|: 1 1 1 0 and 0 1 1 1 */
        pack_line(o, image, top + pairs[i][0], true, v->rows[0]);
        pack_line(o, image, top + pairs[i][1], true, v->rows[1]);
        for (int64_t x = 0; x < (d->w + 3) * d->c; x++)
            v->rows[0][x] += v->rows[1][x];
        transform_columns(o, v->rows[0], tiles, j, v->tiles);
        nt_product_add(&(nt_matrix_product){v->tiles, v->weight + (4 * i + j) * plane, v->places, tiles, d->c, o->k,
                                            d->c, 16 * plane});
    }
    for (int64_t x = 0; x < d->w; x++) {
        if (j - x % 2 < 0 || j - x % 2 > 2)
            continue;
        for (int64_t k = 0; k < o->k; k++)
            o->sum[x * o->k + k] += v->places[x / 2 * o->k + k];
    }
}

static void winograd_rows(operands *o, const float *in, double *out, int64_t begin, int64_t end)
{
    const nt_conv *d = &o->d;
    int64_t tiles = (d->w + 1) / 2;
    winograd v = {.weight = transform_weight(o),
                  .rows = {o->line[0], o->line[1]},
                  .tiles = nt_alloc_zero((size_t)(tiles * d->c), sizeof *v.tiles),
                  .places = nt_alloc_zero((size_t)(tiles * o->k), sizeof *v.places)};
    for (int64_t row = begin; row < end; row++) {
        memset(o->sum, 0, (size_t)(d->w * o->k) * sizeof *o->sum);
        for (int j = 0; j < 4; j++)
            winograd_column(o, &v, in + row / d->h * d->c * d->h * d->w, row % d->h, j);
        write_row(o, row, o->sum, out);
    }
    free(v.weight);
    free(v.tiles);
    free(v.places);
}

void nt_conv3x3_reference(const nt_problem *problem, nt_bound bound, const float *in, const float *weight, double *out,
                          double *abs, int64_t begin, int64_t end)
{
    /* With strides there are no transforms to bound. */
    bool through = abs != NULL && bound == NT_BOUND_WINOGRAD_F2 && begin < end && nt_conv_of(problem).stride == 1;
    nt_conv_reference(problem, bound, in, weight, out, through ? NULL : abs, begin, end);
    if (!through)
        return;
    operands o = operands_of(problem);
    pack_weight(&o, weight, true);
    winograd_rows(&o, in, abs, begin, end);
    operands_done(&o);
}
