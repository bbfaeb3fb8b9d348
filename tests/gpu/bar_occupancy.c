/* bar_occupancy.c: the pure model's blocks per SM against the driver's own count, for compiled code of real sweeps. */
#include <stdlib.h>
#include <string.h>

#include "core/occupancy.h"
#include "tests/gpu/bars.h"
#include "tests/gpu/subject.h"

typedef struct tally {
    size_t compared, unlike, limited[NT_LIMIT_COUNT];
} tally;

static nt_status compare(judge *j, bench *b, const stored *row, const nt_loaded *loaded, tally *t, nt_error *err)
{
    const nt_device_info *device = b->worker.ops->info(b->worker.device);
    nt_status status = NT_OK;
    for (int i = 0; status == NT_OK && i < loaded->plan.stage_count; i++) {
        const nt_stage *stage = &loaded->plan.stage[i];
        uint32_t threads = stage->block[0] * stage->block[1] * stage->block[2];
        nt_function_info info;
        if (stage->kind != NT_STAGE_KERNEL)
            continue;
        status = b->worker.ops->function_info(b->worker.device, loaded->module, stage->entry, threads,
                                              stage->smem_dynamic_bytes, &info, err);
        if (status != NT_OK)
            break;
        nt_occupancy model =
            nt_occupancy_of(device, threads, info.registers, info.smem_static_bytes + stage->smem_dynamic_bytes);
        t->compared++;
        t->limited[model.limiter]++;
        if (model.blocks_per_sm == info.blocks_per_sm)
            continue;
        if (t->unlike++ < 10)
            judge_detail(
                j,
                "- trial %lld of %s: %u threads, %lld registers, %lld + %u bytes: the model says %lld, the driver %lld",
                (long long)row->trial, row->kernel, threads, (long long)info.registers,
                (long long)info.smem_static_bytes, stage->smem_dynamic_bytes, (long long)model.blocks_per_sm,
                (long long)info.blocks_per_sm);
    }
    return status;
}

static nt_status compare_row(judge *j, bench *b, const stored *row, tally *t, nt_error *err)
{
    nt_loaded loaded;
    nt_status status = bench_problem(b, &row->problem, 1, NT_HOT, err);
    if (status == NT_OK)
        status = bench_load(b, row, &loaded, err);
    if (status != NT_OK)
        return status;
    status = compare(j, b, row, &loaded, t, err);
    nt__worker_unload(&b->worker, &loaded);
    return status;
}

static bool sweep(judge *j)
{
    const char *words[] = {"--shape", "64x56x56", "--batch", "2", "--precision", "fp32,tf32,fp16,bf16",
                           "--seed",  "21",       "--ci",    "5", "--budget",    j->quick ? "80" : "320",
                           NULL};
    judge_sweep seen;
    char *path = judge_path(j, "occupancy.db");
    judge_remove(path);
    free(path);
    bool swept = judge_watch(j, "occupancy.db", words, &seen);
    judge_sweep_done(&seen);
    return swept;
}

void judge_bar_occupancy(judge *j)
{
    stored_list list;
    bench b;
    tally t = {0};
    nt_error err = {0};
    if (!sweep(j))
        return;
    judge_stored(j, "occupancy.db",
                 "outcome in ('ok', 'abandoned') group by artefact_key, threads_per_block, smem_bytes", &list);
    nt_status status = bench_open(&b, &err);
    for (size_t i = 0; status == NT_OK && i < list.count; i++)
        status = compare_row(j, &b, &list.row[i], &t, &err);
    if (status != NT_OK)
        judge_broken(j, "the driver is asked about each cubin", err.what);
    judge_least(j, judge_number("compiled kernels compared", "", (double)t.compared), j->quick ? 40 : 250);
    judge_most(
        j, judge_number("of them where the model and the driver differ", "", t.compared > 0 ? (double)t.unlike : NAN),
        0);
    for (int i = 0; i < NT_LIMIT_COUNT; i++)
        judge_detail(j, "- limited by %s: %zu", nt_limiter_name((nt_limiter)i), t.limited[i]);
    judge_stored_done(&list);
    bench_close(&b);
}
