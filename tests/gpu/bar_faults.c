/* bar_faults.c: faults in the middle of a sweep: each costs one trial, and the sweep goes on as before. */
#include <stdlib.h>

#include "core/str.h"
#include "tests/gpu/bars.h"

/* What the sweep must say of each planted fault. */
static const struct planted {
    const char *fault, *outcome;
} planted[] = {
    {"illegal_address", "crashed"},   {"endless_loop", "timed_out"},       {"trap", "crashed"},
    {"wrong_result", "wrong_result"}, {"launch_failure", "launch_failed"},
};
enum { PLANTED = sizeof planted / sizeof planted[0] };

static double count(judge *j, const char *format, ...) __attribute__((format(printf, 2, 3)));

static double count(judge *j, const char *format, ...)
{
    nt_str sql = {0};
    va_list args;
    va_start(args, format);
    nt_str_addv(&sql, format, args);
    va_end(args);
    double value = judge_sql(j, "faults.db", nt_str_text(&sql));
    nt_str_done(&sql);
    return value;
}

static bool sweep(judge *j)
{
    static const char *const words[] = {"--kernel", "fault",  "--shape", "16x14x14", "--batch", "2", "--precision",
                                        "fp32",     "--seed", "7",       "--budget", "100",     NULL};
    judge_sweep seen;
    char *path = judge_path(j, "faults.db");
    judge_remove(path);
    free(path);
    bool swept = judge_watch(j, "faults.db", words, &seen);
    judge_tell(j, judge_number("the whole command", "s", seen.wall_s));
    judge_sweep_done(&seen);
    return swept;
}

#define FAULT "json_extract(params, '$.fault')"

static void judge_fault(judge *j, const struct planted *p)
{
    char name[3][96];
    double rows = count(j, "select count(*) from trials where " FAULT " = '%s'", p->fault);
    double as_said = count(j,
                           "select count(*) from trials where " FAULT
                           " = '%s' and outcome = '%s' and reason is not null and time_ns is null",
                           p->fault, p->outcome);
    double after =
        count(j,
              "select count(*) from trials where " FAULT
              " = 'none' and outcome = 'ok' and trial > (select max(trial) from trials where " FAULT " = '%s')",
              p->fault);
    snprintf(name[0], sizeof name[0], "%s: trials it cost", p->fault);
    snprintf(name[1], sizeof name[1], "%s: recorded as %s, with a reason and no time", p->fault, p->outcome);
    snprintf(name[2], sizeof name[2], "%s: right configurations after it that are ok", p->fault);
    judge_most(j, judge_number(name[0], "", rows), 1);
    judge_least(j, judge_number(name[1], "", as_said), 1);
    judge_least(j, judge_number(name[2], "", after), 1);
}

void judge_bar_faults(judge *j)
{
    if (!sweep(j))
        return;
    for (int i = 0; i < PLANTED; i++)
        judge_fault(j, &planted[i]);
    double right = count(j, "select count(*) from trials where " FAULT " = 'none'");
    judge_least(j, judge_number("right configurations among them", "", right), 30);
    judge_most(j,
               judge_number("of these not ok", "",
                            count(j, "select count(*) from trials where " FAULT " = 'none' and outcome <> 'ok'")),
               0);
}
