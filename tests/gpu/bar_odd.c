/* bar_odd.c: shapes that fit no tile, in every precision and layout that a kernel serves. */
#include <stdlib.h>

#include "tests/gpu/bars.h"
#include "tests/gpu/fresh.h"

static const char shapes[] = "c=3,k=5,h=7,w=9,c=1,k=1,h=1,w=1,c=17,k=33,h=15,w=13,c=64,k=64,h=8,w=8";

static bool sweep(judge *j, const char *layout, const char *precisions, const char *budget)
{
    const char *words[] = {
        "--shape", shapes,   "--batch", "1,2,3", "--precision", precisions, "--layout",
        layout,    "--seed", "3",       "--ci",  "5",           "--budget", j->quick ? "100" : budget,
        NULL};
    judge_sweep seen;
    bool swept = judge_watch(j, "odd.db", words, &seen);
    judge_sweep_done(&seen);
    return swept;
}

static double count(judge *j, const char *sql)
{
    return judge_sql(j, "odd.db", sql);
}

void judge_bar_odd(judge *j)
{
    char *path = judge_path(j, "odd.db");
    judge_remove(path);
    free(path);
    /* 4 shapes x 3 batches x precisions, some 6 trials each, besides the rules of thumb */
    sweep(j, "nhwc", "fp32,tf32,fp16,bf16", "288");
    sweep(j, "nchw", "fp32,fp16,bf16", "216");
    judge_least(j,
                judge_number("problems", "",
                             count(j, "select count(distinct shape || batch || precision || layout) "
                                      "from trials where outcome = 'ok'")),
                84);
    judge_least(j,
                judge_number("trials ok or abandoned", "",
                             count(j, "select count(*) from trials where outcome in "
                                      "('ok', 'abandoned')")),
                j->quick ? 100 : 450);
    judge_most(j,
               judge_number("wrong results", "",
                            count(j, "select count(*) from trials where outcome = "
                                     "'wrong_result'")),
               0);
    judge_most(j,
               judge_number("crashed or timed out", "",
                            count(j, "select count(*) from trials where outcome in "
                                     "('crashed', 'timed_out')")),
               0);
    judge_most(j,
               judge_number("not compiled or not launched", "",
                            count(j, "select count(*) from trials where outcome in "
                                     "('compile_failed', 'launch_failed')")),
               0);
    judge_fresh(j, "odd.db", count(j, "select count(*) from trials where outcome = 'ok'"));
}
