/* misses.h: the log of problems that a deployment table had no entry for, as libnntune writes it. */
#ifndef NT_MISSES_H
#define NT_MISSES_H

#include "core/record.h"

/* Each problem once, in the order of the log; those of `layer` alone unless it is NULL. NT_NOT_FOUND when that leaves
 * none; NT_CORRUPT names the line that is no miss. Free *out. */
nt_status nt_misses_read(const char *path, const char *layer, nt_problem **out, size_t *count, nt_error *err);

#endif
