/* window.c: the reader's members for the table of a screen: a window of a run's trials, how many there are, and a map
 * over two keys.
 *
 * A window first finds the numbers of its trials, as window_plan.c decides, and then the whole rows of those few. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "db/columns.h"
#include "db/failure.h"
#include "db/window_plan.h"

/* Names reach SQL as quoted identifiers behind a table's name, where SQLite takes nothing else for them. */
static nt_status check_names(const nt_window *w, nt_error *err)
{
    for (int i = 0; i < w->terms + w->keys; i++) {
        const char *name = i < w->terms ? w->term[i].key.name : w->key[i - w->terms].name;
        if (name[0] == '\0' || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0')
            return nt_fail(err, NT_USAGE, "'%s' is no name of a column or parameter", name);
    }
    return NT_OK;
}

/* ---- pieces of SQL --------------------------------------------------------------------------------------------------- */

/* A sign before a column of the view keeps SQLite from following that column's index. */
static void add_key(nt_str *sql, const nt_window_key *key, nt_window_source source)
{
    const char *column = source == NT_FROM_INDEX ? nt_window_indexed(key) : NULL;
    if (key->param)
        nt_str_addf(sql, "json_extract(v.params, '$.%s')", key->name);
    else if (column != NULL)
        nt_str_add(sql, column);
    else
        nt_str_addf(sql, "%sv.\"%s\"", source == NT_FROM_FILE ? "+" : "", key->name);
}

static void add_order(nt_str *sql, const nt_window_plan *plan, nt_window_source source)
{
    nt_str_addf(sql, " ORDER BY %s", nt_str_text(&plan->rank));
    for (int i = 0; i < plan->rest.keys; i++) {
        add_key(sql, &plan->rest.key[i], source);
        nt_str_addf(sql, "%s NULLS LAST, ", plan->rest.key[i].descending ? " DESC" : "");
    }
    nt_str_add(sql, source == NT_FROM_INDEX ? "x.id" : "v.trial");
}

static void add_conditions(nt_str *sql, const nt_window_plan *plan, nt_window_source source)
{
    const nt_window *w = &plan->rest;
    nt_str_add(sql, nt_str_text(&plan->problems));
    if (!isnan(w->until_unix_s))
        nt_str_add(sql, " AND v.stored_unix_s <= ?");
    for (int i = 0; i < w->terms; i++) {
        nt_str_add(sql, " AND ");
        add_key(sql, &w->term[i].key, source);
        nt_str_addf(sql, " %s ?", nt_window_signs[w->term[i].op]);
    }
}

/* FROM and WHERE, with a mark for the run, the time and each value. The index is named: SQLite cannot know how few
 * trials the problems leave. */
static void add_source(nt_str *sql, const nt_window_plan *plan)
{
    const char *join = plan->whole ? "" : " CROSS JOIN trials v ON v.trial = x.id";
    if (plan->source == NT_FROM_INDEX)
        nt_str_addf(sql, " FROM trial x INDEXED BY trial_by_problem%s WHERE x.run_id = ?", join);
    else
        nt_str_addf(sql, " FROM trials v WHERE v.run = ?%s",
                    plan->source == NT_FROM_FILE ? " AND nt_seen(v.trial)" : "");
    add_conditions(sql, plan, plan->source);
}

/* The same for the first trials of the window's order alone. */
static void add_walk(nt_str *sql, const nt_window_plan *plan)
{
    nt_str_add(sql,
               " FROM (SELECT id, problem_id, time_ns, occupancy_limit_pct, outcome FROM trial x WHERE run_id = ?");
    add_order(sql, plan, NT_FROM_INDEX);
    nt_str_addf(sql, " LIMIT %d) x%s WHERE 1", plan->walk, plan->whole ? "" : " CROSS JOIN trials v ON v.trial = x.id");
    add_conditions(sql, plan, NT_FROM_INDEX);
}

static int bind_source(sqlite3_stmt *stmt, const nt_window *w)
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

/* ---- numbers of trials ------------------------------------------------------------------------------------------------ */

typedef struct numbers {
    nt_str json; /* [3,1,2], in the window's order */
    int64_t count;
} numbers;

/* Numbers of a run's first and last trial, between which a scan is. */
static void begin_scan(nt_db_reader *r, int64_t run)
{
    sqlite3_stmt *stmt;
    if (nt_reader_prepare(
            r,
            "SELECT (SELECT min(id) FROM trial WHERE run_id = ?1), (SELECT max(id) FROM trial WHERE run_id "
            "= ?1)",
            &stmt, "reading trials", NULL) != NT_OK)
        return;
    sqlite3_bind_int64(stmt, 1, run);
    if (sqlite3_step(stmt) == SQLITE_ROW) {
        r->scan_from = r->scanned = sqlite3_column_int64(stmt, 0);
        r->scan_to = sqlite3_column_int64(stmt, 1);
    }
    nt_reader_release(r, stmt);
}

static nt_status find_by(nt_db_reader *r, const nt_window_plan *plan, bool walk, numbers *out, nt_error *err)
{
    nt_str sql = {0};
    sqlite3_stmt *stmt;
    int rc;
    nt_window_source source = walk ? NT_FROM_INDEX : plan->source;
    nt_str_add(&sql, source == NT_FROM_INDEX ? "SELECT x.id" : "SELECT v.trial");
    (walk ? add_walk : add_source)(&sql, plan);
    add_order(&sql, plan, source);
    nt_str_add(&sql, " LIMIT ? OFFSET ?");
    nt_status status = nt_reader_prepare(r, nt_str_text(&sql), &stmt, "reading trials", err);
    nt_str_done(&sql);
    if (status != NT_OK)
        return status;
    int next = bind_source(stmt, &plan->rest);
    sqlite3_bind_int64(stmt, next, plan->rest.count);
    sqlite3_bind_int64(stmt, next + 1, plan->rest.first);
    if (source == NT_FROM_FILE)
        begin_scan(r, plan->rest.run);
    nt_str_clear(&out->json);
    for (out->count = 0; (rc = sqlite3_step(stmt)) == SQLITE_ROW; out->count++)
        nt_str_addf(&out->json, "%s%lld", out->count > 0 ? "," : "[", (long long)sqlite3_column_int64(stmt, 0));
    nt_str_add(&out->json, out->count > 0 ? "]" : "[]");
    if (rc != SQLITE_DONE)
        status = nt_reader_failure(r, rc, err);
    nt_reader_release(r, stmt);
    r->scan_to = 0;
    return status;
}

static nt_status find(nt_db_reader *r, const nt_window *w, numbers *out, nt_error *err)
{
    nt_window_plan plan;
    nt_status status = nt_window_plan_make(r, w, &plan, err);
    if (status == NT_OK && plan.walk > 0)
        status = find_by(r, &plan, true, out, err);
    if (status == NT_OK && (plan.walk == 0 || out->count < w->count))
        status = find_by(r, &plan, false, out, err);
    nt_window_plan_done(&plan);
    return status;
}

/* ---- the members ------------------------------------------------------------------------------------------------------ */

static nt_status window(nt_reader *base, const nt_window *w, nt_row_fn each, void *context, nt_error *err)
{
    nt_db_reader *r = base->state;
    numbers found = {0};
    sqlite3_stmt *stmt;
    nt_status status = check_names(w, err);
    if (status == NT_OK)
        status = find(r, w, &found, err);
    if (status == NT_OK)
        status = nt_reader_prepare(r,
                                   "SELECT " NT_WINDOW_COLUMNS " FROM json_each(?) j CROSS JOIN trials v ON v.trial = "
                                   "j.value ORDER BY j.key",
                                   &stmt, "reading trials", err);
    if (status == NT_OK) {
        nt_bind_text(stmt, 1, nt_str_text(&found.json));
        status = nt_reader_rows(r, stmt, each, context, err);
    }
    nt_str_done(&found.json);
    return status;
}

static nt_status window_count(nt_reader *base, const nt_window *w, int64_t *out, nt_error *err)
{
    nt_db_reader *r = base->state;
    nt_window_plan plan;
    nt_str sql = {0};
    sqlite3_stmt *stmt;
    nt_window unordered = *w;
    unordered.keys = 0;
    nt_status status = check_names(w, err);
    if (status == NT_OK)
        status = nt_window_plan_make(r, &unordered, &plan, err);
    if (status != NT_OK)
        return status;
    nt_str_add(&sql, "SELECT count(*)");
    add_source(&sql, &plan);
    *out = plan.total;
    if (plan.total == NT_UNKNOWN)
        status = nt_reader_prepare(r, nt_str_text(&sql), &stmt, "counting trials", err);
    if (status == NT_OK && plan.total == NT_UNKNOWN) {
        bind_source(stmt, &plan.rest);
        status = nt_db_step_id(&r->db, stmt, out, "counting trials", err);
        nt_reader_release(r, stmt);
    }
    nt_str_done(&sql);
    nt_window_plan_done(&plan);
    return status;
}

static nt_status heat(nt_reader *base, const nt_window *w, nt_row_fn each, void *context, nt_error *err)
{
    nt_db_reader *r = base->state;
    nt_window_plan plan = {.rest = *w};
    nt_str sql = {0};
    sqlite3_stmt *stmt;
    nt_status status = check_names(w, err);
    if (status != NT_OK)
        return status;
    nt_str_add(&sql, "SELECT ");
    add_key(&sql, &w->key[0], NT_FROM_ORDER);
    nt_str_add(&sql, " AS x, ");
    add_key(&sql, &w->key[1], NT_FROM_ORDER);
    nt_str_add(&sql, " AS y, min(v.first_time_ns) AS least_time_ns, count(*) AS trials");
    add_source(&sql, &plan);
    nt_str_add(&sql, " GROUP BY 1, 2 ORDER BY 2, 1 LIMIT 4096");
    status = nt_reader_prepare(r, nt_str_text(&sql), &stmt, "reading trials", err);
    nt_str_done(&sql);
    if (status != NT_OK)
        return status;
    bind_source(stmt, w);
    return nt_reader_rows(r, stmt, each, context, err);
}

/* ---- how far a scan is -------------------------------------------------------------------------------------------------- */

/* nt_seen(trial): true, and notes the number for whoever waits. */
static void note_seen(sqlite3_context *context, int count, sqlite3_value **value)
{
    nt_db_reader *r = sqlite3_user_data(context);
    (void)count;
    r->scanned = sqlite3_value_int64(value[0]);
    sqlite3_result_int(context, 1);
}

static double progress(const nt_reader *base)
{
    const nt_db_reader *r = base->state;
    int64_t from = r->scan_from, to = r->scan_to, seen = r->scanned;
    return to > from ? fmin(fmax((double)(seen - from) / (double)(to - from), 0), 1) : (double)NAN;
}

nt_status nt_reader_add_windows(nt_reader *base, nt_error *err)
{
    nt_db_reader *r = base->state;
    base->window = window;
    base->window_count = window_count;
    base->heat = heat;
    base->progress = progress;
    if (sqlite3_create_function(r->db.handle, "nt_seen", 1, SQLITE_UTF8, r, note_seen, NULL, NULL) != SQLITE_OK)
        return nt_db_error(&r->db, "opening it", err);
    return NT_OK;
}
