/* records.h: CUPTI's activity records: when each kernel began and ended, by the GPU's own clock. In the check alone;
 * the tool never times with a profiler attached. */
#ifndef RECORDS_H
#define RECORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

/* Opens CUPTI (NNTUNE_LIBCUPTI, or where the toolkit is) and records every kernel from now on. Before the device opens.
 */
nt_status records_open(nt_error *err);
/* Forgets what was recorded, also what is still under way to the host. */
nt_status records_clear(nt_error *err);
/* Asks CUPTI for what is complete; it comes on a thread of CUPTI's, now or a while later, and sometimes only after more
 * work for the GPU. Forced: also what is not, with records lost. */
nt_status records_flush(bool forced, nt_error *err);
size_t records_count(const char *kernel);
/* Durations of the kernel of this name, in ns; freed by the caller. */
size_t records_of(const char *kernel, double **ns);

#endif
