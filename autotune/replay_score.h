/* replay_score.h: what replayed runs are worth, on the scale that the field uses: best so far over the optimum,
 * evaluations until near the optimum, and the area won against random search, which is calculated, not run. */
#ifndef NT_REPLAY_SCORE_H
#define NT_REPLAY_SCORE_H

#include "autotune/replay.h"

enum { NT_SCORE_BUDGETS = 5, NT_SCORE_MOST = 400 };
extern const int nt_score_budgets[NT_SCORE_BUDGETS]; /* 25 50 100 200 400 */

typedef struct nt_score {
    size_t repeats;
    double evaluations;                                      /* used; median over the repeats */
    double mean[NT_SCORE_BUDGETS], median[NT_SCORE_BUDGETS]; /* best so far / optimum after so many evaluations */
    double within_5_evaluations, within_1_evaluations;       /* median; INFINITY when fewer than half came so near */
    double within_5_share, within_1_share;
    double p;       /* after Willemsen et al. 2024 over evaluations, against the expected rank of random search */
    double p_exact; /* mean over 1 to 400 evaluations of the share of the way from random search to the optimum */
    double think_ms, think_most_ms; /* of the strategy, an evaluation: mean and most */
} nt_score;

/* Standard errors of the same figures, by drawing the repeats anew with replacement. */
typedef struct nt_score_pair {
    nt_score value, error;
} nt_score_pair;

/* Best so far / optimum after 1.. evaluations, by the recorded times; an evaluation that has found nothing yet counts
 * as the worst row that is ok. With `noise`: of the five that answered best so far, the one whose recorded time is
 * lowest, as re-measured finalists would show. */
void nt_score_curve(const nt_recorded *recorded, const nt_replay_run *run, bool noise, size_t count, double *out);

/* Expected best of 1.. draws without replacement over all rows, failing ones included, in milliseconds. */
void nt_score_random(const nt_recorded *recorded, size_t count, double *out);

void nt_score_runs(const nt_recorded *recorded, const nt_replay_run *runs, size_t repeats, bool noise,
                   nt_score_pair *out);

#endif
