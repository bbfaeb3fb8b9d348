/* import.h: results of other tuners and of other machines into a database, as runs of source `recorded`. */
#ifndef NT_DB_IMPORT_H
#define NT_DB_IMPORT_H

#include "db/db.h"
#include "db/formats/format.h"

typedef struct nt_import_options {
    nt_import_names names;
    const char *command; /* the command line that is noted in the run */
} nt_import_options;

/* Reads one file, plain or gzip, of any format (told by its content) and stores it as one run; all of it or, on a
 * failure, nothing. `*run_id` is its number. Ends batches of the sink. */
nt_status nt_db_import(nt_sink *sink, const char *path, const nt_import_options *options, int64_t *run_id,
                       nt_import_report *report, nt_error *err);

#endif
