/* stats.c: medians, intervals from order statistics, paired ranks. Each function sorts a copy of its values; a NaN
 * among them makes the answer NaN, because a median that skipped it would look known. */
#include "core/stats.h"

#include "core/mem.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* NaN last, so that one look at the end finds it. */
static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

/* A sorted copy, or NULL when there is nothing or a NaN in it. */
static double *sorted_copy(const double *values, size_t n)
{
    if (n == 0)
        return NULL;
    double *copy = nt_realloc_array(NULL, n, sizeof *copy);
    memcpy(copy, values, n * sizeof *copy);
    qsort(copy, n, sizeof *copy, compare_doubles);
    if (!isnan(copy[n - 1]))
        return copy;
    free(copy);
    return NULL;
}

/* Type 7: linear between order statistics at position q (n - 1). */
static double quantile_of_sorted(const double *sorted, size_t n, double q)
{
    double position = q * (double)(n - 1);
    size_t below = (size_t)position;
    double part = position - (double)below;
    if (below + 1 >= n || part == 0)
        return sorted[below < n ? below : n - 1];
    return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

double nt_quantile(const double *values, size_t n, double q)
{
    double *sorted = sorted_copy(values, n);
    if (sorted == NULL || !(q >= 0 && q <= 1)) {
        free(sorted);
        return NAN;
    }
    double result = quantile_of_sorted(sorted, n, q);
    free(sorted);
    return result;
}

double nt_median(const double *values, size_t n)
{
    return nt_quantile(values, n, 0.5);
}

double nt_geomean(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(values[i] > 0))
            return NAN;
        sum += log(values[i]);
    }
    return n > 0 ? exp(sum / (double)n) : NAN;
}

/* ---- the interval of a median ----------------------------------------------------------------------------------- */

/* Largest k for which [k-th smallest, k-th largest] covers the median with at least `confidence`, and that coverage
 * 1 - 2 P(Bin(n, 1/2) < k). 0 when not even the extremes do. Probabilities in logarithms: 2^-n underflows. */
static size_t interval_rank(size_t n, double confidence, double *coverage)
{
    double log_p = -(double)n * log(2.0), below = 0;
    size_t rank = 0;
    for (size_t j = 0; 2 * (j + 1) <= n; j++) {
        below += exp(log_p);
        if (1 - 2 * below < confidence)
            break;
        rank = j + 1;
        *coverage = 1 - 2 * below;
        log_p += log((double)(n - j) / (double)(j + 1));
    }
    return rank;
}

nt_interval nt_median_interval(const double *values, size_t n, double confidence)
{
    nt_interval interval = {NAN, NAN, NAN, NAN};
    double *sorted = sorted_copy(values, n);
    if (sorted == NULL)
        return interval;
    interval.median = quantile_of_sorted(sorted, n, 0.5);
    double coverage = NAN;
    size_t rank = n >= 6 ? interval_rank(n, confidence, &coverage) : 0;
    if (rank > 0) {
        interval.lo = sorted[rank - 1];
        interval.hi = sorted[n - rank];
        interval.coverage = coverage;
    }
    free(sorted);
    return interval;
}

double nt_interval_rel(nt_interval interval)
{
    return fmax(interval.hi - interval.median, interval.median - interval.lo) / interval.median;
}

/* ---- signed ranks ----------------------------------------------------------------------------------------------- */

enum { EXACT_N = 25, EXACT_SUM = EXACT_N * (EXACT_N + 1) };

static int compare_sizes(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

/* Doubled ranks by size, ties sharing their mean rank (whole numbers when doubled). Returns sum of t^3 - t over ties.
 */
static double doubled_ranks(const double *by_size, size_t n, uint32_t *rank2)
{
    double ties = 0;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && fabs(by_size[to]) == fabs(by_size[from]); to++)
            ;
        double t = (double)(to - from);
        ties += t * t * t - t;
        for (size_t i = from; i < to; i++)
            rank2[i] = (uint32_t)(from + 1 + to);
    }
    return ties;
}

/* Every sign pattern is equally likely: count the patterns by their positive rank sum, one rank after another. */
static double exact_p(const uint32_t *rank2, size_t n, uint64_t positive2)
{
    double ways[EXACT_SUM + 1] = {1};
    uint32_t highest = 0;
    for (size_t i = 0; i < n; i++) {
        highest += rank2[i];
        for (uint32_t sum = highest; sum >= rank2[i]; sum--)
            ways[sum] += ways[sum - rank2[i]];
    }
    double at_most = 0, at_least = 0;
    for (uint32_t sum = 0; sum <= highest; sum++) {
        at_most += sum <= positive2 ? ways[sum] : 0;
        at_least += sum >= positive2 ? ways[sum] : 0;
    }
    return fmin(1, 2 * fmin(at_most, at_least) / ldexp(1, (int)n));
}

/* With the correction for ties, and half a step for the sum being a whole number. */
static double normal_p(size_t n, uint64_t positive2, double ties)
{
    double count = (double)n, mean = count * (count + 1) / 4;
    double variance = count * (count + 1) * (2 * count + 1) / 24 - ties / 48;
    double distance = fmax(0, fabs((double)positive2 / 2 - mean) - 0.5);
    return erfc(distance / sqrt(2 * variance));
}

double nt_wilcoxon_p(const double *difference, size_t n)
{
    double *kept = nt_realloc_array(NULL, n, sizeof *kept);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(difference[i])) {
            free(kept);
            return NAN;
        }
        if (difference[i] != 0)
            kept[count++] = difference[i];
    }
    double p = 1;
    if (count > 0) {
        qsort(kept, count, sizeof *kept, compare_sizes);
        uint32_t *rank2 = nt_realloc_array(NULL, count, sizeof *rank2);
        double ties = doubled_ranks(kept, count, rank2);
        uint64_t positive2 = 0;
        for (size_t i = 0; i < count; i++)
            positive2 += kept[i] > 0 ? rank2[i] : 0;
        p = count <= EXACT_N ? exact_p(rank2, count, positive2) : normal_p(count, positive2, ties);
        free(rank2);
    }
    free(kept);
    return p;
}

/* ---- Hodges-Lehmann --------------------------------------------------------------------------------------------- */

/* Doubles in order are whole numbers in order once the sign is folded away. */
static uint64_t ordered_bits(double x)
{
    uint64_t bits;
    x += 0.0; /* -0 is 0 */
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double of_ordered_bits(uint64_t ordered)
{
    uint64_t bits = ordered >> 63 ? ordered & ~(UINT64_C(1) << 63) : ~ordered;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Averages (x_i + x_j) / 2 with i <= j that are at most `limit`: one walk, because the values are sorted. */
static uint64_t averages_up_to(const double *sorted, size_t n, double limit)
{
    uint64_t count = 0;
    size_t end = n;
    for (size_t i = 0; i < n; i++) {
        while (end > i && sorted[i] * 0.5 + sorted[end - 1] * 0.5 > limit)
            end--;
        if (end <= i)
            break;
        count += end - i;
    }
    return count;
}

/* The rank-th smallest average: bisection over the doubles themselves, exact after 64 walks and without n^2 memory. */
static double ranked_average(const double *sorted, size_t n, uint64_t rank)
{
    uint64_t lo = ordered_bits(sorted[0]), hi = ordered_bits(sorted[n - 1]);
    while (lo < hi) {
        uint64_t middle = lo + (hi - lo) / 2;
        if (averages_up_to(sorted, n, of_ordered_bits(middle)) >= rank)
            hi = middle;
        else
            lo = middle + 1;
    }
    return of_ordered_bits(lo);
}

double nt_hodges_lehmann(const double *values, size_t n)
{
    double *sorted = sorted_copy(values, n);
    if (sorted == NULL)
        return NAN;
    uint64_t averages = (uint64_t)n * (n + 1) / 2;
    double low = ranked_average(sorted, n, (averages + 1) / 2);
    double high = averages % 2 ? low : ranked_average(sorted, n, averages / 2 + 1);
    free(sorted);
    return low * 0.5 + high * 0.5;
}
