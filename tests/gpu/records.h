/* records.h: CUPTI's activity records: when each kernel began and ended, by the GPU's own clock. In the check alone;
 * the tool never times with a profiler attached. */
#ifndef RECORDS_H
#define RECORDS_H

#include <stddef.h>

#include "core/status.h"

/* Opens CUPTI (NNTUNE_LIBCUPTI, or where the toolkit is) and records every kernel from now on. Before the device opens.
 */
nt_status records_open(nt_error *err);
nt_status records_clear(nt_error *err);
/* Waits until `wanted` records of a kernel are there: CUPTI hands them over a while after the kernels have run. */
nt_status records_fetch(const char *kernel, size_t wanted, nt_error *err);
/* Durations of the kernel of this name, in ns; freed by the caller. */
size_t records_of(const char *kernel, double **ns);

#endif
