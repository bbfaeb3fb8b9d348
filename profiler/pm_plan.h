/* pm_plan.h: which counters to sample on a chip: the richest set that one pass can collect, since sampling knows no
 * second pass. Needs CUPTI's library, but no GPU. */
#ifndef NT_PM_PLAN_H
#define NT_PM_PLAN_H

#include "profiler/cupti_host.h"
#include "profiler/live.h"
#include "profiler/pm_queue.h"

typedef struct nt_pm_metric {
    nt_live_field field;
    double unit;      /* what one of CUPTI's is in the field's unit */
    const char *name; /* CUPTI's */
} nt_pm_metric;

typedef struct nt_pm_plan {
    const char *set; /* name of the row that was taken */
    int count;
    nt_pm_metric metric[NT_PM_MOST];
    const char *name[NT_PM_MOST]; /* the same names as an array */
    nt_cupti_image config;
    nt_cupti_host *host; /* evaluates what is sampled with `config` */
} nt_pm_plan;

/* `available` (may be NULL) is what the device gives. NT_NO_DEVICE when not even the smallest set fits one pass. */
nt_status nt_pm_plan_open(const char *chip, const nt_cupti_image *available, nt_pm_plan *out, nt_error *err);
void nt_pm_plan_close(nt_pm_plan *plan);

#endif
