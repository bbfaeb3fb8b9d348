/* activity.h: between activity.c (switching CUPTI on, its buffers), records.c (its records into the spool) and
 * launches.c (which call launched what, from which range). */
#ifndef NT_INJECT_ACTIVITY_H
#define NT_INJECT_ACTIVITY_H

#include "profiler/inject/cupti_calls.h"

/* With the writer's lock held. */
void nt_record_put(const CUpti_Activity *record);

/* Asks for callbacks of the calls that launch something. */
void nt_launches_enable(const nt_cupti_calls *calls_of_cupti, CUpti_SubscriberHandle subscribed);
/* Now and then, from one thread: switches off callbacks that have shown to tell nothing new. */
void nt_launches_lighten(void);
void CUPTIAPI nt_launches_callback(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data);

#endif
