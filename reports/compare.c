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

const char *nt_verdict_name(nt_verdict verdict)
{
    static const char *const names[] = {
#define X(name, text) text,
        NT_VERDICT_MAP(X)
#undef X
    };
    return (unsigned)verdict < NT_VERDICT_COUNT ? names[verdict] : "unknown";
}

/* ---- noise ----------------------------------------------------------------------------------------------------------- */

static bool both_present(const nt_comparison *row)
{
    return row->a.present && row->b.present;
}

/* Both sides show two speeds, and like against like is what explains the samples best: A's fast one is not nearer to
 * B's slow one than to B's fast one. */
static bool by_level(const nt_comparison *row)
{
    if (!both_present(row) || !row->a.levels.found || !row->b.levels.found)
        return false;
    const double *a = row->a.levels.level, *b = row->b.levels.level;
    return fmin(fabs(b[0] - a[1]), fabs(b[1] - a[0])) > fmax(fabs(b[0] - a[0]), fabs(b[1] - a[1]));
}

/* Some samples may be left aside as strays: not when the other side's time is nearer to them than to the rest, because
 * then they may be what this side switched to. */
static bool strays_are_aside(const nt_compare_side *side, const nt_compare_side *other)
{
    double shift = fabs(side->whole.center - other->whole.center);
    return side->strays.found ? fabs(side->strays.center - other->whole.center) > shift : !side->levels.found;
}

static bool by_rest(const nt_comparison *row)
{
    return both_present(row) && strays_are_aside(&row->a, &row->b) && strays_are_aside(&row->b, &row->a);
}

static const nt_compare_side *side_at(const nt_comparison *rows, size_t i)
{
    return i % 2 ? &rows[i / 2].b : &rows[i / 2].a;
}

static const nt_compare_spread *spread_in(const nt_comparison *row, const nt_compare_side *side)
{
    return by_level(row) ? &side->about : by_rest(row) ? &side->clean : &side->whole;
}

/* The typical variance of a block: the median over problems, which a few restless ones do not move, brought to the
 * scale of a mean by the median of a chi-square distribution. */
static double pooled_blocks(const nt_comparison *rows, size_t count)
{
    double *each = nt_alloc(2 * count * sizeof *each);
    size_t n = 0;
    for (size_t i = 0; i < 2 * count; i++) {
        const nt_compare_side *s = side_at(rows, i);
        const nt_compare_spread *spread = spread_in(&rows[i / 2], s);
        double dof = spread->blocks - 1;
        if (s->present && dof >= 1)
            each[n++] = spread->squares / dof / pow(1 - 2 / (9 * dof), 3);
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
        const nt_compare_side *s = side_at(rows, i);
        if (s->present && s->first_ns > 0)
            shift[n++] = log(s->first_ns) - log(s->time_ns);
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

static double side_variance(const nt_comparison *row, const nt_compare_side *s, double noise)
{
    const nt_compare_spread *spread = spread_in(row, s);
    double block = (pooled_weight * noise * noise + spread->squares) / (pooled_weight + spread->blocks - 1);
    /* Blocks of one run share what that run's process had of its own: a part that more blocks do not take away. */
    return fmax(block / spread->blocks, spread->error * spread->error) + noise * noise / 4;
}

/* ---- ratios ---------------------------------------------------------------------------------------------------------- */

/* Logarithm of b over a where both show two speeds: the shift of both, by their samples. The interval holds the shift
 * of each: speeds that moved apart leave no verdict. */
static double level_shift(const nt_comparison *row, double *half)
{
    double shift[2], weight[2];
    for (int i = 0; i < 2; i++) {
        shift[i] = row->b.levels.level[i] - row->a.levels.level[i];
        weight[i] = 1 / (1 / row->a.levels.count[i] + 1 / row->b.levels.count[i]);
    }
    double common = (shift[0] * weight[0] + shift[1] * weight[1]) / (weight[0] + weight[1]);
    double result = common + row->b.about.center - row->a.about.center;
    for (int i = 0; i < 2; i++)
        *half = fmax(*half, fabs(shift[i] - result));
    return result;
}

static void measure_row(nt_comparison *row, double noise)
{
    row->a_ns = row->a.present ? row->a.time_ns : (double)NAN;
    row->b_ns = row->b.present ? row->b.time_ns : (double)NAN;
    row->ratio = row->lo = row->hi = NAN;
    if (!both_present(row))
        return;
    double half = width * sqrt(side_variance(row, &row->a, noise) + side_variance(row, &row->b, noise));
    double shift =
        by_level(row) ? level_shift(row, &half) : spread_in(row, &row->b)->center - spread_in(row, &row->a)->center;
    row->ratio = exp(shift);
    row->lo = exp(shift - half);
    row->hi = exp(shift + half);
}

static bool same_measurement(const nt_comparison *row)
{
    return row->a.measurement != NULL && row->b.measurement != NULL &&
           strcmp(row->a.measurement, row->b.measurement) == 0;
}

/* What most problems share is of the machine or of the day, not of a problem. */
static double common_drift(const nt_comparison *rows, size_t count)
{
    double *shift = nt_alloc((count + 1) * sizeof *shift);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(rows[i].ratio))
            shift[n++] = log(rows[i].ratio);
    double drift = n >= NT_COMPARE_DRIFT_ROWS ? nt_median(shift, n) : (double)NAN;
    free(shift);
    return drift;
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

static nt_verdict verdict_of(double lo, double hi, double most)
{
    if (lo > most)
        return NT_VERDICT_SLOWER;
    if (hi < -most)
        return NT_VERDICT_FASTER;
    return lo >= -most && hi <= most ? NT_VERDICT_SAME : NT_VERDICT_UNCLEAR;
}

/* `drift`: logarithm of what all problems share and verdicts leave aside. */
static void judge(nt_comparison *row, double threshold, double drift)
{
    static const char *const reasons[NT_VERDICT_COUNT] = {
        [NT_VERDICT_SAME] = "any difference is surely within the threshold",
        [NT_VERDICT_FASTER] = "surely, by more than the threshold",
        [NT_VERDICT_SLOWER] = "surely, by more than the threshold",
        [NT_VERDICT_UNCLEAR] = "the interval reaches across the threshold: noise hides the answer",
    };
    row->verdict = verdict_of(log(row->lo) - drift, log(row->hi) - drift, log1p(threshold));
    int length = snprintf(row->reason, sizeof row->reason, "%s", reasons[row->verdict]);
    if (by_level(row))
        length += snprintf(row->reason + length, sizeof row->reason - (size_t)length,
                           "; each of two speeds compared with its like");
    if (drift != 0)
        snprintf(row->reason + length, sizeof row->reason - (size_t)length, "; beside %+.2f %% that all share",
                 100 * expm1(drift));
}

static void judge_row(nt_comparison *row, double threshold, double drift)
{
    if (!both_present(row)) {
        without_both(row);
    } else if (same_measurement(row)) {
        row->ratio = row->lo = row->hi = 1;
        row->verdict = NT_VERDICT_SAME;
        snprintf(row->reason, sizeof row->reason, "it is the same measurement");
    } else {
        judge(row, threshold, drift);
    }
}

nt_compare_noise nt_compare(nt_comparison *rows, size_t count, double threshold)
{
    for (size_t i = 0; i < count; i++) {
        rows[i].a.present = rows[i].a.present && rows[i].a.whole.blocks > 0;
        rows[i].b.present = rows[i].b.present && rows[i].b.whole.blocks > 0;
    }
    nt_compare_noise noise = {.block_rel = noise_of(rows, count)};
    for (size_t i = 0; i < count; i++)
        measure_row(&rows[i], noise.block_rel);
    double drift = common_drift(rows, count);
    noise.drift_rel = expm1(drift);
    noise.drift_taken = fabs(drift) <= log1p(threshold);
    for (size_t i = 0; i < count; i++)
        judge_row(&rows[i], threshold, noise.drift_taken ? drift : 0);
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
