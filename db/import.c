/* import.c: what the readers of db/formats give, stored: the run and its trials through the sink as any other, and in
 * the tables imported and imported_trial what only such files have. One transaction a file. */
#include "db/import.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/text_file.h"
#include "db/columns.h"
#include "db/writer.h"

static const char storing[] = "storing recorded results";

typedef struct importing {
    nt_writer *writer;
    const nt_import_options *options;
    nt_import_report *report;
    nt_run stored;
    sqlite3_stmt *find, *add;
    double first_unix_s, last_unix_s; /* of the timestamps */
} importing;

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static void bind_json(sqlite3_stmt *stmt, int index, const json_t *json)
{
    if (json != NULL)
        sqlite3_bind_text(stmt, index, nt_json_dump(json), -1, free);
    else
        sqlite3_bind_null(stmt, index);
}

static nt_status add_origin(const importing *to, const nt_foreign_run *run, nt_error *err)
{
    sqlite3_stmt *stmt;
    nt_status status =
        nt_db_prepare(&to->writer->db, "INSERT INTO imported (run_id, format, file, cut, extra) VALUES (?, ?, ?, ?, ?)",
                      &stmt, storing, err);
    if (status != NT_OK)
        return status;
    sqlite3_bind_int64(stmt, 1, to->writer->run_id);
    nt_bind_text(stmt, 2, run->format->name);
    nt_bind_text(stmt, 3, run->file);
    sqlite3_bind_int(stmt, 4, run->cut);
    bind_json(stmt, 5, run->extra);
    status = nt_db_step(&to->writer->db, stmt, storing, err);
    sqlite3_finalize(stmt);
    return status;
}

static nt_status prepare(importing *to, nt_error *err)
{
    nt_status status = nt_db_prepare(&to->writer->db,
                                     "SELECT id FROM trial WHERE problem_id = ? AND kernel_id = ? AND "
                                     "configuration_id = ? AND cache = ? AND run_id = ?",
                                     &to->find, storing, err);
    if (status != NT_OK)
        return status;
    return nt_db_prepare(&to->writer->db,
                         "INSERT INTO imported_trial (trial_id, recorded_at, framework_ms, search_ms, extra) "
                         "VALUES (?, ?, ?, ?, ?)",
                         &to->add, storing, err);
}

static nt_status begin(void *context, nt_foreign_run *run, nt_error *err)
{
    importing *to = context;
    if (run->run.command == NULL)
        run->run.command = nt_strdup(to->options->command != NULL ? to->options->command : "");
    if (run->run.nntune_version[0] == '\0')
        nt_copy(run->run.nntune_version, sizeof run->run.nntune_version, NT_VERSION);
    nt_status status = to->writer->sink.begin_run(&to->writer->sink, &run->run, err);
    if (status == NT_OK)
        status = add_origin(to, run, err);
    if (status == NT_OK)
        status = prepare(to, err);
    to->stored = run->run;
    to->stored.command = to->stored.options_json = NULL; /* the reader's */
    return status;
}

/* ---- trials ------------------------------------------------------------------------------------------------------ */

/* A file may list a configuration twice; a run holds it once. */
static nt_status stands_already(importing *to, const nt_trial *trial, bool *out, nt_error *err)
{
    nt_writer *writer = to->writer;
    int64_t problem = 0, kernel = 0, configuration = 0, id = 0;
    *out = false;
    nt_status status = nt_writer_problem(writer, &trial->problem, false, &problem, err);
    if (status == NT_OK)
        status = nt_writer_kernel(writer, trial, false, &kernel, err);
    if (status == NT_OK)
        status = nt_writer_configuration(writer, trial->params_json, false, &configuration, err);
    if (status != NT_OK || problem == 0 || kernel == 0 || configuration == 0)
        return status;
    sqlite3_bind_int64(to->find, 1, problem);
    sqlite3_bind_int64(to->find, 2, kernel);
    sqlite3_bind_int64(to->find, 3, configuration);
    nt_bind_text(to->find, 4, nt_cache_mode_name(trial->cache));
    sqlite3_bind_int64(to->find, 5, writer->run_id);
    status = nt_db_step_id(&writer->db, to->find, &id, storing, err);
    *out = id != 0;
    return status;
}

/* "2023-01-26 01:05:09.73+00:00", with a blank or a T; taken as UTC. NAN for anything else. */
static double unix_of(const char *timestamp)
{
    struct tm parts = {0};
    const char *rest = strptime(timestamp, "%Y-%m-%d", &parts);
    if (rest == NULL || (*rest != ' ' && *rest != 'T') || strptime(rest + 1, "%H:%M:%S", &parts) == NULL)
        return NAN;
    return (double)timegm(&parts);
}

static void note_time(importing *to, const char *timestamp)
{
    double unix_s = unix_of(timestamp);
    if (isnan(unix_s))
        return;
    if (isnan(to->first_unix_s) || unix_s < to->first_unix_s)
        to->first_unix_s = unix_s;
    if (isnan(to->last_unix_s) || unix_s > to->last_unix_s)
        to->last_unix_s = unix_s;
}

static nt_status put(void *context, nt_foreign *result, nt_error *err)
{
    importing *to = context;
    bool repeated = false;
    nt_status status = stands_already(to, &result->trial, &repeated, err);
    if (status != NT_OK || repeated) {
        to->report->repeated += repeated;
        return status;
    }
    result->trial.id = 0;
    status = to->writer->sink.put(&to->writer->sink, &result->trial, NULL, err);
    if (status != NT_OK)
        return status;
    note_time(to, result->timestamp);
    sqlite3_bind_int64(to->add, 1, result->trial.id);
    if (result->timestamp[0] != '\0')
        nt_bind_text(to->add, 2, result->timestamp);
    nt_bind_real(to->add, 3, result->framework_ms);
    nt_bind_real(to->add, 4, result->search_ms);
    bind_json(to->add, 5, result->extra);
    status = nt_db_step(&to->writer->db, to->add, storing, err);
    sqlite3_clear_bindings(to->add);
    return status;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* A recorded run was when its results were, not when they were read. */
static nt_status set_times(importing *to, nt_error *err)
{
    sqlite3_stmt *stmt;
    if (isnan(to->first_unix_s))
        return NT_OK;
    nt_status status =
        nt_db_prepare(&to->writer->db, "UPDATE run SET started_unix_s = ? WHERE id = ?", &stmt, storing, err);
    if (status != NT_OK)
        return status;
    nt_bind_real(stmt, 1, to->first_unix_s);
    sqlite3_bind_int64(stmt, 2, to->writer->run_id);
    status = nt_db_step(&to->writer->db, stmt, storing, err);
    sqlite3_finalize(stmt);
    to->stored.ended_unix_s = to->last_unix_s;
    return status;
}

static nt_status finish(importing *to, nt_error *err)
{
    nt_status status = set_times(to, err);
    nt_copy(to->stored.state, sizeof to->stored.state, to->report->cut ? "interrupted" : "done");
    return status == NT_OK ? to->writer->sink.end_run(&to->writer->sink, &to->stored, err) : status;
}

static void undo(nt_writer *writer)
{
    if (!sqlite3_get_autocommit(writer->db.handle))
        sqlite3_exec(writer->db.handle, "ROLLBACK", NULL, NULL, NULL);
    writer->batch_puts = 0;
    writer->run_id = 0;
}

static nt_status store(importing *to, const char *path, const char *text, size_t length, int64_t *run_id, nt_error *err)
{
    const nt_import_target target = {to, begin, put};
    nt_sink *sink = &to->writer->sink;
    nt_status status = nt_db_sink_batch(sink, INT_MAX, err);
    if (status == NT_OK)
        status = nt_format_read(path, text, length, &to->options->names, &target, to->report, err);
    sqlite3_finalize(to->find);
    sqlite3_finalize(to->add);
    if (status == NT_OK)
        status = finish(to, err);
    *run_id = to->writer->run_id;
    if (status != NT_OK)
        undo(to->writer);
    nt_db_sink_batch(sink, 0, NULL);
    return status;
}

nt_status nt_db_import(nt_sink *sink, const char *path, const nt_import_options *options, int64_t *run_id,
                       nt_import_report *report, nt_error *err)
{
    char *text;
    size_t length;
    importing to = {
        .writer = sink->state, .options = options, .report = report, .first_unix_s = NAN, .last_unix_s = NAN};
    *report = (nt_import_report){0};
    *run_id = 0;
    nt_status status = nt_text_file_read(path, NT_IMPORT_MAX_BYTES, &text, &length, err);
    if (status != NT_OK)
        return status;
    status = store(&to, path, text, length, run_id, err);
    free(text);
    return status;
}
