/* warm_start.h: --warm-start: what a sweep begins with, read from a database. */
#ifndef NT_CLI_WARM_START_H
#define NT_CLI_WARM_START_H

#include "autotune/warm_start.h"
#include "cli/options.h"

/* Reads the right trials of a layer from `from`: a database, or with "auto" the one at `path` that results go to, which
 * may not exist yet. NT_NOT_FOUND: there is no such file. */
nt_status nt_warm_start_read(const char *from, const char *path, const char *layer, nt_warm_start *out, nt_error *err);

#endif
