/* bar_time.c: is the time honest? Configurations from 10 us to 1 ms, each in 5 processes of its own, and once more
 * under CUPTI: the period less the kernel's duration, both of the same launches, is what the GPU needs between two
 * kernels. The period without a profiler is told beside it. */
#include <stdlib.h>

#include "core/str.h"
#include "tests/gpu/bars.h"
#include "tests/gpu/subject.h"

enum { CONFIGURATIONS = 20, PROCESSES = 5 };

typedef struct configuration {
    const stored *row;
    double ns[PROCESSES]; /* medians */
    int measured;
    double mhz[PROCESSES];
    double traced_ns, record_ns; /* under CUPTI: period, and duration by the records */
    int kernels;                 /* launched one after another in one execution */
} configuration;

typedef struct grid {
    configuration of[CONFIGURATIONS];
    int count;
    bool records;
} grid;

static bool sweep(judge *j)
{
    const char *words[] = {
        "--shape",  "64x56x56,256x14x14",     "--batch", "8,32", "--precision", "fp32,bf16", "--seed", "41",
        "--budget", j->quick ? "120" : "280", NULL};
    judge_sweep seen;
    char *path = judge_path(j, "time.db");
    judge_remove(path);
    free(path);
    bool swept = judge_watch(j, "time.db", words, &seen);
    judge_sweep_done(&seen);
    return swept;
}

/* The unused row nearest to a time, by ratio. */
static const stored *nearest(const stored_list *list, const grid *g, double ns)
{
    const stored *best = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const stored *row = &list->row[i];
        bool used = false;
        for (int c = 0; c < g->count; c++)
            used = used || g->of[c].row == row;
        if (!used && (best == NULL || fabs(log(row->time_ns / ns)) < fabs(log(best->time_ns / ns))))
            best = row;
    }
    return best;
}

static void choose(const stored_list *list, grid *g)
{
    static const double least = 10.5e3, most = 950e3;
    for (int i = 0; i < CONFIGURATIONS; i++) {
        const stored *row = nearest(list, g, least * pow(most / least, i / (CONFIGURATIONS - 1.0)));
        if (row != NULL)
            g->of[g->count++] = (configuration){.row = row, .traced_ns = NAN, .record_ns = NAN};
    }
}

static void take_line(void *context, char *line, double now_s)
{
    grid *g = context;
    (void)now_s;
    char *at = line;
    long long trial = strtoll(at, &at, 10);
    double period = strtod(at, &at), record = strtod(at, &at);
    strtoll(at, &at, 10); /* how many records */
    double mhz = strtod(at, &at);
    int kernels = (int)strtol(at, &at, 10);
    for (int i = 0; i < g->count; i++) {
        configuration *c = &g->of[i];
        if (c->row->trial != trial)
            continue;
        if (g->records) {
            c->traced_ns = period;
            c->record_ns = record;
            c->kernels = kernels;
        } else if (c->measured < PROCESSES) {
            c->mhz[c->measured] = mhz;
            c->ns[c->measured++] = period;
        }
    }
}

static void run_process(judge *j, grid *g, bool records)
{
    nt_str trials = {0};
    pid_t pid;
    for (int i = 0; i < g->count; i++)
        nt_str_addf(&trials, "%s%lld", i > 0 ? "," : "", (long long)g->of[i].row->trial);
    const char *argv[] = {j->self,
                          "time-child",
                          "--nntune",
                          j->nntune,
                          "--out",
                          j->out,
                          "--trials",
                          nt_str_text(&trials),
                          records ? "--records" : NULL,
                          NULL};
    g->records = records;
    int code = judge_run(j, argv, &pid, take_line, g);
    if (code != 0)
        judge_broken(j, records ? "the process under CUPTI ends well" : "each process ends well", "see OUT/log");
    nt_str_done(&trials);
}

static double spread(const configuration *c)
{
    double least = INFINITY, most = 0;
    for (int i = 0; i < c->measured; i++) {
        least = fmin(least, c->ns[i]);
        most = fmax(most, c->ns[i]);
    }
    return c->measured == PROCESSES ? most / least : INFINITY;
}

static void judge_repeats(judge *j, const grid *g)
{
    int close = 0;
    double widest = 0;
    for (int i = 0; i < g->count; i++) {
        close += spread(&g->of[i]) <= 1.01;
        widest = fmax(widest, spread(&g->of[i]));
    }
    judge_least(j, judge_number("configurations between 10 us and 1 ms", "", g->count), CONFIGURATIONS);
    judge_least(j, judge_number("of them within 1.01 over 5 processes", "", close), 18);
    judge_most(j, judge_number("largest median over smallest of 5 processes", "", widest), 1.02);
}

/* A plan of two kernels has two gaps in each period. */
static double gap_of(const configuration *c)
{
    return c->kernels > 0 ? (c->traced_ns - c->record_ns) / c->kernels : NAN;
}

static void judge_records(judge *j, const grid *g)
{
    double least_us = INFINITY, most_us = -INFINITY, most_pct = -INFINITY, plain_pct = 0;
    int recorded = 0;
    for (int i = 0; i < g->count; i++) {
        const configuration *c = &g->of[i];
        double gap_ns = gap_of(c);
        if (isnan(gap_ns))
            continue;
        recorded++;
        plain_pct = fmax(plain_pct, fabs(nt_median(c->ns, (size_t)c->measured) / c->traced_ns - 1) * 100);
        if (c->record_ns > 100e3) {
            most_pct = fmax(most_pct, fabs(c->traced_ns / c->record_ns - 1) * 100);
            continue;
        }
        least_us = fmin(least_us, gap_ns * 1e-3);
        most_us = fmax(most_us, gap_ns * 1e-3);
    }
    judge_least(j, judge_number("configurations with CUPTI's records", "", recorded), g->count);
    judge_least(j, judge_number("period less record a launch, up to 100 us: least", "us", least_us), 0);
    judge_most(j, judge_number("period less record a launch, up to 100 us: largest", "us", most_us), 2);
    judge_most(j, judge_number("period against record above 100 us: largest difference", "%", most_pct), 2);
    judge_most(j, judge_number("period under CUPTI against the period without: largest difference", "%", plain_pct), 2);
}

static void print_table(judge *j, const grid *g)
{
    judge_detail(
        j, "| kernel | problem | period us @ SM MHz | max/min of 5 | CUPTI: period us | record us | less record a "
           "launch us |");
    judge_detail(j, "|---|---|---|---|---|---|---|");
    for (int i = 0; i < g->count; i++) {
        const configuration *c = &g->of[i];
        nt_str problem = {0}, periods = {0};
        nt_problem_print(&problem, &c->row->problem);
        for (int p = 0; p < c->measured; p++)
            nt_str_addf(&periods, "%s%.3f @%.0f", p > 0 ? " " : "", c->ns[p] * 1e-3, c->mhz[p]);
        judge_detail(j, "| %s | %s | %s | %.4f | %.3f | %.3f | %.3f |", c->row->kernel, nt_str_text(&problem),
                     nt_str_text(&periods), spread(c), c->traced_ns * 1e-3, c->record_ns * 1e-3, gap_of(c) * 1e-3);
        nt_str_done(&problem);
        nt_str_done(&periods);
    }
}

void judge_bar_time(judge *j)
{
    stored_list list;
    static grid g;
    if (!sweep(j) ||
        !judge_stored(
            j, "time.db",
            "outcome = 'ok' and time_ns between 10200 and 980000 and not (shape like 'c=64,%' and batch = 32)", &list))
        return;
    choose(&list, &g);
    for (int i = 0; i < PROCESSES; i++)
        run_process(j, &g, false);
    run_process(j, &g, true);
    judge_repeats(j, &g);
    judge_records(j, &g);
    print_table(j, &g);
    judge_stored_done(&list);
}
