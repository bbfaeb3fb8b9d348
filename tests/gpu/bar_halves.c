/* bar_halves.c: taking counters must not change what is timed. The same configurations are timed by sweeps without and
 * with counters in turn (none, all, all, none), each over several problems, so that most are timed after counters
 * were taken in the same run; then paired. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/stats.h"
#include "tests/gpu/bars.h"

enum { ROUNDS = 4, LEAST_PAIRS = 200, RESAMPLES = 2000 };
static const bool with_counters[ROUNDS] = {false, true, true, false};
static const double most_off_pct = 0.5;

typedef struct timed {
    char *key; /* problem and configuration */
    double ns;
} timed;

typedef struct timed_list {
    timed *row;
    size_t count, capacity;
} timed_list;

static void database(int round, char out[32])
{
    snprintf(out, 32, "halves%d.db", round);
}

static bool sweep(judge *j, int round)
{
    const char *words[] = {"--shape",    "64x56x56,128x28x28,256x14x14,512x7x7",
                           "--batch",    "1,8",
                           "--strategy", "random",
                           "--seed",     "17",
                           "--budget",   j->quick ? "60" : "640",
                           "--profile",  with_counters[round] ? "all" : "none",
                           NULL};
    judge_sweep seen;
    char name[32];
    database(round, name);
    char *path = judge_path(j, name);
    judge_remove(path);
    free(path);
    bool swept = judge_watch(j, name, words, &seen);
    judge_sweep_done(&seen);
    return swept;
}

static bool keep_row(void *context, int columns, const char *const *cell)
{
    timed_list *list = context;
    void *rows = list->row;
    if (columns < 2)
        return false;
    nt_grow(&rows, &list->capacity, list->count + 1, sizeof *list->row);
    list->row = rows;
    list->row[list->count++] = (timed){nt_strdup(cell[0]), strtod(cell[1], NULL)};
    return true;
}

static const timed *find(const timed_list *list, const char *key)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(list->row[middle].key, key);
        if (order == 0)
            return &list->row[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Mean log ratio of one configuration: with counters over without; *self: of the later runs without over the earlier
 * ones, which only drift can move. False where it was not timed every time. */
static bool pair(const timed_list *lists, const char *key, double *ratio, double *self)
{
    double sum[2] = {0}, plain[2] = {0};
    for (int r = 0; r < ROUNDS; r++) {
        const timed *t = find(&lists[r], key);
        if (t == NULL || !(t->ns > 0))
            return false;
        sum[with_counters[r]] += log(t->ns);
        if (!with_counters[r])
            plain[r >= ROUNDS / 2] += log(t->ns);
    }
    *ratio = (sum[1] - sum[0]) / (ROUNDS / 2);
    *self = (plain[1] - plain[0]) / (ROUNDS / 4);
    return true;
}

static double mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* Geometric mean as percent off 1, with 95 % of the means of samples drawn anew from the pairs. */
static figure off_one(const char *name, const double *logs, size_t count)
{
    double *means = nt_alloc_zero(RESAMPLES, sizeof *means);
    unsigned long long state = 1;
    for (int k = 0; k < RESAMPLES && count > 0; k++) {
        for (size_t i = 0; i < count; i++) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            means[k] += logs[(state >> 33) % count];
        }
        means[k] = 100 * expm1(means[k] / (double)count);
    }
    figure f = {name, "%", 100 * expm1(mean(logs, count)), nt_quantile(means, RESAMPLES, 0.025),
                nt_quantile(means, RESAMPLES, 0.975)};
    free(means);
    return f;
}

static void judge_pairs(judge *j, const timed_list *lists)
{
    double *ratio = nt_alloc_zero(lists[0].count + 1, sizeof *ratio),
           *self = nt_alloc_zero(lists[0].count + 1, sizeof *self);
    size_t pairs = 0;
    for (size_t i = 0; i < lists[0].count; i++)
        pairs += pair(lists, lists[0].row[i].key, &ratio[pairs], &self[pairs]);
    judge_least(j, judge_number("configurations timed every time", "", (double)pairs), j->quick ? 20 : LEAST_PAIRS);
    figure with = off_one("times with counters over times without, geometric mean off 1", ratio, pairs);
    judge_tell(j, off_one("later times without counters over earlier ones, off 1", self, pairs));
    judge_tell(j, with);
    with.name = "the same, either way";
    with.value = fabs(with.value);
    with.lo = with.hi = NAN;
    judge_most(j, with, most_off_pct);
    free(ratio);
    free(self);
}

void judge_bar_halves(judge *j)
{
    static const char sql[] =
        "select layer || ' ' || shape || ' ' || batch || ' ' || precision || ' ' || kernel || params, "
        "first_time_ns from trials where outcome = 'ok' order by 1";
    timed_list lists[ROUNDS] = {0};
    bool whole = true;
    double counted = 0;
    for (int r = 0; r < ROUNDS && whole; r++) {
        char name[32];
        database(r, name);
        whole = sweep(j, r) && judge_rows(j, name, sql, keep_row, &lists[r]);
        if (whole && with_counters[r])
            counted += judge_sql(j, name, "select count(*) from trials where occupancy_pct is not null");
    }
    if (whole) {
        judge_least(j, judge_number("trials with counters, all halves", "", counted), j->quick ? 40 : 2 * LEAST_PAIRS);
        judge_pairs(j, lists);
    }
    for (int r = 0; r < ROUNDS; r++) {
        for (size_t i = 0; i < lists[r].count; i++)
            free(lists[r].row[i].key);
        free(lists[r].row);
    }
}
