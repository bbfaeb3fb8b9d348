/* merge.c: each table is copied by SQL inside SQLite, in the order of its references. A row here says which columns of
 * a table refer to what; numbers that mean something only within a file are mapped or moved behind those already there.
 *
 * Shared rows (devices, problems, ...) are matched by their unique columns: inserted where missing, then looked up.
 * Runs and trials keep their order and get numbers behind the highest one. A table or column that an older database
 * lacks is left out. */
#include "db/merge.h"

#include <stdlib.h>
#include <string.h>

#include "core/str.h"
#include "db/columns.h"
#include "db/failure.h"
#include "db/writer.h"

static const char merging[] = "merging databases";

enum { MAX_REFERENCES = 6, MAX_IDENTITY = 8 };

typedef struct reference {
    const char *column, *to; /* `to`: a table of `shared` or `moved` */
} reference;

/* Rows known by what they are. */
typedef struct shared_table {
    const char *name;
    const char *identity[MAX_IDENTITY];
    reference refers[MAX_REFERENCES];
} shared_table;

static const shared_table shared[] = {
    {"device", {"kind", "uuid", "name"}, {{NULL, NULL}}},
    {"environment", {"device_id", "driver", "compiler", "features"}, {{"device_id", "device"}}},
    {"problem", {"layer", "shape", "batch", "precision", "layout", "fill"}, {{NULL, NULL}}},
    {"kernel", {"layer", "name", "device_kind", "source_hash"}, {{NULL, NULL}}},
    {"configuration", {"params"}, {{NULL, NULL}}},
};

/* Rows that are copied; those with numbers of their own get new ones. */
typedef struct moved_table {
    const char *name;
    bool numbered;
    reference refers[MAX_REFERENCES];
} moved_table;

static const moved_table moved[] = {
    {"run", true, {{"environment_id", "environment"}, {"device_id", "device"}}},
    {"trial",
     true,
     {{"run_id", "run"}, {"problem_id", "problem"}, {"kernel_id", "kernel"}, {"configuration_id", "configuration"}}},
    {"sample", false, {{"trial_id", "trial"}}},
    {"final", false, {{"trial_id", "trial"}, {"run_id", "run"}, {"problem_id", "problem"}}},
    {"counter", false, {{"trial_id", "trial"}}},
    {"journal", false, {{"run_id", "run"}, {"problem_id", "problem"}, {"configuration_id", "configuration"}}},
    {"rollup", false, {{"run_id", "run"}, {"problem_id", "problem"}, {"least_trial_id", "trial"}}},
    {"imported", false, {{"run_id", "run"}}},
    {"imported_trial", false, {{"trial_id", "trial"}}},
    {"profile_run", true, {{NULL, NULL}}},
};

enum {
    SHARED = sizeof shared / sizeof shared[0],
    MOVED = sizeof moved / sizeof moved[0],
};

/* ---- SQL --------------------------------------------------------------------------------------------------------- */

static nt_status run_sql(const nt_db *db, nt_str *sql, nt_error *err)
{
    nt_status status = nt_db_exec(db, nt_str_text(sql), merging, err);
    nt_str_done(sql);
    return status;
}

static nt_status number_of(const nt_db *db, const char *sql, const char *text, int64_t *out, nt_error *err)
{
    sqlite3_stmt *stmt;
    nt_status status = nt_db_prepare(db, sql, &stmt, merging, err);
    if (status != NT_OK)
        return status;
    if (text != NULL)
        nt_bind_text(stmt, 1, text);
    status = nt_db_step_id(db, stmt, out, merging, err);
    sqlite3_finalize(stmt);
    return status;
}

typedef struct columns {
    nt_str names, values; /* "a, b" and what they become: "s.a, m1.new" */
    nt_str joins;
} columns;

static void columns_done(columns *c)
{
    nt_str_done(&c->names);
    nt_str_done(&c->values);
    nt_str_done(&c->joins);
}

static int find_reference(const reference *refers, const char *column)
{
    for (int i = 0; i < MAX_REFERENCES && refers[i].column != NULL; i++)
        if (strcmp(refers[i].column, column) == 0)
            return i;
    return -1;
}

/* Activations were numbers up to schema version 8: as in schema_9.sql. */
static const char shape_in_words[] =
    "CASE WHEN s.layer = 'conv_bn_relu' AND s.shape GLOB '*,act=[2-5]' THEN substr(s.shape, 1, length(s.shape) - 1) || "
    "CASE substr(s.shape, -1) WHEN '2' THEN 'relu6' WHEN '3' THEN 'silu' WHEN '4' THEN 'gelu' ELSE 'none' END "
    "ELSE s.shape END";

/* What a column becomes that refers to nothing. */
static void add_value(nt_str *out, const char *column)
{
    if (strcmp(column, "shape") == 0)
        nt_str_add(out, shape_in_words);
    else
        nt_str_addf(out, "s.%s", column);
}

static void add_column(columns *c, const char *name, int refers)
{
    const char *comma = c->names.length > 0 ? ", " : "";
    nt_str_addf(&c->names, "%s%s", comma, name);
    nt_str_add(&c->values, comma);
    if (refers >= 0)
        nt_str_addf(&c->values, "m%d.new", refers);
    else
        add_value(&c->values, name);
}

/* The columns that both databases have, without `id`. A reference that leads nowhere (a run left out) leaves the row
 * out; one that is NULL stays so. */
static nt_status list_columns(const nt_db *db, const char *table, const reference *refers, columns *out, nt_error *err)
{
    sqlite3_stmt *stmt;
    nt_str sql = {0};
    nt_str_addf(&sql,
                "SELECT name, \"notnull\" + pk FROM pragma_table_info('%s', 'main') WHERE name <> 'id' AND name IN "
                "(SELECT name FROM pragma_table_info('%s', 'other'))",
                table, table);
    nt_status status = nt_db_prepare(db, nt_str_text(&sql), &stmt, merging, err);
    nt_str_done(&sql);
    if (status != NT_OK)
        return status;
    int rc;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        int at = find_reference(refers, name);
        add_column(out, name, at);
        if (at >= 0)
            nt_str_addf(&out->joins, " %s map_%s m%d ON m%d.old = s.%s",
                        sqlite3_column_int(stmt, 1) > 0 ? "JOIN" : "LEFT JOIN", refers[at].to, at, at, name);
    }
    if (rc != SQLITE_DONE)
        status = nt_db_error(db, merging, err);
    sqlite3_finalize(stmt);
    return status;
}

static nt_status is_there(const nt_db *db, const char *table, bool *out, nt_error *err)
{
    int64_t id = 0;
    nt_status status =
        number_of(db, "SELECT 1 FROM other.sqlite_schema WHERE type = 'table' AND name = ?", table, &id, err);
    *out = id != 0;
    return status;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Device limits of the database that is there already stay. */
static nt_status merge_shared(const nt_db *db, const shared_table *table, nt_error *err)
{
    columns c = {0};
    nt_str sql = {0};
    nt_status status = list_columns(db, table->name, table->refers, &c, err);
    if (status == NT_OK) {
        nt_str_addf(&sql, "INSERT OR IGNORE INTO main.%s (%s) SELECT %s FROM other.%s s%s ORDER BY s.id;", table->name,
                    nt_str_text(&c.names), nt_str_text(&c.values), table->name, nt_str_text(&c.joins));
        nt_str_addf(&sql,
                    "CREATE TEMP TABLE map_%s (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);"
                    "INSERT INTO map_%s SELECT s.id, t.id FROM other.%s s%s JOIN main.%s t ON ",
                    table->name, table->name, table->name, nt_str_text(&c.joins), table->name);
        for (int i = 0; i < MAX_IDENTITY && table->identity[i] != NULL; i++) {
            int at = find_reference(table->refers, table->identity[i]);
            nt_str_addf(&sql, "%st.%s = ", i > 0 ? " AND " : "", table->identity[i]);
            if (at >= 0)
                nt_str_addf(&sql, "m%d.new", at);
            else
                add_value(&sql, table->identity[i]);
        }
        status = run_sql(db, &sql, err);
    }
    columns_done(&c);
    return status;
}

/* Which runs, and under which numbers. A run that is there already is left out with all that belongs to it. */
static const char map_runs[] =
    "CREATE TEMP TABLE map_run (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);"
    "INSERT INTO map_run SELECT s.id, row_number() OVER (ORDER BY s.id) + (SELECT coalesce(max(id), 0) FROM main.run) "
    "FROM other.run s "
    "JOIN map_device d ON d.old = s.device_id WHERE NOT EXISTS (SELECT 1 FROM main.run r WHERE r.device_id = d.new "
    "AND r.started_unix_s = s.started_unix_s AND r.host = s.host AND r.command = s.command AND r.seed = s.seed "
    "AND r.source = s.source)";
static const char map_trials[] = "CREATE TEMP TABLE map_trial (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);"
                                 "INSERT INTO map_trial SELECT s.id, row_number() OVER (ORDER BY s.id) + (SELECT "
                                 "coalesce(max(id), 0) FROM main.trial) FROM other.trial s "
                                 "JOIN map_run r ON r.old = s.run_id";
static const char map_profiles[] =
    "CREATE TEMP TABLE map_profile_run (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);"
    "INSERT INTO map_profile_run SELECT s.id, row_number() OVER (ORDER BY s.id) + (SELECT coalesce(max(id), 0) FROM "
    "main.profile_run) "
    "FROM other.profile_run s WHERE NOT EXISTS (SELECT 1 FROM main.profile_run r WHERE r.started_unix_s = "
    "s.started_unix_s AND r.host = s.host AND r.command = s.command)";

static const struct {
    const char *table, *sql;
} numberings[] = {{"run", map_runs}, {"trial", map_trials}, {"profile_run", map_profiles}};

static nt_status number_rows(const nt_db *db, const char *table, nt_error *err)
{
    for (size_t i = 0; i < sizeof numberings / sizeof numberings[0]; i++)
        if (strcmp(numberings[i].table, table) == 0)
            return nt_db_exec(db, numberings[i].sql, merging, err);
    return NT_OK;
}

static nt_status merge_moved(const nt_db *db, const moved_table *table, nt_error *err)
{
    columns c = {0};
    nt_str sql = {0};
    bool there = false;
    nt_status status = is_there(db, table->name, &there, err);
    if (status != NT_OK || !there)
        return status;
    if (table->numbered)
        status = number_rows(db, table->name, err);
    if (status == NT_OK)
        status = list_columns(db, table->name, table->refers, &c, err);
    if (status == NT_OK && table->numbered)
        nt_str_addf(&sql,
                    "INSERT INTO main.%s (id, %s) SELECT own.new, %s FROM other.%s s JOIN map_%s own ON own.old = "
                    "s.id%s",
                    table->name, nt_str_text(&c.names), nt_str_text(&c.values), table->name, table->name,
                    nt_str_text(&c.joins));
    else if (status == NT_OK)
        nt_str_addf(&sql, "INSERT INTO main.%s (%s) SELECT %s FROM other.%s s%s", table->name, nt_str_text(&c.names),
                    nt_str_text(&c.values), table->name, nt_str_text(&c.joins));
    if (status == NT_OK)
        status = run_sql(db, &sql, err);
    nt_str_done(&sql);
    columns_done(&c);
    return status;
}

/* The tables of profiles refer to their run alone, and number their rows within it. */
static nt_status merge_profiles(const nt_db *db, nt_error *err)
{
    static const char *const tables[] = {"profile_process", "profile_kernel", "profile_range", "profile_work",
                                         "profile_counter"};
    static const reference refers[MAX_REFERENCES] = {{"run_id", "profile_run"}};
    nt_status status = NT_OK;
    for (size_t i = 0; status == NT_OK && i < sizeof tables / sizeof tables[0]; i++) {
        moved_table table = {.name = tables[i]};
        memcpy(table.refers, refers, sizeof refers);
        status = merge_moved(db, &table, err);
    }
    return status;
}

/* ---- databases --------------------------------------------------------------------------------------------------- */

static nt_status merge_all(const nt_db *db, nt_merge_report *report, nt_error *err)
{
    nt_status status = NT_OK;
    int64_t all = 0;
    for (int i = 0; status == NT_OK && i < SHARED; i++)
        status = merge_shared(db, &shared[i], err);
    for (int i = 0; status == NT_OK && i < MOVED; i++)
        status = merge_moved(db, &moved[i], err);
    bool profiles = false;
    if (status == NT_OK)
        status = is_there(db, "profile_run", &profiles, err);
    if (status == NT_OK && profiles)
        status = merge_profiles(db, err);
    if (status == NT_OK)
        status = number_of(db, "SELECT count(*) FROM map_run", NULL, &report->runs, err);
    if (status == NT_OK)
        status = number_of(db, "SELECT count(*) FROM map_trial", NULL, &report->trials, err);
    if (status == NT_OK && profiles)
        status = number_of(db, "SELECT count(*) FROM map_profile_run", NULL, &report->profiles, err);
    if (status == NT_OK)
        status = number_of(db, "SELECT count(*) FROM other.run", NULL, &all, err);
    report->repeated = all - report->runs;
    return status;
}

/* Opened once as a database of ours, so that errors name it. */
static nt_status check(const char *from, nt_error *err)
{
    nt_db db;
    nt_status status = nt_db_open_read(&db, from, NULL, err);
    if (status == NT_OK)
        nt_db_close(&db);
    return status;
}

static nt_status attach(const nt_db *db, const char *from, nt_error *err)
{
    nt_str name = {0};
    sqlite3_stmt *stmt;
    nt_str_addf(&name, "%s%s", from[0] == '/' ? "" : "./", from);
    nt_status status = nt_db_prepare(db, "ATTACH ? AS other", &stmt, merging, err);
    if (status == NT_OK) {
        nt_bind_text(stmt, 1, nt_str_text(&name));
        status = nt_db_step(db, stmt, merging, err);
        sqlite3_finalize(stmt);
    }
    nt_str_done(&name);
    return status;
}

nt_status nt_db_merge(const char *to, const char *from, nt_merge_report *report, nt_error *err)
{
    nt_db db;
    *report = (nt_merge_report){0};
    nt_status status = check(from, err);
    if (status == NT_OK)
        status = nt_db_open_write(&db, to, NULL, err);
    if (status != NT_OK)
        return status;
    status = attach(&db, from, err);
    if (status == NT_OK) {
        status = nt_db_begin(&db, merging, err);
        if (status == NT_OK)
            status = nt_db_finish(&db, merge_all(&db, report, err), merging, err);
    }
    nt_db_close(&db);
    return status;
}
