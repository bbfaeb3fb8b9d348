/* export.h: a run of a database as a file of another tuner's format, or of ours. */
#ifndef NT_DB_EXPORT_H
#define NT_DB_EXPORT_H

#include "db/db.h"
#include "db/formats/format.h"

typedef struct nt_export_options {
    const nt_format *format;
    int64_t run_id;      /* 0: the newest */
    const char *kernel;  /* NULL: the only one */
    const char *problem; /* as nt_problem_print gives it; NULL: the only one */
} nt_export_options;

typedef struct nt_export_report {
    int64_t run_id;
    size_t results;
    json_t *dropped; /* {what: true}: what the format cannot hold; drop the reference */
} nt_export_report;

/* Adds the file's text to `out`. Reads only. */
nt_status nt_db_export(const char *path, const nt_export_options *options, nt_str *out, nt_export_report *report,
                       nt_error *err);

#endif
