/* runs.c: the beginning, going on and end of a run, and the finalists of its problems: the rare writes of the sink. */
#include <math.h>
#include <string.h>

#include "core/clock.h"
#include "db/columns.h"
#include "db/writer.h"

static void peaks_json(nt_str *out, const nt_device_info *device)
{
    nt_str_add(out, "{");
    for (int i = 0; i < NT_PRECISION_COUNT; i++)
        if (isfinite(device->peak_flops[i]))
            nt_str_addf(out, "%s\"%s\":%.17g", out->length > 1 ? "," : "", nt_precisions[i].name,
                        device->peak_flops[i]);
    nt_str_add(out, "}");
}

static nt_status add_run(nt_writer *writer, nt_run *run, int64_t device_id, nt_error *err)
{
    sqlite3_stmt *stmt;
    nt_status status = nt_db_prepare(
        &writer->db,
        "INSERT INTO run (environment_id, device_id, state, command, options, nntune_version, seed, strategy, host, "
        "started_unix_s, dram_peak_bytes_per_s, peak_flops, peak_source, source) "
        "VALUES (?, ?, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        &stmt, "beginning a run", err);
    if (status != NT_OK)
        return status;
    nt_str peaks = {0};
    peaks_json(&peaks, &run->device);
    sqlite3_bind_int64(stmt, 1, writer->environment_id);
    sqlite3_bind_int64(stmt, 2, device_id);
    nt_bind_text(stmt, 3, run->command != NULL ? run->command : "");
    nt_bind_text(stmt, 4, run->options_json != NULL ? run->options_json : "{}");
    nt_bind_text(stmt, 5, run->nntune_version);
    sqlite3_bind_int64(stmt, 6, (sqlite3_int64)run->seed);
    nt_bind_text(stmt, 7, run->strategy);
    nt_bind_text(stmt, 8, run->host);
    nt_bind_real(stmt, 9, run->started_unix_s);
    nt_bind_real(stmt, 10, run->device.dram_peak_bytes_per_s);
    nt_bind_text(stmt, 11, nt_str_text(&peaks));
    nt_bind_text(stmt, 12, run->device.peak_source);
    nt_bind_text(stmt, 13, run->recorded ? "recorded" : "measured");
    status = nt_db_step_id(&writer->db, stmt, &run->id, "beginning a run", err);
    sqlite3_finalize(stmt);
    nt_str_done(&peaks);
    return status;
}

static nt_status reopen_run(nt_writer *writer, const nt_run *run, nt_error *err)
{
    sqlite3_stmt *stmt;
    nt_status status = nt_db_prepare(&writer->db,
                                     "UPDATE run SET state = 'running', ended_unix_s = NULL WHERE id = ? AND "
                                     "environment_id = ?",
                                     &stmt, "going on with a run", err);
    if (status != NT_OK)
        return status;
    sqlite3_bind_int64(stmt, 1, run->id);
    sqlite3_bind_int64(stmt, 2, writer->environment_id);
    status = nt_db_step(&writer->db, stmt, "going on with a run", err);
    sqlite3_finalize(stmt);
    if (status != NT_OK || sqlite3_changes(writer->db.handle) == 1)
        return status;
    nt_fail(err, NT_NOT_FOUND, "%s has no run %lld of this device, driver and compiler to go on with", writer->db.path,
            (long long)run->id);
    nt_hint(err, "`nntune query 'select * from runs' --db %s` lists them", writer->db.path);
    return NT_NOT_FOUND;
}

nt_status nt_writer_begin_run(nt_sink *sink, nt_run *run, nt_error *err)
{
    nt_writer *writer = sink->state;
    bool resumed = run->id != 0;
    int64_t device_id = 0, environment_before = writer->environment_id;
    nt_copy(writer->device_kind, sizeof writer->device_kind, nt_device_kind_name(run->device.kind));
    if (!(run->started_unix_s > 0))
        run->started_unix_s = nt_unix_s();
    nt_status status = nt_writer_begin(writer, "beginning a run", err);
    if (status != NT_OK)
        return status;
    status = nt_writer_environment(writer, &run->device, true, &device_id, &writer->environment_id, err);
    if (status == NT_OK)
        status = resumed ? reopen_run(writer, run, err) : add_run(writer, run, device_id, err);
    status = nt_writer_finish(writer, status, "beginning a run", err);
    if (status == NT_OK) {
        nt_copy(run->state, sizeof run->state, "running");
        writer->run_id = run->id;
    } else {
        writer->environment_id = environment_before;
        if (!resumed)
            run->id = 0;
    }
    return status;
}

nt_status nt_writer_end_run(nt_sink *sink, const nt_run *run, nt_error *err)
{
    nt_writer *writer = sink->state;
    nt_str sql = {0};
    nt_str_add(&sql, "UPDATE run SET state = ?");
    nt_columns_list(&sql, nt_run_columns, nt_run_column_count, "@ = ?");
    nt_str_add(&sql, " WHERE id = ?");
    sqlite3_stmt *stmt;
    nt_status status = nt_db_prepare(&writer->db, nt_str_text(&sql), &stmt, "ending a run", err);
    nt_str_done(&sql);
    if (status != NT_OK)
        return status;
    nt_run ended = *run;
    if (isnan(ended.ended_unix_s))
        ended.ended_unix_s = nt_unix_s();
    nt_bind_text(stmt, 1, run->state);
    int next = nt_columns_bind(stmt, 2, nt_run_columns, nt_run_column_count, &ended);
    sqlite3_bind_int64(stmt, next, run->id);
    status = nt_writer_begin(writer, "ending a run", err);
    if (status == NT_OK) {
        status = nt_db_step(&writer->db, stmt, "ending a run", err);
        status = nt_writer_finish(writer, status, "ending a run", err);
    }
    sqlite3_finalize(stmt);
    return status == NT_OK ? nt_writer_commit_batch(writer, err) : status;
}

/* ---- finalists --------------------------------------------------------------------------------------------------- */

static const char storing_finals[] = "storing finalists";

/* Runs one statement with ids bound in order; a text may follow them. */
static nt_status run_with(nt_writer *writer, const char *sql, const int64_t *ids, int count, const char *text,
                          nt_error *err)
{
    sqlite3_stmt *stmt;
    nt_status status = nt_db_prepare(&writer->db, sql, &stmt, storing_finals, err);
    if (status != NT_OK)
        return status;
    for (int i = 0; i < count; i++)
        sqlite3_bind_int64(stmt, i + 1, ids[i]);
    if (text != NULL)
        nt_bind_text(stmt, count + 1, text);
    status = nt_db_step(&writer->db, stmt, storing_finals, err);
    sqlite3_finalize(stmt);
    return status;
}

/* A resumed run may hold rounds measured again: the new ones stand alone. */
static nt_status drop_old_finals(nt_writer *writer, int64_t problem_id, const char *cache, nt_error *err)
{
    int64_t ids[] = {writer->run_id, problem_id};
    nt_status status = run_with(writer,
                                "DELETE FROM sample WHERE phase = 'final' AND trial_id IN "
                                "(SELECT trial_id FROM final WHERE run_id = ? AND problem_id = ? AND cache = ?)",
                                ids, 2, cache, err);
    if (status != NT_OK)
        return status;
    return run_with(writer, "DELETE FROM final WHERE run_id = ? AND problem_id = ? AND cache = ?", ids, 2, cache, err);
}

/* The cache mode of a trial of this run and problem; anything else is refused. */
static nt_status cache_of(nt_writer *writer, int64_t trial_id, int64_t problem_id, char *cache, size_t bytes,
                          nt_error *err)
{
    sqlite3_stmt *stmt;
    nt_status status = nt_db_prepare(&writer->db,
                                     "SELECT cache FROM trial WHERE id = ? AND run_id = ? AND problem_id = ? AND "
                                     "outcome = 'ok'",
                                     &stmt, storing_finals, err);
    if (status != NT_OK)
        return status;
    sqlite3_bind_int64(stmt, 1, trial_id);
    sqlite3_bind_int64(stmt, 2, writer->run_id);
    sqlite3_bind_int64(stmt, 3, problem_id);
    if (sqlite3_step(stmt) == SQLITE_ROW)
        nt_copy(cache, bytes, nt_read_text(stmt, 0));
    else
        status = nt_fail(err, NT_FAILED, "finalist %lld is no ok trial of this problem in run %lld",
                         (long long)trial_id, (long long)writer->run_id);
    sqlite3_finalize(stmt);
    return status;
}

static nt_status add_final(nt_writer *writer, sqlite3_stmt *stmt, const nt_final *final, int64_t problem_id,
                           const char *cache, nt_error *err)
{
    sqlite3_bind_int64(stmt, 1, final->trial_id);
    sqlite3_bind_int64(stmt, 2, writer->run_id);
    sqlite3_bind_int64(stmt, 3, problem_id);
    nt_bind_text(stmt, 4, cache);
    sqlite3_bind_int(stmt, 5, final->rank);
    sqlite3_bind_int(stmt, 6, final->tied);
    nt_bind_real(stmt, 7, final->ratio);
    nt_bind_real(stmt, 8, final->time_ns);
    nt_bind_real(stmt, 9, final->time_lo_ns);
    nt_bind_real(stmt, 10, final->time_hi_ns);
    sqlite3_bind_int64(stmt, 11, (int64_t) final->samples.count);
    nt_status status = nt_db_step(&writer->db, stmt, storing_finals, err);
    return status == NT_OK ? nt_writer_add_samples(writer, final->trial_id, "final", &final->samples, err) : status;
}

static nt_status store_finals(nt_writer *writer, sqlite3_stmt *stmt, const nt_problem *problem, const nt_final *finals,
                              int count, nt_error *err)
{
    int64_t problem_id = 0;
    char cache[8] = "", first[8] = "";
    nt_status status = nt_writer_problem(writer, problem, true, &problem_id, err);
    for (int i = 0; status == NT_OK && i < count; i++) {
        status = cache_of(writer, finals[i].trial_id, problem_id, cache, sizeof cache, err);
        if (status == NT_OK && i == 0) {
            nt_copy(first, sizeof first, cache);
            status = drop_old_finals(writer, problem_id, cache, err);
        }
        if (status == NT_OK && strcmp(first, cache) != 0)
            status = nt_fail(err, NT_FAILED, "finalists of one call are both cold and hot");
        if (status == NT_OK)
            status = add_final(writer, stmt, &finals[i], problem_id, cache, err);
    }
    return status;
}

nt_status nt_writer_put_finals(nt_sink *sink, const nt_problem *problem, const nt_final *finals, int count,
                               nt_error *err)
{
    nt_writer *writer = sink->state;
    sqlite3_stmt *stmt;
    if (count <= 0)
        return NT_OK;
    nt_status status =
        nt_db_prepare(&writer->db,
                      "INSERT INTO final (trial_id, run_id, problem_id, cache, rank, tied, ratio, time_ns, "
                      "time_lo_ns, time_hi_ns, samples) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                      &stmt, storing_finals, err);
    if (status != NT_OK)
        return status;
    status = nt_writer_begin(writer, storing_finals, err);
    if (status == NT_OK) {
        status = store_finals(writer, stmt, problem, finals, count, err);
        status = nt_writer_finish(writer, status, storing_finals, err);
    }
    sqlite3_finalize(stmt);
    return status;
}
