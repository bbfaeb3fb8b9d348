/* strategy.h: what a search strategy is: ask and tell.
 *
 * One instance searches one problem, over the union of its kernels' spaces: a candidate is a kernel and the number of a
 * configuration in its space. A strategy sees the spaces (sizes, parameters, legality, neighbours), its seed and what
 * it is told, and nothing else: no clock, no device, no file. Given the same setup and the same answers in the same
 * order it asks the same candidates.
 *
 * To add one: a file with a const nt_strategy, and its word in the list below. */
#ifndef NT_STRATEGY_H
#define NT_STRATEGY_H

#include "autotune/space.h"

typedef struct nt_candidate {
    int kernel;     /* position in nt_strategy_setup.space */
    uint64_t index; /* in that space */
} nt_candidate;

/* What an earlier run of the same kernels, on another problem or device, measured of a candidate of these spaces. */
typedef struct nt_earlier {
    nt_candidate candidate;
    double time_ns; /* NAN: it failed there */
    int run;        /* times of equal `run` compare with each other, others do not */
} nt_earlier;

/* The spaces must outlive the instance; the array of pointers, `exclude` and `earlier` are copied. */
typedef struct nt_strategy_setup {
    const nt_space *const *space;
    int kernel_count; /* at least 1 */
    uint64_t seed;
    /* Not to be asked: what the sweep measures first (defaults, rules of thumb) or has from an earlier run. Repeats do
     * no harm. Their results may be told all the same. */
    const nt_candidate *exclude;
    size_t exclude_count;
    /* What the search may spend, for strategies that mind; both 0 where nobody knows. */
    uint64_t budget_trials;
    double budget_s;
    /* What is known beforehand, for strategies that mind. */
    const nt_earlier *earlier;
    size_t earlier_count;
} nt_strategy_setup;

typedef struct nt_answer {
    nt_candidate candidate;
    nt_outcome outcome;
    double time_ns; /* NAN unless ok; of an abandoned candidate the time of its probe */
    double cost_s;  /* what the trial took of the budget, compiling included; 0 or NAN where nobody knows */
} nt_answer;

typedef struct nt_strategy {
    const char *name;
    const char *summary; /* one line */

    void *(*create)(const nt_strategy_setup *setup);
    /* Fills up to n candidates and returns how many; several may be in flight. Never one that was asked before or is
     * excluded. Fewer than n: the strategy waits for answers, or, when none of its candidates is in flight and it gives
     * none, the search is over. */
    size_t (*ask)(void *state, nt_candidate *out, size_t n);
    /* In any order. Answers to excluded candidates are welcome, others than these and the asked ones are not. */
    void (*tell)(void *state, const nt_answer *answer);
    void (*destroy)(void *state); /* NULL allowed */
} nt_strategy;

/* Every strategy, the default first: its word on the command line and the end of its row's name. */
#define NT_STRATEGY_DEFAULT(X) X(auto)
#define NT_STRATEGY_OTHERS(X) \
    X(random) X(exhaustive) X(surrogate) X(local) X(annealing) X(genetic) X(evolution) X(swarm)
#define NT_STRATEGY_MAP(X) NT_STRATEGY_DEFAULT(X) NT_STRATEGY_OTHERS(X)

#define X(name) extern const nt_strategy nt_strategy_##name;
NT_STRATEGY_MAP(X)
#undef X
extern const nt_strategy *const nt_strategies[]; /* in that order */
extern const int nt_strategy_count;

/* NT_USAGE with the nearest and all names; NULL gives the default. */
nt_status nt_strategy_find(const char *name, const nt_strategy **out, nt_error *err);

#endif
