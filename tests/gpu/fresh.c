#include "tests/gpu/fresh.h"

#include <stdlib.h>

#include "tests/gpu/oracle.h"

enum { PICKS = 48 };
static const uint64_t seed = 987654321; /* no sweep of the check has it */

typedef struct tally {
    size_t checked, violating;
    oracle oracle;
} tally;

static nt_status check_row(bench *b, const stored *row, tally *t, nt_error *err)
{
    nt_loaded loaded;
    nt_verdict verdict = {.right = false};
    bool other = b->worker.workload == NULL || !nt_problem_equal(&b->worker.workload->problem, &row->problem);
    nt_status status = bench_problem(b, &row->problem, seed, NT_HOT, err);
    if (status == NT_OK && other)
        status = oracle_problem(&t->oracle, b, err);
    if (status != NT_OK)
        return status;
    status = bench_load(b, row, &loaded, err);
    if (status == NT_OK)
        status = nt_workload_verify(b->worker.workload, loaded.kernel, loaded.module, &loaded.plan, &verdict, err);
    if (status == NT_OK)
        status = oracle_check(&t->oracle, b, &loaded, PICKS, err);
    nt__worker_unload(&b->worker, &loaded);
    t->checked += status == NT_OK;
    t->violating += status == NT_OK && !verdict.right;
    if (status == NT_OK && !verdict.right)
        fprintf(stderr, "trial %lld on fresh inputs: %s\n", (long long)row->trial, verdict.reason);
    return status;
}

void judge_fresh(judge *j, const char *db, double least)
{
    stored_list list;
    bench b;
    tally t = {.oracle = {.state = seed}};
    nt_error err = {0};
    judge_stored(j, db, "outcome = 'ok'", &list);
    nt_status status = bench_open(&b, &err);
    for (size_t i = 0; status == NT_OK && i < list.count; i++)
        status = check_row(&b, &list.row[i], &t, &err);
    if (status != NT_OK)
        judge_broken(j, "ok trials run again on fresh inputs", err.what);
    judge_least(j, judge_number("ok trials run again on fresh inputs", "", (double)t.checked), least);
    judge_most(j,
               judge_number("of them with a violation of the bound, over all outputs", "",
                            t.checked > 0 ? (double)t.violating : NAN),
               0);
    judge_tell(j, judge_number("outputs summed again by the judge", "", (double)t.oracle.checked));
    judge_most(j,
               judge_number("of them off by more than the judge's own bound", "",
                            t.oracle.checked > 0 ? (double)t.oracle.wrong : NAN),
               0);
    if (t.oracle.wrong > 0)
        fprintf(stderr, "first wrong sum: %s\n", t.oracle.first);
    oracle_done(&t.oracle);
    judge_stored_done(&list);
    bench_close(&b);
}
