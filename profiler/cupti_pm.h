/* cupti_pm.h: CUPTI's PM sampling: counters of the whole GPU twenty times a second, kernels of other processes
 * included. It holds the counters from open to close; whoever opens it owns the lock of device/counter_lock.h.
 *
 * The hardware writes into a buffer; decode fetches from it and adds up; take gives averages since the last take. The
 * first sample after a start spans the time before it and is dropped. A buffer that overflowed is counted, and sampling
 * starts again. Not for two threads. */
#ifndef NT_CUPTI_PM_H
#define NT_CUPTI_PM_H

#include "profiler/pm_plan.h"

typedef struct nt_pm nt_pm;

typedef struct nt_pm_average {
    double value[NT_PM_MOST]; /* in the plan's order and the field's unit; NAN without a sample */
    int64_t samples;          /* averaged */
    int64_t passed_over;      /* not evaluated, because that would have cost too much of a core */
    int64_t rejected;         /* with times that cannot be */
    int64_t lost;             /* overflows since the open */
    double span_s;            /* that the samples cover */
} nt_pm_average;

/* `ordinal` as CUDA counts. The driver must be initialised. */
nt_status nt_pm_open(int ordinal, nt_pm **out, nt_error *err);
const nt_pm_plan *nt_pm_plan_of(const nt_pm *pm);
nt_status nt_pm_decode(nt_pm *pm, nt_error *err);
void nt_pm_take(nt_pm *pm, nt_pm_average *out);
void nt_pm_close(nt_pm *pm); /* NULL allowed */

#endif
