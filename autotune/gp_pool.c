/* gp_pool.c: for each candidate the vector v = L^-1 k, a number for each point, whose product with L^-1 y is the mean
 * and whose square is what the points take from the variance. Blocks are laid out so that inner loops run over
 * candidates side by side. */
#include "autotune/gp_pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

static size_t features_of(const nt_gp_pool *pool)
{
    return (size_t)pool->model->features->count;
}

void nt_gp_pool_init(nt_gp_pool *pool, const nt_gp_model *model)
{
    *pool = (nt_gp_pool){.model = model};
}

void nt_gp_pool_done(nt_gp_pool *pool)
{
    nt_cholesky_done(&pool->factor);
    free(pool->point);
    free(pool->value);
    free(pool->whitened);
    free(pool->level);
    free(pool->rows);
    free(pool->mean);
    free(pool->variance);
    *pool = (nt_gp_pool){0};
}

void nt_gp_pool_clear(nt_gp_pool *pool)
{
    nt_cholesky_clear(&pool->factor);
    pool->points = pool->candidates = pool->blocks = 0;
}

/* ---- room ------------------------------------------------------------------------------------------------------- */

static void make_room_for_point(nt_gp_pool *pool)
{
    size_t capacity = pool->points_capacity;
    if (pool->points < capacity)
        return;
    capacity = capacity == 0 ? 64 : capacity * 2;
    pool->point = nt_realloc_array(pool->point, capacity * features_of(pool) + 1, sizeof *pool->point);
    pool->value = nt_realloc_array(pool->value, capacity, sizeof *pool->value);
    pool->whitened = nt_realloc_array(pool->whitened, capacity, sizeof *pool->whitened);
    pool->points_capacity = capacity;
}

/* Lays the rows out anew with room for more points a block, or more blocks. */
static void make_room_for_rows(nt_gp_pool *pool, size_t points, size_t blocks)
{
    if (points <= pool->rows_capacity && blocks <= pool->blocks_capacity)
        return;
    size_t new_points = pool->rows_capacity, new_blocks = pool->blocks_capacity;
    if (points > new_points)
        new_points = points + points / 2 + 16;
    if (blocks > new_blocks)
        new_blocks = blocks + 2;
    float *rows = nt_alloc(new_blocks * new_points * NT_GP_LANES * sizeof *rows);
    for (size_t b = 0; b < pool->blocks; b++)
        memcpy(rows + b * new_points * NT_GP_LANES, pool->rows + b * pool->rows_capacity * NT_GP_LANES,
               pool->points * NT_GP_LANES * sizeof *rows);
    free(pool->rows);
    pool->rows = rows;
    pool->rows_capacity = new_points;
    if (new_blocks > pool->blocks_capacity) {
        pool->level =
            nt_realloc_array(pool->level, new_blocks * NT_GP_LANES * features_of(pool) + 1, sizeof *pool->level);
        pool->mean = nt_realloc_array(pool->mean, new_blocks * NT_GP_LANES, sizeof *pool->mean);
        pool->variance = nt_realloc_array(pool->variance, new_blocks * NT_GP_LANES, sizeof *pool->variance);
        pool->blocks_capacity = new_blocks;
    }
}

static float *row_at(const nt_gp_pool *pool, size_t block, size_t point)
{
    return pool->rows + (block * pool->rows_capacity + point) * NT_GP_LANES;
}

static uint16_t *levels_of(const nt_gp_pool *pool, size_t block, size_t feature)
{
    return pool->level + (block * features_of(pool) + feature) * NT_GP_LANES;
}

/* ---- the posterior ---------------------------------------------------------------------------------------------- */

void nt_gp_pool_covariance(const nt_gp_pool *pool, size_t block, const uint16_t *level, float *out)
{
    const nt_gp_model *model = pool->model;
    for (size_t l = 0; l < NT_GP_LANES; l++)
        out[l] = 0;
    for (size_t f = 0; f < features_of(pool); f++) {
        const float *distance2 =
            model->table + model->offset[f] + (size_t)level[f] * (size_t)model->features->feature[f].levels;
        const uint16_t *own = levels_of(pool, block, f);
        for (size_t l = 0; l < NT_GP_LANES; l++)
            out[l] += distance2[own[l]];
    }
    for (size_t l = 0; l < NT_GP_LANES; l++)
        out[l] = nt_gp_matern(out[l]);
}

/* The row of one point in one block, from the rows of the points before it. */
static void add_row(nt_gp_pool *pool, size_t block, size_t point)
{
    const double *factor = nt_cholesky_row(&pool->factor, point);
    float *own = row_at(pool, block, point), *mean = pool->mean + block * NT_GP_LANES,
          *variance = pool->variance + block * NT_GP_LANES;
    nt_gp_pool_covariance(pool, block, pool->point + point * features_of(pool), own);
    size_t j = 0;
    for (; j + 4 <= point; j += 4) {
        const float *a = row_at(pool, block, j), *b = a + NT_GP_LANES, *c = b + NT_GP_LANES, *d = c + NT_GP_LANES;
        float fa = (float)factor[j], fb = (float)factor[j + 1], fc = (float)factor[j + 2], fd = (float)factor[j + 3];
        for (size_t l = 0; l < NT_GP_LANES; l++)
            own[l] -= (fa * a[l] + fb * b[l]) + (fc * c[l] + fd * d[l]);
    }
    for (; j < point; j++) {
        const float *a = row_at(pool, block, j);
        float fa = (float)factor[j];
        for (size_t l = 0; l < NT_GP_LANES; l++)
            own[l] -= fa * a[l];
    }
    float scale = (float)(1 / factor[point]), whitened = (float)pool->whitened[point];
    for (size_t l = 0; l < NT_GP_LANES; l++) {
        own[l] *= scale;
        mean[l] += whitened * own[l];
        variance[l] -= own[l] * own[l];
    }
}

static void begin_block(nt_gp_pool *pool)
{
    size_t block = pool->blocks++;
    for (size_t l = 0; l < NT_GP_LANES; l++) {
        pool->mean[block * NT_GP_LANES + l] = 0;
        pool->variance[block * NT_GP_LANES + l] = 1;
    }
    memset(levels_of(pool, block, 0), 0, features_of(pool) * NT_GP_LANES * sizeof *pool->level);
    memset(row_at(pool, block, 0), 0, pool->points * NT_GP_LANES * sizeof *pool->rows);
}

static void set_level(nt_gp_pool *pool, size_t candidate, const uint16_t *level)
{
    for (size_t f = 0; f < features_of(pool); f++)
        levels_of(pool, candidate / NT_GP_LANES, f)[candidate % NT_GP_LANES] = level[f];
}

void nt_gp_pool_add_candidates(nt_gp_pool *pool, const uint16_t *level, size_t count)
{
    size_t first = pool->blocks;
    pool->candidates = first * NT_GP_LANES; /* a new block for them: a block is worked on as a whole */
    make_room_for_rows(pool, pool->points, first + (count + NT_GP_LANES - 1) / NT_GP_LANES);
    for (size_t i = 0; i < count; i++) {
        if (i % NT_GP_LANES == 0)
            begin_block(pool);
        set_level(pool, pool->candidates++, level + i * features_of(pool));
    }
    for (size_t b = first; b < pool->blocks; b++)
        for (size_t p = 0; p < pool->points; p++)
            add_row(pool, b, p);
}

/* One more lane of the last block: solved on its own. */
size_t nt_gp_pool_add_candidate(nt_gp_pool *pool, const uint16_t *level)
{
    size_t lane = pool->candidates % NT_GP_LANES, at = pool->candidates++;
    if (lane == 0) {
        make_room_for_rows(pool, pool->points, pool->blocks + 1);
        begin_block(pool);
    }
    set_level(pool, at, level);
    double *v = nt_alloc_zero(pool->points, sizeof *v), mean = 0, taken = 0;
    for (size_t p = 0; p < pool->points; p++)
        v[p] = nt_gp_covariance(pool->model, pool->point + p * features_of(pool), level);
    nt_cholesky_solve_lower(&pool->factor, v);
    for (size_t p = 0; p < pool->points; p++) {
        row_at(pool, at / NT_GP_LANES, p)[lane] = (float)v[p];
        mean += v[p] * pool->whitened[p];
        taken += v[p] * v[p];
    }
    free(v);
    pool->mean[at] = (float)mean;
    pool->variance[at] = (float)(1 - taken);
    return at;
}

void nt_gp_pool_add_point(nt_gp_pool *pool, const uint16_t *level, double value)
{
    make_room_for_point(pool);
    size_t at = pool->points;
    make_room_for_rows(pool, at + 1, pool->blocks);
    memcpy(pool->point + at * features_of(pool), level, features_of(pool) * sizeof *level);
    double *row = nt_alloc_zero(at, sizeof *row);
    for (size_t p = 0; p < at; p++)
        row[p] = nt_gp_covariance(pool->model, pool->point + p * features_of(pool), level);
    double noise = exp(pool->model->log_noise) + 1e-6;
    while (!nt_cholesky_append(&pool->factor, row, 1 + noise))
        noise *= 10;
    free(row);
    const double *factor = nt_cholesky_row(&pool->factor, at);
    double expected = nt_dot(factor, pool->whitened, at);
    pool->value[at] = isnan(value) ? expected : value;
    pool->whitened[at] = (pool->value[at] - expected) / factor[at];
    pool->points++;
    for (size_t b = 0; b < pool->blocks; b++)
        add_row(pool, b, at);
}

void nt_gp_pool_set_value(nt_gp_pool *pool, size_t point, double value)
{
    pool->value[point] = value;
    for (size_t i = point; i < pool->points; i++) {
        const double *factor = nt_cholesky_row(&pool->factor, i);
        double whitened = (pool->value[i] - nt_dot(factor, pool->whitened, i)) / factor[i];
        float change = (float)(whitened - pool->whitened[i]);
        pool->whitened[i] = whitened;
        for (size_t b = 0; change != 0 && b < pool->blocks; b++) {
            const float *row = row_at(pool, b, i);
            for (size_t l = 0; l < NT_GP_LANES; l++)
                pool->mean[b * NT_GP_LANES + l] += change * row[l];
        }
    }
}

double nt_gp_pool_scale(const nt_gp_pool *pool)
{
    double n = (double)pool->points;
    return (nt_dot(pool->whitened, pool->whitened, pool->points) + 1) / (n + 1);
}

uint16_t nt_gp_pool_level(const nt_gp_pool *pool, size_t candidate, int feature)
{
    return levels_of(pool, candidate / NT_GP_LANES, (size_t)feature)[candidate % NT_GP_LANES];
}
