/* gp_search.h: search guided by a Gaussian process over the answers so far: what strategies of that kind share. A
 * strategy is a row with its settings. */
#ifndef NT_GP_SEARCH_H
#define NT_GP_SEARCH_H

#include "autotune/gp_model.h"

typedef struct nt_gp_settings {
    nt_gp_prior prior;
    int aligned_levels;     /* whole-numbered parameters with so many values or more also count by alignment; 0: none */
    int first_points;       /* spread out before the model is asked */
    int first_points_timed; /* the same where the budget is in seconds, of which points anywhere cost more than their
                               share */
    double earlier_shorter; /* logarithm by which the length of what earlier runs say is believed to be shorter */
    int first_points_known; /* of those, where there are earlier runs: that many of their best */
    int neighbour_period;   /* every so many steps a neighbour of the fastest sample; 0: never */
    bool neighbour_by_improvement; /* the one with the best chance to be faster, not the fastest expected */
    /* Where the model expects an improvement of no more than exp(this) deviations anywhere, every second step takes the
     * fastest expected instead: that far out its doubts are worth less than its means. 0 or more: never. */
    double least_promise;
    double clip_quantile; /* times beyond it count as just that slow: the model is for the fast ones; 1: none */
    int pool_most;        /* candidates judged at a time */
    int fit_points;       /* samples that a fit of the model looks at: half the fastest, half from the rest */
} nt_gp_settings;

void *nt_gp_search_create(const nt_strategy_setup *setup, const nt_gp_settings *settings);
size_t nt_gp_search_ask(void *state, nt_candidate *out, size_t n);
void nt_gp_search_tell(void *state, const nt_answer *answer);
void nt_gp_search_destroy(void *state);

#endif
