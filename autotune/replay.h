/* replay.h: a strategy on a recorded space: what it would have found, and when.
 *
 * Every repeat starts afresh with a seed of its own. The strategy sees the space and the answers to its own asks, no
 * more. Each configuration counts once; failing ones count too. */
#ifndef NT_REPLAY_H
#define NT_REPLAY_H

#include "autotune/recorded_space.h"
#include "autotune/strategy.h"

typedef struct nt_replay_options {
    const nt_strategy *strategy;
    uint64_t seed;
    size_t trials;  /* evaluations at most; also where `seconds` is set */
    double seconds; /* 0: no limit. Recorded compile and benchmark times of a tuner that does one after the other, or,
                     * with several in flight, compiles them side by side and times one at a time */
    int in_flight;  /* asked for before the first of them is answered; at least 1 */
    bool hide_cost; /* the strategy learns neither what trials cost nor what it may spend: for comparison */
    const nt_earlier *earlier; /* what the strategy knows beforehand, see strategy.h */
    size_t earlier_count;
    bool noise; /* an answer is one of the recorded samples, drawn at random, not their mean */
} nt_replay_options;

typedef struct nt_evaluation {
    uint64_t index;     /* in the space */
    double answered_ms; /* what the strategy was told; NAN when it failed */
    double clock_s;     /* recorded time spent when the answer came */
} nt_evaluation;

typedef struct nt_replay_run {
    nt_evaluation *evaluation;
    size_t count, capacity;
    double think_s, think_most_s; /* CPU time of the strategy: in all, and the most for one evaluation */
} nt_replay_run;

/* One repeat. Free the run with nt_replay_run_done. */
void nt_replay(const nt_recorded *recorded, const nt_replay_options *options, uint64_t repeat, nt_replay_run *out);
void nt_replay_run_done(nt_replay_run *run);

#endif
