/* resume.c: what the sink reads back: the run to go on with, its trials, the entry in flight, and earlier trials of
 * equal key for --reuse. */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "db/columns.h"
#include "db/failure.h"
#include "db/writer.h"

static const char reading[] = "reading earlier trials";

/* Result columns of every query here that gives a problem, kernel and parameters. */
#define KEY_COLUMNS "p.layer, p.shape, p.batch, p.precision, p.layout, p.fill, c.params"
enum { KEY_COLUMN_COUNT = 7 };

static nt_status damaged(const nt_db *db, const char *what, const char *text, nt_error *err)
{
    nt_fail(err, NT_CORRUPT, "%s holds the unknown %s '%s'", db->path, what, text);
    nt_hint(err, "it was changed by hand or by another version");
    return NT_CORRUPT;
}

static nt_status read_key(const nt_db *db, sqlite3_stmt *stmt, int first, nt_trial *trial, nt_error *err)
{
    nt_problem *problem = &trial->problem;
    nt_copy(problem->layer, sizeof problem->layer, nt_read_text(stmt, first));
    problem->batch = sqlite3_column_int64(stmt, first + 2);
    int precision = nt_precision_find(nt_read_text(stmt, first + 3));
    int layout = nt_layout_find(nt_read_text(stmt, first + 4));
    int fill = nt_fill_find(nt_read_text(stmt, first + 5));
    if (precision < 0)
        return damaged(db, "precision", nt_read_text(stmt, first + 3), err);
    if (layout < 0)
        return damaged(db, "layout", nt_read_text(stmt, first + 4), err);
    if (fill < 0)
        return damaged(db, "fill", nt_read_text(stmt, first + 5), err);
    problem->precision = (nt_precision)precision;
    problem->layout = (nt_layout)layout;
    problem->fill = (nt_fill)fill;
    trial->params_json = nt_strdup(nt_read_text(stmt, first + 6));
    if (nt_read_text(stmt, first + 1)[0] == '\0') { /* a recorded problem may have no extents */
        problem->shape = (nt_shape){0};
        return NT_OK;
    }
    return nt_shape_parse(nt_read_text(stmt, first + 1), &problem->shape, err);
}

/* ---- trials ------------------------------------------------------------------------------------------------------ */

void nt_db_select_trials(nt_str *sql)
{
    nt_str_add(sql, "SELECT " KEY_COLUMNS ", t.id, t.run_id, k.name, k.source_hash, t.cache, t.outcome");
    nt_columns_list(sql, nt_trial_columns, nt_trial_column_count, "t.@");
    nt_str_add(sql, " FROM trial t JOIN problem p ON p.id = t.problem_id JOIN kernel k ON k.id = t.kernel_id "
                    "JOIN configuration c ON c.id = t.configuration_id ");
}

nt_status nt_db_read_trial(const nt_db *db, sqlite3_stmt *stmt, nt_trial *trial, nt_error *err)
{
    nt_trial_init(trial);
    nt_status status = read_key(db, stmt, 0, trial, err);
    if (status != NT_OK)
        return status;
    int at = KEY_COLUMN_COUNT;
    trial->id = sqlite3_column_int64(stmt, at);
    trial->run_id = sqlite3_column_int64(stmt, at + 1);
    nt_copy(trial->kernel, sizeof trial->kernel, nt_read_text(stmt, at + 2));
    nt_copy(trial->source_hash, sizeof trial->source_hash, nt_read_text(stmt, at + 3));
    int cache = nt_cache_mode_find(nt_read_text(stmt, at + 4));
    int outcome = nt_outcome_find(nt_read_text(stmt, at + 5));
    if (cache < 0)
        return damaged(db, "cache mode", nt_read_text(stmt, at + 4), err);
    if (outcome < 0)
        return damaged(db, "outcome", nt_read_text(stmt, at + 5), err);
    trial->cache = (nt_cache_mode)cache;
    trial->outcome = (nt_outcome)outcome;
    nt_columns_read(stmt, at + 6, nt_trial_columns, nt_trial_column_count, trial);
    return NT_OK;
}

nt_status nt_writer_each_trial(nt_sink *sink, int64_t run_id, bool (*each)(void *context, const nt_trial *trial),
                               void *context, nt_error *err)
{
    nt_writer *writer = sink->state;
    nt_str sql = {0};
    sqlite3_stmt *stmt;
    nt_db_select_trials(&sql);
    nt_str_add(&sql, "WHERE t.run_id = ? ORDER BY t.id");
    nt_status status = nt_db_prepare(&writer->db, nt_str_text(&sql), &stmt, reading, err);
    nt_str_done(&sql);
    if (status != NT_OK)
        return status;
    sqlite3_bind_int64(stmt, 1, run_id);
    bool more = true;
    int rc = SQLITE_ROW;
    while (more && status == NT_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        nt_trial trial;
        status = nt_db_read_trial(&writer->db, stmt, &trial, err);
        if (status == NT_OK)
            more = each(context, &trial);
        nt_trial_done(&trial);
    }
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        status = nt_db_error(&writer->db, reading, err);
    sqlite3_finalize(stmt);
    return status;
}

nt_status nt_db_read_samples(const nt_db *db, nt_trial *trial, nt_error *err)
{
    sqlite3_stmt *stmt;
    nt_status status =
        nt_db_prepare(db, "SELECT ns FROM sample WHERE trial_id = ? AND phase = 'main'", &stmt, reading, err);
    if (status != NT_OK)
        return status;
    sqlite3_bind_int64(stmt, 1, trial->id);
    if (sqlite3_step(stmt) == SQLITE_ROW)
        nt_samples_from_bytes(&trial->samples, sqlite3_column_blob(stmt, 0), (size_t)sqlite3_column_bytes(stmt, 0));
    sqlite3_finalize(stmt);
    return NT_OK;
}

static nt_status no_equal(nt_error *err)
{
    return nt_fail(err, NT_NOT_FOUND, "no earlier trial has the same key");
}

nt_status nt_writer_find_equal(nt_sink *sink, const nt_trial *like, nt_trial *out, nt_error *err)
{
    nt_writer *writer = sink->state;
    int64_t problem = 0, kernel = 0, configuration = 0;
    nt_trial_init(out);
    nt_status status = nt_writer_problem(writer, &like->problem, false, &problem, err);
    if (status == NT_OK)
        status = nt_writer_kernel(writer, like, false, &kernel, err);
    if (status == NT_OK)
        status = nt_writer_configuration(writer, like->params_json, false, &configuration, err);
    if (status != NT_OK)
        return status;
    if (problem == 0 || kernel == 0 || configuration == 0)
        return no_equal(err);
    nt_str sql = {0};
    sqlite3_stmt *stmt;
    nt_db_select_trials(&sql);
    nt_str_add(&sql,
               "JOIN run r ON r.id = t.run_id WHERE t.problem_id = ? AND t.kernel_id = ? AND t.configuration_id = ? "
               "AND t.cache = ? AND t.outcome = 'ok' AND r.environment_id = ? AND r.source = 'measured' "
               "ORDER BY t.id DESC LIMIT 1");
    status = nt_db_prepare(&writer->db, nt_str_text(&sql), &stmt, reading, err);
    nt_str_done(&sql);
    if (status != NT_OK)
        return status;
    sqlite3_bind_int64(stmt, 1, problem);
    sqlite3_bind_int64(stmt, 2, kernel);
    sqlite3_bind_int64(stmt, 3, configuration);
    nt_bind_text(stmt, 4, nt_cache_mode_name(like->cache));
    sqlite3_bind_int64(stmt, 5, writer->environment_id);
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        status = nt_db_read_trial(&writer->db, stmt, out, err);
    else
        status = rc == SQLITE_DONE ? no_equal(err) : nt_db_error(&writer->db, reading, err);
    sqlite3_finalize(stmt);
    return status == NT_OK ? nt_db_read_samples(&writer->db, out, err) : status;
}

/* ---- the run to go on with --------------------------------------------------------------------------------------- */

static const char resuming[] = "looking for a run to go on with";

static void read_run(sqlite3_stmt *stmt, const nt_run *like, nt_run *out)
{
    out->id = sqlite3_column_int64(stmt, 0);
    out->command = nt_strdup(nt_read_text(stmt, 1));
    out->options_json = nt_strdup(nt_read_text(stmt, 2));
    nt_copy(out->nntune_version, sizeof out->nntune_version, nt_read_text(stmt, 3));
    out->seed = (uint64_t)sqlite3_column_int64(stmt, 4);
    nt_copy(out->strategy, sizeof out->strategy, nt_read_text(stmt, 5));
    nt_copy(out->host, sizeof out->host, nt_read_text(stmt, 6));
    nt_copy(out->state, sizeof out->state, nt_read_text(stmt, 7));
    out->started_unix_s = nt_read_real(stmt, 8);
    nt_columns_read(stmt, 9, nt_run_columns, nt_run_column_count, out);
    out->device = like->device; /* equal, and how this process reaches it */
}

nt_status nt_writer_find_resumable(nt_sink *sink, const nt_run *like, nt_run *out, nt_error *err)
{
    nt_writer *writer = sink->state;
    int64_t device = 0, environment = 0;
    nt_run_init(out);
    nt_status status = nt_writer_environment(writer, &like->device, false, &device, &environment, err);
    if (status != NT_OK)
        return status;
    nt_str sql = {0};
    sqlite3_stmt *stmt;
    nt_str_add(&sql, "SELECT id, command, options, nntune_version, seed, strategy, host, state, started_unix_s");
    nt_columns_list(&sql, nt_run_columns, nt_run_column_count, "@");
    nt_str_add(&sql, " FROM run WHERE device_id = ? AND environment_id = ? AND state <> 'done' AND source = 'measured' "
                     "AND options = ? ORDER BY started_unix_s DESC, id DESC LIMIT 1");
    status = nt_db_prepare(&writer->db, nt_str_text(&sql), &stmt, resuming, err);
    nt_str_done(&sql);
    if (status != NT_OK)
        return status;
    sqlite3_bind_int64(stmt, 1, device);
    sqlite3_bind_int64(stmt, 2, environment);
    nt_bind_text(stmt, 3, like->options_json != NULL ? like->options_json : "{}");
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        read_run(stmt, like, out);
    else if (rc == SQLITE_DONE)
        status = nt_fail(err, NT_NOT_FOUND, "%s has no unfinished run of %s with these options", writer->db.path,
                         like->device.name);
    else
        status = nt_db_error(&writer->db, resuming, err);
    sqlite3_finalize(stmt);
    return status;
}

nt_status nt_writer_in_flight(nt_sink *sink, int64_t run_id, nt_trial *trial, int *attempts, nt_error *err)
{
    nt_writer *writer = sink->state;
    sqlite3_stmt *stmt;
    nt_trial_init(trial);
    *attempts = 0;
    nt_status status = nt_db_prepare(&writer->db,
                                     "SELECT " KEY_COLUMNS ", j.kernel, j.launches FROM journal j "
                                     "JOIN problem p ON p.id = j.problem_id "
                                     "JOIN configuration c ON c.id = j.configuration_id WHERE j.run_id = ?",
                                     &stmt, resuming, err);
    if (status != NT_OK)
        return status;
    sqlite3_bind_int64(stmt, 1, run_id);
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        status = read_key(&writer->db, stmt, 0, trial, err);
        nt_copy(trial->kernel, sizeof trial->kernel, nt_read_text(stmt, KEY_COLUMN_COUNT));
        *attempts = sqlite3_column_int(stmt, KEY_COLUMN_COUNT + 1);
        trial->run_id = run_id;
    } else {
        status = rc == SQLITE_DONE ? nt_fail(err, NT_NOT_FOUND, "no trial of run %lld was in flight", (long long)run_id)
                                   : nt_db_error(&writer->db, resuming, err);
    }
    sqlite3_finalize(stmt);
    return status;
}
