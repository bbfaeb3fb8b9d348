/* gp_model.c: the fit climbs the logarithm of the posterior by the signs of its gradient, each parameter with a step of
 * its own that grows while the sign stays (Rprop): it needs no scale, and a step is one factorisation. */
#include "autotune/gp_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

void nt_gp_model_init(nt_gp_model *model, const nt_features *features, const nt_gp_prior *prior)
{
    *model = (nt_gp_model){.features = features, .prior = *prior};
    for (int f = 0; f < features->count; f++) {
        size_t levels = (size_t)features->feature[f].levels;
        model->offset[f] = model->table_size;
        model->table_size += levels * levels;
    }
    model->prior.length += 0.5 * log(features->count > 0 ? (double)features->count : 1);
    model->table = nt_alloc_zero(model->table_size, sizeof *model->table);
    model->plain = nt_alloc_zero(model->table_size, sizeof *model->plain);
    for (int f = 0; f < features->count; f++) {
        const nt_feature *feature = &features->feature[f];
        model->log_length[f] = model->prior.length - feature->shorter;
        for (int a = 0; a < feature->levels; a++)
            for (int b = 0; b < feature->levels; b++)
                model->plain[model->offset[f] + (size_t)(a * feature->levels + b)] =
                    (float)nt_feature_distance2(feature, a, b);
    }
    model->log_noise = prior->noise;
    nt_gp_model_update(model);
}

void nt_gp_model_done(nt_gp_model *model)
{
    free(model->table);
    free(model->plain);
    *model = (nt_gp_model){0};
}

void nt_gp_model_update(nt_gp_model *model)
{
    for (int f = 0; f < model->features->count; f++) {
        size_t levels = (size_t)model->features->feature[f].levels;
        float scale = (float)exp(-2 * model->log_length[f]);
        for (size_t i = 0; i < levels * levels; i++)
            model->table[model->offset[f] + i] = model->plain[model->offset[f] + i] * scale;
    }
}

static float distance2(const nt_gp_model *model, const uint16_t *a, const uint16_t *b)
{
    float sum = 0;
    for (int f = 0; f < model->features->count; f++)
        sum += model->table[model->offset[f] + (size_t)a[f] * (size_t)model->features->feature[f].levels + b[f]];
    return sum;
}

double nt_gp_covariance(const nt_gp_model *model, const uint16_t *a, const uint16_t *b)
{
    return (double)nt_gp_matern(distance2(model, a, b));
}

/* ---- the fit ---------------------------------------------------------------------------------------------------- */

typedef struct fit {
    nt_gp_model *model;
    const uint16_t *level;
    const double *value;
    size_t n;
    nt_cholesky factor;
    double *row, *alpha, *inverse, *scratch;
    double *slope; /* [n * n] of covariance to -r^2, twice: what the gradient of each length needs */
    double log_posterior;
    double gradient[NT_MAX_FEATURES + 1]; /* the last for the noise */
} fit;

static const uint16_t *point(const fit *f, size_t i)
{
    return f->level + i * (size_t)f->model->features->count;
}

static bool factorise(fit *f)
{
    double noise = exp(f->model->log_noise);
    nt_cholesky_clear(&f->factor);
    for (size_t i = 0; i < f->n; i++) {
        for (size_t j = 0; j < i; j++) {
            double s = sqrt(5 * (double)distance2(f->model, point(f, i), point(f, j)));
            double decay = (double)nt_gp_exp_negative((float)-s);
            f->row[j] = (1 + s + s * s / 3) * decay;
            f->slope[i * f->n + j] = 5.0 / 3 * (1 + s) * decay;
        }
        if (!nt_cholesky_append(&f->factor, f->row, 1 + noise + 1e-8))
            return false;
    }
    return true;
}

static double add_prior(double x, double at, double spread, double *gradient)
{
    double z = (x - at) / spread;
    *gradient -= z / spread;
    return -z * z / 2;
}

/* Of each pair of points, how much the likelihood gains when their covariance grows, times the slope of the covariance;
 * from it the gradient of each length is a sum over the table of squared distances. */
static void differentiate(fit *f, double variance)
{
    const nt_features *features = f->model->features;
    size_t n = f->n;
    double noise = exp(f->model->log_noise), trace = 0;
    nt_cholesky_inverse(&f->factor, f->inverse, f->scratch);
    for (int k = 0; k <= features->count; k++)
        f->gradient[k] = 0;
    for (size_t i = 0; i < n; i++) {
        trace += f->alpha[i] * f->alpha[i] / variance - f->inverse[i * n + i];
        const uint16_t *a = point(f, i);
        for (size_t j = 0; j < i; j++) {
            const uint16_t *b = point(f, j);
            double gain = (f->alpha[i] * f->alpha[j] / variance - f->inverse[i * n + j]) * f->slope[i * n + j];
            for (int k = 0; k < features->count; k++)
                f->gradient[k] +=
                    gain * (double)f->model
                               ->table[f->model->offset[k] + (size_t)a[k] * (size_t)features->feature[k].levels + b[k]];
        }
    }
    f->gradient[features->count] = noise * trace / 2;
}

static bool evaluate(fit *f)
{
    nt_gp_model *model = f->model;
    int count = model->features->count;
    if (!factorise(f))
        return false;
    memcpy(f->alpha, f->value, f->n * sizeof *f->alpha);
    nt_cholesky_solve_lower(&f->factor, f->alpha);
    double n = (double)f->n, fit_error = nt_dot(f->alpha, f->alpha, f->n);
    nt_cholesky_solve_upper(&f->factor, f->alpha);
    double variance = (fit_error + 1) / (n + 1); /* as if one more value of size 1 had been seen */
    f->log_posterior = -(n + 1) / 2 * log(variance) - nt_cholesky_log_determinant(&f->factor) / 2;
    differentiate(f, variance);
    for (int k = 0; k < count; k++)
        f->log_posterior += add_prior(model->log_length[k], model->prior.length - model->features->feature[k].shorter,
                                      model->prior.length_spread, &f->gradient[k]);
    f->log_posterior += add_prior(model->log_noise, model->prior.noise, model->prior.noise_spread, &f->gradient[count]);
    return true;
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static double *parameter(nt_gp_model *model, int k)
{
    return k < model->features->count ? &model->log_length[k] : &model->log_noise;
}

static void climb(fit *f, int steps)
{
    nt_gp_model *model = f->model;
    int count = model->features->count + 1;
    double step[NT_MAX_FEATURES + 1], before[NT_MAX_FEATURES + 1] = {0}, best[NT_MAX_FEATURES + 1];
    double best_posterior = -INFINITY;
    for (int k = 0; k < count; k++) {
        step[k] = 0.2;
        best[k] = *parameter(model, k);
    }
    for (int s = 0; s <= steps; s++) {
        nt_gp_model_update(model);
        bool usable = evaluate(f);
        if (usable && f->log_posterior > best_posterior) {
            best_posterior = f->log_posterior;
            for (int k = 0; k < count; k++)
                best[k] = *parameter(model, k);
        }
        for (int k = 0; usable && s < steps && k < count; k++) {
            double agreement = before[k] * f->gradient[k];
            step[k] = clamp(step[k] * (agreement > 0 ? 1.3 : agreement < 0 ? 0.5 : 1), 1e-3, 0.7);
            before[k] = f->gradient[k];
            double *at = parameter(model, k);
            *at =
                clamp(*at + (f->gradient[k] > 0 ? step[k] : -step[k]), k + 1 < count ? -4 : -12, k + 1 < count ? 5 : 1);
        }
        if (!usable)
            break;
    }
    for (int k = 0; k < count; k++)
        *parameter(model, k) = best[k];
    f->log_posterior = best_posterior;
    nt_gp_model_update(model);
}

double nt_gp_model_fit(nt_gp_model *model, const uint16_t *level, const double *value, size_t n, int steps)
{
    fit f = {.model = model, .level = level, .value = value, .n = n};
    f.row = nt_alloc_zero(n, sizeof(double));
    f.alpha = nt_alloc_zero(n, sizeof(double));
    f.inverse = nt_alloc_zero(n * n, sizeof(double));
    f.scratch = nt_alloc_zero(n * n, sizeof(double));
    f.slope = nt_alloc_zero(n * n, sizeof(double));
    climb(&f, steps);
    nt_cholesky_done(&f.factor);
    free(f.row);
    free(f.alpha);
    free(f.inverse);
    free(f.scratch);
    free(f.slope);
    return f.log_posterior;
}
