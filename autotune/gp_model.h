/* gp_model.h: a Gaussian process over feature levels: its covariance, and the fit of its length scales.
 *
 * Covariance of two points: Matern 5/2 of r, r^2 = sum over features of squared distance / length^2, plus a share
 * `noise` of the same variance where a point meets itself. The variance as a whole follows from the data. */
#ifndef NT_GP_MODEL_H
#define NT_GP_MODEL_H

#include <math.h>

#include "autotune/features.h"
#include "autotune/gp_linear.h"

/* What is believed of the lengths and the noise before any answer: normal in their logarithms. */
typedef struct nt_gp_prior {
    double length, length_spread; /* for a single feature; it grows with the root of their number */
    double noise, noise_spread;
} nt_gp_prior;

typedef struct nt_gp_model {
    const nt_features *features;
    nt_gp_prior prior;
    double log_length[NT_MAX_FEATURES], log_noise;
    /* Squared distance of two levels over length^2: table[offset[f] + a * levels + b]. */
    float *table, *plain; /* plain: before the lengths */
    size_t offset[NT_MAX_FEATURES];
    size_t table_size;
} nt_gp_model;

void nt_gp_model_init(nt_gp_model *model, const nt_features *features, const nt_gp_prior *prior);
void nt_gp_model_done(nt_gp_model *model);
void nt_gp_model_update(nt_gp_model *model); /* the table, after a change of log_length */

double nt_gp_covariance(const nt_gp_model *model, const uint16_t *a, const uint16_t *b); /* 1 at distance 0, no noise */

/* exp(x) for x <= 0 to about 1e-7, as 2^whole times a polynomial of the rest: loops over it can run side by side. */
static inline float nt_gp_exp_negative(float x)
{
    float y = x * 1.44269504f;
    y = y < -126.0f ? -126.0f : y;
    int whole = (int)(y - 0.5f); /* the nearest */
    float rest = (y - (float)whole) * 0.693147181f;
    float p = 0.0416666667f + rest * (0.00833333f + rest * 0.00138889f);
    p = 1.0f + rest * (1.0f + rest * (0.5f + rest * (0.166666667f + rest * p)));
    union {
        int bits;
        float power;
    } u = {.bits = (whole + 127) << 23};
    return p * u.power;
}

static inline float nt_gp_matern(float r2)
{
    float s = sqrtf(5.0f * r2);
    return (1.0f + s + s * s * 0.333333333f) * nt_gp_exp_negative(-s);
}

/* Moves lengths and noise, from where they are, towards the most probable ones given points (level[i * count + f]) and
 * values of mean 0 and variance about 1. Returns the logarithm of the posterior, up to a constant. */
double nt_gp_model_fit(nt_gp_model *model, const uint16_t *level, const double *value, size_t n, int steps);

#endif
