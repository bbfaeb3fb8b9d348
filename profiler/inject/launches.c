/* launches.c: notes, for each call that launches work, its correlation id, its thread and the range open on that thread.
 *
 * Which of the hundreds of calls those are is read from their names, so that a variant that a later CUDA adds is seen too.
 * A call of the runtime launches through one of the driver: the outer comes first and both are noted, since which of the
 * two ids the work carries is CUPTI's business. */
#include <string.h>

#include "profiler/inject/activity.h"
#include "profiler/inject/ring.h"

enum { MOST_CALLS = 2048 };

static uint8_t kind_of[2][MOST_CALLS]; /* runtime, driver: nt_spool_launch_kind by callback id */

static const struct {
    const char *prefix;
    nt_spool_launch_kind kind;
} calls[] = {
    {"cudaLaunch", NT_SPOOL_LAUNCH_KERNEL},    {"cuLaunch", NT_SPOOL_LAUNCH_KERNEL},
    {"cudaGraphLaunch", NT_SPOOL_LAUNCH_GRAPH}, {"cuGraphLaunch", NT_SPOOL_LAUNCH_GRAPH},
    {"cudaMemcpy", NT_SPOOL_LAUNCH_COPY},      {"cuMemcpy", NT_SPOOL_LAUNCH_COPY},
    {"cudaMemset", NT_SPOOL_LAUNCH_FILL},      {"cuMemset", NT_SPOOL_LAUNCH_FILL},
};

static nt_spool_launch_kind kind_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strncmp(name, calls[i].prefix, strlen(calls[i].prefix)) == 0)
            return calls[i].kind;
    return NT_SPOOL_LAUNCH_NONE;
}

static void enable_domain(const nt_cupti_calls *cupti, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                          uint8_t *kinds)
{
    for (uint32_t id = 1; id < MOST_CALLS; id++) {
        const char *name = NULL;
        if (cupti->cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS || name == NULL)
            continue;
        kinds[id] = (uint8_t)kind_by_name(name);
        if (kinds[id] != NT_SPOOL_LAUNCH_NONE)
            cupti->cuptiEnableCallback(1, subscriber, domain, id);
    }
}

void nt_launches_enable(const nt_cupti_calls *cupti, CUpti_SubscriberHandle subscriber)
{
    enable_domain(cupti, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, kind_of[0]);
    enable_domain(cupti, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, kind_of[1]);
}

void CUPTIAPI nt_launches_callback(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    const CUpti_CallbackData *call = data;
    bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
    (void)unused;
    if ((!runtime && domain != CUPTI_CB_DOMAIN_DRIVER_API) || id >= MOST_CALLS)
        return;
    nt_thread *thread = nt_thread_here();
    if (thread == NULL)
        return;
    if (call->callbackSite != CUPTI_API_ENTER) {
        if (runtime)
            thread->runtime_call = 0;
        return;
    }
    bool nested = !runtime && thread->runtime_call != 0;
    if (nested && thread->runtime_call == call->correlationId)
        return;
    if (runtime)
        thread->runtime_call = call->correlationId;
    nt_ring_launch(thread, &(nt_spool_launch){
                               .correlation = call->correlationId,
                               .range = thread->open_count > 0 ? thread->open[thread->open_count - 1].id : 0,
                               .kind = kind_of[runtime ? 0 : 1][id],
                               .nested = nested,
                           });
}
