#include "reports/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/stats.h"

/* Noise of one block where no problem has two: half a per cent, what two processes on a quiet GPU differ by. */
static const double noise_unknown = 0.005;
/* The noise of all problems together counts as so many blocks beside a problem's own. */
static const double pooled_weight = 4;
/* Standard errors to each side: 99 % with the few degrees of freedom that blocks give. */
static const double width = 2.8;
static const double normal_95 = 1.96;

const char *nt_verdict_name(nt_verdict verdict)
{
    static const char *const names[] = {
#define X(name, text) text,
        NT_VERDICT_MAP(X)
#undef X
    };
    return (unsigned)verdict < NT_VERDICT_COUNT ? names[verdict] : "unknown";
}

void nt_compare_add_samples(nt_compare_side *side, const double *sample_ns, size_t count, int blocks)
{
    while (blocks > 1 && count / (size_t)blocks < 4)
        blocks--;
    if (count == 0)
        return;
    side->time_ns = side->block_count == 0 ? nt_median(sample_ns, count) : 0;
    for (int i = 0; i < blocks && side->block_count < NT_COMPARE_BLOCKS; i++) {
        size_t begin = count * (size_t)i / (size_t)blocks, end = count * (size_t)(i + 1) / (size_t)blocks;
        side->block_ns[side->block_count++] = nt_median(sample_ns + begin, end - begin);
    }
    side->within_rel = nt_interval_rel(nt_median_interval(sample_ns, count, 0.95));
}

/* ---- noise ----------------------------------------------------------------------------------------------------------- */

static double center(const nt_compare_side *s)
{
    double logs[NT_COMPARE_BLOCKS];
    if (s->time_ns > 0)
        return log(s->time_ns);
    for (int i = 0; i < s->block_count; i++)
        logs[i] = log(s->block_ns[i]);
    return nt_median(logs, (size_t)s->block_count);
}

/* Sum of squares of the blocks' logarithms about their mean. */
static double squares(const nt_compare_side *s)
{
    double mean = 0, sum = 0;
    for (int i = 0; i < s->block_count; i++)
        mean += log(s->block_ns[i]) / s->block_count;
    for (int i = 0; i < s->block_count; i++)
        sum += (log(s->block_ns[i]) - mean) * (log(s->block_ns[i]) - mean);
    return sum;
}

/* The typical variance of a block: the median over problems, which a few restless ones do not move, brought to the
 * scale of a mean by the median of a chi-square distribution. */
static double pooled_blocks(const nt_comparison *rows, size_t count)
{
    double *each = nt_alloc(2 * count * sizeof *each);
    size_t n = 0;
    for (size_t i = 0; i < 2 * count; i++) {
        const nt_compare_side *s = i % 2 ? &rows[i / 2].b : &rows[i / 2].a;
        double dof = s->block_count - 1;
        if (s->present && dof >= 1)
            each[n++] = squares(s) / dof / pow(1 - 2 / (9 * dof), 3);
    }
    double pooled = nt_median(each, n);
    free(each);
    return pooled;
}

/* The same from first measurements against later ones, after the shift that choosing the winner by them makes. */
static double pooled_first(const nt_comparison *rows, size_t count)
{
    double *shift = nt_alloc(2 * count * sizeof *shift);
    size_t n = 0;
    for (size_t i = 0; i < 2 * count; i++) {
        const nt_compare_side *s = i % 2 ? &rows[i / 2].b : &rows[i / 2].a;
        if (s->present && s->first_ns > 0)
            shift[n++] = log(s->first_ns) - center(s);
    }
    double typical = nt_median(shift, n);
    for (size_t i = 0; i < n; i++)
        shift[i] = fabs(shift[i] - typical);
    double deviation = n >= 6 ? 1.4826 * nt_median(shift, n) : (double)NAN;
    free(shift);
    return deviation * deviation / 2; /* of a difference of two */
}

static double noise_of(const nt_comparison *rows, size_t count)
{
    double blocks = pooled_blocks(rows, count), first = pooled_first(rows, count);
    double variance = isnan(first) || blocks > first ? blocks : first;
    return isnan(variance) ? noise_unknown : sqrt(variance);
}

static double side_variance(const nt_compare_side *s, double noise)
{
    double within = isnan(s->within_rel) ? 0 : s->within_rel / normal_95;
    double own = s->block_count > 1 ? squares(s) : 0;
    double block = (pooled_weight * noise * noise + own) / (pooled_weight + s->block_count - 1);
    double between = block / s->block_count;
    /* Blocks of one run share what that run's process had of its own: a part that more blocks do not take away. */
    return fmax(between, within * within) + noise * noise / 4;
}

/* ---- verdicts -------------------------------------------------------------------------------------------------------- */

static void without_both(nt_comparison *row)
{
    bool failed = row->a.failed || row->b.failed;
    row->verdict = failed ? NT_VERDICT_FAILED : NT_VERDICT_MISSING;
    if (failed)
        snprintf(row->reason, sizeof row->reason, "no configuration worked on the %s side",
                 row->b.failed ? "new" : "old");
    else
        snprintf(row->reason, sizeof row->reason, "not measured on the %s side", row->b.present ? "old" : "new");
}

static void judge(nt_comparison *row, double threshold)
{
    double most = log1p(threshold), lo = log(row->lo), hi = log(row->hi);
    if (lo > most)
        row->verdict = NT_VERDICT_SLOWER;
    else if (hi < -most)
        row->verdict = NT_VERDICT_FASTER;
    else if (lo >= -most && hi <= most)
        row->verdict = NT_VERDICT_SAME;
    else
        row->verdict = NT_VERDICT_UNCLEAR;
    static const char *const reasons[NT_VERDICT_COUNT] = {
        [NT_VERDICT_SAME] = "any difference is surely within the threshold",
        [NT_VERDICT_FASTER] = "surely, by more than the threshold",
        [NT_VERDICT_SLOWER] = "surely, by more than the threshold",
        [NT_VERDICT_UNCLEAR] = "the interval reaches across the threshold: noise hides the answer",
    };
    nt_copy(row->reason, sizeof row->reason, reasons[row->verdict]);
}

static void compare_row(nt_comparison *row, double noise, double threshold)
{
    row->a_ns = row->a.present ? exp(center(&row->a)) : (double)NAN;
    row->b_ns = row->b.present ? exp(center(&row->b)) : (double)NAN;
    row->ratio = row->lo = row->hi = NAN;
    if (!row->a.present || !row->b.present) {
        without_both(row);
        return;
    }
    row->ratio = row->b_ns / row->a_ns;
    if (row->a.measurement != NULL && row->b.measurement != NULL &&
        strcmp(row->a.measurement, row->b.measurement) == 0) {
        row->lo = row->hi = row->ratio;
        row->verdict = NT_VERDICT_SAME;
        snprintf(row->reason, sizeof row->reason, "it is the same measurement");
        return;
    }
    double half = width * sqrt(side_variance(&row->a, noise) + side_variance(&row->b, noise));
    row->lo = row->ratio * exp(-half);
    row->hi = row->ratio * exp(half);
    judge(row, threshold);
}

double nt_compare(nt_comparison *rows, size_t count, double threshold)
{
    for (size_t i = 0; i < 2 * count; i++) {
        nt_compare_side *s = i % 2 ? &rows[i / 2].b : &rows[i / 2].a;
        s->present = s->present && s->block_count > 0;
    }
    double noise = noise_of(rows, count);
    for (size_t i = 0; i < count; i++)
        compare_row(&rows[i], noise, threshold);
    return noise;
}

double nt_compare_mean(const nt_comparison *rows, size_t count)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(rows[i].ratio)) {
            sum += log(rows[i].ratio);
            n++;
        }
    return n > 0 ? exp(sum / (double)n) : (double)NAN;
}
