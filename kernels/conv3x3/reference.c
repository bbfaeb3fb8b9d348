/* reference.c: the fp64 reference of conv3x3 and the magnitudes that its error bounds multiply.
 *
 * Winograd's bounds run over places: sums of matrix products, (tiles x c) times (c x k), of transformed magnitudes, one
 * for each place. Row places are combined before the product, with |B^T|'s and |A^T|'s rows, which are linear, and
 * column places after it. So one product of doubles, vectorised over output channels, carries everything, and no rule
 * of IEEE arithmetic is relaxed. */
#include "kernels/conv3x3/conv3x3.h"

#include "core/mem.h"
#include "kernels/conv/conv.h"
#include "kernels/conv/product.h"
#include "kernels/conv3x3/winograd.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLACES = 6 }; /* along a side */

/* The matrices of one F(m x m, 3 x 3), in the corner of arrays of the largest. */
typedef struct transforms {
    int64_t out_tile, places;
    double input[MOST_PLACES][MOST_PLACES], weight[MOST_PLACES][3], output[MOST_PLACES][MOST_PLACES];
} transforms;

static const transforms f2 = {2, 4, NT_WINOGRAD_INPUT_2, NT_WINOGRAD_WEIGHT_2, NT_WINOGRAD_OUTPUT_2};
static const transforms f4 = {4, 6, NT_WINOGRAD_INPUT_4, NT_WINOGRAD_WEIGHT_4, NT_WINOGRAD_OUTPUT_4};

typedef struct magnitudes {
    nt_conv d;
    const transforms *t;
    bool is_nhwc;
    int64_t k, tiles; /* d.k padded to whole blocks; tiles of a row */
    int64_t width;    /* pixels of a line: of all tiles' patches */
    double *weight;   /* |G||g||G^T|: [k / NT_PRODUCT_BLOCK][row place][column place][c][NT_PRODUCT_BLOCK] */
    double *line;     /* row place of input: [width][c]; a border of one zero left */
    double *moved;    /* place of input: [tiles][c] */
    double *products; /* [column place][tiles][k] */
} magnitudes;

static double weight_at(const magnitudes *o, const float *weight, int64_t k, int64_t c, int tap)
{
    int64_t at = o->is_nhwc ? (k * 9 + tap) * o->d.c + c : (k * o->d.c + c) * 9 + tap;
    return k < o->d.k ? fabs((double)weight[at]) : 0;
}

/* |G| g |G^T| of one filter and channel of magnitudes; places lie `step` apart. */
static void move_filter(const transforms *t, const double g[9], double *to, int64_t step)
{
    double half[MOST_PLACES][3];
    for (int i = 0; i < t->places; i++)
        for (int x = 0; x < 3; x++) {
            half[i][x] = 0;
            for (int y = 0; y < 3; y++)
                half[i][x] += fabs(t->weight[i][y]) * g[3 * y + x];
        }
    for (int i = 0; i < t->places; i++)
        for (int j = 0; j < t->places; j++) {
            double sum = 0;
            for (int x = 0; x < 3; x++)
                sum += fabs(t->weight[j][x]) * half[i][x];
            to[(i * t->places + j) * step] = sum;
        }
}

static void move_weights(magnitudes *o, const float *weight)
{
    int64_t plane = o->d.c * NT_PRODUCT_BLOCK, places = (int64_t)o->t->places * o->t->places;
    for (int64_t k = 0; k < o->k; k++)
        for (int64_t c = 0; c < o->d.c; c++) {
            double g[9];
            for (int tap = 0; tap < 9; tap++)
                g[tap] = weight_at(o, weight, k, c, tap);
            move_filter(o->t, g,
                        o->weight + k / NT_PRODUCT_BLOCK * places * plane + c * NT_PRODUCT_BLOCK + k % NT_PRODUCT_BLOCK,
                        plane);
        }
}

/* Adds factor |input row y| to the line; rows outside are zeros. */
static void add_line(magnitudes *o, const float *image, int64_t y, double factor)
{
    const nt_conv *d = &o->d;
    for (int64_t x = 0; y >= 0 && y < d->h && x < d->w; x++)
        for (int64_t c = 0; c < d->c; c++) {
            int64_t at = o->is_nhwc ? (y * d->w + x) * d->c + c : (c * d->h + y) * d->w + x;
            o->line[(x + 1) * d->c + c] += factor * fabs((double)image[at]);
        }
}

/* Column place j of the line: tile t begins at its pixel out_tile t. */
static void move_columns(magnitudes *o, int j)
{
    int64_t c = o->d.c;
    memset(o->moved, 0, (size_t)(o->tiles * c) * sizeof *o->moved);
    for (int64_t t = 0; t < o->tiles; t++)
        for (int x = 0; x < o->t->places; x++) {
            const double factor = fabs(o->t->input[j][x]), *from = o->line + (o->t->out_tile * t + x) * c;
            for (int64_t i = 0; factor != 0 && i < c; i++)
                o->moved[t * c + i] += factor * from[i];
        }
}

/* Adds row place i, with the weight |A^T| gives it in output row y, to the products of all column places. */
static void add_row_place(magnitudes *o, const float *image, int64_t y, int i)
{
    const transforms *t = o->t;
    int64_t plane = o->d.c * NT_PRODUCT_BLOCK, places = t->places, top = y / t->out_tile * t->out_tile - 1;
    double share = fabs(t->output[y % t->out_tile][i]);
    if (share == 0)
        return;
    memset(o->line, 0, (size_t)(o->width * o->d.c) * sizeof *o->line);
    for (int r = 0; r < places; r++)
        if (t->input[i][r] != 0)
            add_line(o, image, top + r, share * fabs(t->input[i][r]));
    for (int j = 0; j < places; j++) {
        move_columns(o, j);
        nt_product_add(&(nt_matrix_product){o->moved, o->weight + (places * i + j) * plane,
                                            o->products + j * o->tiles * o->k, o->tiles, o->d.c, o->k, o->d.c,
                                            places * places * plane});
    }
}

/* Output row `row`, counted through the batch, from the products of its column places. */
static void write_row(const magnitudes *o, int64_t row, double *out)
{
    const nt_conv *d = &o->d;
    int64_t image = row / d->h, y = row % d->h;
    for (int64_t x = 0; x < d->w; x++)
        for (int64_t k = 0; k < d->k; k++) {
            int64_t at = o->is_nhwc ? (row * d->w + x) * d->k + k : ((image * d->k + k) * d->h + y) * d->w + x;
            out[at] = 0;
            for (int j = 0; j < o->t->places; j++)
                out[at] += fabs(o->t->output[x % o->t->out_tile][j]) *
                           o->products[(j * o->tiles + x / o->t->out_tile) * o->k + k];
        }
}

static magnitudes magnitudes_of(const nt_problem *problem, const transforms *t)
{
    magnitudes o = {.d = nt_conv_of(problem), .t = t, .is_nhwc = problem->layout == NT_NHWC};
    o.k = (o.d.k + NT_PRODUCT_BLOCK - 1) / NT_PRODUCT_BLOCK * NT_PRODUCT_BLOCK;
    o.tiles = (o.d.w + t->out_tile - 1) / t->out_tile;
    o.width = o.tiles * t->out_tile + 2;
    o.weight = nt_alloc_zero((size_t)((int64_t)t->places * t->places * o.d.c * o.k), sizeof *o.weight);
    o.line = nt_alloc_zero((size_t)(o.width * o.d.c), sizeof *o.line);
    o.moved = nt_alloc_zero((size_t)(o.tiles * o.d.c), sizeof *o.moved);
    o.products = nt_alloc_zero((size_t)(t->places * o.tiles * o.k), sizeof *o.products);
    return o;
}

static void magnitudes_done(magnitudes *o)
{
    free(o->weight);
    free(o->line);
    free(o->moved);
    free(o->products);
}

static void winograd_rows(const nt_problem *problem, const transforms *t, const float *in, const float *weight,
                          double *abs, int64_t begin, int64_t end)
{
    magnitudes o = magnitudes_of(problem, t);
    move_weights(&o, weight);
    for (int64_t row = begin; row < end; row++) {
        memset(o.products, 0, (size_t)(t->places * o.tiles * o.k) * sizeof *o.products);
        for (int i = 0; i < t->places; i++)
            add_row_place(&o, in + row / o.d.h * o.d.c * o.d.h * o.d.w, row % o.d.h, i);
        write_row(&o, row, abs);
    }
    magnitudes_done(&o);
}

/* With strides there are no transforms to bound. */
static bool is_direct(const nt_problem *problem, nt_bound bound)
{
    return bound == NT_BOUND_DIRECT || nt_conv_of(problem).stride != 1;
}

void nt_conv3x3_reference(const nt_problem *problem, nt_bound bound, const float *in, const float *weight, double *out,
                          double *abs, int64_t begin, int64_t end)
{
    bool direct = is_direct(problem, bound);
    nt_conv_reference(problem, bound, in, weight, out, direct ? abs : NULL, begin, end);
    if (!direct && abs != NULL && begin < end)
        winograd_rows(problem, bound == NT_BOUND_WINOGRAD_F2 ? &f2 : &f4, in, weight, abs, begin, end);
}

/* ---- on a device --------------------------------------------------------------------------------------------------------- */

/* As in reference.cu: 16 x 16 threads with a tile each. */
enum { SIDE = 16, MAX_GRID_Y = 65535 };

nt_status nt_conv3x3_reference_cuda_plan(const nt_problem *problem, nt_bound bound, nt_plan *out, nt_error *err)
{
    nt_conv d = nt_conv_of(problem);
    int64_t tile = bound == NT_BOUND_WINOGRAD_F2 ? 2 : 4;
    if (is_direct(problem, bound))
        return nt_conv_reference_cuda_plan(problem, bound, out, err);
    const char *refusal = nt_conv_cuda_refuses(problem);
    if (refusal == NULL && (d.k + SIDE - 1) / SIDE > MAX_GRID_Y)
        refusal = "output channels must be at most 1048560";
    if (refusal != NULL)
        return nt_fail(err, NT_USAGE, "the reference of this problem cannot be computed on a CUDA device: %s", refusal);
    int64_t tiles = d.n * ((d.h + tile - 1) / tile) * ((d.w + tile - 1) / tile);
    const int64_t sizes[] = {tiles, d.c, d.k, d.h, d.w, problem->layout == NT_NCHW};
    *out = (nt_plan){.stage_count = 1};
    nt_stage *stage = &out->stage[0];
    nt_stage_kernel(stage, tile == 2 ? "conv3x3_reference_f2" : "conv3x3_reference_f4",
                    (uint32_t)((tiles + SIDE - 1) / SIDE), (uint32_t)((d.k + SIDE - 1) / SIDE), 1, SIDE, SIDE, 1);
    for (nt_role role = NT_ROLE_IN; role <= NT_ROLE_WEIGHT; role++)
        nt_stage_arg_buffer(stage, role, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_REF, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_ABS, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        nt_stage_arg_i32(stage, sizes[i]);
    return NT_OK;
}
