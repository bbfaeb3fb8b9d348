/* database.h: which database a command works on, opened to read. */
#ifndef NT_DATABASE_H
#define NT_DATABASE_H

#include "cli/options.h"
#include "core/record.h"
#include "core/store.h"

/* --db, else the default place. */
nt_status nt_database_path(const nt_args *args, char out[NT_PATH_BYTES], nt_error *err);

/* The same, opened; close with reader->close. `path` gets its name, for messages. */
nt_status nt_database_read(const nt_args *args, char path[NT_PATH_BYTES], nt_reader **out, nt_error *err);

/* The positional argument 0 as the number of a trial. */
nt_status nt_trial_argument(const nt_args *args, int64_t *out, nt_error *err);

#endif
