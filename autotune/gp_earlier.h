/* gp_earlier.h: what an earlier run of the same kernels, on another problem or device, says of the candidates at hand:
 * the logarithm of the time over the best of that run, as measured there or as a Gaussian process over its measurements
 * expects it. Only where candidates stand to each other counts: times of another problem are no times of this one. */
#ifndef NT_GP_EARLIER_H
#define NT_GP_EARLIER_H

#include "autotune/candidates.h"
#include "autotune/gp_model.h"

enum { NT_GP_EARLIER_LEVELS = 32 };

typedef struct nt_gp_earlier {
    nt_candidates candidates;
    struct nt_gp_known *known; /* by position */
    size_t known_count;
    size_t *fastest, turn; /* known ones in the order of their worth; the next to be tried */
    /* The process over some of them. */
    nt_features features;
    nt_gp_model model;
    uint16_t *point;
    double *weight, middle;
    size_t points;
    double slowest;
    /* Levels worked out already, + 1, where there are few enough candidates to remember them all. */
    uint8_t *level;
} nt_gp_earlier;

/* The runs of the setup that know of enough candidates, those with most of them first; returns how many, at most
 * `most`. */
int nt_gp_earlier_runs(const nt_strategy_setup *setup, int most, int *run);

nt_gp_earlier *nt_gp_earlier_create(const nt_strategy_setup *setup, int run, const nt_gp_prior *prior,
                                    int aligned_levels);
void nt_gp_earlier_destroy(nt_gp_earlier *earlier); /* NULL allowed */

/* 0, as good as the best of the run, to NT_GP_EARLIER_LEVELS - 1. `earlier` is an nt_gp_earlier. */
uint16_t nt_gp_earlier_level(void *earlier, nt_candidate candidate);

/* One after another, from the best on. False: no more. */
bool nt_gp_earlier_next(nt_gp_earlier *earlier, uint64_t *position);

#endif
