/* writer.h: what the parts of the sink share: its connection, statements and current run. Inside db/ only. */
#ifndef NT_DB_WRITER_H
#define NT_DB_WRITER_H

#include "db/open.h"

/* Statements kept prepared, because a sweep runs them for every trial. */
typedef enum nt_writer_sql {
    NT_SQL_FIND_PROBLEM,
    NT_SQL_ADD_PROBLEM,
    NT_SQL_FIND_KERNEL,
    NT_SQL_ADD_KERNEL,
    NT_SQL_FIND_CONFIGURATION,
    NT_SQL_ADD_CONFIGURATION,
    NT_SQL_ADD_TRIAL,
    NT_SQL_ADD_SAMPLE,
    NT_SQL_COUNT_TRIAL,
    NT_SQL_JOURNAL,
    NT_SQL_UNJOURNAL,
    NT_SQL_SPENT,
    NT_SQL_WRITER_COUNT
} nt_writer_sql;

typedef struct nt_writer {
    nt_sink sink;
    nt_db db;
    sqlite3_stmt *stmt[NT_SQL_WRITER_COUNT];
    int64_t run_id; /* 0 before begin_run */
    int64_t environment_id;
    char device_kind[8];
    int batch_limit, batch_puts;
} nt_writer;

/* ---- writer.c ---------------------------------------------------------------------------------------------------- */
/* A transaction, or one step of a batch. */
nt_status nt_writer_begin(nt_writer *writer, const char *doing, nt_error *err);
nt_status nt_writer_finish(nt_writer *writer, nt_status so_far, const char *doing, nt_error *err);
nt_status nt_writer_commit_batch(nt_writer *writer, nt_error *err);
nt_status nt_writer_add_samples(nt_writer *writer, int64_t trial_id, const char *phase, const nt_samples *samples,
                                nt_error *err);

/* ---- runs.c: members of the sink --------------------------------------------------------------------------------- */
nt_status nt_writer_begin_run(nt_sink *sink, nt_run *run, nt_error *err);
nt_status nt_writer_end_run(nt_sink *sink, const nt_run *run, nt_error *err);
nt_status nt_writer_put_finals(nt_sink *sink, const nt_problem *problem, const nt_final *finals, int count,
                               nt_error *err);

/* ---- counters.c -------------------------------------------------------------------------------------------------- */
nt_status nt_writer_put_counters(nt_sink *sink, const nt_counter *counters, int count, nt_error *err);

/* ---- keys.c: rows shared by many trials: found, or added where `add` says so; *id is 0 when not found ------------ */
nt_status nt_writer_problem(nt_writer *writer, const nt_problem *problem, bool add, int64_t *id, nt_error *err);
nt_status nt_writer_kernel(nt_writer *writer, const nt_trial *trial, bool add, int64_t *id, nt_error *err);
nt_status nt_writer_configuration(nt_writer *writer, const char *params_json, bool add, int64_t *id, nt_error *err);
/* The device's limits are brought up to date when `add` is true. */
nt_status nt_writer_environment(nt_writer *writer, const nt_device_info *device, bool add, int64_t *device_id,
                                int64_t *id, nt_error *err);

/* ---- resume.c: trials as they stand, for whoever reads them back --------------------------------------------------- */
/* "SELECT ... FROM trial t ..." whose rows nt_db_read_trial understands; the caller adds WHERE. */
void nt_db_select_trials(nt_str *sql);
nt_status nt_db_read_trial(const nt_db *db, sqlite3_stmt *stmt, nt_trial *trial, nt_error *err);
nt_status nt_db_read_samples(const nt_db *db, nt_trial *trial, nt_error *err); /* of the trial's id */

/* ---- resume.c: what was stored, read back for --resume and --reuse: members of the sink -------------------------- */
nt_status nt_writer_find_resumable(nt_sink *sink, const nt_run *like, nt_run *out, nt_error *err);
nt_status nt_writer_each_trial(nt_sink *sink, int64_t run_id, bool (*each)(void *context, const nt_trial *trial),
                               void *context, nt_error *err);
nt_status nt_writer_find_equal(nt_sink *sink, const nt_trial *like, nt_trial *out, nt_error *err);
nt_status nt_writer_in_flight(nt_sink *sink, int64_t run_id, nt_trial *trial, int *attempts, nt_error *err);

#endif
