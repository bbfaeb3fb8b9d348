/* window_plan.c: see window_plan.h. */
#include "db/window_plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "db/columns.h"
#include "db/failure.h"

enum { WALK = 10000 };

const char *const nt_window_signs[NT_WINDOW_OPS] = {"=", "IS NOT", "<", "<=", ">", ">="};

typedef struct problem {
    int64_t id, trials, rank;
} problem;

typedef struct problem_set {
    problem *problem; /* that meet the conditions, by rank */
    int count;
    bool all; /* of the run */
    int64_t trials;
} problem_set;

static bool of_problem(const nt_window_key *key)
{
    static const char *const names[] = {"layer", "shape", "batch", "precision", "layout", "fill"};
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !key->param; i++)
        if (strcmp(key->name, names[i]) == 0)
            return true;
    return false;
}

const char *nt_window_indexed(const nt_window_key *key)
{
    static const struct {
        const char *name, *column;
    } held[] = {{"trial", "x.id"},
                {"first_time_ns", "x.time_ns"},
                {"occupancy_limit_pct", "x.occupancy_limit_pct"},
                {"outcome", "x.outcome"}};
    for (size_t i = 0; i < sizeof held / sizeof held[0] && !key->param; i++)
        if (strcmp(key->name, held[i].name) == 0)
            return held[i].column;
    return NULL;
}

/* How many keys the order begins with that are of the problem. */
static int leading_keys(const nt_window *w)
{
    int count = 0;
    while (count < w->keys && of_problem(&w->key[count]))
        count++;
    return count;
}

/* A file of an earlier version has not got it. */
static bool has_index(const nt_db_reader *r)
{
    sqlite3_stmt *stmt;
    int64_t found = 0;
    if (nt_db_prepare(&r->db, "SELECT 1 FROM sqlite_schema WHERE name = 'trial_by_problem'", &stmt, "reading", NULL) !=
        NT_OK)
        return false;
    nt_status status = nt_db_step_id(&r->db, stmt, &found, "reading", NULL);
    sqlite3_finalize(stmt);
    return status == NT_OK && found == 1;
}

/* ---- the problems -------------------------------------------------------------------------------------------------- */

/* Every problem of the run: id, trials, rank in the order that the window begins with, whether it meets the
 * conditions. The names are columns of `problem`. */
static void set_sql(const nt_window *w, nt_str *sql)
{
    int keys = leading_keys(w);
    nt_str_add(sql, "SELECT p.id, sum(o.trials), dense_rank() OVER (ORDER BY ");
    for (int i = 0; i < keys; i++)
        nt_str_addf(sql, "p.%s%s, ", w->key[i].name, w->key[i].descending ? " DESC" : "");
    nt_str_add(sql, "NULL) AS place, 1");
    for (int i = 0; i < w->terms; i++)
        if (of_problem(&w->term[i].key))
            nt_str_addf(sql, " AND p.%s %s ?", w->term[i].key.name, nt_window_signs[w->term[i].op]);
    nt_str_add(sql, " FROM rollup o JOIN problem p ON p.id = o.problem_id WHERE o.run_id = ? GROUP BY p.id "
                    "ORDER BY place, p.id");
}

static void bind_set(sqlite3_stmt *stmt, const nt_window *w)
{
    int next = 1;
    for (int i = 0; i < w->terms; i++) {
        if (!of_problem(&w->term[i].key))
            continue;
        if (w->term[i].is_text)
            nt_bind_text(stmt, next++, w->term[i].text);
        else
            sqlite3_bind_double(stmt, next++, w->term[i].number);
    }
    sqlite3_bind_int64(stmt, next, w->run);
}

static nt_status read_set(const nt_db_reader *r, const nt_window *w, problem_set *set, nt_error *err)
{
    nt_str sql = {0};
    sqlite3_stmt *stmt;
    int rc;
    set_sql(w, &sql);
    nt_status status = nt_db_prepare(&r->db, nt_str_text(&sql), &stmt, "reading problems", err);
    nt_str_done(&sql);
    if (status != NT_OK)
        return status;
    bind_set(stmt, w);
    set->all = true;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        problem found = {sqlite3_column_int64(stmt, 0), sqlite3_column_int64(stmt, 1), sqlite3_column_int64(stmt, 2)};
        if (!sqlite3_column_int(stmt, 3)) {
            set->all = false;
            continue;
        }
        set->trials += found.trials;
        set->problem = nt_realloc_array(set->problem, (size_t)set->count + 1, sizeof *set->problem);
        set->problem[set->count++] = found;
    }
    if (rc != SQLITE_DONE)
        status = nt_db_error(&r->db, "reading problems", err);
    sqlite3_finalize(stmt);
    return status;
}

/* Leaves the ranks that the window's rows lie in and skips those before. Only for a window without other conditions. */
static void narrow(problem_set *set, nt_window *rest)
{
    int begin = 0, end = 0;
    int64_t before = 0, seen = 0;
    while (end < set->count && seen < rest->first + rest->count) {
        int64_t rank = set->problem[end].rank;
        for (; end < set->count && set->problem[end].rank == rank; end++)
            seen += set->problem[end].trials;
        if (seen <= rest->first) {
            begin = end;
            before = seen;
        }
    }
    set->all = set->all && begin == 0 && end == set->count;
    rest->first -= before;
    if (begin > 0)
        memmove(set->problem, set->problem + begin, (size_t)(end - begin) * sizeof *set->problem);
    set->count = end - begin;
}

static void write_set(const problem_set *set, nt_window_plan *out)
{
    if (!set->all) {
        nt_str_add(&out->problems, " AND x.problem_id IN (");
        for (int i = 0; i < set->count; i++)
            nt_str_addf(&out->problems, "%s%" PRId64, i > 0 ? "," : "", set->problem[i].id);
        nt_str_add(&out->problems, ")");
    }
    if (set->count == 0 || set->problem[0].rank == set->problem[set->count - 1].rank)
        return;
    nt_str_add(&out->rank, "CASE x.problem_id");
    for (int i = 0; i < set->count; i++)
        nt_str_addf(&out->rank, " WHEN %" PRId64 " THEN %" PRId64, set->problem[i].id, set->problem[i].rank);
    nt_str_add(&out->rank, " END, ");
}

/* ---- the plan ------------------------------------------------------------------------------------------------------ */

/* The window without what the problems decide. */
static void take_rest(const nt_window *w, nt_window *rest)
{
    *rest = *w;
    rest->terms = rest->keys = 0;
    for (int i = 0; i < w->terms; i++)
        if (!of_problem(&w->term[i].key))
            rest->term[rest->terms++] = w->term[i];
    for (int i = leading_keys(w); i < w->keys; i++)
        rest->key[rest->keys++] = w->key[i];
}

static bool whole_in_index(const nt_window *rest)
{
    bool whole = true;
    for (int i = 0; i < rest->terms; i++)
        whole = whole && nt_window_indexed(&rest->term[i].key) != NULL;
    for (int i = 0; i < rest->keys; i++)
        whole = whole && nt_window_indexed(&rest->key[i]) != NULL;
    return whole;
}

static void decide(problem_set *set, bool by_problem, nt_window_plan *out)
{
    nt_window *rest = &out->rest;
    if (rest->terms == 0)
        out->total = set->trials;
    if (rest->terms == 0 && by_problem)
        narrow(set, rest);
    write_set(set, out);
    out->whole = whole_in_index(rest);
    bool by_index = out->problems.length > 0 || out->rank.length > 0;
    if (!by_index && rest->terms == 0 && rest->keys <= 1 && out->whole)
        return;
    out->source = out->whole || by_index ? NT_FROM_INDEX : NT_FROM_FILE;
    bool along_order = rest->keys == 0 || (rest->keys == 1 && nt_window_indexed(&rest->key[0]) != NULL);
    if (along_order && out->rank.length == 0)
        out->walk = WALK;
}

nt_status nt_window_plan_make(nt_db_reader *r, const nt_window *window, nt_window_plan *out, nt_error *err)
{
    problem_set set = {0};
    *out = (nt_window_plan){.rest = *window, .total = NT_UNKNOWN};
    bool simple =
        window->terms == 0 && (window->keys == 0 || (window->keys == 1 && nt_window_indexed(&window->key[0])));
    /* What a run held at some moment is not counted, and no index knows when a trial was stored. */
    if (simple || !isnan(window->until_unix_s) || !has_index(r))
        return NT_OK;
    nt_status status = read_set(r, window, &set, err);
    if (status == NT_OK) {
        take_rest(window, &out->rest);
        decide(&set, leading_keys(window) > 0, out);
    }
    free(set.problem);
    return status;
}

void nt_window_plan_done(nt_window_plan *plan)
{
    nt_str_done(&plan->problems);
    nt_str_done(&plan->rank);
}
