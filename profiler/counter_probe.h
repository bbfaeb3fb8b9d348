/* counter_probe.h: do hardware counters work here? Tried for real, in a process of its own: one small kernel is
 * counted, and PM sampling is started and stopped. A library that crashes or hangs costs the answer, not the asker. */
#ifndef NT_COUNTER_PROBE_H
#define NT_COUNTER_PROBE_H

#include "core/record.h"

typedef struct nt_probe_result {
    nt_status status;          /* NT_OK: it works */
    char what[768], hint[512]; /* why not, what to do; what was found when it works */
} nt_probe_result;

typedef struct nt_counter_probe {
    char chip[32];
    uint32_t cupti_version; /* CUPTI's number for its interface; 0 unknown */
    char cupti_path[NT_PATH_BYTES];
    nt_probe_result library, ranges, sampling;
} nt_counter_probe;

/* Of GPU `ordinal`, within `seconds`. Call it before this process has touched CUDA, which does not survive a fork.
 * While a sweep has the device, nothing is tried (NT_BUSY). */
void nt_counter_probe_run(int ordinal, double seconds, nt_counter_probe *out);

#endif
