/* strategy_surrogate.c: a plain Gaussian process: twelve points spread out, then the highest expected improvement, and
 * every fourth step the fastest neighbour expected of the fastest so far. Kept beside `auto` to compare it with. */
#include "autotune/gp_search.h"

static const nt_gp_settings settings = {
    .prior = {.length = -0.5, .length_spread = 1, .noise = -9, .noise_spread = 1},
    .aligned_levels = 0,
    .first_points = 12,
    .first_points_timed = 12,
    .neighbour_period = 4,
    .neighbour_by_improvement = false,
    .clip_quantile = 1,
    .pool_most = 4500,
    .fit_points = 128,
};

static void *create(const nt_strategy_setup *setup)
{
    return nt_gp_search_create(setup, &settings);
}

const nt_strategy nt_strategy_surrogate = {
    .name = "surrogate",
    .summary = "a plain Gaussian process and expected improvement",
    .create = create,
    .ask = nt_gp_search_ask,
    .tell = nt_gp_search_tell,
    .destroy = nt_gp_search_destroy,
};
