/* cupti_range.h: the half of CUPTI's Range Profiler that needs the GPU: every kernel launch between start and stop is a
 * range, in the order of launches, and the caller launches the same again for each pass.
 *
 * One session holds the counters of one context from open to close. Not for two threads. */
#ifndef NT_CUPTI_RANGE_H
#define NT_CUPTI_RANGE_H

#include <stdbool.h>

#include "profiler/cupti_host.h"
#include "profiler/metric_plan.h"

typedef struct nt_cupti_range nt_cupti_range;

/* Which device: CUDA's handle and ordinal, and its context. */
typedef struct nt_cupti_target {
    int ordinal, handle;
    void *context;
} nt_cupti_target;

/* Whether this device, driver and user can collect ranges at all, and what its chip is called. Holds nothing. */
nt_status nt_cupti_range_probe(const nt_cupti_target *target, char chip[NT_CHIP_BYTES], nt_error *err);

/* What the device and driver give of the chip's counters, for nt_metric_plan_open. Before any session. */
nt_status nt_cupti_range_available(const nt_cupti_target *target, nt_cupti_image *out, nt_error *err);

/* Takes the counters. `plan` must outlive the session; at most `ranges` launches between start and stop. */
nt_status nt_cupti_range_open(const nt_cupti_target *target, const nt_metric_plan *plan, size_t ranges,
                              nt_cupti_range **out, nt_error *err);
void nt_cupti_range_close(nt_cupti_range *session); /* NULL allowed */

/* Collects for another plan, which must outlive the session; between passes of none. On an error the old one stays. */
nt_status nt_cupti_range_change(nt_cupti_range *session, const nt_metric_plan *plan, nt_error *err);

/* Forgets what was collected and gets ready for the first pass. */
nt_status nt_cupti_range_reset(nt_cupti_range *session, nt_error *err);

/* One pass: start, the caller's launches, stop. *more: the same launches are needed for another pass. */
nt_status nt_cupti_range_start(nt_cupti_range *session, nt_error *err);
nt_status nt_cupti_range_stop(nt_cupti_range *session, bool *more, nt_error *err);

/* After the last pass. *dropped ranges were lost for want of room. */
nt_status nt_cupti_range_decode(nt_cupti_range *session, size_t *ranges, size_t *dropped, nt_error *err);

/* Values of the plan's counters for one range, and which launch it was (its number since start). Range 0 comes first.
 */
nt_status nt_cupti_range_values(nt_cupti_range *session, size_t range, size_t *launch, double *values, nt_error *err);

#endif
