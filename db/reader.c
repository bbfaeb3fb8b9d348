/* reader.c: rows of the views for reports, screens and `query`, from a connection that cannot write.
 *
 * Each call is a read transaction of its own, so a reader attached for hours sees new trials and never holds up the
 * writer's log for longer than one call. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "db/columns.h"
#include "db/failure.h"
#include "db/guard.h"
#include "db/reader.h"

typedef nt_db_reader reader;

/* One row as cells. A BLOB is shown as hexadecimal digits, each in its own text because all live until the next row. */
typedef struct row_buffer {
    int count;
    nt_cell *cell;
    const char **name;
    nt_str *hex;
} row_buffer;

static void row_open(row_buffer *row, sqlite3_stmt *stmt)
{
    row->count = sqlite3_column_count(stmt);
    row->cell = nt_alloc_zero((size_t)row->count, sizeof *row->cell);
    row->name = nt_alloc_zero((size_t)row->count, sizeof *row->name);
    row->hex = nt_alloc_zero((size_t)row->count, sizeof *row->hex);
    for (int i = 0; i < row->count; i++)
        row->name[i] = sqlite3_column_name(stmt, i);
}

static void row_done(row_buffer *row)
{
    for (int i = 0; i < row->count; i++)
        nt_str_done(&row->hex[i]);
    free(row->hex);
    free(row->name);
    free(row->cell);
}

static const char *hex_of(nt_str *out, const unsigned char *data, int bytes)
{
    static const char digits[] = "0123456789abcdef";
    nt_str_clear(out);
    for (int i = 0; i < bytes; i++)
        nt_str_add_n(out, (char[]){digits[data[i] >> 4], digits[data[i] & 15]}, 2);
    return nt_str_text(out);
}

static void fill_cell(nt_cell *cell, nt_str *hex, sqlite3_stmt *stmt, int column)
{
    int type = sqlite3_column_type(stmt, column);
    *cell = (nt_cell){.kind = NT_CELL_NULL};
    if (type == SQLITE_INTEGER) {
        cell->kind = NT_CELL_INT;
        cell->i = sqlite3_column_int64(stmt, column);
    } else if (type == SQLITE_FLOAT) {
        cell->kind = NT_CELL_REAL;
        cell->r = sqlite3_column_double(stmt, column);
    } else if (type == SQLITE_TEXT) {
        cell->kind = NT_CELL_TEXT;
        cell->text = nt_read_text(stmt, column);
    } else if (type == SQLITE_BLOB) {
        const unsigned char *data = sqlite3_column_blob(stmt, column);
        cell->kind = NT_CELL_TEXT;
        cell->text = hex_of(hex, data, sqlite3_column_bytes(stmt, column));
    }
}

static nt_status out_of_time(const reader *r, nt_error *err)
{
    nt_fail(err, NT_TIMED_OUT, "the query took longer than %.3g s", r->db.query_ms / 1e3);
    nt_hint(err, "narrow it with WHERE or LIMIT; counts of a whole run are in the views `counts` and `runs`");
    return NT_TIMED_OUT;
}

nt_status nt_reader_failure(const nt_db_reader *r, int code, nt_error *err)
{
    return code == SQLITE_INTERRUPT ? out_of_time(r, err) : nt_db_error(&r->db, "reading", err);
}

static nt_status each_row(reader *r, sqlite3_stmt *stmt, nt_row_fn each, void *context, int64_t *rows, nt_error *err)
{
    row_buffer buffer;
    row_open(&buffer, stmt);
    nt_row row = {buffer.count, buffer.name, buffer.cell};
    bool more = true;
    int rc = SQLITE_DONE;
    *rows = 0;
    while (more && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        for (int i = 0; i < buffer.count; i++)
            fill_cell(&buffer.cell[i], &buffer.hex[i], stmt, i);
        (*rows)++;
        more = each(context, &row);
    }
    nt_status status = NT_OK;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        status = nt_reader_failure(r, rc, err);
    row_done(&buffer);
    return status;
}

nt_status nt_reader_rows(nt_db_reader *r, sqlite3_stmt *stmt, nt_row_fn each, void *context, nt_error *err)
{
    int64_t rows;
    nt_status status = each_row(r, stmt, each, context, &rows, err);
    nt_reader_release(r, stmt);
    return status;
}

static nt_status best(nt_reader *base, const char *layer, const char *device, nt_row_fn each, void *context,
                      nt_error *err)
{
    reader *r = base->state;
    sqlite3_stmt *stmt;
    int64_t rows;
    nt_status status = nt_reader_prepare(r,
                                         "SELECT * FROM best WHERE (?1 IS NULL OR layer = ?1) AND "
                                         "(?2 IS NULL OR device = ?2 OR device_uuid = ?2) "
                                         "ORDER BY device, device_uuid, layer, shape, precision, layout, fill, batch",
                                         &stmt, "reading the best trials", err);
    if (status != NT_OK)
        return status;
    nt_bind_text(stmt, 1, layer);
    nt_bind_text(stmt, 2, device);
    status = each_row(r, stmt, each, context, &rows, err);
    nt_reader_release(r, stmt);
    return status;
}

static nt_status no_trial(reader *r, int64_t id, nt_error *err)
{
    sqlite3_stmt *stmt;
    int64_t last = 0;
    if (nt_reader_prepare(r, "SELECT max(id) FROM trial", &stmt, "reading", NULL) == NT_OK) {
        nt_db_step_id(&r->db, stmt, &last, "reading", NULL);
        nt_reader_release(r, stmt);
    }
    nt_fail(err, NT_NOT_FOUND, "%s has no trial %" PRId64, r->db.path, id);
    if (last > 0)
        nt_hint(err, "trials are numbered from 1 to %" PRId64 "; `nntune best` shows the winners", last);
    else
        nt_hint(err, "it holds no trials yet");
    return NT_NOT_FOUND;
}

static nt_status trial(nt_reader *base, int64_t id, nt_row_fn each, void *context, nt_error *err)
{
    reader *r = base->state;
    sqlite3_stmt *stmt;
    int64_t rows = 0;
    nt_status status = nt_reader_prepare(r, "SELECT * FROM trials WHERE trial = ?", &stmt, "reading a trial", err);
    if (status != NT_OK)
        return status;
    sqlite3_bind_int64(stmt, 1, id);
    status = each_row(r, stmt, each, context, &rows, err);
    nt_reader_release(r, stmt);
    return status == NT_OK && rows == 0 ? no_trial(r, id, err) : status;
}

static nt_status trials(nt_reader *base, int64_t run_id, const char *layer, nt_row_fn each, void *context,
                        nt_error *err)
{
    reader *r = base->state;
    sqlite3_stmt *stmt;
    int64_t rows;
    /* One text for each case, so that a run is found by its index and not by looking at every trial. */
    const char *sql = run_id > 0 ? "SELECT * FROM trials WHERE run = ?1 AND (?2 IS NULL OR layer = ?2) ORDER BY trial"
                                 : "SELECT * FROM trials WHERE ?1 = 0 AND (?2 IS NULL OR layer = ?2) ORDER BY trial";
    nt_status status = nt_reader_prepare(r, sql, &stmt, "reading trials", err);
    if (status != NT_OK)
        return status;
    sqlite3_bind_int64(stmt, 1, run_id);
    nt_bind_text(stmt, 2, layer);
    status = each_row(r, stmt, each, context, &rows, err);
    nt_reader_release(r, stmt);
    return status;
}

/* The samples behind the view's time_ns: of the interleaved rounds where there were some ('final' < 'main'). */
static nt_status samples(nt_reader *base, int64_t trial_id, nt_samples *out, nt_error *err)
{
    reader *r = base->state;
    sqlite3_stmt *stmt;
    *out = (nt_samples){.launches_per_sample = NT_UNKNOWN};
    nt_status status =
        nt_reader_prepare(r, "SELECT ns, launches_per_sample, * FROM sample WHERE trial_id = ? ORDER BY phase LIMIT 1",
                          &stmt, "reading samples", err);
    if (status != NT_OK)
        return status;
    sqlite3_bind_int64(stmt, 1, trial_id);
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        nt_samples_from_bytes(out, sqlite3_column_blob(stmt, 0), (size_t)sqlite3_column_bytes(stmt, 0));
        if (sqlite3_column_type(stmt, 1) != SQLITE_NULL)
            out->launches_per_sample = sqlite3_column_int64(stmt, 1);
        for (int i = 2; i < sqlite3_column_count(stmt); i++) /* files of earlier versions do not have it */
            if (strcmp(sqlite3_column_name(stmt, i), "per_block") == 0)
                out->per_block = sqlite3_column_int64(stmt, i);
    } else if (rc == SQLITE_DONE) {
        status = nt_fail(err, NT_NOT_FOUND, "trial %" PRId64 " has no samples", trial_id);
        nt_hint(err, "only trials with outcome ok were timed");
    } else {
        status = nt_db_error(&r->db, "reading samples", err);
    }
    nt_reader_release(r, stmt);
    return status;
}

static nt_status runs(nt_reader *base, nt_row_fn each, void *context, nt_error *err)
{
    reader *r = base->state;
    sqlite3_stmt *stmt;
    int64_t rows;
    nt_status status = nt_reader_prepare(r, "SELECT * FROM runs ORDER BY run", &stmt, "reading runs", err);
    if (status != NT_OK)
        return status;
    status = each_row(r, stmt, each, context, &rows, err);
    nt_reader_release(r, stmt);
    return status;
}

static nt_status run(nt_reader *base, int64_t run_id, nt_row_fn each, void *context, nt_error *err)
{
    reader *r = base->state;
    sqlite3_stmt *stmt;
    const char *sql = run_id > 0 ? "SELECT * FROM runs WHERE run = ?1"
                                 : "SELECT * FROM runs WHERE ?1 = 0 AND run = (SELECT max(id) FROM run)";
    nt_status status = nt_reader_prepare(r, sql, &stmt, "reading a run", err);
    if (status != NT_OK)
        return status;
    sqlite3_bind_int64(stmt, 1, run_id);
    return nt_reader_rows(r, stmt, each, context, err);
}

/* Rows of a statement with one number in its WHERE. */
static nt_status rows_of(reader *r, const char *sql, int64_t number, const char *doing, nt_row_fn each, void *context,
                         nt_error *err)
{
    sqlite3_stmt *stmt;
    int64_t rows;
    nt_status status = nt_reader_prepare(r, sql, &stmt, doing, err);
    if (status != NT_OK)
        return status;
    sqlite3_bind_int64(stmt, 1, number);
    status = each_row(r, stmt, each, context, &rows, err);
    nt_reader_release(r, stmt);
    return status;
}

static nt_status counters(nt_reader *base, int64_t trial_id, nt_row_fn each, void *context, nt_error *err)
{
    return rows_of(base->state,
                   "SELECT name, value, unit, source, passes, cache FROM counter WHERE trial_id = ? ORDER BY name",
                   trial_id, "reading counters", each, context, err);
}

static nt_status device(nt_reader *base, int64_t run_id, nt_row_fn each, void *context, nt_error *err)
{
    return rows_of(base->state,
                   "SELECT d.*, e.driver, e.compiler, e.features, r.dram_peak_bytes_per_s, r.peak_flops, r.peak_source "
                   "FROM run r JOIN device d ON d.id = r.device_id JOIN environment e ON e.id = r.environment_id "
                   "WHERE r.id = ?",
                   run_id, "reading a device", each, context, err);
}

/* ---- any SQL that reads ------------------------------------------------------------------------------------------ */

static nt_status refuse(const reader *r, nt_error *err)
{
    int code = sqlite3_errcode(r->db.handle) & 0xff;
    if (code == SQLITE_INTERRUPT)
        return out_of_time(r, err);
    if (r->guard.refused[0] != '\0') {
        nt_fail(err, NT_USAGE, "a query only reads; %s is refused", r->guard.refused);
        nt_hint(err, "use one SELECT, for example: select device, layer, time_ns from best");
        return NT_USAGE;
    }
    if (code != SQLITE_ERROR)
        return nt_db_error(&r->db, "reading a query", err);
    nt_fail(err, NT_USAGE, "the query is not valid SQL: %s", sqlite3_errmsg(r->db.handle));
    nt_hint(err,
            "the views are trials, best, counts and runs; \"select name from pragma_table_info('trials')\" lists the "
            "columns of one");
    return NT_USAGE;
}

/* Whether anything but blanks, comments and semicolons follows. */
static bool has_more(const reader *r, const char *tail)
{
    while (*tail != '\0') {
        sqlite3_stmt *stmt = NULL;
        const char *after = tail;
        int rc = sqlite3_prepare_v2(r->db.handle, tail, -1, &stmt, &after);
        bool found = rc != SQLITE_OK || stmt != NULL;
        sqlite3_finalize(stmt);
        if (found || after == tail)
            return found;
        tail = after;
    }
    return false;
}

static nt_status query(nt_reader *base, const char *sql, nt_row_fn each, void *context, nt_error *err)
{
    reader *r = base->state;
    sqlite3_stmt *stmt = NULL;
    const char *tail = "";
    int64_t rows;
    nt_guard_start(&r->guard, r->db.query_ms);
    nt_status status = NT_OK;
    if (sqlite3_prepare_v2(r->db.handle, sql, -1, &stmt, &tail) != SQLITE_OK) {
        status = refuse(r, err);
    } else if (stmt == NULL) {
        status = nt_fail(err, NT_USAGE, "the query is empty");
        nt_hint(err, "for example: select device, layer, time_ns from best");
    } else if (has_more(r, tail)) {
        status = nt_fail(err, NT_USAGE, "the query is more than one statement");
        nt_hint(err, "give one SELECT at a time");
    } else if (!sqlite3_stmt_readonly(stmt)) {
        status = nt_fail(err, NT_USAGE, "a query only reads, and this one would write");
        nt_hint(err, "use one SELECT, for example: select device, layer, time_ns from best");
    } else {
        status = each_row(r, stmt, each, context, &rows, err);
    }
    sqlite3_finalize(stmt);
    nt_guard_stop(&r->guard);
    return status;
}

static void interrupt(nt_reader *base)
{
    reader *r = base->state;
    sqlite3_interrupt(r->db.handle);
}

static void close_reader(nt_reader *base)
{
    reader *r = base->state;
    nt_reader_drop_statements(r);
    nt_db_close(&r->db);
    free(r);
}

nt_status nt_db_reader_open_with(const char *path, const nt_db_options *options, nt_reader **out, nt_error *err)
{
    reader *r = nt_alloc_zero(1, sizeof *r);
    *out = NULL;
    nt_status status = nt_db_open_read(&r->db, path, options, err);
    if (status != NT_OK) {
        free(r);
        return status;
    }
    nt_guard_install(&r->guard, &r->db);
    r->base = (nt_reader){
        .state = r,
        .best = best,
        .trial = trial,
        .samples = samples,
        .trials = trials,
        .runs = runs,
        .run = run,
        .counters = counters,
        .device = device,
        .query = query,
        .interrupt = interrupt,
        .close = close_reader,
    };
    nt_reader_add_follow(&r->base);
    status = nt_reader_add_windows(&r->base, err);
    if (status == NT_OK)
        *out = &r->base;
    else
        close_reader(&r->base);
    return status;
}

nt_status nt_db_reader_open(const char *path, nt_reader **out, nt_error *err)
{
    return nt_db_reader_open_with(path, NULL, out, err);
}
