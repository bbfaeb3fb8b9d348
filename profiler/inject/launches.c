/* launches.c: notes, for each call that launches work, its correlation id, its thread and the range open on that
 * thread.
 *
 * Which of the hundreds of calls those are is read from their names, so that a variant that a later CUDA adds is seen
 * too. A call of the runtime launches through one of the driver. The outer comes first and both are noted, since which
 * of the two ids the work carries is CUPTI's business; once a call of the runtime has shown often enough that the
 * driver's inside it has the same id, its own callbacks are switched off, because they lengthen every launch. */
#include <stdatomic.h>
#include <string.h>

#include "profiler/inject/activity.h"
#include "profiler/inject/count.h"
#include "profiler/inject/ring.h"

enum { MOST_CALLS = 2048, OFTEN_ENOUGH = 64 };

/* Beside the kinds of launches: calls that counting has to know of. */
enum { CAPTURE_BEGIN = 100, CAPTURE_END };

static uint8_t kind_of[2][MOST_CALLS]; /* runtime, driver: nt_spool_launch_kind by callback id */

/* Calls of the runtime that launch kernels: what the driver's call inside has shown. */
static struct {
    atomic_uint same, other;
    atomic_bool off;
} runtime_calls[MOST_CALLS];

static const nt_cupti_calls *cupti;
static CUpti_SubscriberHandle subscriber;

static const struct {
    const char *prefix;
    int kind;
} calls[] = {
    {"cudaLaunch", NT_SPOOL_LAUNCH_KERNEL},     {"cuLaunch", NT_SPOOL_LAUNCH_KERNEL},
    {"cudaGraphLaunch", NT_SPOOL_LAUNCH_GRAPH}, {"cuGraphLaunch", NT_SPOOL_LAUNCH_GRAPH},
    {"cudaMemcpy", NT_SPOOL_LAUNCH_COPY},       {"cuMemcpy", NT_SPOOL_LAUNCH_COPY},
    {"cudaMemset", NT_SPOOL_LAUNCH_FILL},       {"cuMemset", NT_SPOOL_LAUNCH_FILL},
    {"cudaStreamBeginCapture", CAPTURE_BEGIN},  {"cuStreamBeginCapture", CAPTURE_BEGIN},
    {"cudaStreamEndCapture", CAPTURE_END},      {"cuStreamEndCapture", CAPTURE_END},
};

static int kind_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strncmp(name, calls[i].prefix, strlen(calls[i].prefix)) == 0)
            return calls[i].kind;
    return NT_SPOOL_LAUNCH_NONE;
}

static void enable_domain(CUpti_CallbackDomain domain, uint8_t *kinds)
{
    for (uint32_t id = 1; id < MOST_CALLS; id++) {
        const char *name = NULL;
        if (cupti->cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS || name == NULL)
            continue;
        kinds[id] = (uint8_t)kind_by_name(name);
        if (kinds[id] >= CAPTURE_BEGIN && !nt_count_wanted_here())
            kinds[id] = NT_SPOOL_LAUNCH_NONE;
        if (kinds[id] != NT_SPOOL_LAUNCH_NONE)
            cupti->cuptiEnableCallback(1, subscriber, domain, id);
    }
}

void nt_launches_enable(const nt_cupti_calls *calls_of_cupti, CUpti_SubscriberHandle subscribed)
{
    cupti = calls_of_cupti;
    subscriber = subscribed;
    enable_domain(CUPTI_CB_DOMAIN_RUNTIME_API, kind_of[0]);
    enable_domain(CUPTI_CB_DOMAIN_DRIVER_API, kind_of[1]);
}

/* Graph launches keep theirs: they are few, and counted by their outer call. */
void nt_launches_lighten(void)
{
    for (uint32_t id = 1; id < MOST_CALLS; id++) {
        if (kind_of[0][id] != NT_SPOOL_LAUNCH_KERNEL || atomic_load(&runtime_calls[id].off) ||
            atomic_load(&runtime_calls[id].same) < OFTEN_ENOUGH || atomic_load(&runtime_calls[id].other) > 0)
            continue;
        atomic_store(&runtime_calls[id].off, true);
        cupti->cuptiEnableCallback(0, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, id);
    }
}

static void note(nt_thread *thread, uint32_t correlation, uint8_t kind, bool nested)
{
    nt_ring_launch(thread, &(nt_spool_launch){
                               .correlation = correlation,
                               .range = thread->open_count > 0 ? thread->open[thread->open_count - 1].id : 0,
                               .kind = kind,
                               .nested = nested,
                           });
}

static void in_runtime(nt_thread *thread, uint32_t id, const CUpti_CallbackData *call)
{
    if (call->callbackSite == CUPTI_API_ENTER) {
        thread->runtime_call = call->correlationId;
        thread->runtime_id = id;
        thread->same_inside = false;
        note(thread, call->correlationId, kind_of[0][id], false);
        return;
    }
    atomic_fetch_add_explicit(thread->same_inside ? &runtime_calls[id].same : &runtime_calls[id].other, 1,
                              memory_order_relaxed);
    thread->runtime_call = 0;
}

static void in_driver(nt_thread *thread, uint32_t id, const CUpti_CallbackData *call)
{
    if (call->callbackSite != CUPTI_API_ENTER) {
        nt_count_exit(thread, call);
        return;
    }
    /* A call that was inside when its callbacks were switched off will not say that it ended. */
    bool nested = thread->runtime_call != 0 &&
                  !atomic_load_explicit(&runtime_calls[thread->runtime_id].off, memory_order_relaxed);
    if (nested && thread->runtime_call == call->correlationId)
        thread->same_inside = true;
    else
        note(thread, call->correlationId, kind_of[1][id], nested);
    if (kind_of[1][id] == NT_SPOOL_LAUNCH_KERNEL)
        nt_count_enter(thread, call, nested ? thread->runtime_call : call->correlationId);
}

void CUPTIAPI nt_launches_callback(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    (void)unused;
    nt_thread *thread = id < MOST_CALLS ? nt_thread_here() : NULL;
    if (thread == NULL)
        return;
    bool of_calls = domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API;
    uint8_t kind = of_calls ? kind_of[domain == CUPTI_CB_DOMAIN_DRIVER_API][id] : NT_SPOOL_LAUNCH_NONE;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE)
        nt_count_resource(id, data);
    else if (kind >= CAPTURE_BEGIN)
        nt_count_capture(domain, kind == CAPTURE_BEGIN, data);
    else if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
        in_runtime(thread, id, data);
    else if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
        in_driver(thread, id, data);
}
