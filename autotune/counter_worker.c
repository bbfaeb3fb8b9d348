/* counter_worker.c: see counter_worker.h. */
#include "autotune/counter_worker.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/child.h"
#include "autotune/parallel.h"
#include "autotune/spec.h"
#include "core/json.h"
#include "core/mem.h"
#include "profiler/cupti_api.h"

static const char source[] = "CUPTI range profiler";

static json_t *metrics_reply(const nt_metric_plan *plan)
{
    json_t *list = json_array();
    for (size_t i = 0; i < plan->count; i++) {
        const nt_metric *metric = &plan->metric[i];
        json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o}", "name", metric->name, "unit",
                                              nt_json_text(metric->unit), "counter", nt_json_text(metric->counter),
                                              "what", nt_json_text(metric->what)));
    }
    return list;
}

static nt_status open_counters(nt_counter_worker *worker, const json_t *metrics, int64_t most_passes, nt_error *err)
{
    size_t count = json_array_size(metrics);
    const char **names = nt_alloc_zero(count + 1, sizeof *names);
    nt_status status = count > 0 ? NT_OK : nt_fail(err, NT_CORRUPT, "a request for counters names no metrics");
    for (size_t i = 0; status == NT_OK && i < count; i++) {
        names[i] = json_string_value(json_array_get(metrics, i));
        if (names[i] == NULL)
            status = nt_fail(err, NT_CORRUPT, "metric %zu of a request for counters is no text", i);
    }
    int passes = most_passes > 0 ? (int)most_passes : 0;
    if (status == NT_OK && worker->counters != NULL)
        status = nt_counters_change(worker->counters, names, count, passes, err);
    else if (status == NT_OK)
        status =
            nt_counters_open(worker->base.ops, worker->base.device, names, count, passes, &worker->counters, err);
    free(names);
    return status;
}

/* Reading CUPTI's libraries and making a context take a quarter of a second each, and neither waits for the other. */
static void *read_library(void *unused)
{
    const nt_cupti_api *api;
    const char *const *chips;
    size_t count;
    nt_error err; /* whoever needs it gets it again */
    if (nt_cupti_api_get(&api, NULL, &err) == NT_OK)
        nt_cupti_chips(&chips, &count, &err);
    return unused;
}

static nt_status open_device(nt_worker *base, nt_error *err)
{
    pthread_t reader;
    bool reading = pthread_create(&reader, NULL, read_library, NULL) == 0;
    nt_status status = base->ops->open(base->ordinal, &base->device, err);
    if (reading)
        pthread_join(reader, NULL);
    return status;
}

/* What takes long and holds nothing of the counters: others may time and count meanwhile. */
static nt_status op_prepare(nt_counter_worker *worker, const json_t *request, json_t *reply, nt_error *err)
{
    (void)request, (void)reply;
    return worker->base.device != NULL ? NT_OK : open_device(&worker->base, err);
}

static nt_status op_open(nt_counter_worker *worker, const json_t *request, json_t *reply, nt_error *err)
{
    nt_worker *base = &worker->base;
    nt_status status = op_prepare(worker, request, reply, err);
    if (status == NT_OK)
        status =
            open_counters(worker, json_object_get(request, "metrics"), nt_json_get_int(request, "most_passes"), err);
    if (status != NT_OK)
        return status;
    const nt_metric_plan *plan = nt_counters_plan(worker->counters);
    json_object_set_new(reply, "device", nt_json_device(base->ops->info(base->device)));
    json_object_set_new(reply, "chip", nt_json_text(plan->chip));
    json_object_set_new(reply, "passes", json_integer(plan->passes));
    json_object_set_new(reply, "source", json_string(source));
    json_object_set_new(reply, "metrics", metrics_reply(plan));
    return NT_OK;
}

static nt_status op_problem(nt_counter_worker *worker, const json_t *request, json_t *reply, nt_error *err)
{
    nt_worker *base = &worker->base;
    const char *cache = nt_json_get_text(request, "cache");
    int64_t seed = nt_json_get_int(request, "seed");
    nt_problem problem;
    if (cache == NULL || nt_cache_mode_find(cache) < 0 || seed == NT_UNKNOWN)
        return nt_fail(err, NT_CORRUPT, "a problem request is damaged");
    nt_status status = nt_json_to_problem(json_object_get(request, "problem"), &problem, err);
    if (status == NT_OK)
        status = nt_spec_told(request, err);
    if (status != NT_OK)
        return status;
    nt_workload_close(base->workload);
    base->workload = NULL;
    base->cache = (nt_cache_mode)nt_cache_mode_find(cache);
    status = nt_workload_open_unchecked(base->ops, base->device, &problem, (uint64_t)seed, base->cache, &base->workload,
                                        err);
    if (status != NT_OK)
        return status;
    json_object_set_new(reply, "ms", nt_json_real(base->workload->reference_ms));
    json_object_set_new(reply, "slots", json_integer((json_int_t)base->workload->ring_count));
    json_object_set_new(reply, "slot_bytes", json_integer((json_int_t)base->workload->slot_bytes));
    return NT_OK;
}

static const struct {
    const char *op;
    bool needs_counters, needs_problem;
    nt_status (*run)(nt_counter_worker *worker, const json_t *request, json_t *reply, nt_error *err);
} operations[] = {
    {"prepare", false, false, op_prepare},
    {"open", false, false, op_open},
    {"problem", true, false, op_problem},
    {"counters", true, true, nt__counter_batch},
};

static nt_status run(nt_counter_worker *worker, const char *op, const json_t *request, json_t *reply, nt_error *err)
{
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (strcmp(operations[i].op, op) != 0)
            continue;
        if ((operations[i].needs_counters && worker->counters == NULL) ||
            (operations[i].needs_problem && worker->base.workload == NULL))
            return nt_fail(err, NT_CORRUPT, "request '%s' came out of order", op);
        return operations[i].run(worker, request, reply, err);
    }
    return nt_fail(err, NT_CORRUPT, "unknown request '%s'", op);
}

json_t *nt__counter_worker_answer(nt_counter_worker *worker, const json_t *request, bool *lost)
{
    nt_error err = {0};
    const char *op = nt_json_get_text(request, "op");
    if (op == NULL)
        op = "?";
    json_t *reply = json_pack("{s:s, s:i}", "op", op, "status", 0);
    nt_status status = run(worker, op, request, reply, &err);
    *lost = status == NT_DEVICE_LOST;
    if (status == NT_OK)
        return reply;
    json_object_set_new(reply, "status", json_integer((json_int_t)status));
    json_object_set_new(reply, "what", nt_json_text(err.what));
    json_object_set_new(reply, "hint", nt_json_text(err.hint));
    return reply;
}

void nt__counter_worker_done(nt_counter_worker *worker)
{
    nt_counters_close(worker->counters);
    nt_workload_close(worker->base.workload);
    if (worker->base.device != NULL)
        worker->base.ops->close(worker->base.device);
    worker->counters = NULL;
    worker->base.workload = NULL;
    worker->base.device = NULL;
}

int nt_counter_worker_main(const char *parent_pid, const char *device)
{
    nt_error err = {0};
    nt_channel channel;
    nt_counter_worker worker = {.base = {.floor_ns = NAN}};
    nt_device_kind kind;
    nt_parallel_init();
    nt_status status = nt_child_enter(parent_pid, false, &channel, &err);
    if (status != NT_OK)
        return nt_status_exit_code(status);
    status = device != NULL ? nt_device_parse(device, &kind, &worker.base.ordinal, &err) : NT_USAGE;
    if (status == NT_OK)
        worker.base.ops = nt_device_ops_of(kind);
    bool lost = false;
    while (status == NT_OK && !lost) {
        json_t *request = NULL;
        status = nt_channel_receive(&channel, -1, &request, &err);
        if (status != NT_OK)
            break;
        json_t *reply = nt__counter_worker_answer(&worker, request, &lost);
        json_decref(request);
        status = nt_channel_send(&channel, reply, &err);
    }
    if (!lost) /* a lost context cannot be tidied up: the process end does it */
        nt__counter_worker_done(&worker);
    nt_channel_done(&channel);
    return status == NT_CLOSED ? 0 : nt_status_exit_code(status);
}
