/* gp_field.c: candidates beside their posterior in the pool. */
#include "autotune/gp_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/stats.h"

enum {
    MOST_NEIGHBOURS = 512,
    FASTEST = 4,        /* samples whose neighbours are always judged */
    MOST_POINTS = 400,  /* samples that a rebuilt posterior rests on: the fastest half, and some of the rest */
    MOST_WEIGHED = 1000 /* the latest samples, by which failures and costs are foreseen */
};

typedef struct nt_gp_place {
    long point;
    bool has_value;
    bool is_left_out; /* of the points, because there were too many */
} nt_gp_place;

void nt_gp_field_init(nt_gp_field *field, const nt_asked *asked, const nt_gp_samples *samples, const nt_gp_model *model,
                      bool minds_cost, double clip_quantile)
{
    *field = (nt_gp_field){.asked = asked,
                           .samples = samples,
                           .spread = 1,
                           .slowest = INFINITY,
                           .clip_quantile = clip_quantile,
                           .minds_cost = minds_cost};
    nt_gp_pool_init(&field->pool, model);
}

void nt_gp_field_done(nt_gp_field *field)
{
    nt_gp_pool_done(&field->pool);
    free(field->position);
    free(field->is_gone);
    free(field->good_weight);
    free(field->bad_weight);
    free(field->cost_weight);
    free(field->cost);
    free(field->place);
    *field = (nt_gp_field){0};
}

static size_t features_of(const nt_gp_field *field)
{
    return (size_t)field->samples->features->count;
}

/* ---- scale ------------------------------------------------------------------------------------------------------ */

void nt_gp_field_set_scale(nt_gp_field *field)
{
    const nt_gp_samples *samples = field->samples;
    double *value = nt_alloc_zero(samples->good, sizeof *value), sum = 0, squares = 0;
    size_t count = 0;
    for (size_t i = 0; i < samples->count; i++)
        if (samples->item[i].fate == NT_GP_GOOD)
            value[count++] = samples->item[i].value;
    double slowest = nt_quantile(value, count, field->clip_quantile);
    for (size_t i = 0; i < count; i++) {
        value[i] = fmin(value[i], slowest);
        sum += value[i];
    }
    field->center = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (value[i] - field->center) * (value[i] - field->center);
    field->spread = fmax(sqrt(squares / (double)count), 1e-9);
    field->slowest = slowest;
    free(value);
}

double nt_gp_field_scaled(const nt_gp_field *field, double value)
{
    return (fmin(value, field->slowest) - field->center) / field->spread;
}

/* ---- candidates ------------------------------------------------------------------------------------------------- */

static void grow(nt_gp_field *field, size_t need)
{
    if (need <= field->capacity)
        return;
    size_t capacity = need + need / 2 + 256;
    field->position = nt_realloc_array(field->position, capacity, sizeof *field->position);
    field->is_gone = nt_realloc_array(field->is_gone, capacity, sizeof *field->is_gone);
    field->good_weight = nt_realloc_array(field->good_weight, capacity, sizeof(float));
    field->bad_weight = nt_realloc_array(field->bad_weight, capacity, sizeof(float));
    field->cost_weight = nt_realloc_array(field->cost_weight, capacity, sizeof(float));
    field->cost = nt_realloc_array(field->cost, capacity, sizeof(float));
    field->capacity = capacity;
}

static void enter(nt_gp_field *field, size_t candidate, uint64_t position)
{
    grow(field, candidate + 1);
    field->position[candidate] = position;
    field->is_gone[candidate] = nt_asked_has(field->asked, position);
    field->good_weight[candidate] = field->bad_weight[candidate] = 0;
    field->cost_weight[candidate] = field->cost[candidate] = 0;
}

static void weigh(nt_gp_field *field, size_t candidate, const nt_gp_sample *sample, float covariance)
{
    float weight = covariance * covariance;
    (sample->fate == NT_GP_GOOD ? field->good_weight : field->bad_weight)[candidate] += weight;
    if (isnan(sample->log_cost))
        return;
    field->cost_weight[candidate] += weight;
    field->cost[candidate] += weight * (float)sample->log_cost;
}

/* Weights matter once something has failed, or when costs do. */
static bool weights_matter(const nt_gp_field *field)
{
    return field->minds_cost || field->samples->bad > 0;
}

static void weigh_everywhere(nt_gp_field *field, size_t sample)
{
    float covariance[NT_GP_LANES];
    for (size_t b = 0; b < field->pool.blocks; b++) {
        nt_gp_pool_covariance(&field->pool, b, nt_gp_samples_level(field->samples, sample), covariance);
        for (size_t l = 0, c = b * NT_GP_LANES; l < NT_GP_LANES && c < field->pool.candidates; l++, c++)
            weigh(field, c, &field->samples->item[sample], covariance[l]);
    }
}

static void weigh_all(nt_gp_field *field)
{
    size_t count = field->samples->count;
    for (size_t i = count > MOST_WEIGHED ? count - MOST_WEIGHED : 0; i < count; i++)
        if (field->samples->item[i].fate != NT_GP_PENDING)
            weigh_everywhere(field, i);
}

void nt_gp_field_note(nt_gp_field *field, size_t sample)
{
    const nt_gp_samples *samples = field->samples;
    if (!field->is_built || !weights_matter(field))
        return;
    bool first_bad = samples->item[sample].fate == NT_GP_BAD && samples->bad == 1 && !field->minds_cost;
    if (first_bad)
        weigh_all(field);
    else
        weigh_everywhere(field, sample);
}

/* ---- points ----------------------------------------------------------------------------------------------------- */

static void make_places(nt_gp_field *field)
{
    void *places = field->place;
    nt_grow(&places, &field->place_capacity, field->samples->count, sizeof *field->place);
    field->place = places;
    for (; field->places < field->samples->count; field->places++)
        field->place[field->places] = (nt_gp_place){.point = -1};
}

/* A pending sample stands in with the value expected of it, so that its neighbourhood is not asked again and again. */
static void add_point(nt_gp_field *field, size_t sample)
{
    const nt_gp_sample *s = &field->samples->item[sample];
    bool good = s->fate == NT_GP_GOOD;
    field->place[sample] = (nt_gp_place){.point = (long)field->pool.points, .has_value = good};
    nt_gp_pool_add_point(&field->pool, nt_gp_samples_level(field->samples, sample),
                         good ? nt_gp_field_scaled(field, s->value) : (double)NAN);
}

void nt_gp_field_catch_up(nt_gp_field *field)
{
    make_places(field);
    for (size_t i = 0; i < field->samples->count; i++) {
        const nt_gp_sample *s = &field->samples->item[i];
        nt_gp_place *place = &field->place[i];
        if (s->fate == NT_GP_BAD || place->is_left_out)
            continue;
        if (place->point < 0) {
            add_point(field, i);
        } else if (s->fate == NT_GP_GOOD && !place->has_value) {
            nt_gp_pool_set_value(&field->pool, (size_t)place->point, nt_gp_field_scaled(field, s->value));
            place->has_value = true;
        }
    }
}

static void add_points_anew(nt_gp_field *field)
{
    const nt_gp_samples *samples = field->samples;
    size_t *picked = nt_alloc_zero(samples->good, sizeof *picked),
           count = nt_gp_samples_pick(samples, MOST_POINTS, picked);
    field->places = 0;
    make_places(field);
    for (size_t i = 0; i < samples->count; i++)
        field->place[i].is_left_out = samples->item[i].fate == NT_GP_GOOD;
    for (size_t i = 0; i < count; i++)
        add_point(field, picked[i]);
    for (size_t i = 0; i < samples->count; i++)
        if (samples->item[i].fate == NT_GP_PENDING)
            add_point(field, i);
    free(picked);
}

/* ---- who is judged ---------------------------------------------------------------------------------------------- */

typedef struct listing {
    uint64_t *position;
    size_t count, most;
} listing;

typedef struct scored {
    double score;
    uint64_t position;
} scored;

static int by_score(const void *a, const void *b)
{
    const scored *x = a, *y = b;
    if (x->score != y->score)
        return (x->score < y->score) - (x->score > y->score);
    return (x->position > y->position) - (x->position < y->position);
}

static int by_position(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void list_better_half(const nt_gp_field *field, listing *out)
{
    scored *all = nt_alloc_zero(field->pool.candidates, sizeof *all);
    nt_gp_judgement j = nt_gp_judgement_of(field);
    size_t count = 0;
    for (size_t c = 0; c < field->pool.candidates; c++)
        if (!field->is_gone[c])
            all[count++] = (scored){nt_gp_judged(field, &j, c), field->position[c]};
    qsort(all, count, sizeof *all, by_score);
    for (size_t i = 0; i < count && out->count < out->most / 2; i++)
        out->position[out->count++] = all[i].position;
    free(all);
}

static void list_neighbours(const nt_gp_field *field, size_t sample, listing *out)
{
    const nt_candidates *candidates = &field->asked->candidates;
    nt_candidate at = nt_candidates_at(candidates, field->samples->item[sample].position);
    uint64_t near[MOST_NEIGHBOURS];
    size_t count =
        nt_space_neighbours(candidates->space[at.kernel], at.index, NT_NEIGHBOUR_HAMMING, near, MOST_NEIGHBOURS);
    for (size_t i = 0; i < count && i < MOST_NEIGHBOURS && out->count < out->most; i++) {
        uint64_t position = nt_candidates_position(candidates, (nt_candidate){at.kernel, near[i]});
        if (!nt_asked_has(field->asked, position))
            out->position[out->count++] = position;
    }
}

static void list_some(const nt_gp_field *field, nt_random *random, listing *out)
{
    size_t fastest[2 * FASTEST], count = nt_gp_samples_pick(field->samples, 2 * FASTEST, fastest);
    if (field->is_built)
        list_better_half(field, out);
    for (size_t i = 0; i < count && i < FASTEST; i++)
        list_neighbours(field, fastest[i], out);
    while (out->count < out->most && nt_asked_draw(field->asked, random, &out->position[out->count]))
        out->count++;
    qsort(out->position, out->count, sizeof *out->position, by_position);
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++)
        if (i == 0 || out->position[i] != out->position[i - 1])
            out->position[kept++] = out->position[i];
    out->count = kept;
}

static void list_all(const nt_gp_field *field, listing *out)
{
    uint64_t end = nt_candidates_end(&field->asked->candidates);
    for (uint64_t position = 0; position < end; position++)
        if (!nt_asked_has(field->asked, position))
            out->position[out->count++] = position;
}

static void levels_of(const nt_gp_field *field, uint64_t position, uint16_t *level)
{
    nt_features_of(field->samples->features, nt_candidates_at(&field->asked->candidates, position), level);
}

void nt_gp_field_rebuild(nt_gp_field *field, nt_random *random, size_t most)
{
    uint64_t left = nt_asked_left(field->asked);
    listing list = {.most = left < most ? (size_t)left : most};
    list.position = nt_alloc_zero(list.most, sizeof *list.position);
    if (left <= most && nt_candidates_end(&field->asked->candidates) <= 2 * (uint64_t)most)
        list_all(field, &list);
    else
        list_some(field, random, &list);
    uint16_t *level = nt_alloc_zero(list.count * features_of(field) + 1, sizeof *level);
    for (size_t i = 0; i < list.count; i++)
        levels_of(field, list.position[i], level + i * features_of(field));
    nt_gp_pool_clear(&field->pool);
    add_points_anew(field);
    nt_gp_pool_add_candidates(&field->pool, level, list.count);
    for (size_t i = 0; i < list.count; i++)
        enter(field, i, list.position[i]);
    if (weights_matter(field))
        weigh_all(field);
    field->is_built = true;
    free(level);
    free(list.position);
}

static bool is_judged(const nt_gp_field *field, uint64_t position)
{
    for (size_t c = 0; c < field->pool.candidates; c++)
        if (field->position[c] == position)
            return true;
    return false;
}

void nt_gp_field_add_neighbours(nt_gp_field *field, size_t sample)
{
    uint64_t position[MOST_NEIGHBOURS];
    uint16_t level[NT_MAX_FEATURES];
    listing list = {.position = position, .most = MOST_NEIGHBOURS};
    if (!field->is_built)
        return;
    list_neighbours(field, sample, &list);
    for (size_t i = 0; i < list.count; i++) {
        if (is_judged(field, position[i]))
            continue;
        levels_of(field, position[i], level);
        size_t candidate = nt_gp_pool_add_candidate(&field->pool, level);
        enter(field, candidate, position[i]);
        for (size_t s = 0; weights_matter(field) && s < field->samples->count; s++)
            if (field->samples->item[s].fate != NT_GP_PENDING)
                weigh(field, candidate, &field->samples->item[s],
                      (float)nt_gp_covariance(field->pool.model, nt_gp_samples_level(field->samples, s), level));
    }
}
