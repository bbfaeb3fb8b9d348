/* count.h: counters of chosen kernels: which launch is counted, and that it is alone meanwhile. Asked for through the
 * variables of spool_format.h; without them every function here returns at once. */
#ifndef NT_INJECT_COUNT_H
#define NT_INJECT_COUNT_H

#include "profiler/inject/cupti_calls.h"
#include "profiler/inject/ring.h"

/* Reads what is asked for. Before the first callback. */
void nt_count_start(const nt_cupti_calls *cupti, CUpti_SubscriberHandle subscriber);
bool nt_count_wanted_here(void);
/* Between the start and the stop of a launch that is counted. */
bool nt_count_busy(void);

/* Around a launch of the driver's. `outer` is the correlation of the runtime's call around it, or its own. */
void nt_count_enter(nt_thread *thread, const CUpti_CallbackData *call, uint32_t outer);
void nt_count_exit(nt_thread *thread, const CUpti_CallbackData *call);

/* A call that begins or ends the capture of a stream into a graph: what is launched meanwhile does not run, so it
 * cannot be counted. */
void nt_count_capture(CUpti_CallbackDomain domain, bool begin, const CUpti_CallbackData *call);
/* Of the domain of resources: contexts that go. */
void nt_count_resource(uint32_t id, const CUpti_ResourceData *data);

/* After fork, in the child. */
void nt_count_forget(void);

#endif
