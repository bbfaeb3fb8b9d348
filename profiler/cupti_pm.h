/* cupti_pm.h: CUPTI's PM sampling: counters of the whole GPU fifty times a second, kernels of other processes included.
 * It holds the counters from open to close; whoever opens it owns the lock of device/counter_lock.h.
 *
 * The hardware writes into a buffer. decode fetches from it, as often as a small share of a core allows: while the GPU
 * is busy one fetch was seen to take a tenth of a second of CPU time, whatever it brought. take gives the next window
 * of what was fetched; under load that is some seconds old, and says so. The first sample after a start spans the time
 * before it and is dropped. A buffer that overflowed is counted, and sampling starts again. Not for two threads. */
#ifndef NT_CUPTI_PM_H
#define NT_CUPTI_PM_H

#include "profiler/pm_plan.h"

typedef struct nt_pm nt_pm;

typedef struct nt_pm_average {
    double value[NT_PM_MOST]; /* in the plan's order and the field's unit; NAN without a sample */
    int64_t samples;          /* averaged; 0: nothing has been fetched yet */
    double span_s;            /* that they cover */
    double lag_s;             /* from their end to now */
    int64_t rejected, lost;   /* since the open: samples with times that cannot be; overflows */
} nt_pm_average;

/* `ordinal` as CUDA counts. The driver must be initialised. */
nt_status nt_pm_open(int ordinal, nt_pm **out, nt_error *err);
const nt_pm_plan *nt_pm_plan_of(const nt_pm *pm);
nt_status nt_pm_decode(nt_pm *pm, nt_error *err);
/* `window_s` of samples, more when the queue has grown longer than fetching needs. */
void nt_pm_take(nt_pm *pm, double window_s, nt_pm_average *out);
void nt_pm_close(nt_pm *pm); /* NULL allowed */

#endif
