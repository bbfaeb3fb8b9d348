/* replay_score.c: curves of best so far, their figures, and the bootstrap over repeats. */
#include "autotune/replay_score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/random.h"
#include "core/stats.h"

enum { FINALISTS = 5, BOOTSTRAPS = 200 };

const int nt_score_budgets[NT_SCORE_BUDGETS] = {25, 50, 100, 200, 400};

typedef struct judge {
    const nt_recorded *recorded;
    size_t count;        /* evaluations that are looked at: 400, or all rows of a smaller space */
    const double *curve; /* [repeats][count] best so far / optimum */
    const nt_replay_run *runs;
    double *expected;    /* [count] of random search, exact, over the optimum */
    double *sorted;      /* times that are ok, best first, over the optimum */
    double *rank_random; /* [count] the best at its expected rank */
    size_t p_count;      /* evaluations that `p` looks at */
    double *column;      /* [repeats] scratch */
} judge;

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- curves ----------------------------------------------------------------------------------------------------- */

typedef struct finalists {
    nt_evaluation best[FINALISTS]; /* by the answer */
    int count;
} finalists;

static void enter(finalists *f, const nt_evaluation *evaluation)
{
    int at = f->count < FINALISTS ? f->count++ : FINALISTS;
    while (at > 0 && f->best[at - 1].answered_ms > evaluation->answered_ms) {
        if (at < FINALISTS)
            f->best[at] = f->best[at - 1];
        at--;
    }
    if (at < FINALISTS)
        f->best[at] = *evaluation;
}

static double chosen_ms(const nt_recorded *recorded, const finalists *f)
{
    double ms = recorded->worst_ms;
    for (int i = 0; i < f->count; i++)
        ms = fmin(ms, recorded->row[f->best[i].index].time_ms);
    return ms;
}

void nt_score_curve(const nt_recorded *recorded, const nt_replay_run *run, bool noise, size_t count, double *out)
{
    finalists f = {0};
    double best = recorded->worst_ms;
    for (size_t m = 0; m < count; m++) {
        const nt_evaluation *evaluation = m < run->count ? &run->evaluation[m] : NULL;
        if (evaluation != NULL && !isnan(evaluation->answered_ms)) {
            if (noise)
                enter(&f, evaluation);
            best = noise ? chosen_ms(recorded, &f) : fmin(best, recorded->row[evaluation->index].time_ms);
        }
        out[m] = best / recorded->best_ms;
    }
}

/* ---- random search ---------------------------------------------------------------------------------------------- */

static double *sorted_ms(const nt_recorded *recorded)
{
    double *ms = nt_alloc_zero(recorded->ok_count, sizeof *ms);
    size_t count = 0;
    for (size_t i = 0; i < recorded->row_count; i++)
        if (recorded->row[i].outcome == NT_OUTCOME_OK)
            ms[count++] = recorded->row[i].time_ms;
    qsort(ms, count, sizeof *ms, by_double);
    return ms;
}

/* above[j]: the probability that none of the best j + 1 is among the draws; a draw more multiplies it. */
void nt_score_random(const nt_recorded *recorded, size_t count, double *out)
{
    size_t ok = recorded->ok_count;
    double *ms = sorted_ms(recorded), *above = nt_alloc_zero(ok, sizeof *above), all = (double)recorded->row_count;
    for (size_t j = 0; j < ok; j++)
        above[j] = 1;
    for (size_t m = 0; m < count; m++) {
        double before = 1, sum = 0;
        for (size_t j = 0; j < ok; j++) {
            above[j] *= fmax(0, (all - 1 - (double)j - (double)m) / (all - (double)m));
            sum += ms[j] * (before - above[j]);
            before = above[j];
        }
        out[m] = sum + ms[ok - 1] * before;
    }
    free(ms);
    free(above);
}

/* ---- figures ---------------------------------------------------------------------------------------------------- */

/* Halves to even, as the definition of the score was programmed first. */
static size_t rounded(double x)
{
    return (size_t)nearbyint(x);
}

/* Position of a time when the worst comes first: how many are worse than the first of its equals. */
static size_t rank_of(const judge *j, double relative)
{
    size_t low = 0, high = j->recorded->ok_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (j->sorted[middle] <= relative)
            low = middle + 1;
        else
            high = middle;
    }
    return j->recorded->ok_count - low;
}

static double worst_first(const judge *j, size_t rank)
{
    size_t ok = j->recorded->ok_count;
    return j->sorted[ok - 1 - (rank < ok ? rank : ok - 1)];
}

/* Where random search has come 95 % of the way from the median to the optimum. */
static size_t cutoff(const judge *j)
{
    size_t ok = j->recorded->ok_count;
    double median = (j->sorted[(ok - 1) / 2] + j->sorted[ok / 2]) / 2, target = 1 + 0.05 * (median - 1);
    double rank = (double)rank_of(j, target);
    return (size_t)ceil(rank / ((double)ok + 1 - rank));
}

static void init_judge(judge *j, size_t repeats)
{
    size_t ok = j->recorded->ok_count;
    double best = j->recorded->best_ms;
    j->sorted = sorted_ms(j->recorded);
    for (size_t i = 0; i < ok; i++)
        j->sorted[i] /= best;
    j->expected = nt_alloc_zero(j->count, sizeof *j->expected);
    nt_score_random(j->recorded, j->count, j->expected);
    j->rank_random = nt_alloc_zero(j->count, sizeof *j->rank_random);
    for (size_t i = 0; i < j->count; i++) {
        double m = (double)i + 1;
        j->expected[i] /= best;
        j->rank_random[i] = worst_first(j, rounded(m * ((double)ok + 1) / (m + 1)));
    }
    size_t p_count = cutoff(j);
    j->p_count = p_count < 1 ? 1 : p_count > j->count ? j->count : p_count;
    j->column = nt_alloc_zero(repeats, sizeof *j->column);
}

static double at(const judge *j, size_t repeat, size_t m)
{
    return j->curve[repeat * j->count + m];
}

static size_t first_within(const judge *j, size_t repeat, double limit)
{
    const double *curve = j->curve + repeat * j->count;
    size_t m = 0;
    while (m < j->count && curve[m] > limit)
        m++;
    return m;
}

static void near_optimum(judge *j, const size_t *pick, size_t repeats, double limit, double *median, double *share)
{
    size_t hits = 0;
    for (size_t r = 0; r < repeats; r++) {
        size_t first = first_within(j, pick[r], limit);
        hits += first < j->count;
        j->column[r] = first < j->count ? (double)first + 1 : INFINITY;
    }
    qsort(j->column, repeats, sizeof *j->column, by_double);
    double low = j->column[(repeats - 1) / 2], high = j->column[repeats / 2];
    *median = isinf(high) ? INFINITY : (low + high) / 2;
    *share = (double)hits / (double)repeats;
}

static double p_of(const judge *j, const size_t *pick, size_t repeats)
{
    double sum = 0;
    for (size_t m = 0; m < j->p_count; m++) {
        double rank = 0;
        for (size_t r = 0; r < repeats; r++)
            rank += (double)rank_of(j, at(j, pick[r], m));
        double way = j->rank_random[m] - 1, reached = worst_first(j, rounded(rank / (double)repeats));
        sum += way > 0 ? (j->rank_random[m] - reached) / way : 0;
    }
    return sum / (double)j->p_count;
}

static double p_exact_of(judge *j, const size_t *pick, size_t repeats)
{
    double sum = 0;
    for (size_t m = 0; m < j->count; m++) {
        double mean = 0;
        for (size_t r = 0; r < repeats; r++)
            mean += at(j, pick[r], m);
        mean /= (double)repeats;
        sum += (j->expected[m] - mean) / fmax(j->expected[m] - 1, 1e-12);
    }
    return sum / (double)j->count;
}

/* The figures of the repeats picked. */
static void figures(judge *j, const size_t *pick, size_t repeats, nt_score *out)
{
    *out = (nt_score){.repeats = repeats};
    for (int b = 0; b < NT_SCORE_BUDGETS; b++) {
        size_t m = (size_t)nt_score_budgets[b] < j->count ? (size_t)nt_score_budgets[b] - 1 : j->count - 1;
        for (size_t r = 0; r < repeats; r++) {
            j->column[r] = at(j, pick[r], m);
            out->mean[b] += j->column[r] / (double)repeats;
        }
        out->median[b] = nt_median(j->column, repeats);
    }
    near_optimum(j, pick, repeats, 1.05, &out->within_5_evaluations, &out->within_5_share);
    near_optimum(j, pick, repeats, 1.01, &out->within_1_evaluations, &out->within_1_share);
    out->p_exact = p_exact_of(j, pick, repeats);
    double evaluations = 0;
    for (size_t r = 0; r < repeats; r++) {
        const nt_replay_run *run = &j->runs[pick[r]];
        j->column[r] = (double)run->count;
        evaluations += (double)run->count;
        out->think_ms += run->think_s * 1e3;
        out->think_most_ms = fmax(out->think_most_ms, run->think_most_s * 1e3);
    }
    out->evaluations = nt_median(j->column, repeats);
    out->think_ms /= fmax(evaluations, 1);
}

/* ---- standard errors -------------------------------------------------------------------------------------------- */

enum { FIGURES = sizeof(nt_score) / sizeof(double) };

/* Every member of nt_score but the first is a double. */
static double *as_array(nt_score *score)
{
    return (double *)(void *)((char *)score + offsetof(nt_score, evaluations));
}

static void bootstrap(judge *j, size_t repeats, size_t *pick, nt_score *error)
{
    double sum[FIGURES] = {0}, squares[FIGURES] = {0};
    size_t count = (sizeof(nt_score) - offsetof(nt_score, evaluations)) / sizeof(double);
    nt_random random = nt_random_seed(repeats, 1);
    for (int b = 0; b < BOOTSTRAPS; b++) {
        nt_score drawn;
        for (size_t r = 0; r < repeats; r++)
            pick[r] = (size_t)nt_random_below(&random, repeats);
        figures(j, pick, repeats, &drawn);
        for (size_t i = 0; i < count; i++) {
            sum[i] += as_array(&drawn)[i];
            squares[i] += as_array(&drawn)[i] * as_array(&drawn)[i];
        }
    }
    error->repeats = repeats;
    for (size_t i = 0; i < count; i++) {
        double mean = sum[i] / BOOTSTRAPS;
        as_array(error)[i] = isfinite(sum[i]) ? sqrt(fmax(0, squares[i] / BOOTSTRAPS - mean * mean)) : NAN;
    }
    error->p = NAN; /* rounding of ranks makes its bootstrap say little */
}

void nt_score_runs(const nt_recorded *recorded, const nt_replay_run *runs, size_t repeats, bool noise,
                   nt_score_pair *out)
{
    *out = (nt_score_pair){0};
    judge j = {.recorded = recorded, .runs = runs};
    j.count = recorded->row_count < NT_SCORE_MOST ? recorded->row_count : NT_SCORE_MOST;
    double *curve = nt_alloc_zero(repeats * j.count, sizeof *curve);
    size_t *pick = nt_alloc_zero(repeats, sizeof *pick);
    for (size_t r = 0; r < repeats; r++) {
        nt_score_curve(recorded, &runs[r], noise, j.count, curve + r * j.count);
        pick[r] = r;
    }
    j.curve = curve;
    init_judge(&j, repeats);
    figures(&j, pick, repeats, &out->value);
    out->value.p = p_of(&j, pick, repeats);
    bootstrap(&j, repeats, pick, &out->error);
    free(curve);
    free(pick);
    free(j.expected);
    free(j.sorted);
    free(j.rank_random);
    free(j.column);
}
