/* strategy_auto.c: our best, without settings to tune: a Gaussian process that also counts whole numbers by how often 2
 * divides them, on samples without noise to speak of, and the highest expected improvement. docs/STRATEGIES.md says how
 * the settings below were chosen. */
#include "autotune/gp_search.h"

static const nt_gp_settings settings = {
    .prior = {.length = -0.5, .length_spread = 0.6, .noise = -9, .noise_spread = 0.5},
    .aligned_levels = 4,
    .first_points = 12,
    .first_points_timed = 7,
    .first_points_known = 6,
    .earlier_shorter = 1,
    .neighbour_period = 0,
    .least_promise = -6,
    .clip_quantile = 0.8,
    .pool_most = 4500,
    .fit_points = 128,
};

static void *create(const nt_strategy_setup *setup)
{
    return nt_gp_search_create(setup, &settings);
}

const nt_strategy nt_strategy_auto = {
    .name = "auto",
    .summary = "guided by a model of the times seen so far; nothing to set",
    .create = create,
    .ask = nt_gp_search_ask,
    .tell = nt_gp_search_tell,
    .destroy = nt_gp_search_destroy,
};
