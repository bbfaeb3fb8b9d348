/* gp_earlier.c: results of an earlier run, and the mean of a Gaussian process over the best and some of the rest of
 * them. */
#include "autotune/gp_earlier.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/stats.h"

enum {
    FEWEST = 6,                /* results that say something */
    MOST_POINTS = 96,          /* half the best, half from the rest */
    MOST_POINTS_LARGE = 48,    /* the same where levels are worked out while the search runs */
    MOST_PREPARED = 1 << 15,   /* candidates whose levels are worked out before it */
    MOST_REMEMBERED = 1 << 24, /* whose levels are worked out once */
    FIT_STEPS = 15
};
static const double clip_quantile = 0.8;

typedef struct nt_gp_known {
    uint64_t position;
    double value;
} nt_gp_known;

static int by_position(const void *a, const void *b)
{
    const nt_gp_known *x = a, *y = b;
    return (x->position > y->position) - (x->position < y->position);
}

static int by_value(const void *a, const void *b)
{
    const nt_gp_known *x = a, *y = b;
    if (x->value != y->value)
        return (x->value > y->value) - (x->value < y->value);
    return by_position(a, b);
}

/* ---- which runs -------------------------------------------------------------------------------------------------- */

static bool says_something(const nt_earlier *earlier)
{
    return earlier->time_ns > 0 && isfinite(earlier->time_ns);
}

typedef struct counted {
    int run;
    size_t results;
} counted;

static int by_run(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    return (x->run > y->run) - (x->run < y->run);
}

static int by_results(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    return x->results != y->results ? (x->results < y->results) - (x->results > y->results) : by_run(a, b);
}

int nt_gp_earlier_runs(const nt_strategy_setup *setup, int most, int *run)
{
    counted *all = nt_alloc_zero(setup->earlier_count, sizeof *all);
    size_t count = 0, runs = 0;
    int found = 0;
    for (size_t i = 0; i < setup->earlier_count; i++)
        if (says_something(&setup->earlier[i]))
            all[count++] = (counted){setup->earlier[i].run, 1};
    qsort(all, count, sizeof *all, by_run);
    for (size_t i = 0; i < count; i++) {
        if (runs > 0 && all[runs - 1].run == all[i].run)
            all[runs - 1].results++;
        else
            all[runs++] = all[i];
    }
    qsort(all, runs, sizeof *all, by_results);
    while (found < most && (size_t)found < runs && all[found].results >= FEWEST) {
        run[found] = all[found].run;
        found++;
    }
    free(all);
    return found;
}

/* ---- its results ------------------------------------------------------------------------------------------------- */

/* Every result as a logarithm over the best. */
static void gather(nt_gp_earlier *e, const nt_strategy_setup *setup, int run)
{
    double best = INFINITY;
    e->known = nt_alloc_zero(setup->earlier_count, sizeof *e->known);
    for (size_t i = 0; i < setup->earlier_count; i++) {
        const nt_earlier *earlier = &setup->earlier[i];
        if (earlier->run != run || !says_something(earlier))
            continue;
        e->known[e->known_count++] =
            (nt_gp_known){nt_candidates_position(&e->candidates, earlier->candidate), log(earlier->time_ns)};
        best = fmin(best, log(earlier->time_ns));
    }
    for (size_t i = 0; i < e->known_count; i++)
        e->known[i].value -= best;
}

/* Of a candidate measured more than once the mean counts. */
static void merge(nt_gp_earlier *e)
{
    size_t kept = 0;
    qsort(e->known, e->known_count, sizeof *e->known, by_position);
    for (size_t i = 0, end; i < e->known_count; i = end) {
        double sum = 0;
        for (end = i; end < e->known_count && e->known[end].position == e->known[i].position; end++)
            sum += e->known[end].value;
        e->known[kept++] = (nt_gp_known){e->known[i].position, sum / (double)(end - i)};
    }
    e->known_count = kept;
}

static void rank(nt_gp_earlier *e)
{
    nt_gp_known *sorted = nt_alloc_zero(e->known_count, sizeof *sorted);
    double *value = nt_alloc_zero(e->known_count, sizeof *value);
    memcpy(sorted, e->known, e->known_count * sizeof *sorted);
    qsort(sorted, e->known_count, sizeof *sorted, by_value);
    e->fastest = nt_alloc_zero(e->known_count, sizeof *e->fastest);
    for (size_t i = 0; i < e->known_count; i++) {
        value[i] = sorted[i].value;
        const nt_gp_known *at = bsearch(&sorted[i], e->known, e->known_count, sizeof *sorted, by_position);
        e->fastest[i] = (size_t)(at - e->known);
    }
    e->slowest = fmax(nt_quantile(value, e->known_count, clip_quantile), 1e-9);
    free(sorted);
    free(value);
}

/* ---- the process ------------------------------------------------------------------------------------------------- */

static double clipped(const nt_gp_earlier *e, double value)
{
    return fmin(value, e->slowest);
}

static void choose_points(nt_gp_earlier *e, double *value)
{
    size_t width = (size_t)e->features.count, all = e->known_count,
           most = nt_candidates_end(&e->candidates) <= MOST_PREPARED ? MOST_POINTS : MOST_POINTS_LARGE, half = most / 2;
    e->points = all < most ? all : most;
    e->point = nt_alloc_zero(e->points * width + 1, sizeof *e->point);
    for (size_t i = 0; i < e->points; i++) {
        size_t place = all > most && i >= half ? half + (i - half) * (all - half) / (most - half) : i;
        const nt_gp_known *known = &e->known[e->fastest[place]];
        nt_features_of(&e->features, nt_candidates_at(&e->candidates, known->position), e->point + i * width);
        value[i] = clipped(e, known->value);
        e->middle += value[i] / (double)e->points;
    }
}

/* weight = K^-1 (value - middle), so that the mean anywhere is middle + covariances * weight. */
static void weigh_points(nt_gp_earlier *e)
{
    size_t width = (size_t)e->features.count;
    double *row = nt_alloc_zero(e->points, sizeof *row);
    nt_cholesky factor = {0};
    bool sound = true;
    for (size_t i = 0; i < e->points && sound; i++) {
        for (size_t j = 0; j < i; j++)
            row[j] = nt_gp_covariance(&e->model, e->point + i * width, e->point + j * width);
        sound = nt_cholesky_append(&factor, row, 1 + exp(e->model.log_noise) + 1e-6);
    }
    if (sound) {
        nt_cholesky_solve_lower(&factor, e->weight);
        nt_cholesky_solve_upper(&factor, e->weight);
    } else {
        memset(e->weight, 0, e->points * sizeof *e->weight);
    }
    nt_cholesky_done(&factor);
    free(row);
}

static void learn(nt_gp_earlier *e, const nt_gp_prior *prior)
{
    e->weight = nt_alloc_zero(e->known_count, sizeof *e->weight);
    double squares = 0, *scaled;
    choose_points(e, e->weight);
    for (size_t i = 0; i < e->points; i++) {
        e->weight[i] -= e->middle;
        squares += e->weight[i] * e->weight[i];
    }
    double spread = fmax(sqrt(squares / (double)e->points), 1e-9);
    scaled = nt_alloc_zero(e->points, sizeof *scaled);
    for (size_t i = 0; i < e->points; i++)
        scaled[i] = e->weight[i] / spread;
    nt_gp_model_init(&e->model, &e->features, prior);
    nt_gp_model_fit(&e->model, e->point, scaled, e->points, FIT_STEPS);
    weigh_points(e);
    free(scaled);
}

nt_gp_earlier *nt_gp_earlier_create(const nt_strategy_setup *setup, int run, const nt_gp_prior *prior,
                                    int aligned_levels)
{
    nt_gp_earlier *e = nt_alloc_zero(1, sizeof *e);
    nt_candidates_init(&e->candidates, setup);
    gather(e, setup, run);
    merge(e);
    rank(e);
    nt_features_init(&e->features, setup, aligned_levels);
    learn(e, prior);
    uint64_t end = nt_candidates_end(&e->candidates);
    if (end <= MOST_REMEMBERED)
        e->level = nt_alloc_zero(end, sizeof *e->level);
    for (uint64_t position = 0; position < end && end <= MOST_PREPARED; position++)
        nt_gp_earlier_level(e, nt_candidates_at(&e->candidates, position));
    return e;
}

void nt_gp_earlier_destroy(nt_gp_earlier *e)
{
    if (e == NULL)
        return;
    nt_gp_model_done(&e->model);
    nt_features_done(&e->features);
    nt_candidates_done(&e->candidates);
    free(e->known);
    free(e->fastest);
    free(e->point);
    free(e->weight);
    free(e->level);
    free(e);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static double expected(const nt_gp_earlier *e, nt_candidate candidate)
{
    uint16_t level[NT_MAX_FEATURES];
    size_t width = (size_t)e->features.count;
    double mean = e->middle;
    nt_features_of(&e->features, candidate, level);
    for (size_t i = 0; i < e->points; i++)
        mean += e->weight[i] * nt_gp_covariance(&e->model, e->point + i * width, level);
    return mean;
}

static uint16_t level_of(const nt_gp_earlier *e, double value)
{
    double share = fmin(fmax(value / e->slowest, 0), 1);
    return (uint16_t)lround(share * (NT_GP_EARLIER_LEVELS - 1));
}

uint16_t nt_gp_earlier_level(void *earlier, nt_candidate candidate)
{
    nt_gp_earlier *e = earlier;
    nt_gp_known key = {.position = nt_candidates_position(&e->candidates, candidate)};
    if (e->level != NULL && e->level[key.position] > 0)
        return (uint16_t)(e->level[key.position] - 1);
    const nt_gp_known *known = bsearch(&key, e->known, e->known_count, sizeof key, by_position);
    uint16_t level = level_of(e, known != NULL ? known->value : expected(e, candidate));
    if (e->level != NULL)
        e->level[key.position] = (uint8_t)(level + 1);
    return level;
}

bool nt_gp_earlier_next(nt_gp_earlier *e, uint64_t *position)
{
    if (e->turn == e->known_count)
        return false;
    *position = e->known[e->fastest[e->turn++]].position;
    return true;
}
