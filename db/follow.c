/* follow.c: the reader's members for a screen that follows a run: what is new, counts by problem and limiter, whether
 * anything changed. */
#include <math.h>
#include <string.h>

#include "db/columns.h"
#include "db/failure.h"
#include "db/reader.h"

/* A statement with whole numbers for its marks. */
static nt_status rows_of(nt_reader *base, const char *sql, const int64_t *number, int numbers, nt_row_fn each,
                         void *context, nt_error *err)
{
    nt_db_reader *r = base->state;
    sqlite3_stmt *stmt;
    nt_status status = nt_reader_prepare(r, sql, &stmt, "reading trials", err);
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
    return rows_of(base, "SELECT " NT_WINDOW_COLUMNS " FROM trials WHERE run = ? AND trial > ? ORDER BY trial LIMIT ?",
                   number, 3, each, context, err);
}

#define UNIT_COUNT(outcome, how) how " FILTER (WHERE o.outcome = '" outcome "') AS " outcome ", "
#define UNIT_COUNTS(how)                                                                          \
    UNIT_COUNT("ok", how)                                                                         \
    UNIT_COUNT("pruned", how)                                                                     \
    UNIT_COUNT("compile_failed", how)                                                             \
    UNIT_COUNT("launch_failed", how) UNIT_COUNT("wrong_result", how) UNIT_COUNT("abandoned", how) \
        UNIT_COUNT("timed_out", how) UNIT_COUNT("crashed", how)
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
    nt_status status = nt_reader_prepare(r, isnan(until_unix_s) ? counted : scanned, &stmt, "reading counts", err);
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
    nt_status status = nt_reader_prepare(r, "PRAGMA data_version", &stmt, "looking for changes", err);
    if (status != NT_OK)
        return status;
    status = nt_db_step_id(&r->db, stmt, out, "looking for changes", err);
    nt_reader_release(r, stmt);
    return status;
}

void nt_reader_add_follow(nt_reader *base)
{
    base->follow = follow;
    base->units = units;
    base->limiters = limiters;
    base->version = version;
}
