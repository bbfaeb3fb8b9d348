/* stats.h: the statistics every number goes through. Pure functions, no allocation unless said.
 *
 * Medians with distribution-free intervals from order statistics; never mean and standard deviation, because times
 * are skewed and have several modes. */
#ifndef NT_STATS_H
#define NT_STATS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct nt_interval {
    double median, lo, hi;
    double coverage; /* probability that [lo, hi] holds the true median, at least the one asked for when n >= 6 */
} nt_interval;

/* Median and the narrowest symmetric order-statistic interval with at least `confidence` (for example 0.95) coverage,
 * from the binomial distribution. n < 6 gives lo = hi = NAN (six samples are the fewest that reach 96.9 %). */
nt_interval nt_median_interval(const double *values, size_t n, double confidence);

double nt_median(const double *values, size_t n);                /* NAN for n = 0 */
double nt_quantile(const double *values, size_t n, double q);    /* type 7, q in [0, 1] */
double nt_geomean(const double *values, size_t n);               /* NAN when any value <= 0 or n = 0 */

/* Half-width of the interval over the median, larger side; NAN where there is no interval. */
double nt_interval_rel(nt_interval interval);

/* Two-sided Wilcoxon signed-rank test of paired log ratios against 0 (exact for n <= 25, normal above, zeros dropped).
 * Returns the p-value; 1 for n = 0. */
double nt_wilcoxon_p(const double *difference, size_t n);

/* Hodges-Lehmann estimate: median of the pairwise averages. n <= 2048. */
double nt_hodges_lehmann(const double *values, size_t n);

#endif
