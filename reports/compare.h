/* compare.h: two measurements of the same problems: ratio, interval and verdict for each, and summaries. Pure.
 *
 * A side's samples come in blocks: groups taken at different moments, in other rounds, processes or runs. What blocks
 * of one problem differ by is noise that samples taken back to back do not show, so it is part of every interval. A
 * problem that switches between two speeds is compared speed by speed when both sides show both. docs/COMPARE.md
 * states the method. */
#ifndef NT_REPORTS_COMPARE_H
#define NT_REPORTS_COMPARE_H

#include "core/record.h"

enum {
    NT_COMPARE_BLOCKS = 16,
    NT_COMPARE_DRIFT_ROWS = 20 /* of fewer problems nobody knows what they share */
};

/* X(name, text) */
#define NT_VERDICT_MAP(X) \
    X(SAME, "same")       \
    X(FASTER, "faster")   \
    X(SLOWER, "slower")   \
    X(UNCLEAR, "unclear") \
    X(MISSING, "missing") \
    X(FAILED, "failed")

typedef enum nt_verdict {
#define X(name, text) NT_VERDICT_##name,
    NT_VERDICT_MAP(X)
#undef X
        NT_VERDICT_COUNT
} nt_verdict;

const char *nt_verdict_name(nt_verdict verdict);

/* Where logarithms of samples lie and how they scatter. */
typedef struct nt_compare_spread {
    double center;  /* trimmed mean: a fifth left out at each end */
    double error;   /* its standard error if samples were independent; 0 when unknown */
    double squares; /* of the blocks' medians about their mean */
    int blocks;
} nt_compare_spread;

/* Two speeds that samples switch between. Logarithms of nanoseconds. */
typedef struct nt_compare_levels {
    bool found;
    double level[2];
    double count[2]; /* samples at each */
} nt_compare_levels;

/* A fifth of the samples or less, far from all others. Logarithms of nanoseconds. */
typedef struct nt_compare_strays {
    bool found;
    double center;
} nt_compare_strays;

typedef struct nt_compare_side {
    bool present, failed;    /* failed: tried, and nothing was ok; `present` is false then */
    const char *measurement; /* identity: equal ones are the same samples; NULL: unknown */
    double time_ns;          /* median of all samples */
    double first_ns; /* a measurement before the blocks that chose what was measured in them: tells how times move, but
                        is no unbiased time; NAN when there is none */
    nt_compare_spread whole;
    nt_compare_levels levels;
    nt_compare_spread about; /* of what is left when each sample's level is taken off; `whole` without levels */
    nt_compare_strays strays;
    nt_compare_spread clean; /* without the strays; `whole` where there are none */
} nt_compare_side;

typedef struct nt_comparison {
    nt_compare_side a, b;
    /* filled by nt_compare */
    double a_ns, b_ns;
    double ratio, lo, hi; /* time of b over time of a, with its interval; NAN without both */
    nt_verdict verdict;
    char reason[200];
} nt_comparison;

typedef struct nt_compare_noise {
    double block_rel; /* standard deviation of the logarithm of one block */
    double drift_rel; /* what all problems share: the median of ratios less 1; NAN for fewer than 20 */
    bool drift_taken; /* it is within the threshold, so verdicts are about what lies beyond it */
} nt_compare_noise;

/* Fills times and spreads of a side from its samples, in the order they were taken. `per_block`: samples of each block,
 * as they were taken; 0 when they were taken in one go: they are split in three then (fewer where there are not 4 for
 * each). */
void nt_compare_samples(nt_compare_side *side, const double *sample_ns, size_t count, size_t per_block);
/* A side of which only the time is known. */
void nt_compare_time(nt_compare_side *side, double time_ns);

/* `threshold`: differences up to this (0.01) do not matter. */
nt_compare_noise nt_compare(nt_comparison *rows, size_t count, double threshold);

/* Geometric mean of the ratios of the rows that have one; NAN when none has. */
double nt_compare_mean(const nt_comparison *rows, size_t count);

#endif
