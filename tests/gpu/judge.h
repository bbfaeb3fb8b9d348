/* judge.h: what the programs of the GPU check share: figures with their bars, commands watched by the wall clock,
 * counts out of a database.
 *
 * A bar never lets the code under test supply its own truth: rates are counted by the judge's clock and by SQL, times
 * are compared with CUPTI's records, results with sums that the judge forms itself (oracle.h). A figure that could not
 * be had is short of its bar. */
#ifndef JUDGE_H
#define JUDGE_H

#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "core/record.h"
#include "core/stats.h"

typedef struct judge {
    const char *self;   /* this program, for judges that run themselves */
    const char *nntune; /* the program under test */
    const char *out;    /* folder of this check: databases, figures, caches */
    bool quick;         /* shortened: everything runs, no figure means much */
    const char *bar;
    FILE *figures, *detail;
    int count, short_count;
} judge;

typedef struct judge_bar {
    const char *name, *summary;
    void (*run)(judge *j); /* NULL: another program judges it and leaves its figures in OUT */
    bool apart;            /* not part of check.sh's whole run: told of where it was judged */
} judge_bar;

extern const judge_bar judge_bars[];
extern const int judge_bar_count;

/* ---- figures.c: a figure is printed at once and kept as a line of JSON in OUT/<bar>.jsonl ------------------------- */

typedef struct figure {
    const char *name, *unit;
    double value;
    double lo, hi; /* its interval; NAN where it has none */
} figure;

void judge_tell(judge *j, figure f); /* without a bar */
void judge_least(judge *j, figure f, double least);
void judge_most(judge *j, figure f, double most);
/* Something that must work for the bar to mean anything did not: `what` becomes a figure that is short. */
void judge_broken(judge *j, const char *what, const char *why);
/* A line of Markdown for the results, beside the figures. */
void judge_detail(judge *j, const char *format, ...) __attribute__((format(printf, 2, 3)));

figure judge_number(const char *name, const char *unit, double value);
figure judge_between(const char *name, const char *unit, nt_interval interval);
/* Events a second: all of them over their time, with an interval from 12 windows of equal counts. */
figure judge_rate(const char *name, const double *at_s, size_t count);

bool judge_report(judge *j, const char *commit, const char *explanations); /* report.c: OUT/RESULTS.md */

/* ---- watch.c: commands and files ------------------------------------------------------------------------------------ */

char *judge_path(const judge *j, const char *name); /* OUT/name; caller frees */
void judge_remove(const char *path);                /* a folder with all it holds, or a file */
void judge_cache(const judge *j, const char *name); /* children and this process compile into OUT/name */

typedef void judge_line_fn(void *context, char *line, double now_s);
/* Runs a command (stderr to OUT/log), hands over each line of its stdout as it comes. Exit code, or 128 + signal. */
int judge_run(judge *j, const char *const *argv, pid_t *pid, judge_line_fn *each, void *context);

/* A sweep, seen from outside. */
typedef struct judge_sweep {
    int exit_code;
    double wall_s;
    double *at_s; /* when each ok or abandoned trial was announced */
    size_t count, capacity;
    json_t *summary;
    pid_t pid, worker;      /* the device worker; 0 until found */
    double worker_cpu_s[2]; /* its processor time at the first and at the last trial */
    size_t looks, busy;     /* how often it was looked at in between, and was not waiting for a request */
    struct judge_watcher *watcher;
} judge_sweep;

/* words: what follows `nntune sweep conv3x3 --device cuda --json`, ended by NULL. False (and a figure) when it failed.
 */
bool judge_watch(judge *j, const char *db, const char *const *words, judge_sweep *out);
void judge_sweep_done(judge_sweep *sweep);

/* ---- query.c: SQL ----------------------------------------------------------------------------------------------------- */

double judge_sql(judge *j, const char *db, const char *sql);                    /* one number; NAN when there is none */
typedef bool judge_row_fn(void *context, int columns, const char *const *cell); /* NULL cells are ""; false stops */
bool judge_rows(judge *j, const char *db, const char *sql, judge_row_fn *each, void *context);

#endif
