/* merge.h: several databases into a new one: runs renumbered; devices, environments, problems, kernels and
 * configurations matched by what they are. */
#ifndef NT_DB_MERGE_H
#define NT_DB_MERGE_H

#include "db/db.h"

typedef struct nt_merge_report {
    int64_t runs, trials, profiles;
    int64_t repeated; /* runs that the new database had already: the same device, host, command and start */
} nt_merge_report;

/* Adds all of `from` to the database at `to`, made when missing. One transaction. `from` is only read. */
nt_status nt_db_merge(const char *to, const char *from, nt_merge_report *report, nt_error *err);

#endif
