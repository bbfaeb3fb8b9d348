/* gp_search.c: the loop of a model-guided search: points spread over the space, then turn by turn the candidate that
 * the model promises most of. The model is fitted anew when the samples have grown by a tenth; in between answers are
 * only added to it. */
#include "autotune/gp_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/gp_earlier.h"
#include "autotune/gp_judge.h"
#include "core/mem.h"

enum {
    MOST_EARLIER = 4,   /* runs */
    DESIGN_DRAWS = 64,  /* candidates among which the next spread point is the farthest from the others */
    FEWEST_GOOD = 3,    /* samples that a model takes */
    MOST_SPREAD = 200,  /* points spread out while nothing works; then random ones */
    FEWEST_BETWEEN = 4, /* good samples from one fit to the next */
    MOST_BETWEEN = 60,
    FIRST_FIT_STEPS = 20, /* later ones begin where the last ended */
    FIT_STEPS = 8,
    FULL_POOL_SAMPLES = 200 /* beyond it the pool shrinks, so that a rebuild costs no more */
};

typedef struct search {
    nt_gp_settings settings;
    nt_asked asked;
    nt_random random;
    nt_features features;
    nt_gp_earlier *earlier[MOST_EARLIER];
    int earlier_count, earlier_turn;
    nt_gp_samples samples;
    nt_gp_model model;
    nt_gp_field field;
    size_t next_fit; /* good samples at which the model is fitted anew */
    size_t steps;    /* candidates chosen by the model */
} search;

/* Each earlier run is a feature more: the model finds out how much it is worth. */
static void take_earlier(search *s, const nt_strategy_setup *setup)
{
    int run[MOST_EARLIER];
    s->earlier_count = nt_gp_earlier_runs(setup, MOST_EARLIER, run);
    for (int i = 0; i < s->earlier_count; i++) {
        s->earlier[i] = nt_gp_earlier_create(setup, run[i], &s->settings.prior, s->settings.aligned_levels);
        nt_features_add(&s->features, NT_GP_EARLIER_LEVELS, s->settings.earlier_shorter, nt_gp_earlier_level,
                        s->earlier[i]);
    }
}

void *nt_gp_search_create(const nt_strategy_setup *setup, const nt_gp_settings *settings)
{
    search *s = nt_alloc_zero(1, sizeof *s);
    s->settings = *settings;
    if (setup->budget_s > 0)
        s->settings.first_points = settings->first_points_timed;
    nt_asked_init(&s->asked, setup);
    s->random = nt_random_seed(setup->seed, 2);
    nt_features_init(&s->features, setup, settings->aligned_levels);
    take_earlier(s, setup);
    nt_gp_samples_init(&s->samples, &s->features);
    nt_gp_model_init(&s->model, &s->features, &settings->prior);
    nt_gp_field_init(&s->field, &s->asked, &s->samples, &s->model, setup->budget_s > 0, settings->clip_quantile);
    s->next_fit = FEWEST_GOOD;
    return s;
}

void nt_gp_search_destroy(void *state)
{
    search *s = state;
    if (s == NULL)
        return;
    nt_gp_field_done(&s->field);
    nt_gp_model_done(&s->model);
    nt_gp_samples_done(&s->samples);
    nt_features_done(&s->features);
    for (int i = 0; i < s->earlier_count; i++)
        nt_gp_earlier_destroy(s->earlier[i]);
    nt_asked_done(&s->asked);
    free(s);
}

/* ---- spread points ---------------------------------------------------------------------------------------------- */

/* Of the first point its nearness to the middle, of the others their distance from the nearest sample. */
static double spread_score(const search *s, const uint16_t *level)
{
    double nearest = INFINITY;
    for (size_t i = 0; i <= s->samples.count; i++) {
        double distance2 = 0;
        const uint16_t *other = i < s->samples.count ? nt_gp_samples_level(&s->samples, i) : NULL;
        if (other == NULL && i > 0)
            break;
        for (int f = 0; f < s->features.count; f++) {
            const nt_feature *feature = &s->features.feature[f];
            double off = (double)feature->position[level[f]] - 0.5;
            distance2 += other == NULL ? off * off : nt_feature_distance2(feature, level[f], other[f]);
        }
        if (other == NULL)
            return -distance2;
        nearest = fmin(nearest, distance2);
    }
    return nearest;
}

/* The best of the earlier runs that are still to be tried, one run after another. */
static bool known_point(search *s, uint64_t *position)
{
    int dry = 0;
    while (dry < s->earlier_count) {
        nt_gp_earlier *earlier = s->earlier[s->earlier_turn++ % s->earlier_count];
        bool given = nt_gp_earlier_next(earlier, position);
        if (given && !nt_asked_has(&s->asked, *position))
            return true;
        dry = given ? 0 : dry + 1;
    }
    return false;
}

static bool spread_point(search *s, uint64_t *position)
{
    uint16_t level[NT_MAX_FEATURES];
    double best = -INFINITY;
    for (int i = 0; i < DESIGN_DRAWS; i++) {
        uint64_t drawn;
        if (!nt_asked_draw(&s->asked, &s->random, &drawn))
            return false;
        nt_features_of(&s->features, nt_candidates_at(&s->asked.candidates, drawn), level);
        double score = spread_score(s, level);
        if (i > 0 && score <= best)
            continue;
        best = score;
        *position = drawn;
    }
    return true;
}

/* ---- the model -------------------------------------------------------------------------------------------------- */

static void fit(search *s)
{
    size_t width = (size_t)s->features.count;
    size_t *picked = nt_alloc_zero(s->samples.good, sizeof *picked);
    size_t count = nt_gp_samples_pick(&s->samples, (size_t)s->settings.fit_points, picked);
    uint16_t *level = nt_alloc_zero(count * width + 1, sizeof *level);
    double *value = nt_alloc_zero(count, sizeof *value), mean = 0;
    for (size_t i = 0; i < count; i++) {
        memcpy(level + i * width, nt_gp_samples_level(&s->samples, picked[i]), width * sizeof *level);
        value[i] = nt_gp_field_scaled(&s->field, s->samples.item[picked[i]].value);
        mean += value[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++)
        value[i] -= mean;
    nt_gp_model_fit(&s->model, level, value, count, s->field.is_built ? FIT_STEPS : FIRST_FIT_STEPS);
    free(picked);
    free(level);
    free(value);
}

static size_t pool_size(const search *s)
{
    double most = s->settings.pool_most, crowd = fmin((double)s->samples.good / FULL_POOL_SAMPLES, 2);
    return (size_t)(crowd > 1 ? most / (crowd * crowd) : most);
}

static void update(search *s)
{
    if (s->samples.good < s->next_fit) {
        nt_gp_field_catch_up(&s->field);
        return;
    }
    nt_gp_field_set_scale(&s->field);
    fit(s);
    nt_gp_field_rebuild(&s->field, &s->random, pool_size(s));
    size_t tenth = s->samples.good / 10;
    s->next_fit = s->samples.good + (tenth < FEWEST_BETWEEN ? FEWEST_BETWEEN
                                     : tenth > MOST_BETWEEN ? MOST_BETWEEN
                                                            : tenth);
}

/* ---- ask and tell ----------------------------------------------------------------------------------------------- */

static bool next(search *s, uint64_t *position)
{
    if (s->samples.good < FEWEST_GOOD && s->samples.count > MOST_SPREAD)
        return nt_asked_draw(&s->asked, &s->random, position);
    if (s->samples.count < (size_t)s->settings.first_points || s->samples.good < FEWEST_GOOD)
        return (s->samples.count < (size_t)s->settings.first_points_known && known_point(s, position)) ||
               spread_point(s, position);
    update(s);
    int period = s->settings.neighbour_period;
    bool near = period > 0 && s->steps % (size_t)period == 0;
    bool doubted = s->steps++ % 2 == 1 && s->settings.least_promise < 0;
    nt_gp_choice choice = !near                                  ? NT_GP_ANYWHERE
                          : s->settings.neighbour_by_improvement ? NT_GP_NEAR_BY_IMPROVEMENT
                                                                 : NT_GP_NEAR_BY_MEAN;
    double least = doubted ? s->settings.least_promise : (double)-INFINITY;
    return nt_gp_field_choose(&s->field, choice, least, &s->random, position) ||
           nt_asked_draw(&s->asked, &s->random, position);
}

size_t nt_gp_search_ask(void *state, nt_candidate *out, size_t n)
{
    search *s = state;
    size_t count = 0;
    uint64_t position;
    while (count < n && next(s, &position)) {
        out[count] = nt_candidates_at(&s->asked.candidates, position);
        nt_asked_add(&s->asked, position);
        nt_gp_samples_add(&s->samples, out[count++], position);
    }
    return count;
}

void nt_gp_search_tell(void *state, const nt_answer *answer)
{
    search *s = state;
    size_t at, good = s->samples.good;
    uint64_t position = nt_candidates_position(&s->asked.candidates, answer->candidate);
    if (!nt_gp_samples_tell(&s->samples, answer, position, &at))
        return;
    nt_asked_add(&s->asked, position);
    nt_gp_field_note(&s->field, at);
    if (s->samples.good > good && s->samples.best == at)
        nt_gp_field_add_neighbours(&s->field, at);
}
