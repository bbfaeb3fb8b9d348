/* gp_pool.h: the posterior of a Gaussian process at a set of candidates, kept up to date answer by answer.
 *
 * A rebuild costs candidates * points^2 / 2, an answer more only candidates * points. Values are on the scale of the
 * caller: about mean 0 and variance 1. */
#ifndef NT_GP_POOL_H
#define NT_GP_POOL_H

#include "autotune/gp_model.h"

enum { NT_GP_LANES = 128 }; /* candidates that are worked on together: what stays in the cache */

typedef struct nt_gp_pool {
    const nt_gp_model *model;
    /* Points the posterior rests on, in the order of the factor's rows. */
    nt_cholesky factor;
    uint16_t *point;          /* [points * features] */
    double *value, *whitened; /* L^-1 value */
    size_t points, points_capacity;
    /* Candidates, in blocks of NT_GP_LANES: number of block b, lane l is b * NT_GP_LANES + l. */
    size_t candidates, blocks, blocks_capacity;
    uint16_t *level;        /* [block][feature][lane] */
    float *rows;            /* [block][point][lane]: L^-1 of the covariances */
    size_t rows_capacity;   /* points that there is room for */
    float *mean, *variance; /* [candidate]; of the prior variance 1 */
} nt_gp_pool;

void nt_gp_pool_init(nt_gp_pool *pool, const nt_gp_model *model);
void nt_gp_pool_done(nt_gp_pool *pool);
void nt_gp_pool_clear(nt_gp_pool *pool); /* no points, no candidates: before a rebuild, or when the model has changed */

/* Adds a point; NAN as its value means the mean expected there, which changes no mean. */
void nt_gp_pool_add_point(nt_gp_pool *pool, const uint16_t *level, double value);
void nt_gp_pool_set_value(nt_gp_pool *pool, size_t point, double value); /* replaces the value of a point */
size_t nt_gp_pool_add_candidate(nt_gp_pool *pool, const uint16_t *level);
/* Many candidates at once, level[i * features + f]: cheaper than one by one. */
void nt_gp_pool_add_candidates(nt_gp_pool *pool, const uint16_t *level, size_t count);

double nt_gp_pool_scale(const nt_gp_pool *pool); /* the variance that the values show */

uint16_t nt_gp_pool_level(const nt_gp_pool *pool, size_t candidate, int feature);

/* Covariances of a point and the candidates of a block, without noise: out[NT_GP_LANES]. */
void nt_gp_pool_covariance(const nt_gp_pool *pool, size_t block, const uint16_t *level, float *out);

#endif
