/* cpu_exec.c: the whole series is one job of the pool, so nothing is handed out between launches: each thread walks
 * through launches and stages by itself, and a barrier ends every stage, as the end of a kernel does on a GPU. Thread 0
 * reads the clock right after barriers.
 *
 * A series that calls a vendor's library is walked through by one thread, because the library's threads need the cores:
 * the pool sleeps meanwhile, and is woken for a kernel between two calls. */
#include "device/cpu_exec.h"

#include <string.h>

#include "core/clock.h"

typedef union value {
    void *buffer;
    int32_t i32;
    int64_t i64;
    float f32;
} value;

/* The first `items % threads` threads take one more. */
static void share(int64_t items, int thread, int threads, int64_t *begin, int64_t *end)
{
    int64_t each = items / threads, more = items % threads;
    *begin = each * thread + (thread < more ? thread : more);
    *end = *begin + each + (thread < more);
}

static void call_entry(nt_cpu_entry entry, const nt_stage *stage, const nt_binding *binding, int64_t begin, int64_t end,
                       int thread, int threads)
{
    value values[NT_MAX_ARGS];
    void *args[NT_MAX_ARGS];
    for (int i = 0; i < stage->arg_count; i++) {
        const nt_arg *arg = &stage->arg[i];
        args[i] = &values[i];
        if (arg->kind == NT_ARG_BUFFER)
            values[i].buffer = (void *)(uintptr_t)(binding->address[arg->role] + (uint64_t)arg->value);
        else if (arg->kind == NT_ARG_I32)
            values[i].i32 = (int32_t)arg->value;
        else if (arg->kind == NT_ARG_I64)
            values[i].i64 = arg->value;
        else
            values[i].f32 = arg->real;
    }
    entry(args, begin, end, thread, threads);
}

/* A thread's share of a stage. */
static void run_stage(const nt_cpu_script *script, int s, const nt_binding *binding, int thread, int threads)
{
    const nt_stage *stage = script->step[s].stage;
    int64_t begin, end;
    share(script->step[s].items, thread, threads, &begin, &end);
    if (end > begin && stage->kind == NT_STAGE_ZERO)
        memset((char *)(uintptr_t)binding->address[stage->zero_role] + begin, 0, (size_t)(end - begin));
    else if (end > begin && stage->kind == NT_STAGE_SYMBOL)
        memcpy((char *)script->step[s].variable + begin, (char *)(uintptr_t)binding->address[stage->zero_role] + begin,
               (size_t)(end - begin));
    else if (end > begin)
        call_entry(script->step[s].entry, stage, binding, begin, end, thread, threads);
}

static void run_once(const nt_cpu_script *script, const nt_binding *binding, nt_cpu_pool *pool, int thread, int threads)
{
    for (int s = 0; s < script->count; s++) {
        run_stage(script, s, binding, thread, threads);
        nt_cpu_pool_barrier(pool);
    }
}

typedef struct series_job {
    const nt_cpu_series *series;
    nt_cpu_pool *pool;
    size_t position; /* at the begin; every thread counts for itself */
} series_job;

static void run_series(void *context, int thread, int threads)
{
    const series_job *job = context;
    const nt_cpu_series *series = job->series;
    size_t slot = job->position;
    nt_cpu_pool_barrier(job->pool);
    double begin_ns = nt_now_ns();
    for (size_t s = 0; s < series->samples; s++) {
        for (int64_t l = 0; l < series->launches; l++) {
            run_once(series->script, &series->ring[slot], job->pool, thread, threads);
            slot = slot + 1 < series->ring_count ? slot + 1 : 0;
        }
        if (thread != 0)
            continue;
        double end_ns = nt_now_ns();
        if (series->out_ns != NULL)
            series->out_ns[s] = (end_ns - begin_ns) / (double)series->launches;
        /* Read again: what lies between is not part of the next sample. */
        begin_ns = nt_now_ns();
    }
}

/* ---- series with a vendor's calls ---------------------------------------------------------------------------------- */

typedef struct stage_job {
    const nt_cpu_script *script;
    int step;
    const nt_binding *binding;
} stage_job;

static void run_share(void *context, int thread, int threads)
{
    const stage_job *job = context;
    run_stage(job->script, job->step, job->binding, thread, threads);
}

static void call_once(const nt_cpu_script *script, const nt_binding *binding, nt_cpu_pool *pool)
{
    for (int s = 0; s < script->count; s++) {
        stage_job job = {script, s, binding};
        if (script->step[s].call != NULL)
            script->step[s].call->run(script->step[s].call, binding);
        else
            nt_cpu_pool_run(pool, run_share, &job);
    }
}

static void call_series(nt_cpu_pool *pool, const nt_cpu_series *series)
{
    static const struct timespec rest = {.tv_nsec = 1000000}; /* until the library's threads have stopped spinning */
    size_t slot = *series->position % series->ring_count;
    for (size_t s = 0; s < series->samples; s++) {
        double begin_ns = nt_now_ns();
        for (int64_t l = 0; l < series->launches; l++) {
            call_once(series->script, &series->ring[slot], pool);
            slot = slot + 1 < series->ring_count ? slot + 1 : 0;
        }
        if (series->out_ns != NULL)
            series->out_ns[s] = (nt_now_ns() - begin_ns) / (double)series->launches;
    }
    *series->position += series->samples * (size_t)series->launches;
    nanosleep(&rest, NULL);
}

void nt_cpu_series_run(nt_cpu_pool *pool, const nt_cpu_series *series)
{
    if (series->script->calls_vendor) {
        call_series(pool, series);
        return;
    }
    series_job job = {series, pool, *series->position % series->ring_count};
    nt_cpu_pool_run(pool, run_series, &job);
    *series->position += series->samples * (size_t)series->launches;
}

/* ---- scripts ------------------------------------------------------------------------------------------------------------ */

static bool items_of(const nt_stage *stage, int64_t *out)
{
    uint64_t plane = (uint64_t)stage->grid[0] * stage->grid[1];
    unsigned __int128 items = (unsigned __int128)plane * stage->grid[2];
    *out = (int64_t)items;
    return items > 0 && items <= (unsigned __int128)INT64_MAX;
}

nt_status nt_cpu_script_make(const nt_stage *stages, int count, nt_cpu_entry (*find)(void *context, const char *name),
                             void *context, nt_cpu_script *out, nt_error *err)
{
    memset(out, 0, sizeof *out);
    for (int s = 0; s < count; s++) {
        const nt_stage *stage = &stages[s];
        out->step[s].stage = stage;
        out->count = s + 1; /* what nt_cpu_script_done frees */
        if (stage->kind == NT_STAGE_VENDOR) {
            nt_status status = nt_cpu_vendor_make(stage, &out->step[s].call, err);
            out->calls_vendor = true;
            if (status != NT_OK)
                return status;
            continue;
        }
        if (stage->kind == NT_STAGE_ZERO) {
            out->step[s].items = (int64_t)stage->zero_bytes;
            continue;
        }
        if (stage->kind == NT_STAGE_SYMBOL) {
            nt_cpu_entry found = find(context, stage->entry);
            memcpy(&out->step[s].variable, &found, sizeof found);
            out->step[s].items = (int64_t)stage->zero_bytes;
            if (found == NULL)
                return nt_fail(err, NT_LAUNCH_FAILED, "the compiled code has no variable '%s'", stage->entry);
            continue;
        }
        if (!items_of(stage, &out->step[s].items))
            return nt_fail(err, NT_LAUNCH_FAILED, "%s: a grid of %u x %u x %u items; 1 to 2^63-1 are possible",
                           stage->entry, stage->grid[0], stage->grid[1], stage->grid[2]);
        out->step[s].entry = find(context, stage->entry);
        if (out->step[s].entry == NULL)
            return nt_fail(err, NT_LAUNCH_FAILED, "the compiled code has no entry '%s'", stage->entry);
    }
    out->count = count;
    return NT_OK;
}

void nt_cpu_script_done(nt_cpu_script *script)
{
    for (int s = 0; s < script->count; s++)
        if (script->step[s].call != NULL)
            script->step[s].call->free(script->step[s].call);
    script->count = 0;
}
