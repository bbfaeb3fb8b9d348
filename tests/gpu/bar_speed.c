/* bar_speed.c: what the kernels reach: the winners of fresh sweeps, in operations that the judge counts itself. */
#include <stdlib.h>

#include "core/str.h"
#include "tests/gpu/bars.h"
#include "tests/gpu/fresh.h"

static const struct goal {
    const char *precision, *batch, *kernel, *budget, *figure;
    double tflops;
} goals[] = {
    {"bf16", "128", NULL, "6s", "bf16 at batch 128 on 256x14x14", 250},
    {"tf32", "128", NULL, "4s", "tf32 at batch 128 on 256x14x14", 90},
    {"fp32", "32", "direct", "4s", "direct fp32 at batch 32 on 256x14x14", 15},
};
enum { GOALS = sizeof goals / sizeof goals[0] };

static bool sweep(judge *j, const struct goal *g)
{
    const char *words[] = {"--shape",
                           "256x14x14",
                           "--batch",
                           g->batch,
                           "--precision",
                           g->precision,
                           "--budget",
                           j->quick ? "2s" : g->budget,
                           "--seed",
                           "5",
                           g->kernel != NULL ? "--kernel" : NULL,
                           g->kernel,
                           NULL};
    judge_sweep seen;
    bool swept = judge_watch(j, "speed.db", words, &seen);
    judge_sweep_done(&seen);
    return swept;
}

typedef struct best_time {
    double ns, lo, hi;
} best_time;

static bool take_best(void *context, int columns, const char *const *cell)
{
    best_time *best = context;
    if (columns == 3)
        *best = (best_time){strtod(cell[0], NULL), strtod(cell[1], NULL), strtod(cell[2], NULL)};
    return false;
}

static void judge_goal(judge *j, const struct goal *g)
{
    double operations = 2.0 * 9 * 256 * 256 * 14 * 14 * strtod(g->batch, NULL);
    best_time best = {NAN, NAN, NAN};
    nt_str sql = {0};
    nt_str_addf(&sql, "select time_ns, time_lo_ns, time_hi_ns from best where precision = '%s' and batch = %s",
                g->precision, g->batch);
    judge_rows(j, "speed.db", nt_str_text(&sql), take_best, &best);
    nt_str_done(&sql);
    figure f = {g->figure, "TFLOP/s", operations / best.ns * 1e-3, operations / best.hi * 1e-3,
                operations / best.lo * 1e-3};
    judge_least(j, f, g->tflops);
}

void judge_bar_speed(judge *j)
{
    char *path = judge_path(j, "speed.db");
    judge_remove(path);
    free(path);
    for (int i = 0; i < GOALS; i++)
        if (sweep(j, &goals[i]))
            judge_goal(j, &goals[i]);
    judge_most(j,
               judge_number("trials wrong, crashed, timed out, or failed to launch", "",
                            judge_sql(j, "speed.db",
                                      "select count(*) from trials where outcome in ('wrong_result', "
                                      "'crashed', 'timed_out', 'launch_failed')")),
               0);
    judge_fresh(j, "speed.db", judge_sql(j, "speed.db", "select count(*) from trials where outcome = 'ok'"));
}
