/* window.c: the reader's members for screens: a window of a run's trials, what is new, counts by problem and limiter.
 *
 * A window first finds the numbers of its trials, with only the columns of its conditions and keys, and then the whole
 * rows of those few: so a screen of a million trials costs a walk along an index, or one scan where there is none. */
#include <math.h>
#include <string.h>

#include "db/columns.h"
#include "db/failure.h"
#include "db/reader.h"

static const char row_columns[] =
    "trial, layer, shape, batch, precision, layout, fill, cache, kernel, params, outcome, reason, rule, first_time_ns, "
    "first_time_lo_ns, first_time_hi_ns, occupancy_limit_pct, occupancy_pct, occupancy_limiter, registers, smem_bytes, "
    "spill_bytes, threads_per_block, dram_read_bytes, dram_write_bytes, sm_clock_mhz, error_prec, error_impl, "
    "compile_ms, rank, stored_unix_s";

static const char *const signs[NT_WINDOW_OPS] = {"=", "IS NOT", "<", "<=", ">", ">="};

/* Names reach SQL as quoted identifiers behind a table's name, where SQLite takes nothing else for them. */
static nt_status check_name(const char *name, nt_error *err)
{
    if (name[0] != '\0' && name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0')
        return NT_OK;
    return nt_fail(err, NT_USAGE, "'%s' is no name of a column or parameter", name);
}

static void add_key(nt_str *sql, const nt_window_key *key)
{
    if (key->param)
        nt_str_addf(sql, "json_extract(v.params, '$.%s')", key->name);
    else
        nt_str_addf(sql, "v.\"%s\"", key->name);
}

/* "FROM trials v WHERE ..." with a mark for the run, the time and each value. */
static nt_status add_conditions(nt_str *sql, const nt_window *w, nt_error *err)
{
    nt_status status = NT_OK;
    nt_str_add(sql, " FROM trials v WHERE v.run = ?");
    if (!isnan(w->until_unix_s))
        nt_str_add(sql, " AND v.stored_unix_s <= ?");
    for (int i = 0; i < w->terms && status == NT_OK; i++) {
        status = check_name(w->term[i].key.name, err);
        nt_str_add(sql, " AND ");
        add_key(sql, &w->term[i].key);
        nt_str_addf(sql, " %s ?", signs[w->term[i].op]);
    }
    return status;
}

static int bind_conditions(sqlite3_stmt *stmt, const nt_window *w)
{
    int next = 1;
    sqlite3_bind_int64(stmt, next++, w->run);
    if (!isnan(w->until_unix_s))
        sqlite3_bind_double(stmt, next++, w->until_unix_s);
    for (int i = 0; i < w->terms; i++) {
        if (w->term[i].is_text)
            nt_bind_text(stmt, next++, w->term[i].text);
        else
            sqlite3_bind_double(stmt, next++, w->term[i].number);
    }
    return next;
}

static nt_status add_order(nt_str *sql, const nt_window *w, nt_error *err)
{
    nt_status status = NT_OK;
    nt_str_add(sql, " ORDER BY ");
    for (int i = 0; i < w->keys && status == NT_OK; i++) {
        status = check_name(w->key[i].name, err);
        add_key(sql, &w->key[i]);
        nt_str_addf(sql, "%s NULLS LAST, ", w->key[i].descending ? " DESC" : "");
    }
    nt_str_add(sql, "v.trial");
    return status;
}

/* Prepares what was put together, or hands on why it was not; frees the text. */
static nt_status prepare(nt_db_reader *r, nt_str *sql, nt_status so_far, sqlite3_stmt **stmt, nt_error *err)
{
    nt_status status = so_far;
    if (status == NT_OK)
        status = nt_db_prepare(&r->db, nt_str_text(sql), stmt, "reading trials", err);
    nt_str_done(sql);
    return status;
}

static nt_status window(nt_reader *base, const nt_window *w, nt_row_fn each, void *context, nt_error *err)
{
    nt_db_reader *r = base->state;
    nt_str sql = {0};
    sqlite3_stmt *stmt;
    nt_str_addf(&sql, "SELECT %s FROM trials v WHERE v.trial IN (SELECT v.trial", row_columns);
    nt_status status = add_conditions(&sql, w, err);
    if (status == NT_OK)
        status = add_order(&sql, w, err);
    nt_str_add(&sql, " LIMIT ? OFFSET ?)");
    if (status == NT_OK)
        status = add_order(&sql, w, err);
    status = prepare(r, &sql, status, &stmt, err);
    if (status != NT_OK)
        return status;
    int next = bind_conditions(stmt, w);
    sqlite3_bind_int64(stmt, next, w->count);
    sqlite3_bind_int64(stmt, next + 1, w->first);
    return nt_reader_rows(r, stmt, each, context, err);
}

static nt_status window_count(nt_reader *base, const nt_window *w, int64_t *out, nt_error *err)
{
    nt_db_reader *r = base->state;
    nt_str sql = {0};
    sqlite3_stmt *stmt;
    nt_str_add(&sql, "SELECT count(*)");
    nt_status status = prepare(r, &sql, add_conditions(&sql, w, err), &stmt, err);
    if (status != NT_OK)
        return status;
    bind_conditions(stmt, w);
    status = nt_db_step_id(&r->db, stmt, out, "counting trials", err);
    sqlite3_finalize(stmt);
    return status;
}

static nt_status heat(nt_reader *base, const nt_window *w, nt_row_fn each, void *context, nt_error *err)
{
    nt_db_reader *r = base->state;
    nt_str sql = {0};
    sqlite3_stmt *stmt;
    nt_status status = check_name(w->key[0].name, err);
    if (status == NT_OK)
        status = check_name(w->key[1].name, err);
    nt_str_add(&sql, "SELECT ");
    add_key(&sql, &w->key[0]);
    nt_str_add(&sql, " AS x, ");
    add_key(&sql, &w->key[1]);
    nt_str_add(&sql, " AS y, min(v.first_time_ns) AS least_time_ns, count(*) AS trials");
    if (status == NT_OK)
        status = add_conditions(&sql, w, err);
    nt_str_add(&sql, " GROUP BY 1, 2 ORDER BY 2, 1 LIMIT 4096");
    status = prepare(r, &sql, status, &stmt, err);
    if (status != NT_OK)
        return status;
    bind_conditions(stmt, w);
    return nt_reader_rows(r, stmt, each, context, err);
}

/* A statement with whole numbers for its marks. */
static nt_status rows_of(nt_reader *base, const char *sql, const int64_t *number, int numbers, nt_row_fn each,
                         void *context, nt_error *err)
{
    nt_db_reader *r = base->state;
    sqlite3_stmt *stmt;
    nt_status status = nt_db_prepare(&r->db, sql, &stmt, "reading trials", err);
    if (status != NT_OK)
        return status;
    for (int i = 0; i < numbers; i++)
        sqlite3_bind_int64(stmt, i + 1, number[i]);
    return nt_reader_rows(r, stmt, each, context, err);
}

static nt_status follow(nt_reader *base, int64_t run_id, int64_t after, int limit, nt_row_fn each, void *context,
                        nt_error *err)
{
    int64_t number[] = {run_id, after, limit};
    nt_str sql = {0};
    nt_str_addf(&sql, "SELECT %s FROM trials WHERE run = ? AND trial > ? ORDER BY trial LIMIT ?", row_columns);
    nt_status status = rows_of(base, nt_str_text(&sql), number, 3, each, context, err);
    nt_str_done(&sql);
    return status;
}

#define UNIT_COUNT(outcome, how) how " FILTER (WHERE o.outcome = '" outcome "') AS " outcome ", "
#define UNIT_COUNTS(how)                                                                          \
    UNIT_COUNT("ok", how)                                                                         \
    UNIT_COUNT("pruned", how) UNIT_COUNT("compile_failed", how) UNIT_COUNT("launch_failed", how)  \
        UNIT_COUNT("wrong_result", how) UNIT_COUNT("abandoned", how) UNIT_COUNT("timed_out", how) \
            UNIT_COUNT("crashed", how)
#define UNIT_PROBLEM "p.layer, p.shape, p.batch, p.precision, p.layout, p.fill, o.cache, "
#define UNIT_BEST                                                                                                     \
    " AS trial, k.name AS kernel, c.params, t.occupancy_limit_pct, (SELECT value FROM counter WHERE trial_id = t.id " \
    "AND name = 'occupancy_pct') AS occupancy_pct, t.occupancy_limiter, t.sm_clock_mhz "
#define UNIT_JOINS "LEFT JOIN kernel k ON k.id = t.kernel_id LEFT JOIN configuration c ON c.id = t.configuration_id "

/* With min() alone, SQLite takes the other columns of a group from the row that has the least. */
static nt_status units(nt_reader *base, int64_t run_id, double until_unix_s, nt_row_fn each, void *context,
                       nt_error *err)
{
    static const char counted[] = "SELECT " UNIT_PROBLEM "sum(o.trials) AS trials, " UNIT_COUNTS(
        "sum(o.trials)") "min(o.least_time_ns) AS least_time_ns, t.id" UNIT_BEST
                         "FROM rollup o JOIN problem p ON p.id = o.problem_id "
                         "LEFT JOIN trial t ON t.id = (SELECT least_trial_id FROM rollup WHERE run_id = o.run_id AND "
                         "problem_id = o.problem_id AND cache = o.cache AND outcome = 'ok') " UNIT_JOINS
                         "WHERE o.run_id = ? GROUP BY o.problem_id, o.cache ORDER BY o.problem_id, o.cache";
    static const char scanned[] =
        "WITH o AS (SELECT problem_id, cache, outcome, id, time_ns FROM trial WHERE run_id = ? AND stored_unix_s <= "
        "?), "
        "u AS (SELECT problem_id, cache, count(*) AS trials, " UNIT_COUNTS(
            "count(*)") "min(time_ns) AS least_time_ns, id FROM o GROUP BY problem_id, cache) "
                        "SELECT " UNIT_PROBLEM
                        "o.trials, ok, pruned, compile_failed, launch_failed, wrong_result, abandoned, timed_out, "
                        "crashed, least_time_ns, t.id" UNIT_BEST "FROM u o JOIN problem p ON p.id = o.problem_id "
                        "LEFT JOIN trial t ON t.id = o.id AND o.ok > 0 " UNIT_JOINS "ORDER BY o.problem_id, o.cache";
    nt_db_reader *r = base->state;
    sqlite3_stmt *stmt;
    nt_status status = nt_db_prepare(&r->db, isnan(until_unix_s) ? counted : scanned, &stmt, "reading counts", err);
    if (status != NT_OK)
        return status;
    sqlite3_bind_int64(stmt, 1, run_id);
    if (!isnan(until_unix_s))
        sqlite3_bind_double(stmt, 2, until_unix_s);
    return nt_reader_rows(r, stmt, each, context, err);
}

static nt_status limiters(nt_reader *base, int64_t run_id, int64_t after, int64_t upto, nt_row_fn each, void *context,
                          nt_error *err)
{
    int64_t number[] = {run_id, after, upto};
    return rows_of(base,
                   "SELECT occupancy_limiter AS limiter, count(*) AS trials FROM trial "
                   "WHERE +run_id = ? AND id > ? AND id <= ? AND occupancy_limiter IS NOT NULL GROUP BY 1",
                   number, 3, each, context, err);
}

static nt_status version(nt_reader *base, int64_t *out, nt_error *err)
{
    nt_db_reader *r = base->state;
    sqlite3_stmt *stmt;
    nt_status status = nt_db_prepare(&r->db, "PRAGMA data_version", &stmt, "looking for changes", err);
    if (status != NT_OK)
        return status;
    status = nt_db_step_id(&r->db, stmt, out, "looking for changes", err);
    sqlite3_finalize(stmt);
    return status;
}

void nt_reader_add_windows(nt_reader *base)
{
    base->window = window;
    base->window_count = window_count;
    base->follow = follow;
    base->units = units;
    base->limiters = limiters;
    base->heat = heat;
    base->version = version;
}
