/* gp_field.h: the candidates that a model-guided search judges: what is expected of each, how likely it is to fail,
 * what it may cost; and the choice among them. */
#ifndef NT_GP_FIELD_H
#define NT_GP_FIELD_H

#include "autotune/gp_pool.h"
#include "autotune/gp_samples.h"

typedef struct nt_gp_field {
    const nt_asked *asked;
    const nt_gp_samples *samples;
    nt_gp_pool pool;
    bool is_built;
    /* Of each candidate of the pool. Weights: how near the samples are that were good, bad, and that know their cost;
     * cost: the sum of logarithms of cost by those weights. */
    uint64_t *position;
    bool *is_gone;
    float *good_weight, *bad_weight, *cost_weight, *cost;
    size_t capacity;
    /* Of each sample: its point in the pool, or -1, and whether the point has its value. */
    struct nt_gp_place *place;
    size_t place_capacity, places;
    /* Values on the scale of the pool: (logarithm of time - center) / spread. */
    double center, spread, slowest;
    double clip_quantile; /* times beyond it count as just that slow */
    bool minds_cost;
} nt_gp_field;

void nt_gp_field_init(nt_gp_field *field, const nt_asked *asked, const nt_gp_samples *samples, const nt_gp_model *model,
                      bool minds_cost, double clip_quantile);
void nt_gp_field_done(nt_gp_field *field);

/* The scale of the samples' values; before a fit and the rebuild that follows it. */
void nt_gp_field_set_scale(nt_gp_field *field);
double nt_gp_field_scaled(const nt_gp_field *field, double value);

/* Anew, after the model has changed: all candidates when there are at most `most`; otherwise the better half of those
 * judged so far, neighbours of the fastest samples, and others drawn at random. */
void nt_gp_field_rebuild(nt_gp_field *field, nt_random *random, size_t most);
void nt_gp_field_catch_up(nt_gp_field *field);            /* samples asked and told since */
void nt_gp_field_note(nt_gp_field *field, size_t sample); /* this one was told */
void nt_gp_field_add_neighbours(nt_gp_field *field, size_t sample);

#endif
