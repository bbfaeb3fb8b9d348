/* export.c: reads a run back, twice: once for the values its parameters take, once to write its results. */
#include "db/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "db/columns.h"
#include "db/failure.h"
#include "db/formats/patch.h"
#include "db/writer.h"

static const char reading[] = "reading a run";

typedef struct exporting {
    nt_db db;
    const nt_export_options *options;
    nt_foreign_run run;
    bool has_imported; /* the tables: older databases lack them */
    json_t *seen;      /* {name: {value as text: true}} */
    json_t *kinds;     /* {"kernel of problem": true}, where a file holds one */
    nt_format_writer writer;
    bool begun;
} exporting;

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static nt_status no_run(const exporting *from, nt_error *err)
{
    if (from->options->run_id != 0)
        nt_fail(err, NT_NOT_FOUND, "%s has no run %lld", from->db.path, (long long)from->options->run_id);
    else
        nt_fail(err, NT_NOT_FOUND, "%s has no run", from->db.path);
    return nt_hint(err, "'nntune runs --db %s' lists them", from->db.path);
}

static void fill_run(sqlite3_stmt *stmt, nt_run *run)
{
    run->id = sqlite3_column_int64(stmt, 0);
    run->command = nt_strdup(nt_read_text(stmt, 1));
    run->options_json = nt_strdup(nt_read_text(stmt, 2));
    nt_copy(run->nntune_version, sizeof run->nntune_version, nt_read_text(stmt, 3));
    run->seed = (uint64_t)sqlite3_column_int64(stmt, 4);
    nt_copy(run->strategy, sizeof run->strategy, nt_read_text(stmt, 5));
    nt_copy(run->host, sizeof run->host, nt_read_text(stmt, 6));
    nt_copy(run->state, sizeof run->state, nt_read_text(stmt, 7));
    run->started_unix_s = nt_read_real(stmt, 8);
    run->recorded = strcmp(nt_read_text(stmt, 9), "recorded") == 0;
    nt_device_info *device = &run->device;
    int kind = nt_device_kind_find(nt_read_text(stmt, 10));
    nt_device_info_init(device, kind >= 0 ? (nt_device_kind)kind : NT_DEVICE_CUDA);
    nt_copy(device->uuid, sizeof device->uuid, nt_read_text(stmt, 11));
    nt_copy(device->name, sizeof device->name, nt_read_text(stmt, 12));
    nt_copy(device->driver, sizeof device->driver, nt_read_text(stmt, 13));
    nt_copy(device->compiler, sizeof device->compiler, nt_read_text(stmt, 14));
    nt_copy(device->features, sizeof device->features, nt_read_text(stmt, 15));
    nt_columns_read(stmt, 16, nt_run_columns, nt_run_column_count, run);
    nt_columns_read(stmt, 16 + nt_run_column_count, nt_device_columns, nt_device_column_count, device);
}

static nt_status read_run(exporting *from, nt_error *err)
{
    nt_str sql = {0};
    sqlite3_stmt *stmt;
    nt_str_add(&sql, "SELECT r.id, r.command, r.options, r.nntune_version, r.seed, r.strategy, r.host, r.state, "
                     "r.started_unix_s, r.source, d.kind, d.uuid, d.name, e.driver, e.compiler, e.features");
    nt_columns_list(&sql, nt_run_columns, nt_run_column_count, "r.@");
    nt_columns_list(&sql, nt_device_columns, nt_device_column_count, "d.@");
    nt_str_add(&sql, " FROM run r JOIN device d ON d.id = r.device_id JOIN environment e ON e.id = r.environment_id "
                     "WHERE ?1 = 0 OR r.id = ?1 ORDER BY r.id DESC LIMIT 1");
    nt_status status = nt_db_prepare(&from->db, nt_str_text(&sql), &stmt, reading, err);
    nt_str_done(&sql);
    if (status != NT_OK)
        return status;
    sqlite3_bind_int64(stmt, 1, from->options->run_id);
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        fill_run(stmt, &from->run.run);
    else
        status = rc == SQLITE_DONE ? no_run(from, err) : nt_db_error(&from->db, reading, err);
    sqlite3_finalize(stmt);
    return status;
}

static json_t *json_of(sqlite3_stmt *stmt, int column)
{
    json_t *json = NULL;
    const char *text = nt_read_text(stmt, column);
    if (text[0] != '\0')
        nt_json_parse(text, &json, NULL);
    return json;
}

static nt_status read_origin(exporting *from, nt_error *err)
{
    sqlite3_stmt *stmt;
    int64_t tables = 0;
    nt_status status = nt_db_prepare(&from->db, "SELECT count(*) FROM sqlite_schema WHERE name = 'imported_trial'",
                                     &stmt, reading, err);
    if (status == NT_OK) {
        status = nt_db_step_id(&from->db, stmt, &tables, reading, err);
        sqlite3_finalize(stmt);
    }
    from->has_imported = tables > 0;
    if (status != NT_OK || !from->has_imported)
        return status;
    status =
        nt_db_prepare(&from->db, "SELECT format, file, cut, extra FROM imported WHERE run_id = ?", &stmt, reading, err);
    if (status != NT_OK)
        return status;
    sqlite3_bind_int64(stmt, 1, from->run.run.id);
    if (sqlite3_step(stmt) == SQLITE_ROW) {
        from->run.format = nt_format_find(nt_read_text(stmt, 0));
        nt_copy(from->run.file, sizeof from->run.file, nt_read_text(stmt, 1));
        from->run.cut = sqlite3_column_int(stmt, 2) != 0;
        from->run.extra = json_of(stmt, 3);
    }
    sqlite3_finalize(stmt);
    return NT_OK;
}

/* ---- trials ------------------------------------------------------------------------------------------------------ */

typedef nt_status (*each_fn)(exporting *from, nt_foreign *result, nt_error *err);

static bool is_wanted(const exporting *from, const nt_trial *trial)
{
    nt_str text = {0};
    nt_problem_print(&text, &trial->problem);
    bool wanted = (from->options->kernel == NULL || strcmp(from->options->kernel, trial->kernel) == 0) &&
                  (from->options->problem == NULL || strcmp(from->options->problem, nt_str_text(&text)) == 0);
    nt_str_done(&text);
    return wanted;
}

static nt_status prepare_origin(exporting *from, sqlite3_stmt **out, nt_error *err)
{
    *out = NULL;
    return from->has_imported ? nt_db_prepare(&from->db,
                                              "SELECT recorded_at, framework_ms, search_ms, extra FROM imported_trial "
                                              "WHERE trial_id = ?",
                                              out, reading, err)
                              : NT_OK;
}

static void fill_origin(sqlite3_stmt *stmt, nt_foreign *result)
{
    sqlite3_bind_int64(stmt, 1, result->trial.id);
    if (sqlite3_step(stmt) == SQLITE_ROW) {
        nt_copy(result->timestamp, sizeof result->timestamp, nt_read_text(stmt, 0));
        result->framework_ms = nt_read_real(stmt, 1);
        result->search_ms = nt_read_real(stmt, 2);
        result->extra = json_of(stmt, 3);
    }
    sqlite3_reset(stmt);
}

static nt_status visit(exporting *from, sqlite3_stmt *stmt, sqlite3_stmt *origin, each_fn each, nt_error *err)
{
    nt_foreign result = {.framework_ms = NAN, .search_ms = NAN};
    nt_status status = nt_db_read_trial(&from->db, stmt, &result.trial, err);
    if (status == NT_OK && is_wanted(from, &result.trial)) {
        status = nt_db_read_samples(&from->db, &result.trial, err);
        if (status == NT_OK)
            status = nt_json_parse(result.trial.params_json, &result.params, err);
        if (origin != NULL)
            fill_origin(origin, &result);
        if (status == NT_OK)
            status = each(from, &result, err);
    }
    nt_foreign_done(&result);
    return status;
}

static nt_status each_result(exporting *from, each_fn each, nt_error *err)
{
    nt_str sql = {0};
    sqlite3_stmt *stmt = NULL, *origin = NULL;
    int rc = SQLITE_DONE;
    nt_db_select_trials(&sql);
    nt_str_add(&sql, "WHERE t.run_id = ? ORDER BY t.id");
    nt_status status = nt_db_prepare(&from->db, nt_str_text(&sql), &stmt, reading, err);
    nt_str_done(&sql);
    if (status == NT_OK)
        status = prepare_origin(from, &origin, err);
    if (status == NT_OK)
        sqlite3_bind_int64(stmt, 1, from->run.run.id);
    while (status == NT_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        status = visit(from, stmt, origin, each, err);
    if (status == NT_OK && rc != SQLITE_DONE)
        status = nt_db_error(&from->db, reading, err);
    sqlite3_finalize(stmt);
    sqlite3_finalize(origin);
    return status;
}

/* ---- first time: what there is ----------------------------------------------------------------------------------- */

static void note_value(exporting *from, const char *name, json_t *value)
{
    json_t *seen = json_object_get(from->seen, name);
    if (seen == NULL) {
        json_object_set_new(from->seen, name, seen = json_object());
        json_object_set_new(from->run.values, name, json_array());
        json_array_append_new(from->run.params, json_string(name));
    }
    char *text = json_dumps(value, JSON_ENCODE_ANY);
    if (text != NULL && json_object_get(seen, text) == NULL) {
        json_object_set_new(seen, text, json_true());
        json_array_append(json_object_get(from->run.values, name), value);
    }
    free(text);
}

static nt_status look(exporting *from, nt_foreign *result, nt_error *err)
{
    const nt_trial *trial = &result->trial;
    const char *name;
    json_t *value;
    nt_str kind = {0};
    (void)err;
    json_object_foreach (result->params, name, value) {
        note_value(from, name, value);
    }
    nt_str_addf(&kind, "--kernel %s --problem '", trial->kernel);
    nt_problem_print(&kind, &trial->problem);
    nt_str_add(&kind, "'");
    json_object_set_new(from->kinds, nt_str_text(&kind), json_true());
    nt_str_done(&kind);
    from->run.problem = trial->problem;
    nt_copy(from->run.kernel, sizeof from->run.kernel, trial->kernel);
    return NT_OK;
}

/* A file of other tuners is about one kernel and one problem. */
static nt_status check_kinds(const exporting *from, nt_error *err)
{
    size_t count = json_object_size(from->kinds);
    const char *kind;
    json_t *value;
    if (count == 0) {
        nt_fail(err, NT_NOT_FOUND, "run %lld in %s has no such results", (long long)from->run.run.id, from->db.path);
        return nt_hint(err,
                       "'nntune query \"select kernel, shape, count(*) from trials where run = %lld group by 1, "
                       "2\"' tells what it holds",
                       (long long)from->run.run.id);
    }
    if (count == 1 || from->options->format == &nt_format_json)
        return NT_OK;
    nt_str all = {0};
    json_object_foreach (from->kinds, kind, value) {
        if (all.length < 300)
            nt_str_addf(&all, "%s%s", all.length > 0 ? "; or " : "", kind);
    }
    nt_fail(err, NT_USAGE, "run %lld holds %zu kernels and problems, and a file of %s has one",
            (long long)from->run.run.id, count, from->options->format->title);
    nt_hint(err, "choose: %s", nt_str_text(&all));
    nt_str_done(&all);
    return NT_USAGE;
}

/* ---- second time: writing ---------------------------------------------------------------------------------------- */

static nt_status write_result(exporting *from, nt_foreign *result, nt_error *err)
{
    (void)err;
    nt_format_put(&from->writer, result);
    return NT_OK;
}

/* Times go out in the unit that the file states: the original's, else the format's own. */
static nt_status set_unit(exporting *from, nt_error *err)
{
    const nt_format *format = from->options->format;
    nt_foreign_run *run = &from->run;
    if (format->unit_word == NULL)
        return NT_OK;
    nt_copy(run->unit_word, sizeof run->unit_word, format->unit_word);
    run->unit_ns = nt_unit_ns(run->unit_word);
    if (run->format != format)
        return NT_OK;
    json_t *header = format->header_json(run);
    nt_patch_apply(header, run->extra);
    nt_problem problem = run->problem;
    nt_status status = format->read_header(header, run, err);
    run->problem = problem;
    json_decref(header);
    return status;
}

static nt_status write_all(exporting *from, nt_error *err)
{
    nt_status status = set_unit(from, err);
    if (status != NT_OK)
        return status;
    nt_format_begin(&from->writer, from->options->format, &from->run);
    from->begun = true;
    status = each_result(from, write_result, err);
    if (status == NT_OK)
        nt_format_end(&from->writer);
    return status;
}

nt_status nt_db_export(const char *path, const nt_export_options *options, nt_str *out, nt_export_report *report,
                       nt_error *err)
{
    exporting from = {.options = options, .seen = json_object(), .kinds = json_object()};
    *report = (nt_export_report){0};
    nt_foreign_run_init(&from.run);
    from.run.params = json_array();
    from.run.values = json_object();
    nt_status status = nt_db_open_read(&from.db, path, NULL, err);
    bool opened = status == NT_OK;
    if (status == NT_OK) /* what a sweep stores meanwhile is not in it */
        status = nt_db_exec(&from.db, "BEGIN", reading, err);
    if (status == NT_OK)
        status = read_run(&from, err);
    if (status == NT_OK)
        status = read_origin(&from, err);
    if (status == NT_OK)
        status = each_result(&from, look, err);
    if (status == NT_OK)
        status = check_kinds(&from, err);
    if (status == NT_OK)
        status = write_all(&from, err);
    if (status == NT_OK) {
        nt_str_add_n(out, nt_str_text(&from.writer.out), from.writer.out.length);
        *report = (nt_export_report){from.run.run.id, from.writer.results, json_incref(from.writer.dropped)};
    }
    if (from.begun)
        nt_format_writer_done(&from.writer);
    if (opened)
        nt_db_close(&from.db);
    nt_foreign_run_done(&from.run);
    json_decref(from.seen);
    json_decref(from.kinds);
    return status;
}
