/* gp_judge.c: expected improvement, times how likely it is to be had, over what it costs; in logarithms. */
#include "autotune/gp_judge.h"

#include <math.h>

/* How much a candidate without samples near it counts as good as the average, in samples. */
static const double prior_weight = 0.1;

/* Logarithm of the expected improvement below `best`; far above it, where the plain formula gives 0, by its tail. */
static double log_improvement(double mean, double deviation, double best)
{
    double z = (best - mean) / deviation, density = exp(-z * z / 2) * 0.3989422804014327;
    if (z > -5)
        return log(deviation) + log(z * 0.5 * erfc(-z * M_SQRT1_2) + density);
    return log(deviation) - z * z / 2 - 0.9189385332046727 - 2 * log(-z);
}

nt_gp_judgement nt_gp_judgement_of(const nt_gp_field *field)
{
    const nt_gp_samples *s = field->samples;
    return (nt_gp_judgement){
        .deviation = sqrt(nt_gp_pool_scale(&field->pool)),
        .best = nt_gp_field_scaled(field, s->item[s->best].value),
        .works = ((double)s->good + 1) / ((double)(s->good + s->bad) + 1),
        .log_cost = s->costs > 0 ? s->cost_sum / (double)s->costs : 0,
    };
}

static double log_works(const nt_gp_field *field, const nt_gp_judgement *j, size_t c)
{
    if (field->samples->bad == 0)
        return 0;
    double good = (double)field->good_weight[c], bad = (double)field->bad_weight[c];
    return log((prior_weight * j->works + good) / (prior_weight + good + bad) + 1e-9);
}

static double log_cost(const nt_gp_field *field, const nt_gp_judgement *j, size_t c)
{
    if (!field->minds_cost)
        return 0;
    return (prior_weight * j->log_cost + (double)field->cost[c]) / (prior_weight + (double)field->cost_weight[c]);
}

static double promise(const nt_gp_field *field, const nt_gp_judgement *j, size_t c)
{
    double deviation = j->deviation * sqrt(fmax((double)field->pool.variance[c], 1e-6));
    return log_improvement((double)field->pool.mean[c], deviation, j->best);
}

double nt_gp_judged(const nt_gp_field *field, const nt_gp_judgement *j, size_t c)
{
    return promise(field, j, c) + log_works(field, j, c) - log_cost(field, j, c);
}

/* In one parameter. */
static bool differs_in_one(const nt_gp_field *field, size_t c, const uint16_t *level)
{
    int different = 0;
    for (int f = 0; f < field->samples->features->count && different < 2; f++)
        different += !field->samples->features->feature[f].derived && nt_gp_pool_level(&field->pool, c, f) != level[f];
    return different == 1;
}

static bool by_mean(nt_gp_choice choice)
{
    return choice == NT_GP_BY_MEAN || choice == NT_GP_NEAR_BY_MEAN;
}

static bool near_only(nt_gp_choice choice)
{
    return choice == NT_GP_NEAR_BY_IMPROVEMENT || choice == NT_GP_NEAR_BY_MEAN;
}

/* One of the best, each equally likely: among equals the order of candidates must not decide, for it says nothing. */
static long best_candidate(const nt_gp_field *field, nt_gp_choice choice, nt_random *random)
{
    const uint16_t *at = nt_gp_samples_level(field->samples, field->samples->best);
    nt_gp_judgement j = nt_gp_judgement_of(field);
    double top = -INFINITY, same = 1e-6;
    uint64_t equals = 0;
    long best = -1;
    for (size_t c = 0; c < field->pool.candidates; c++) {
        if (field->is_gone[c] || (near_only(choice) && !differs_in_one(field, c, at)))
            continue;
        double score =
            by_mean(choice) ? log_works(field, &j, c) - (double)field->pool.mean[c] : nt_gp_judged(field, &j, c);
        if (score > top + same) {
            top = score;
            best = (long)c;
            equals = 1;
        } else if (score > top - same && nt_random_below(random, ++equals) == 0) {
            best = (long)c;
        }
    }
    return best;
}

bool nt_gp_field_choose(nt_gp_field *field, nt_gp_choice choice, double least_promise, nt_random *random,
                        uint64_t *position)
{
    long c = best_candidate(field, choice, random);
    if (c < 0 && near_only(choice)) {
        choice = NT_GP_ANYWHERE;
        c = best_candidate(field, choice, random);
    }
    if (c < 0)
        return false;
    nt_gp_judgement j = nt_gp_judgement_of(field);
    if (choice == NT_GP_ANYWHERE && promise(field, &j, (size_t)c) < least_promise)
        c = best_candidate(field, NT_GP_BY_MEAN, random);
    field->is_gone[c] = true;
    *position = field->position[c];
    return true;
}
