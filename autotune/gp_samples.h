/* gp_samples.h: what a model-guided search has asked and been told. */
#ifndef NT_GP_SAMPLES_H
#define NT_GP_SAMPLES_H

#include "autotune/asked.h"
#include "autotune/features.h"

typedef enum nt_gp_fate { NT_GP_PENDING, NT_GP_GOOD, NT_GP_BAD } nt_gp_fate;

typedef struct nt_gp_sample {
    uint64_t position;
    nt_gp_fate fate;
    double value;    /* logarithm of the time; NAN unless good */
    double log_cost; /* of the seconds it took; NAN where unknown */
} nt_gp_sample;

typedef struct nt_gp_samples {
    const nt_features *features;
    nt_gp_sample *item;
    uint16_t *level; /* [count][features] */
    size_t count, capacity, level_capacity;
    size_t good, bad;
    size_t best;     /* the fastest; only where good > 0 */
    double cost_sum; /* of log_cost, and how many know it */
    size_t costs;
} nt_gp_samples;

void nt_gp_samples_init(nt_gp_samples *samples, const nt_features *features);
void nt_gp_samples_done(nt_gp_samples *samples);

const uint16_t *nt_gp_samples_level(const nt_gp_samples *samples, size_t i);
size_t nt_gp_samples_add(nt_gp_samples *samples, nt_candidate candidate, uint64_t position); /* pending */
/* Enters an answer, adding the sample when it was never asked. False: it had one already. */
bool nt_gp_samples_tell(nt_gp_samples *samples, const nt_answer *answer, uint64_t position, size_t *at);

/* Up to `most` good samples: all, or else the fastest half of that number, fastest first, and others at equal distances
 * down the ranks. Returns how many; `out` has room for all good ones. */
size_t nt_gp_samples_pick(const nt_gp_samples *samples, size_t most, size_t *out);

#endif
