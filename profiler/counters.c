/* counters.c: see counters.h. The order of launches is all that ties a counted range to its plan, so it is kept as a
 * list, and the number of ranges is compared with it before any value is believed. */
#include "profiler/counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/str.h"
#include "device/cuda_device.h"
#include "profiler/cupti_range.h"

enum { RANGES = NT_COUNTERS_RANGES, PLANS = 4 };

/* A plan with the list it was made for. */
typedef struct known {
    char *asked; /* the metrics' names and the most passes, as one text */
    nt_metric_plan *plan;
} known;

struct nt_counters {
    const nt_device_ops *ops;
    nt_device *device;
    char chip[NT_CHIP_BYTES];
    nt_cupti_image available; /* what the device gives, where the whole list of its chip was refused */
    known known[PLANS];       /* the last ones made, in turn */
    int next_known;
    nt_metric_plan *plan; /* one of them */
    nt_cupti_range *session;
    nt_mem sweep; /* read over before a cold pass: twice the L2 */
    size_t sweep_bytes;
    double *range_values; /* of one range, by counter */
    double *weight;       /* [NT_COUNTERS_BATCH * metrics] */
    nt_counters_cost cost;
};

typedef struct request {
    const char *const *metrics;
    size_t count;
    int most_passes;
} request;

/* Targets that share a start and stop, and whose each range is. */
typedef struct batch {
    const nt_target *target;
    size_t count;
    int runs; /* of each target in a pass: 2 when hot, the last one counted */
    size_t ranges;
    struct {
        size_t target;
        bool counted;
    } owner[RANGES];
} batch;

/* ---- open, close ---- */

static nt_status find_target(const nt_device_ops *ops, nt_device *device, nt_cupti_target *out, nt_error *err)
{
    *out = (nt_cupti_target){0};
    if (ops->kind != NT_DEVICE_CUDA)
        return nt_fail(err, NT_NO_DEVICE, "hardware counters are read from NVIDIA GPUs; the device is a %s", ops->name);
#ifdef NT_HAVE_CUDA_H
    CUdevice handle;
    CUcontext context;
    nt_cuda_native(device, &handle, &context);
    *out = (nt_cupti_target){ops->info(device)->ordinal, handle, context};
#else
    (void)device;
#endif
    return NT_OK;
}

/* The session begins with the first plan. */
static nt_status use_plan(nt_counters *counters, nt_metric_plan *plan, nt_error *err)
{
    nt_cupti_target target;
    nt_status status = find_target(counters->ops, counters->device, &target, err);
    if (status == NT_OK)
        status = counters->session != NULL ? nt_cupti_range_change(counters->session, plan, err)
                                           : nt_cupti_range_open(&target, plan, RANGES, &counters->session, err);
    if (status != NT_OK)
        return status;
    counters->plan = plan;
    free(counters->range_values);
    free(counters->weight);
    counters->range_values = nt_alloc_zero(plan->counter_count, sizeof(double));
    counters->weight = nt_alloc_zero(NT_COUNTERS_BATCH * plan->count, sizeof(double));
    return NT_OK;
}

static nt_status make_and_use(nt_counters *counters, const request *wanted, nt_metric_plan **plan, nt_error *err)
{
    const nt_cupti_image *available = counters->available.bytes != NULL ? &counters->available : NULL;
    nt_status status = nt_metric_plan_open(NT_CUPTI_RANGES, counters->chip, available, wanted->metrics, wanted->count,
                                           wanted->most_passes, plan, err);
    if (status == NT_OK)
        status = use_plan(counters, *plan, err);
    if (status == NT_OK)
        return NT_OK;
    nt_metric_plan_close(*plan);
    *plan = NULL;
    return status;
}

/* Asking what the device gives of its chip's counters takes half a second, so it is done only where the whole list of
 * the chip was refused: some virtual machines and settings keep counters back. */
static nt_status take_counters(nt_counters *counters, const request *wanted, nt_metric_plan **plan, nt_error *err)
{
    nt_cupti_target target;
    nt_error first = {0};
    nt_status status = make_and_use(counters, wanted, plan, &first);
    bool final = status == NT_OK || status == NT_USAGE || status == NT_BUSY || status == NT_NO_PERMISSION ||
                 counters->session != NULL || counters->available.bytes != NULL;
    if (!final && find_target(counters->ops, counters->device, &target, err) == NT_OK &&
        nt_cupti_range_available(&target, &counters->available, err) == NT_OK)
        status = make_and_use(counters, wanted, plan, &first);
    if (status != NT_OK && err != NULL)
        *err = first;
    return status;
}

static char *text_of(const request *wanted)
{
    nt_str text = {0};
    nt_str_addf(&text, "%d", wanted->most_passes);
    for (size_t i = 0; i < wanted->count; i++)
        nt_str_addf(&text, ",%s", wanted->metrics[i]);
    char *copy = nt_strdup(nt_str_text(&text));
    nt_str_done(&text);
    return copy;
}

static void forget(known *k)
{
    nt_metric_plan_close(k->plan);
    free(k->asked);
    *k = (known){0};
}

nt_status nt_counters_change(nt_counters *counters, const char *const *metrics, size_t count, int most_passes,
                             nt_error *err)
{
    request wanted = {metrics, count, most_passes};
    nt_metric_plan *plan = NULL;
    char *asked = text_of(&wanted);
    nt_status status = NT_NOT_FOUND;
    for (int i = 0; i < PLANS && status == NT_NOT_FOUND; i++)
        if (counters->known[i].asked != NULL && strcmp(counters->known[i].asked, asked) == 0)
            status = counters->known[i].plan == counters->plan ? NT_OK : use_plan(counters, counters->known[i].plan, err);
    if (status != NT_NOT_FOUND) {
        free(asked);
        return status;
    }
    status = take_counters(counters, &wanted, &plan, err);
    if (status != NT_OK) {
        free(asked);
        return status;
    }
    known *place = &counters->known[counters->next_known];
    forget(place); /* the session is with the new plan already */
    *place = (known){asked, plan};
    counters->next_known = (counters->next_known + 1) % PLANS;
    return NT_OK;
}

nt_status nt_counters_open(const nt_device_ops *ops, nt_device *device, const char *const *metrics, size_t count,
                           int most_passes, nt_counters **out, nt_error *err)
{
    nt_counters *counters = nt_alloc_zero(1, sizeof *counters);
    nt_cupti_target target;
    *out = NULL;
    counters->ops = ops;
    counters->device = device;
    nt_status status = find_target(ops, device, &target, err);
    if (status == NT_OK)
        status = nt_cupti_range_probe(&target, counters->chip, err);
    if (status == NT_OK)
        status = nt_counters_change(counters, metrics, count, most_passes, err);
    if (status == NT_OK)
        *out = counters;
    else
        nt_counters_close(counters);
    return status;
}

void nt_counters_close(nt_counters *counters)
{
    if (counters == NULL)
        return;
    nt_cupti_range_close(counters->session);
    for (int i = 0; i < PLANS; i++)
        forget(&counters->known[i]);
    nt_cupti_image_done(&counters->available);
    if (counters->sweep != 0)
        counters->ops->free(counters->device, counters->sweep);
    free(counters->range_values);
    free(counters->weight);
    free(counters);
}

const nt_metric_plan *nt_counters_plan(const nt_counters *counters)
{
    return counters->plan;
}

int nt_counters_passes(const nt_counters *counters)
{
    return counters->plan->passes;
}

size_t nt_counters_count(const nt_counters *counters)
{
    return counters->plan->count;
}

nt_counters_cost nt_counters_spent(const nt_counters *counters)
{
    return counters->cost;
}

/* ---- which launches are counted together ---- */

static size_t launches_of(const nt_plan *plan, bool zeroing)
{
    size_t launches = 0;
    for (int i = 0; i < plan->stage_count; i++)
        launches += plan->stage[i].kind == NT_STAGE_KERNEL || (zeroing && plan->stage[i].kind == NT_STAGE_ZERO);
    return launches;
}

/* Takes as many targets as fit a pass; at least one. */
static batch take_batch(const nt_target *targets, size_t count, nt_cache_mode cache)
{
    batch b = {.target = targets, .runs = cache == NT_HOT ? 2 : 1};
    size_t ranges = 0;
    while (b.count < count && b.count < NT_COUNTERS_BATCH) {
        ranges += launches_of(targets[b.count].plan, true) * (size_t)b.runs;
        if (ranges > RANGES && b.count > 0)
            break;
        b.count++;
    }
    return b;
}

/* Whose is each range. Zeroing is a range of its own where the driver launches a kernel for it. */
static void assign(batch *b, bool zeroing)
{
    b->ranges = 0;
    for (size_t i = 0; i < b->count; i++)
        for (int run = 1; run <= b->runs; run++)
            for (size_t k = launches_of(b->target[i].plan, zeroing); k > 0 && b->ranges < RANGES; k--) {
                b->owner[b->ranges].target = i;
                b->owner[b->ranges++].counted = run == b->runs;
            }
}

/* ---- running ---- */

/* Runs the target on its next set, or on the one that is up when it does not move on. */
static nt_status run_once(const nt_target *target, bool move_on, bool wait, nt_error *err)
{
    const nt_binding *binding = &target->ring[*target->position % target->ring_count];
    if (move_on)
        ++*target->position;
    if (!wait && target->ops->launch != NULL)
        return target->ops->launch(target->device, target->module, target->plan, binding, err);
    return target->ops->run(target->device, target->module, target->plan, false, binding, NULL, err);
}

/* Reads memory that nobody else uses, so that the caches hold it and nothing of the plans. Reading leaves nothing
 * behind that a plan would have to write back. */
static nt_status sweep_caches(nt_counters *counters, nt_error *err)
{
    const nt_device_info *info = counters->ops->info(counters->device);
    nt_status status = NT_OK;
    if (counters->sweep == 0) {
        counters->sweep_bytes = 2 * (size_t)(info->l2_bytes > 0 ? info->l2_bytes : 64 << 20);
        status = counters->ops->alloc(counters->device, counters->sweep_bytes, &counters->sweep, err);
        if (status == NT_OK)
            status = counters->ops->fill(counters->device, counters->sweep, 0, counters->sweep_bytes, err);
    }
    size_t changed;
    return status == NT_OK ? counters->ops->count_changed(counters->device, counters->sweep, 0, counters->sweep_bytes,
                                                          &changed, err)
                           : status;
}

/* All of a batch once, the last waited for. A fault that shows there is nobody's, unless there is one plan alone. */
static nt_status run_pass(const batch *b, size_t *failed, nt_error *err)
{
    for (size_t i = 0; i < b->count; i++)
        for (int run = 1; run <= b->runs; run++) {
            bool last = i + 1 == b->count && run == b->runs;
            nt_status status = run_once(&b->target[i], run == b->runs, last, err);
            if (status == NT_OK)
                continue;
            if (b->target[i].ops->launch == NULL || status != NT_DEVICE_LOST || b->count == 1)
                *failed = i;
            return status;
        }
    return NT_OK;
}

static nt_status count_pass(nt_counters *counters, const batch *b, bool *more, size_t *failed, nt_error *err)
{
    nt_error second;
    double begin = nt_now_ms();
    nt_status status = nt_cupti_range_start(counters->session, err);
    if (status != NT_OK)
        return status;
    double started = nt_now_ms();
    status = run_pass(b, failed, err);
    double ran = nt_now_ms();
    nt_status stopped = nt_cupti_range_stop(counters->session, more, status == NT_OK ? err : &second);
    counters->cost.start_stop_ms += started - begin + nt_now_ms() - ran;
    counters->cost.launch_ms += ran - started;
    return status == NT_OK ? stopped : status;
}

/* Launches each plan until the profiler has all its passes. No round goes uncounted before them: plans are those of trials
 * that ran, and another run of each would cost more than what is counted. */
static nt_status run_batch(nt_counters *counters, const batch *b, nt_cache_mode cache, size_t *failed, nt_error *err)
{
    nt_status status = nt_cupti_range_reset(counters->session, err);
    bool more = true;
    for (int pass = 0; status == NT_OK && more; pass++) {
        if (pass > 2 * counters->plan->passes)
            return nt_fail(err, NT_FAILED, "CUPTI asks for more than the %d passes it announced",
                           counters->plan->passes);
        double before = nt_now_ms();
        if (cache == NT_COLD)
            status = sweep_caches(counters, err);
        counters->cost.sweep_ms += nt_now_ms() - before;
        if (status == NT_OK)
            status = count_pass(counters, b, &more, failed, err);
    }
    return status;
}

/* ---- from ranges to values ---- */

/* Adds one range to its target. A weighted value that is not a number (a ratio of nothing) says nothing about the
 * range. */
static void add_range(const nt_counters *counters, const double *range, double *value, double *weight)
{
    const nt_metric_plan *plan = counters->plan;
    double duration = plan->duration >= 0 ? range[plan->duration] : 1;
    for (size_t k = 0; k < plan->count; k++) {
        const nt_metric *metric = &plan->metric[k];
        double x = metric->index >= 0 ? range[metric->index] : NAN;
        if (metric->adds_up) {
            value[k] += isfinite(x) ? x : NAN;
            weight[k] = 1;
        } else if (isfinite(x) && duration > 0) {
            value[k] += x * duration;
            weight[k] += duration;
        }
    }
}

static nt_status read_ranges(nt_counters *counters, const batch *b, double *values, nt_error *err)
{
    size_t metrics = counters->plan->count;
    nt_status status = NT_OK;
    for (size_t i = 0; i < b->count * metrics; i++)
        values[i] = counters->weight[i] = 0;
    for (size_t range = 0; status == NT_OK && range < b->ranges; range++) {
        size_t launch;
        status = nt_cupti_range_values(counters->session, range, &launch, counters->range_values, err);
        if (status == NT_OK && launch >= b->ranges)
            status = nt_fail(err, NT_FAILED, "CUPTI counted launch %zu of a pass of %zu", launch, b->ranges);
        if (status != NT_OK || !b->owner[launch].counted)
            continue;
        size_t first = b->owner[launch].target * metrics;
        add_range(counters, counters->range_values, values + first, counters->weight + first);
    }
    for (size_t i = 0; status == NT_OK && i < b->count * metrics; i++)
        values[i] = counters->weight[i] > 0 ? values[i] / counters->weight[i] : NAN;
    return status;
}

static nt_status collect_batch(nt_counters *counters, batch *b, nt_cache_mode cache, double *values, size_t *failed,
                               nt_error *err)
{
    size_t ranges = 0, dropped = 0;
    nt_status status = run_batch(counters, b, cache, failed, err);
    double begin = nt_now_ms();
    if (status == NT_OK)
        status = nt_cupti_range_decode(counters->session, &ranges, &dropped, err);
    if (status != NT_OK)
        return status;
    assign(b, false);
    size_t kernels = b->ranges;
    if (ranges != kernels)
        assign(b, true);
    if (ranges != b->ranges || dropped > 0) {
        nt_fail(err, NT_FAILED, "%zu kernels were launched, %zu counted and %zu lost", kernels, ranges, dropped);
        nt_hint(err, "no value of this batch is kept, since none can be told from the others");
        return NT_FAILED;
    }
    status = read_ranges(counters, b, values, err);
    counters->cost.read_ms += nt_now_ms() - begin;
    return status;
}

nt_status nt_counters_collect(nt_counters *counters, const nt_target *targets, size_t count, nt_cache_mode cache,
                              double *values, size_t *failed, nt_error *err)
{
    nt_status status = NT_OK;
    size_t done = 0, nobody = 0;
    for (size_t i = 0; i < count * counters->plan->count; i++)
        values[i] = NAN;
    while (status == NT_OK && done < count) {
        batch b = take_batch(targets + done, count - done, cache);
        size_t at = b.count;
        status = collect_batch(counters, &b, cache, values + done * counters->plan->count, &at, err);
        nobody = at == b.count ? count : done + at;
        for (size_t i = 0; status != NT_OK && i < b.count * counters->plan->count; i++)
            values[done * counters->plan->count + i] = NAN;
        done += b.count;
    }
    if (failed != NULL)
        *failed = status == NT_OK ? count : nobody;
    return status;
}
