/* writer.c: the sink of a sweep. A finished trial, its samples and counts, and the journal of the next in flight are
 * one transaction, so a kill at any moment leaves whole trials and at most one entry in flight.
 *
 * A put that fails changes nothing and may be tried again with the same arguments. */
#include "db/writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "db/columns.h"

static const char storing[] = "storing a trial";

static const char *const fixed_sql[NT_SQL_WRITER_COUNT] = {
    [NT_SQL_FIND_PROBLEM] = "SELECT id FROM problem WHERE layer = ? AND shape = ? AND batch = ? AND precision = ? AND "
                            "layout = ? AND fill = ?",
    [NT_SQL_ADD_PROBLEM] =
        "INSERT INTO problem (layer, shape, batch, precision, layout, fill) VALUES (?, ?, ?, ?, ?, ?)",
    [NT_SQL_FIND_KERNEL] = "SELECT id FROM kernel WHERE layer = ? AND name = ? AND device_kind = ? AND source_hash = ?",
    [NT_SQL_ADD_KERNEL] = "INSERT INTO kernel (layer, name, device_kind, source_hash, vendor) VALUES (?, ?, ?, ?, ?)",
    [NT_SQL_FIND_CONFIGURATION] = "SELECT id FROM configuration WHERE params = ?",
    [NT_SQL_ADD_CONFIGURATION] = "INSERT INTO configuration (params) VALUES (?)",
    [NT_SQL_ADD_SAMPLE] = "INSERT INTO sample (trial_id, phase, launches_per_sample, ns, per_block) "
                          "VALUES (?, ?, ?, ?, nullif(?, 0))",
    [NT_SQL_COUNT_TRIAL] =
        "INSERT INTO rollup (run_id, problem_id, cache, outcome, trials, least_time_ns, least_trial_id) "
        "VALUES (?, ?, ?, ?, 1, ?5, CASE WHEN ?5 IS NOT NULL THEN ?6 END) "
        "ON CONFLICT DO UPDATE SET trials = trials + 1, "
        "least_trial_id = CASE WHEN excluded.least_time_ns < ifnull(least_time_ns, 9e999) THEN excluded.least_trial_id "
        "ELSE least_trial_id END, least_time_ns = ifnull(min(least_time_ns, excluded.least_time_ns), "
        "ifnull(least_time_ns, excluded.least_time_ns))",
    /* The entry that still stands here was begun and never ended: its process died. */
    [NT_SQL_JOURNAL] = "INSERT INTO journal (run_id, problem_id, kernel, configuration_id, launches, begun_unix_s) "
                       "VALUES (?, ?, ?, ?, ?5 + 1, ?) "
                       "ON CONFLICT DO UPDATE SET problem_id = excluded.problem_id, kernel = excluded.kernel, "
                       "configuration_id = excluded.configuration_id, begun_unix_s = excluded.begun_unix_s, launches = "
                       "CASE WHEN problem_id = excluded.problem_id AND kernel = excluded.kernel "
                       "AND configuration_id = excluded.configuration_id "
                       "THEN max(launches + 1, excluded.launches) ELSE excluded.launches END",
    /* Not by run alone: pruned trials are stored while another is in flight. */
    [NT_SQL_UNJOURNAL] =
        "DELETE FROM journal WHERE run_id = ? AND problem_id = ? AND kernel = ? AND configuration_id = ?",
    [NT_SQL_SPENT] = "UPDATE run SET total_s = ? WHERE id = ?",
};

/* ---- transactions, alone or several in a batch ------------------------------------------------------------------- */

nt_status nt_writer_begin(nt_writer *writer, const char *doing, nt_error *err)
{
    bool open = !sqlite3_get_autocommit(writer->db.handle);
    nt_status status = open ? NT_OK : nt_db_begin(&writer->db, doing, err);
    if (status == NT_OK && writer->batch_limit > 0)
        status = nt_db_exec(&writer->db, "SAVEPOINT one", doing, err);
    return status;
}

nt_status nt_writer_commit_batch(nt_writer *writer, nt_error *err)
{
    writer->batch_puts = 0;
    if (sqlite3_get_autocommit(writer->db.handle))
        return NT_OK;
    return nt_db_finish(&writer->db, NT_OK, "storing a batch of trials", err);
}

nt_status nt_writer_finish(nt_writer *writer, nt_status so_far, const char *doing, nt_error *err)
{
    if (writer->batch_limit == 0)
        return nt_db_finish(&writer->db, so_far, doing, err);
    if (so_far != NT_OK) {
        if (!sqlite3_get_autocommit(writer->db.handle))
            sqlite3_exec(writer->db.handle, "ROLLBACK TO one; RELEASE one", NULL, NULL, NULL);
        return so_far;
    }
    nt_status status = nt_db_exec(&writer->db, "RELEASE one", doing, err);
    if (status == NT_OK && ++writer->batch_puts >= writer->batch_limit)
        status = nt_writer_commit_batch(writer, err);
    return status;
}

nt_status nt_db_sink_batch(nt_sink *sink, int puts, nt_error *err)
{
    nt_writer *writer = sink->state;
    nt_status status = nt_writer_commit_batch(writer, err);
    writer->batch_limit = puts > 1 ? puts : 0;
    return status;
}

/* ---- trials ------------------------------------------------------------------------------------------------------ */

typedef struct trial_keys {
    int64_t problem, kernel, configuration, trial;
} trial_keys;

static nt_status stands_already(const nt_writer *writer, const nt_trial *trial, nt_error *err)
{
    nt_fail(err, NT_FAILED, "run %lld in %s already holds a %s trial of %s with %s", (long long)writer->run_id,
            writer->db.path, nt_cache_mode_name(trial->cache), trial->kernel,
            trial->params_json != NULL ? trial->params_json : "{}");
    return NT_FAILED;
}

static nt_status add_trial(nt_writer *writer, const nt_trial *trial, trial_keys *keys, nt_error *err)
{
    sqlite3_stmt *stmt = writer->stmt[NT_SQL_ADD_TRIAL];
    sqlite3_bind_int64(stmt, 1, writer->run_id);
    sqlite3_bind_int64(stmt, 2, keys->problem);
    sqlite3_bind_int64(stmt, 3, keys->kernel);
    sqlite3_bind_int64(stmt, 4, keys->configuration);
    nt_bind_text(stmt, 5, nt_cache_mode_name(trial->cache));
    nt_bind_text(stmt, 6, nt_outcome_name(trial->outcome));
    nt_bind_real(stmt, 7, nt_unix_s());
    nt_columns_bind(stmt, 8, nt_trial_columns, nt_trial_column_count, trial);
    nt_status status = nt_db_step(&writer->db, stmt, storing, err);
    if (status != NT_OK && sqlite3_extended_errcode(writer->db.handle) == SQLITE_CONSTRAINT_UNIQUE)
        status = stands_already(writer, trial, err);
    sqlite3_clear_bindings(stmt);
    keys->trial = sqlite3_last_insert_rowid(writer->db.handle);
    return status;
}

nt_status nt_writer_add_samples(nt_writer *writer, int64_t trial_id, const char *phase, const nt_samples *samples,
                                nt_error *err)
{
    if (samples->count == 0)
        return NT_OK;
    sqlite3_stmt *stmt = writer->stmt[NT_SQL_ADD_SAMPLE];
    size_t bytes;
    void *data = nt_samples_bytes(samples, &bytes);
    sqlite3_bind_int64(stmt, 1, trial_id);
    nt_bind_text(stmt, 2, phase);
    if (samples->launches_per_sample == NT_UNKNOWN)
        sqlite3_bind_null(stmt, 3);
    else
        sqlite3_bind_int64(stmt, 3, samples->launches_per_sample);
    sqlite3_bind_blob64(stmt, 4, data, bytes, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 5, samples->per_block);
    nt_status status = nt_db_step(&writer->db, stmt, storing, err);
    sqlite3_clear_bindings(stmt);
    free(data);
    return status;
}

static nt_status count_trial(nt_writer *writer, const nt_trial *trial, const trial_keys *keys, nt_error *err)
{
    sqlite3_stmt *stmt = writer->stmt[NT_SQL_COUNT_TRIAL];
    sqlite3_bind_int64(stmt, 1, writer->run_id);
    sqlite3_bind_int64(stmt, 2, keys->problem);
    nt_bind_text(stmt, 3, nt_cache_mode_name(trial->cache));
    nt_bind_text(stmt, 4, nt_outcome_name(trial->outcome));
    nt_bind_real(stmt, 5, trial->outcome == NT_OUTCOME_OK && !trial->vendor ? trial->time_ns : (double)NAN);
    sqlite3_bind_int64(stmt, 6, keys->trial);
    return nt_db_step(&writer->db, stmt, storing, err);
}

static nt_status unjournal(nt_writer *writer, const nt_trial *trial, const trial_keys *keys, nt_error *err)
{
    sqlite3_stmt *stmt = writer->stmt[NT_SQL_UNJOURNAL];
    sqlite3_bind_int64(stmt, 1, writer->run_id);
    sqlite3_bind_int64(stmt, 2, keys->problem);
    nt_bind_text(stmt, 3, trial->kernel);
    sqlite3_bind_int64(stmt, 4, keys->configuration);
    return nt_db_step(&writer->db, stmt, storing, err);
}

static nt_status store_trial(nt_writer *writer, const nt_trial *trial, trial_keys *keys, nt_error *err)
{
    nt_status status = nt_writer_problem(writer, &trial->problem, true, &keys->problem, err);
    if (status == NT_OK)
        status = nt_writer_kernel(writer, trial, true, &keys->kernel, err);
    if (status == NT_OK)
        status = nt_writer_configuration(writer, trial->params_json, true, &keys->configuration, err);
    if (status == NT_OK)
        status = add_trial(writer, trial, keys, err);
    if (status == NT_OK)
        status = nt_writer_add_samples(writer, keys->trial, "main", &trial->samples, err);
    if (status == NT_OK)
        status = count_trial(writer, trial, keys, err);
    if (status == NT_OK)
        status = unjournal(writer, trial, keys, err);
    return status;
}

/* end_run states it finally; until then a resumed run counts it against its budget. */
static nt_status note_spent(nt_writer *writer, double total_s, nt_error *err)
{
    if (!(total_s > 0))
        return NT_OK;
    sqlite3_stmt *stmt = writer->stmt[NT_SQL_SPENT];
    nt_bind_real(stmt, 1, total_s);
    sqlite3_bind_int64(stmt, 2, writer->run_id);
    return nt_db_step(&writer->db, stmt, "noting the time spent", err);
}

static nt_status journal(nt_writer *writer, const nt_journal *next, nt_error *err)
{
    int64_t problem = 0, configuration = 0;
    nt_status status = nt_writer_problem(writer, next->problem, true, &problem, err);
    if (status == NT_OK)
        status = nt_writer_configuration(writer, next->params_json, true, &configuration, err);
    if (status != NT_OK)
        return status;
    sqlite3_stmt *stmt = writer->stmt[NT_SQL_JOURNAL];
    sqlite3_bind_int64(stmt, 1, writer->run_id);
    sqlite3_bind_int64(stmt, 2, problem);
    nt_bind_text(stmt, 3, next->kernel);
    sqlite3_bind_int64(stmt, 4, configuration);
    sqlite3_bind_int(stmt, 5, next->attempts > 0 ? next->attempts : 0);
    nt_bind_real(stmt, 6, nt_unix_s());
    return nt_db_step(&writer->db, stmt, "noting the trial in flight", err);
}

static nt_status put(nt_sink *sink, nt_trial *finished, const nt_journal *next, nt_error *err)
{
    nt_writer *writer = sink->state;
    if (finished == NULL && next == NULL)
        return NT_OK;
    if (writer->run_id == 0)
        return nt_fail(err, NT_FAILED, "a trial came before its run began");
    nt_status status = nt_writer_begin(writer, storing, err);
    if (status != NT_OK)
        return status;
    trial_keys keys = {0};
    if (finished != NULL)
        status = store_trial(writer, finished, &keys, err);
    if (status == NT_OK && next != NULL)
        status = journal(writer, next, err);
    if (status == NT_OK && next != NULL)
        status = note_spent(writer, next->total_s, err);
    status = nt_writer_finish(writer, status, storing, err);
    if (status == NT_OK && finished != NULL) {
        finished->id = keys.trial;
        finished->run_id = writer->run_id;
    }
    return status;
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

static char *add_trial_sql(void)
{
    nt_str sql = {0};
    nt_str_add(&sql,
               "INSERT INTO trial (run_id, problem_id, kernel_id, configuration_id, cache, outcome, stored_unix_s");
    nt_columns_list(&sql, nt_trial_columns, nt_trial_column_count, "@");
    nt_str_add(&sql, ") VALUES (?, ?, ?, ?, ?, ?, ?");
    nt_columns_marks(&sql, nt_trial_column_count);
    nt_str_add(&sql, ")");
    return sql.data;
}

static nt_status prepare_all(nt_writer *writer, nt_error *err)
{
    nt_status status = NT_OK;
    char *trial_sql = add_trial_sql();
    for (int i = 0; status == NT_OK && i < NT_SQL_WRITER_COUNT; i++)
        status = nt_db_prepare(&writer->db, i == NT_SQL_ADD_TRIAL ? trial_sql : fixed_sql[i], &writer->stmt[i],
                               "preparing to store trials", err);
    free(trial_sql);
    return status;
}

static void close_sink(nt_sink *sink)
{
    nt_writer *writer = sink->state;
    nt_writer_commit_batch(writer, NULL);
    for (int i = 0; i < NT_SQL_WRITER_COUNT; i++)
        sqlite3_finalize(writer->stmt[i]);
    nt_db_close(&writer->db);
    free(writer);
}

nt_status nt_db_sink_open_with(const char *path, const nt_db_options *options, nt_sink **out, nt_error *err)
{
    nt_writer *writer = nt_alloc_zero(1, sizeof *writer);
    *out = NULL;
    nt_status status = nt_db_open_write(&writer->db, path, options, err);
    if (status != NT_OK) {
        free(writer);
        return status;
    }
    writer->sink = (nt_sink){
        .state = writer,
        .begin_run = nt_writer_begin_run,
        .put = put,
        .put_finals = nt_writer_put_finals,
        .put_counters = nt_writer_put_counters,
        .end_run = nt_writer_end_run,
        .find_resumable = nt_writer_find_resumable,
        .each_trial = nt_writer_each_trial,
        .find_equal = nt_writer_find_equal,
        .in_flight = nt_writer_in_flight,
        .close = close_sink,
    };
    status = prepare_all(writer, err);
    if (status != NT_OK)
        close_sink(&writer->sink);
    else
        *out = &writer->sink;
    return status;
}

nt_status nt_db_sink_open(const char *path, nt_sink **out, nt_error *err)
{
    return nt_db_sink_open_with(path, NULL, out, err);
}
