/* time_child.c: one of the processes that bar_time.c compares. Measures configurations as a sweep would and prints, for
 * each: trial, period, and under CUPTI the duration of its kernels by the records of the same launches. */
#include <stdlib.h>
#include <time.h>

#include "core/clock.h"
#include "core/str.h"
#include "tests/gpu/bars.h"
#include "tests/gpu/records.h"
#include "tests/gpu/subject.h"

/* Median duration of each kernel of the plan, summed. */
static double recorded_ns(const nt_plan *plan, size_t *records)
{
    double sum = 0;
    *records = 0;
    for (int i = 0; i < plan->stage_count; i++) {
        double *ns;
        if (plan->stage[i].kind != NT_STAGE_KERNEL)
            return NAN; /* a memset has no record here */
        size_t count = records_of(plan->stage[i].entry, &ns);
        sum += nt_median(ns, count);
        *records += count;
        free(ns);
    }
    return sum;
}

/* Waits for the records of a measurement. A launch now and then makes CUPTI look after those that are complete. */
static nt_status fetch(const nt_target *target, const char *kernel, size_t wanted, nt_error *err)
{
    nt_status status = records_flush(false, err);
    for (int i = 1; i <= 16 && status == NT_OK && records_count(kernel) < wanted; i++) {
        double ns;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        if (i % 4 == 0)
            status = nt_measure_once(target, 1, &ns, err);
        if (status == NT_OK)
            status = records_flush(i == 16, err);
    }
    return status;
}

/* As `nntune rerun` would: one configuration is worth a closer look than a sweep's. */
static nt_status measure(bench *b, const nt_loaded *loaded, bool records, nt_measurement *m, nt_error *err)
{
    enum { ATTEMPTS = 4 };
    const char *kernel = loaded->plan.stage[loaded->plan.stage_count - 1].entry;
    nt_measure_options options = nt_measure_defaults;
    options.ci_rel = 0.001;
    options.cap_s = 0.12;
    nt_target target;
    nt_status status = nt_workload_target(b->worker.workload, loaded->module, &loaded->plan, &target, err);
    if (status == NT_OK)
        status = nt__worker_warm(&b->worker, &target, err);
    for (int i = 0; status == NT_OK && i < ATTEMPTS; i++) {
        nt_samples_done(&m->samples);
        if (records)
            status = records_clear(err);
        if (status == NT_OK)
            status = nt_measure(&target, &options, m, err);
        if (status == NT_OK && records)
            status = fetch(&target, kernel, m->samples.count * (size_t)m->samples.launches_per_sample, err);
        if (!records || records_count(kernel) > 0)
            break;
    }
    b->worker.last_work_s = nt_now_s();
    return status;
}

static nt_status print_row(bench *b, const stored *row, bool records, nt_error *err)
{
    nt_loaded loaded;
    nt_measurement m = {0};
    size_t count = 0;
    nt_status status = bench_problem(b, &row->problem, 1, NT_COLD, err);
    if (status == NT_OK)
        status = bench_load(b, row, &loaded, err);
    if (status != NT_OK)
        return status;
    status = measure(b, &loaded, records, &m, err);
    double recorded = status == NT_OK && records ? recorded_ns(&loaded.plan, &count) : NAN;
    if (status == NT_OK)
        printf("%lld %.17g %.17g %zu %.6g %d\n", (long long)row->trial, m.time.median, recorded, count, m.sm_clock_mhz,
               loaded.plan.stage_count);
    fflush(stdout);
    nt_samples_done(&m.samples);
    nt__worker_unload(&b->worker, &loaded);
    return status;
}

int judge_time_child(judge *j, const char *trials, bool records)
{
    stored_list list;
    bench b = {0};
    nt_error err = {0};
    nt_str where = {0};
    j->bar = "time";
    j->figures = j->detail = stderr;
    judge_cache(j, "cache");
    nt_str_addf(&where, "trial in (%s)", trials);
    nt_status status = judge_stored(j, "time.db", nt_str_text(&where), &list) ? NT_OK : NT_FAILED;
    if (status == NT_OK && records)
        status = records_open(&err);
    if (status == NT_OK)
        status = bench_open(&b, &err);
    for (size_t i = 0; status == NT_OK && i < list.count; i++)
        status = print_row(&b, &list.row[i], records, &err);
    if (status != NT_OK)
        fprintf(stderr, "time-child: %s. %s\n", err.what, err.hint);
    judge_stored_done(&list);
    nt_str_done(&where);
    if (status != NT_DEVICE_LOST)
        bench_close(&b);
    return status != NT_OK;
}
