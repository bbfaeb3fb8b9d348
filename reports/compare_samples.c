/* compare_samples.c: what samples of one side say: their centre, how blocks scatter, two speeds they switch between. */
#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/stats.h"
#include "reports/compare.h"

enum { SPLIT = 3, LEAST_IN_BLOCK = 4, LEAST_AT_LEVEL = 3 };
static const double trimmed = 0.2;
/* Levels: further apart than what would be noise, than six deviations within them, and with nothing much between. */
static const double level_least = 0.01, level_deviations = 6, level_empty = 0.5;
static const double stray_share = 0.2; /* what a trimmed mean leaves out at each end */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- centre ---------------------------------------------------------------------------------------------------------- */

/* Yuen's: the trimmed mean, and its standard error from the winsorized variance. `sorted` is ascending. */
static void trimmed_mean(const double *sorted, size_t count, nt_compare_spread *out)
{
    size_t cut = (size_t)(trimmed * (double)count), kept = count - 2 * cut;
    double sum = 0, mean = 0, squares = 0;
    for (size_t i = cut; i < count - cut; i++)
        sum += sorted[i];
    out->center = sum / (double)kept;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            size_t at = i < cut ? cut : i >= count - cut ? count - cut - 1 : i;
            if (pass == 0)
                mean += sorted[at] / (double)count;
            else
                squares += (sorted[at] - mean) * (sorted[at] - mean);
        }
    out->error = kept > 1 ? sqrt(squares / (double)(kept * (kept - 1))) : 0;
}

/* Medians of the blocks, of samples that are not left out; a block that has none is no block. `left_out`: NULL or a
 * flag for each sample. */
static void scatter_of_blocks(const double *value, size_t count, int blocks, const bool *left_out,
                              nt_compare_spread *out)
{
    double median[NT_COMPARE_BLOCKS], mean = 0, *kept = nt_alloc(count * sizeof *kept);
    out->blocks = 0;
    for (int i = 0; i < blocks; i++) {
        size_t end = count * (size_t)(i + 1) / (size_t)blocks, n = 0;
        for (size_t at = count * (size_t)i / (size_t)blocks; at < end; at++)
            if (left_out == NULL || !left_out[at])
                kept[n++] = value[at];
        if (n > 0)
            median[out->blocks++] = nt_median(kept, n);
    }
    free(kept);
    for (int i = 0; i < out->blocks; i++)
        mean += median[i] / out->blocks;
    out->squares = 0;
    for (int i = 0; i < out->blocks; i++)
        out->squares += (median[i] - mean) * (median[i] - mean);
}

static nt_compare_spread spread_of(const double *value, size_t count, int blocks, const bool *left_out)
{
    nt_compare_spread spread;
    double *sorted = nt_alloc(count * sizeof *sorted);
    size_t n = 0;
    scatter_of_blocks(value, count, blocks, left_out, &spread);
    for (size_t i = 0; i < count; i++)
        if (left_out == NULL || !left_out[i])
            sorted[n++] = value[i];
    qsort(sorted, n, sizeof *sorted, ascending);
    trimmed_mean(sorted, n, &spread);
    free(sorted);
    return spread;
}

/* ---- two speeds ------------------------------------------------------------------------------------------------------ */

/* Place of the widest gap that leaves enough samples on each side. */
static size_t widest_gap(const double *sorted, size_t count)
{
    size_t at = LEAST_AT_LEVEL;
    for (size_t i = LEAST_AT_LEVEL; i + LEAST_AT_LEVEL <= count; i++)
        if (sorted[i] - sorted[i - 1] > sorted[at] - sorted[at - 1])
            at = i;
    return at;
}

/* Median deviation from the own level, as a standard deviation. */
static double deviation_within(const double *sorted, size_t count, size_t at, const double level[2])
{
    double *off = nt_alloc(count * sizeof *off);
    for (size_t i = 0; i < count; i++)
        off[i] = fabs(sorted[i] - level[i >= at]);
    double deviation = 1.4826 * nt_median(off, count);
    free(off);
    return deviation;
}

/* Fills levels of `sorted`; returns the value that divides them. */
static double find_levels(const double *sorted, size_t count, nt_compare_levels *out)
{
    *out = (nt_compare_levels){0};
    if (count < 2 * LEAST_AT_LEVEL)
        return 0;
    size_t at = widest_gap(sorted, count);
    double level[2] = {nt_median(sorted, at), nt_median(sorted + at, count - at)}, apart = level[1] - level[0];
    if (apart < level_least || apart < level_deviations * deviation_within(sorted, count, at, level) ||
        sorted[at] - sorted[at - 1] < level_empty * apart)
        return 0;
    *out = (nt_compare_levels){true, {level[0], level[1]}, {(double)at, (double)(count - at)}};
    return (sorted[at - 1] + sorted[at]) / 2;
}

/* ---- strays ---------------------------------------------------------------------------------------------------------- */

static size_t count_true(const bool *flag, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += flag[i];
    return n;
}

static bool few(const bool *flag, size_t count)
{
    size_t n = count_true(flag, count);
    return n > 0 && (double)n <= stray_share * (double)count;
}

/* Marks samples far from the median, else those at a level that few are at; false: there are none, or too many to be
 * strays. */
static bool mark_strays(const double *value, size_t count, const nt_compare_levels *levels, double divide, bool *stray)
{
    double middle = nt_median(value, count), *off = nt_alloc(count * sizeof *off);
    for (size_t i = 0; i < count; i++)
        off[i] = fabs(value[i] - middle);
    double most = fmax(level_least, level_deviations * 1.4826 * nt_median(off, count));
    for (size_t i = 0; i < count; i++)
        stray[i] = off[i] > most;
    free(off);
    if (few(stray, count))
        return true;
    for (size_t i = 0; i < count; i++)
        stray[i] = levels->found && (value[i] >= divide) == (levels->count[1] < levels->count[0]);
    return few(stray, count);
}

static void find_strays(const double *value, size_t count, int blocks, double divide, nt_compare_side *side)
{
    bool *stray = nt_alloc(count * sizeof *stray);
    double *away = nt_alloc(count * sizeof *away);
    side->clean = side->whole;
    side->strays = (nt_compare_strays){.found = mark_strays(value, count, &side->levels, divide, stray)};
    if (side->strays.found) {
        size_t n = 0;
        for (size_t i = 0; i < count; i++)
            if (stray[i])
                away[n++] = value[i];
        side->strays.center = nt_median(away, n);
        side->clean = spread_of(value, count, blocks, stray);
    }
    free(stray);
    free(away);
}

/* ---- a side ---------------------------------------------------------------------------------------------------------- */

void nt_compare_time(nt_compare_side *side, double time_ns)
{
    side->time_ns = time_ns;
    side->whole = (nt_compare_spread){.center = log(time_ns), .blocks = time_ns > 0 ? 1 : 0};
    side->about = side->clean = side->whole;
    side->levels.found = side->strays.found = false;
}

static int blocks_of(size_t count, size_t per_block)
{
    int blocks = SPLIT;
    if (per_block > 0 && count % per_block == 0 && count / per_block > 1 && count / per_block <= NT_COMPARE_BLOCKS)
        return (int)(count / per_block);
    while (blocks > 1 && count / (size_t)blocks < LEAST_IN_BLOCK)
        blocks--;
    return blocks;
}

void nt_compare_samples(nt_compare_side *side, const double *sample_ns, size_t count, size_t per_block)
{
    if (count == 0) {
        side->whole.blocks = 0;
        return;
    }
    double *value = nt_alloc(count * sizeof *value), *sorted = nt_alloc(count * sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        value[i] = sorted[i] = log(sample_ns[i]);
    qsort(sorted, count, sizeof *sorted, ascending);
    int blocks = blocks_of(count, per_block);
    side->time_ns = nt_median(sample_ns, count);
    side->whole = spread_of(value, count, blocks, NULL);
    double divide = find_levels(sorted, count, &side->levels);
    find_strays(value, count, blocks, divide, side);
    for (size_t i = 0; i < count && side->levels.found; i++)
        value[i] -= side->levels.level[value[i] >= divide];
    side->about = side->levels.found ? spread_of(value, count, blocks, NULL) : side->whole;
    free(sorted);
    free(value);
}
