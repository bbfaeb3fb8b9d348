/* compare.h: two measurements of the same problems: ratio, interval and verdict for each, and summaries. Pure.
 *
 * A side's time comes in blocks: groups of samples taken at different moments, in other rounds, processes or runs. What
 * blocks of one problem differ by is noise that samples taken back to back do not show, so it is part of every
 * interval. docs/COMPARE.md states the method. */
#ifndef NT_REPORTS_COMPARE_H
#define NT_REPORTS_COMPARE_H

#include "core/record.h"

enum { NT_COMPARE_BLOCKS = 16 };

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

typedef struct nt_compare_side {
    bool present, failed;    /* failed: tried, and nothing was ok; `present` is false then */
    const char *measurement; /* identity: equal ones are the same samples; NULL: unknown */
    double time_ns;          /* median of all samples; not positive: unknown, the median of the blocks stands for it */
    double block_ns[NT_COMPARE_BLOCKS]; /* median of each block */
    int block_count;
    double first_ns; /* a measurement before the blocks that chose what was measured in them: tells how times move, but
                        is no unbiased time; NAN when there is none */
    double within_rel; /* half-width of the 95 % interval of the median of all samples, over it; NAN when unknown */
} nt_compare_side;

typedef struct nt_comparison {
    nt_compare_side a, b;
    /* filled by nt_compare */
    double a_ns, b_ns;
    double ratio, lo, hi; /* time of b over time of a; NAN without both */
    nt_verdict verdict;
    char reason[160];
} nt_comparison;

/* Splits samples in the order they were taken into `blocks` (fewer when there are not 4 for each) and fills block_ns,
 * block_count, time_ns and within_rel. Adds behind blocks that are there; time_ns then becomes unknown. */
void nt_compare_add_samples(nt_compare_side *side, const double *sample_ns, size_t count, int blocks);

/* `threshold`: differences up to this (0.01) do not matter. Returns the noise between blocks that it found: the
 * standard deviation of the logarithm of one block. */
double nt_compare(nt_comparison *rows, size_t count, double threshold);

/* Geometric mean of the ratios of the rows that have one; NAN when none has. */
double nt_compare_mean(const nt_comparison *rows, size_t count);

#endif
