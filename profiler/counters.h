/* counters.h: hardware counters of plans: many at once, so that each costs about a millisecond a pass.
 *
 * Up to NT_COUNTERS_BATCH plans run one after another between the start and the stop of a pass; every kernel launch is
 * counted by itself and belongs to its plan by its number. Over the kernels of a plan counts add up; percentages and
 * rates are means weighted by duration. Nothing here is a time to keep: kernels run one by one, with the profiler
 * attached. Cold: caches are read over before each pass, and every run takes the next set of the target's ring. Hot:
 * each plan runs once uncounted right before. */
#ifndef NT_COUNTERS_H
#define NT_COUNTERS_H

#include "core/record.h"
#include "profiler/measure.h"
#include "profiler/metric_plan.h"

/* NT_COUNTERS_RANGES launches fit a pass, so a plan of many kernels takes the place of several. */
enum { NT_COUNTERS_BATCH = 256, NT_COUNTERS_RANGES = 2 * NT_COUNTERS_BATCH };

typedef struct nt_counters nt_counters;

/* Takes the counters of an open cuda device until close. Metrics and `most_passes` as nt_metric_plan_open reads them.
 * Everything that is alike for every batch is made here, once. NT_NO_PERMISSION, NT_BUSY or NT_NO_DEVICE with the
 * reason and what to do where the device gives none. */
nt_status nt_counters_open(const nt_device_ops *ops, nt_device *device, const char *const *metrics, size_t count,
                           int most_passes, nt_counters **out, nt_error *err);
void nt_counters_close(nt_counters *counters); /* NULL allowed; before the device is closed */

/* Other metrics from now on; lists that were asked for before cost next to nothing. On an error the metrics stay as they
 * were. */
nt_status nt_counters_change(nt_counters *counters, const char *const *metrics, size_t count, int most_passes,
                             nt_error *err);

/* Chip, metrics in the order asked for with unit and CUPTI name, passes. */
const nt_metric_plan *nt_counters_plan(const nt_counters *counters);
int nt_counters_passes(const nt_counters *counters);
size_t nt_counters_count(const nt_counters *counters); /* metrics: values of one target */

/* Where the time of all collections went. */
typedef struct nt_counters_cost {
    double sweep_ms;      /* emptying the caches before cold passes */
    double launch_ms;     /* counted launches */
    double start_stop_ms; /* of the passes */
    double read_ms;       /* decoding and evaluating */
} nt_counters_cost;

nt_counters_cost nt_counters_spent(const nt_counters *counters);

/* values[i * nt_counters_count() + k] is metric k of target i; NAN where unknown. All targets are of the device opened.
 * A launch that fails ends it with that launch's error, and *failed (may be NULL) is its target; it is `count` where
 * that is unknown and where all went well. */
nt_status nt_counters_collect(nt_counters *counters, const nt_target *targets, size_t count, nt_cache_mode cache,
                              double *values, size_t *failed, nt_error *err);

#endif
