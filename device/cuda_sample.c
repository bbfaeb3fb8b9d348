/* cuda_sample.c: timing. A sample is a bracket of two events around back-to-back executions; all samples of a request
 * are queued without waiting in between.
 *
 * The host needs 2 to 3 us for a launch, so short kernels would be timed at the host's speed. Launches are therefore
 * queued behind a closed gate (cuda_gate.c) in groups that fit the driver's queue: each group starts when all of it is
 * there. While one group runs, the next is queued. What lies between samples (clock readings) is outside the brackets.
 * A bracket has a length of its own (about 2 us), which would make a sample of one execution look slower than one of
 * two; it is measured once with empty kernels and taken off. What remains in a period is the kernel and the GPU's own
 * gap between two kernels. */
#include "device/cuda_device.h"

#ifdef NT_HAVE_CUDA_H

#include <math.h>

#include "core/mem.h"
#include "core/stats.h"

enum {
    GROUP_OPERATIONS = 384, /* two groups at a time must fit the driver's queue of about 1,000 operations */
    ATTEMPTS = 3,           /* behind a gate that expired, the samples are taken again; the last attempt without one */
    EMPTY_LAUNCHES = 200,
    EMPTY_SAMPLES = 15,
    FEWEST_ROUNDS = 5, /* of 5 to 15 ms each: an idle GPU raises its clocks only after a while */
    MOST_ROUNDS = 40
};

typedef struct queue {
    nt_device *device;
    const nt_sample_request *request;
    nt_cuda_stages stages;
    nt_cuda_clocks clocks;
    size_t operations; /* in the current group */
    bool held;         /* the current group waits for its gate */
    size_t groups;
    CUevent group_end[2]; /* last event of the two groups before the current one */
} queue;

static nt_status make_events(nt_device *device, size_t count, nt_error *err)
{
    nt_grow((void **)&device->event, &device->event_capacity, count, sizeof(CUevent));
    while (device->event_count < count) {
        CUresult result = device->cu->event_create(&device->event[device->event_count], CU_EVENT_DEFAULT);
        if (result != CUDA_SUCCESS)
            return nt_cuda_fail(err, (int)result, "making timing event %zu", device->event_count);
        device->event_count++;
    }
    return NT_OK;
}

static void let_go(queue *q)
{
    if (q->held)
        nt_cuda_gate_open(q->device);
    q->held = false;
}

/* Queues the hold of the next group, after the group before the last has run. */
static CUresult begin_group(queue *q)
{
    CUresult result = CUDA_SUCCESS;
    if (q->groups >= 2)
        result = q->device->cu->event_wait(q->group_end[q->groups % 2]);
    q->operations = 1;
    q->held = result == CUDA_SUCCESS && !q->device->gate_useless;
    return q->held ? nt_cuda_gate_hold(q->device) : result;
}

static void end_group(queue *q, CUevent last)
{
    let_go(q);
    q->group_end[q->groups % 2] = last;
    q->groups++;
    q->operations = 0;
}

static CUresult enqueue_execution(queue *q, int *failed_stage)
{
    const nt_sample_request *r = q->request;
    const nt_binding *binding = &r->ring[*r->position % r->ring_count];
    for (int i = 0; i < q->stages.count; i++) {
        CUresult result = nt_cuda_enqueue(q->device, &q->stages, i, binding);
        if (result != CUDA_SUCCESS) {
            *failed_stage = i;
            return result;
        }
    }
    q->operations += (size_t)q->stages.operations;
    ++*r->position; /* counts on: how far it went says which slots were used */
    /* A sample larger than a group cannot be queued whole; by now the host is well ahead of the GPU. */
    if (q->operations >= GROUP_OPERATIONS)
        let_go(q);
    return CUDA_SUCCESS;
}

static CUresult enqueue_sample(queue *q, size_t index, int *failed_stage)
{
    nt_device *device = q->device;
    CUresult result = q->operations == 0 ? begin_group(q) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS && index == 0)
        result = nt_cuda_clocks_read(device, &q->clocks, 0);
    if (result == CUDA_SUCCESS)
        result = device->cu->event_record(device->event[2 * index], device->stream);
    for (int64_t l = 0; l < q->request->launches && result == CUDA_SUCCESS; l++)
        result = enqueue_execution(q, failed_stage);
    if (result == CUDA_SUCCESS)
        result = device->cu->event_record(device->event[2 * index + 1], device->stream);
    if (result == CUDA_SUCCESS)
        result = nt_cuda_clocks_read(device, &q->clocks, index + 1);
    q->operations += 3;
    return result;
}

/* Queues all samples and waits for them. Whatever goes wrong, the gate is open and the stream idle afterwards. */
static nt_status take_samples(queue *q, nt_error *err)
{
    nt_device *device = q->device;
    size_t per_sample = (size_t)q->request->launches * (size_t)q->stages.operations + 3;
    int failed_stage = -1;
    CUresult result = CUDA_SUCCESS;
    q->groups = 0;
    q->operations = 0;
    for (size_t i = 0; i < q->request->count && result == CUDA_SUCCESS; i++) {
        result = enqueue_sample(q, i, &failed_stage);
        if (q->operations + per_sample > GROUP_OPERATIONS || i + 1 == q->request->count)
            end_group(q, device->event[2 * i + 1]);
    }
    let_go(q);
    nt_status waited = nt_cuda_wait(device, "timing", err);
    if (result == CUDA_SUCCESS)
        return waited;
    return failed_stage >= 0 ? nt_cuda_launch_error(result, &q->stages.stage[failed_stage], err)
                             : nt_cuda_fail(err, (int)result, "queueing samples");
}

/* Whole brackets, in ns. */
static nt_status read_brackets(const queue *q, nt_error *err)
{
    const nt_sample_request *r = q->request;
    nt_device *device = q->device;
    for (size_t i = 0; i < r->count; i++) {
        float ms = 0;
        CUresult result = device->cu->event_elapsed(&ms, device->event[2 * i], device->event[2 * i + 1]);
        if (result != CUDA_SUCCESS)
            return nt_cuda_fail(err, (int)result, "reading sample %zu", i);
        if (!(ms > 0))
            return nt_fail(err, NT_FAILED, "the GPU's timer gave %g ms for a sample of %lld executions", (double)ms,
                           (long long)r->launches);
        r->out_ns[i] = (double)ms * 1e6;
    }
    return NT_OK;
}

/* A kernel's very first run may wait inside its launch (its code is loaded, its local memory made), which a closed gate
 * would turn into a wait for the gate's patience. */
static nt_status run_once(const nt_sample_request *r, nt_device *device, nt_error *err)
{
    const nt_binding *before = &r->ring[(*r->position + r->ring_count - 1) % r->ring_count];
    return nt_cuda_run(device, r->module, r->plan, false, before, NULL, err);
}

static nt_status prepare(queue *q, nt_error *err)
{
    const nt_sample_request *r = q->request;
    nt_device *device = q->device;
    nt_status status = nt_cuda_gate_prepare(device, err);
    if (status == NT_OK)
        status = nt_cuda_clocks_prepare(device, r->count, &q->clocks, err);
    if (status == NT_OK)
        status = make_events(device, 2 * r->count, err);
    if (status == NT_OK)
        status = nt_cuda_stages_get(device, r->module, r->plan->stage, r->plan->stage_count, &q->stages, err);
    if (status == NT_OK && q->stages.first_time)
        status = run_once(r, device, err);
    return status;
}

static nt_status take_brackets(nt_device *device, const nt_sample_request *request, nt_error *err)
{
    queue q = {.device = device, .request = request};
    nt_status status = NT_OK;
    for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
        status = prepare(&q, err);
        if (status == NT_OK)
            status = take_samples(&q, err);
        if (status != NT_OK || !nt_cuda_gate_expired(device))
            break;
        /* Once is a busy host; twice is a machine where a launch waits for its kernel. */
        device->gate_useless = attempt == ATTEMPTS - 1;
    }
    if (status == NT_OK)
        status = read_brackets(&q, err);
    return status == NT_OK ? nt_cuda_clocks_fetch(device, &q.clocks, request->out_clock_mhz, err) : status;
}

/* Median bracket of `launches` empty kernels. */
static nt_status empty_bracket(nt_device *device, int64_t launches, double *out_ns, nt_error *err)
{
    nt_plan plan = {.stage_count = 1};
    nt_binding none = {{0}};
    double brackets[EMPTY_SAMPLES];
    size_t position = 0;
    nt_module *support = NULL;
    nt_status status = nt_cuda_support(device, &support, err);
    if (status != NT_OK)
        return status;
    nt_stage_kernel(&plan.stage[0], "nt_empty", 1, 1, 1, 32, 1, 1);
    nt_sample_request request = {
        .plan = &plan,
        .module = support,
        .ring = &none,
        .ring_count = 1,
        .position = &position,
        .launches = launches,
        .count = EMPTY_SAMPLES,
        .out_ns = brackets,
    };
    status = take_brackets(device, &request, err);
    if (status == NT_OK)
        *out_ns = nt_median(brackets, EMPTY_SAMPLES);
    return status;
}

/* The period of empty kernels is the slope between brackets of one and of many; what the bracket of one is longer
 * than that is the bracket's own length. */
static nt_status measure_empty(nt_device *device, double *period_ns, double *overhead_ns, nt_error *err)
{
    double one_ns = 0, many_ns = 0;
    nt_status status = empty_bracket(device, EMPTY_LAUNCHES, &many_ns, err);
    if (status == NT_OK)
        status = empty_bracket(device, 1, &one_ns, err);
    *period_ns = (many_ns - one_ns) / (EMPTY_LAUNCHES - 1);
    *overhead_ns = one_ns > *period_ns ? one_ns - *period_ns : 0;
    return status;
}

/* Once a device, when its clocks have settled: two rounds in a row agree within 1 %. */
static nt_status calibrate(nt_device *device, nt_error *err)
{
    double before_ns = 0, period_ns = 0, overhead_ns = 0;
    nt_status status = NT_OK;
    for (int round = 0; round < MOST_ROUNDS && status == NT_OK; round++) {
        status = measure_empty(device, &period_ns, &overhead_ns, err);
        if (round + 1 >= FEWEST_ROUNDS && fabs(period_ns - before_ns) <= 0.01 * period_ns)
            break;
        before_ns = period_ns;
    }
    if (status != NT_OK)
        return status;
    device->bracket_ns = overhead_ns;
    device->calibrated = true;
    return NT_OK;
}

nt_status nt_cuda_sample(nt_device *device, const nt_sample_request *request, nt_error *err)
{
    if (request->launches < 1 || request->ring_count == 0 || request->plan->stage_count == 0)
        return nt_fail(err, NT_USAGE, "a sample needs at least one execution, one set of buffers and one stage");
    if (request->count == 0)
        return NT_OK;
    nt_status status = device->calibrated ? NT_OK : calibrate(device, err);
    if (status == NT_OK)
        status = take_brackets(device, request, err);
    for (size_t i = 0; i < request->count && status == NT_OK; i++) {
        request->out_ns[i] = (request->out_ns[i] - device->bracket_ns) / (double)request->launches;
        if (!(request->out_ns[i] > 0))
            status = nt_fail(err, NT_FAILED,
                             "sample %zu of %lld executions is not longer than an empty bracket (%.0f "
                             "ns)",
                             i, (long long)request->launches, device->bracket_ns);
    }
    return status;
}

nt_status nt_cuda_floor(nt_device *device, double *period_ns, nt_error *err)
{
    double overhead_ns = 0;
    *period_ns = NAN;
    nt_status status = device->calibrated ? NT_OK : calibrate(device, err);
    if (status == NT_OK)
        status = measure_empty(device, period_ns, &overhead_ns, err);
    return status;
}

#endif
