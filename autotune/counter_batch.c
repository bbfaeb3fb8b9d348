/* counter_batch.c: counters of the configurations of one request: loads as many as memory takes, gives each its own
 * bindings, has them counted together, and sets one that fails apart without losing the others. */
#include <math.h>
#include <stdlib.h>

#include "autotune/counter_worker.h"
#include "core/clock.h"
#include "core/json.h"
#include "core/mem.h"

/* A configuration while it is counted. Each has a ring of its own: a slot of the workload's ring for each run, and its
 * packed weights, which no other configuration shares. */
typedef struct item {
    nt_loaded loaded;
    nt_target target;
    nt_binding *ring;
    size_t runs, position;
    nt_mem packed;
    char reason[512]; /* why it has no values; empty when it has */
} item;

typedef struct group {
    item item[NT_COUNTERS_BATCH];
    size_t count;
    size_t packed_bytes, workspace_bytes;
} group;

static size_t packed_stride(const item *it)
{
    return (it->loaded.plan.packed_bytes + 255) / 256 * 256;
}

/* A failure that belongs to one configuration, not to the worker or the message. */
static bool of_the_item(nt_status status)
{
    return status != NT_DEVICE_LOST && status != NT_CORRUPT;
}

static void set_apart(item *it, const nt_error *err)
{
    nt_copy(it->reason, sizeof it->reason, err->what[0] != '\0' ? err->what : "it failed without a reason");
}

/* ---- getting ready ---- */

/* As the device worker does it before a launch: asked for its side effect, the dynamic shared memory limit. */
static nt_status allow_launch(nt_worker *worker, const nt_loaded *loaded, nt_error *err)
{
    nt_status status = NT_OK;
    for (int i = 0; status == NT_OK && i < loaded->plan.stage_count; i++) {
        const nt_stage *stage = &loaded->plan.stage[i];
        nt_function_info info;
        if (stage->kind == NT_STAGE_VENDOR)
            return nt_fail(err, NT_LAUNCH_FAILED, "what a vendor's library launches is not counted");
        if (stage->kind == NT_STAGE_KERNEL)
            status = worker->ops->function_info(worker->device, loaded->module, stage->entry,
                                                stage->block[0] * stage->block[1] * stage->block[2],
                                                stage->smem_dynamic_bytes, &info, err);
    }
    return status;
}

/* Loads items from `first` on until the group or a quarter of the free memory is full. */
static nt_status load(nt_counter_worker *worker, const json_t *items, size_t first, group *g, nt_error *err)
{
    nt_worker *base = &worker->base;
    size_t available = 0;
    size_t runs = base->cache == NT_HOT ? 1 : (size_t)nt_counters_passes(worker->counters);
    runs = runs < base->workload->ring_count ? runs : base->workload->ring_count;
    nt_status status = base->ops->memory_free(base->device, &available, err);
    while (status == NT_OK && g->count < NT_COUNTERS_BATCH && first + g->count < json_array_size(items)) {
        item *it = &g->item[g->count];
        *it = (item){.runs = runs};
        status = nt__worker_load(base, json_array_get(items, first + g->count), &it->loaded, err);
        if (status == NT_OK)
            status = allow_launch(base, &it->loaded, err);
        if (status != NT_OK && of_the_item(status)) {
            set_apart(it, err);
            status = NT_OK;
        }
        g->count++;
        g->packed_bytes += packed_stride(it) * it->runs;
        if (it->loaded.plan.workspace_bytes > g->workspace_bytes)
            g->workspace_bytes = it->loaded.plan.workspace_bytes;
        if (g->packed_bytes + g->workspace_bytes > available / 4)
            break;
    }
    return status;
}

/* Run r of configuration i takes the slot that comes up after r rounds of all: the order in which they are launched. */
static void bind(const nt_workload *w, const group *g, size_t i)
{
    const item *it = &g->item[i];
    for (size_t run = 0; run < it->runs; run++) {
        it->ring[run] = w->ring[(w->position + run * g->count + i) % w->ring_count];
        it->ring[run].address[NT_ROLE_PACKED] = it->packed != 0 ? it->packed + run * packed_stride(it) : 0;
        it->ring[run].address[NT_ROLE_WORKSPACE] = w->workspace.data;
    }
}

static nt_status get_ready(nt_worker *base, const group *g, size_t i, nt_error *err)
{
    item *it = (item *)&g->item[i];
    const nt_plan *plan = &it->loaded.plan;
    nt_status status = NT_OK;
    it->ring = nt_alloc_zero(it->runs, sizeof *it->ring);
    if (plan->prepare_count > 0)
        status = base->ops->alloc(base->device, packed_stride(it) * it->runs, &it->packed, err);
    bind(base->workload, g, i);
    for (size_t run = 0; status == NT_OK && plan->prepare_count > 0 && run < it->runs; run++)
        status = base->ops->run(base->device, it->loaded.module, plan, true, &it->ring[run], NULL, err);
    it->target =
        (nt_target){base->ops, base->device, it->loaded.module, plan, it->ring, it->runs, &it->position, NULL, NULL};
    return status;
}

static nt_status get_all_ready(nt_worker *base, group *g, nt_error *err)
{
    nt_workload *w = base->workload;
    nt_status status = nt_guarded_resize(base->ops, base->device, &w->workspace, g->workspace_bytes, err);
    for (size_t i = 0; status == NT_OK && i < g->count; i++) {
        if (g->item[i].reason[0] != '\0')
            continue;
        status = get_ready(base, g, i, err);
        if (status != NT_OK && of_the_item(status)) {
            set_apart(&g->item[i], err);
            status = NT_OK;
        }
    }
    w->position += g->count * (g->count > 0 ? g->item[0].runs : 0);
    return status;
}

static void unload(nt_counter_worker *worker, group *g)
{
    nt_worker *base = &worker->base;
    for (size_t i = 0; i < g->count; i++) {
        item *it = &g->item[i];
        base->ops->free(base->device, it->packed);
        if (it->loaded.module != NULL)
            nt__worker_unload(base, &it->loaded);
        free(it->ring);
    }
}

/* ---- counting ---- */

/* Counts those not set apart, and again without one whose launch fails, until what is left goes through. */
static nt_status count(nt_counter_worker *worker, group *g, double *values, size_t *lost, nt_error *err)
{
    nt_target target[NT_COUNTERS_BATCH];
    size_t whose[NT_COUNTERS_BATCH];
    for (;;) {
        size_t n = 0, failed;
        for (size_t i = 0; i < g->count; i++)
            if (g->item[i].reason[0] == '\0') {
                target[n] = g->item[i].target;
                whose[n++] = i;
            }
        if (n == 0)
            return NT_OK;
        nt_status status = nt_counters_collect(worker->counters, target, n, worker->base.cache, values, &failed, err);
        if (status == NT_OK)
            return NT_OK;
        if (failed < n && status == NT_DEVICE_LOST)
            *lost = whose[failed];
        if (failed >= n || !of_the_item(status))
            return status;
        set_apart(&g->item[whose[failed]], err);
    }
}

static json_t *result(const nt_metric_plan *plan, const item *it, const json_t *request, const double **values)
{
    json_t *out = json_object();
    json_t *trial = json_object_get(request, "trial");
    json_object_set(out, "trial", trial != NULL ? trial : json_null());
    if (it->reason[0] != '\0') {
        json_object_set_new(out, "reason", nt_json_text(it->reason));
        return out;
    }
    json_t *numbers = json_object();
    for (size_t k = 0; k < plan->count; k++)
        json_object_set_new(numbers, plan->metric[k].name, nt_json_real((*values)[k]));
    *values += plan->count;
    json_object_set_new(out, "values", numbers);
    return out;
}

/* What has been done of a request. */
typedef struct progress {
    size_t next, lost; /* item to load next; item that lost the device, SIZE_MAX: none or not known */
    double load_ms, count_ms;
    json_t *out;
} progress;

static nt_status one_group(nt_counter_worker *worker, const json_t *items, progress *p, nt_error *err)
{
    const nt_metric_plan *plan = nt_counters_plan(worker->counters);
    group *g = nt_alloc_zero(1, sizeof *g);
    double *values = nt_alloc_zero(NT_COUNTERS_BATCH * plan->count, sizeof *values);
    double begin = nt_now_ms();
    size_t lost = SIZE_MAX;
    nt_status status = load(worker, items, p->next, g, err);
    if (status == NT_OK)
        status = get_all_ready(&worker->base, g, err);
    double loaded = nt_now_ms();
    if (status == NT_OK)
        status = count(worker, g, values, &lost, err);
    double counted = nt_now_ms();
    const double *at = values;
    for (size_t i = 0; status == NT_OK && i < g->count; i++)
        json_array_append_new(p->out, result(plan, &g->item[i], json_array_get(items, p->next + i), &at));
    if (lost < g->count)
        p->lost = p->next + lost;
    if (status != NT_DEVICE_LOST)
        unload(worker, g);
    p->next += g->count;
    p->count_ms += counted - loaded;
    p->load_ms += loaded - begin + nt_now_ms() - counted;
    free(values);
    free(g);
    return status;
}

nt_status nt__counter_batch(nt_counter_worker *worker, const json_t *request, json_t *reply, nt_error *err)
{
    const json_t *items = json_object_get(request, "items");
    if (!json_is_array(items))
        return nt_fail(err, NT_CORRUPT, "a request for counters has no items");
    double begin = nt_now_ms();
    progress p = {.lost = SIZE_MAX, .out = json_array()};
    nt_status status = NT_OK;
    while (status == NT_OK && p.next < json_array_size(items))
        status = one_group(worker, items, &p, err);
    if (p.lost < json_array_size(items)) {
        json_t *trial = json_object_get(json_array_get(items, p.lost), "trial");
        json_object_set(reply, "trial", trial != NULL ? trial : json_null());
    }
    json_object_set_new(reply, "ms", nt_json_real(nt_now_ms() - begin));
    json_object_set_new(reply, "load_ms", nt_json_real(p.load_ms));
    json_object_set_new(reply, "count_ms", nt_json_real(p.count_ms));
    nt_counters_cost cost = nt_counters_spent(worker->counters);
    json_object_set_new(reply, "spent",
                        json_pack("{s:f, s:f, s:f, s:f}", "sweep_ms", cost.sweep_ms,
                                  "start_stop_ms", cost.start_stop_ms, "launch_ms", cost.launch_ms, "read_ms",
                                  cost.read_ms));
    json_object_set_new(reply, "cache", json_string(nt_cache_mode_name(worker->base.cache)));
    json_object_set_new(reply, "passes", json_integer(nt_counters_passes(worker->counters)));
    json_object_set_new(reply, "counters", p.out);
    worker->base.last_work_s = nt_now_ms() * 1e-3;
    return status;
}
