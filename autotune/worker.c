#include "autotune/worker.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "autotune/child.h"
#include "autotune/parallel.h"
#include "autotune/spec.h"
#include "autotune/worker_finals.h"
#include "autotune/worker_trial.h"
#include "core/json.h"
#include "profiler/nvtx.h"

static json_t *failure(const char *op, const nt_error *err)
{
    return json_pack("{s:s, s:i, s:o, s:o}", "op", op, "status", (int)err->status, "what", nt_json_text(err->what),
                     "hint", nt_json_text(err->hint));
}

static nt_status op_open(nt_worker *worker, const json_t *request, json_t *reply, nt_error *err)
{
    (void)request;
    nt_status status = worker->ops->open(worker->ordinal, &worker->device, err);
    if (status == NT_OK)
        status = worker->ops->floor(worker->device, &worker->floor_ns, err);
    if (status != NT_OK)
        return status;
    json_object_set_new(reply, "device", nt_json_device(worker->ops->info(worker->device)));
    json_object_set_new(reply, "floor_ns", nt_json_real(worker->floor_ns));
    return NT_OK;
}

static nt_status op_problem(nt_worker *worker, const json_t *request, json_t *reply, nt_error *err)
{
    json_t *description;
    json_int_t seed;
    const char *cache;
    nt_problem problem;
    if (json_unpack((json_t *)request, "{s:o, s:I, s:s}", "problem", &description, "seed", &seed, "cache", &cache) != 0)
        return nt_fail(err, NT_CORRUPT, "a problem request is damaged");
    nt_status status = nt_json_to_problem(description, &problem, err);
    if (status == NT_OK)
        status = nt_spec_told(request, err);
    if (status != NT_OK)
        return status;
    nt_workload_close(worker->workload);
    worker->workload = NULL;
    worker->cache = strcmp(cache, "hot") == 0 ? NT_HOT : NT_COLD;
    bool unchecked = json_is_true(json_object_get(request, "unchecked"));
    status = (unchecked ? nt_workload_open_unchecked : nt_workload_open)(
        worker->ops, worker->device, &problem, (uint64_t)seed, worker->cache, &worker->workload, err);
    if (status != NT_OK)
        return status;
    json_object_set_new(reply, "ms", nt_json_real(worker->workload->reference_ms));
    json_object_set_new(reply, "slots", json_integer((json_int_t)worker->workload->ring_count));
    json_object_set_new(reply, "slot_bytes", json_integer((json_int_t)worker->workload->slot_bytes));
    return NT_OK;
}

/* Identity without a context: what the coordinator needs for the device's lock before anything is opened. */
static nt_status op_identify(nt_worker *worker, const json_t *request, json_t *reply, nt_error *err)
{
    static nt_device_listing listing;
    worker->ops->list(&listing);
    if (worker->ordinal >= listing.count && listing.count > 0)
        return nt_fail(err, NT_NO_DEVICE, "there is no device %s:%d; the last one is %s:%d", worker->ops->name,
                       worker->ordinal, worker->ops->name, listing.count - 1);
    if (listing.count == 0) {
        nt_fail(err, NT_NO_DEVICE, "no usable %s device: %s", worker->ops->name, listing.missing);
        nt_hint(err, "%s", listing.hint);
        return NT_NO_DEVICE;
    }
    if (json_is_true(json_object_get(request, "libraries")) && worker->ops->libraries != NULL)
        worker->ops->libraries(&listing.info[worker->ordinal]);
    json_object_set_new(reply, "device", nt_json_device(&listing.info[worker->ordinal]));
    return NT_OK;
}

static const struct {
    const char *op;
    bool needs_device, needs_problem;
    nt_status (*run)(nt_worker *worker, const json_t *request, json_t *reply, nt_error *err);
} operations[] = {
    {"identify", false, false, op_identify},   {"open", false, false, op_open},
    {"problem", true, false, op_problem},      {"trial", true, true, nt__worker_trial},
    {"finals", true, true, nt__worker_finals},
};

static json_t *answer(nt_worker *worker, const json_t *request, nt_error *err)
{
    const char *op = json_string_value(json_object_get(request, "op"));
    json_t *reply = json_pack("{s:s, s:i}", "op", op != NULL ? op : "?", "status", 0);
    nt_status status = nt_fail(err, NT_CORRUPT, "unknown request '%s'", op != NULL ? op : "");
    for (size_t i = 0; op != NULL && i < sizeof operations / sizeof operations[0]; i++) {
        if (strcmp(operations[i].op, op) != 0)
            continue;
        if ((operations[i].needs_device && worker->device == NULL) ||
            (operations[i].needs_problem && worker->workload == NULL))
            status = nt_fail(err, NT_CORRUPT, "request '%s' came out of order", op);
        else {
            nt_nvtx_push("%s", op);
            status = operations[i].run(worker, request, reply, err);
            nt_nvtx_pop();
        }
    }
    if (status == NT_OK)
        return reply;
    json_decref(reply);
    err->status = status;
    return failure(op != NULL ? op : "?", err);
}

int nt_worker_main(const char *parent_pid, const char *device)
{
    nt_error err = {0};
    nt_channel channel;
    nt_worker worker = {.floor_ns = NAN};
    nt_device_kind kind;
    nt_parallel_init();
    nt_status status = nt_child_enter(parent_pid, false, &channel, &err);
    if (status != NT_OK)
        return nt_status_exit_code(status);
    status = device != NULL ? nt_device_parse(device, &kind, &worker.ordinal, &err) : NT_USAGE;
    if (status == NT_OK)
        worker.ops = nt_device_ops_of(kind);
    bool lost = false;
    while (status == NT_OK && !lost) {
        json_t *request = NULL;
        status = nt_channel_receive(&channel, -1, &request, &err);
        if (status != NT_OK)
            break;
        err = (nt_error){0};
        json_t *reply = answer(&worker, request, &err);
        lost = err.status == NT_DEVICE_LOST;
        json_decref(request);
        status = nt_channel_send(&channel, reply, &err);
        if (!lost && worker.device != NULL)
            nt__worker_tidy(&worker);
    }
    if (!lost && worker.device != NULL) { /* a lost context cannot be tidied up: the process end does it */
        nt_workload_close(worker.workload);
        worker.ops->close(worker.device);
    }
    nt_channel_done(&channel);
    return status == NT_CLOSED ? 0 : nt_status_exit_code(status);
}
