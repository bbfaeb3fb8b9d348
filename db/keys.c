/* keys.c: the rows that many trials share: device, environment, problem, kernel, configuration. Each is found by all of
 * its columns, or added. Nothing is remembered between calls, so a transaction that is rolled back leaves nothing
 * wrong. */

#include "db/columns.h"
#include "db/writer.h"

static const char doing[] = "storing what a trial belongs to";

/* Both statements take the same parameters. */
typedef void bind_fn(sqlite3_stmt *stmt, const void *key);

static nt_status find_or_add(nt_writer *writer, nt_writer_sql find, nt_writer_sql insert, bool add, bind_fn *bind,
                             const void *key, int64_t *id, nt_error *err)
{
    bind(writer->stmt[find], key);
    nt_status status = nt_db_step_id(&writer->db, writer->stmt[find], id, doing, err);
    if (status != NT_OK || *id != 0 || !add)
        return status;
    bind(writer->stmt[insert], key);
    status = nt_db_step(&writer->db, writer->stmt[insert], doing, err);
    *id = sqlite3_last_insert_rowid(writer->db.handle);
    return status;
}

typedef struct problem_key {
    const nt_problem *problem;
    const char *shape;
} problem_key;

static void bind_problem(sqlite3_stmt *stmt, const void *key)
{
    const problem_key *k = key;
    nt_bind_text(stmt, 1, k->problem->layer);
    nt_bind_text(stmt, 2, k->shape);
    sqlite3_bind_int64(stmt, 3, k->problem->batch);
    nt_bind_text(stmt, 4, nt_precisions[k->problem->precision].name);
    nt_bind_text(stmt, 5, nt_layout_name(k->problem->layout));
    nt_bind_text(stmt, 6, nt_fill_name(k->problem->fill));
}

nt_status nt_writer_problem(nt_writer *writer, const nt_problem *problem, bool add, int64_t *id, nt_error *err)
{
    nt_str shape = {0};
    nt_shape_print(&shape, &problem->shape);
    problem_key key = {problem, nt_str_text(&shape)};
    nt_status status = find_or_add(writer, NT_SQL_FIND_PROBLEM, NT_SQL_ADD_PROBLEM, add, bind_problem, &key, id, err);
    sqlite3_clear_bindings(writer->stmt[NT_SQL_FIND_PROBLEM]);
    sqlite3_clear_bindings(writer->stmt[NT_SQL_ADD_PROBLEM]);
    nt_str_done(&shape);
    return status;
}

static void bind_texts(sqlite3_stmt *stmt, const void *key)
{
    const char *const *text = key;
    for (int i = 0; text[i] != NULL; i++)
        nt_bind_text(stmt, i + 1, text[i]);
}

nt_status nt_writer_kernel(nt_writer *writer, const nt_trial *trial, bool add, int64_t *id, nt_error *err)
{
    const char *key[] = {trial->problem.layer, trial->kernel, writer->device_kind, trial->source_hash, NULL};
    sqlite3_bind_int(writer->stmt[NT_SQL_ADD_KERNEL], 5, trial->vendor);
    return find_or_add(writer, NT_SQL_FIND_KERNEL, NT_SQL_ADD_KERNEL, add, bind_texts, key, id, err);
}

nt_status nt_writer_configuration(nt_writer *writer, const char *params_json, bool add, int64_t *id, nt_error *err)
{
    const char *key[] = {params_json != NULL ? params_json : "{}", NULL};
    return find_or_add(writer, NT_SQL_FIND_CONFIGURATION, NT_SQL_ADD_CONFIGURATION, add, bind_texts, key, id, err);
}

/* Runs `sql` with texts bound (an id first when it is not 0) and gives back the id it returns. */
static nt_status id_of(nt_writer *writer, const char *sql, int64_t first, const char *const *text, int64_t *id,
                       nt_error *err)
{
    sqlite3_stmt *stmt;
    nt_status status = nt_db_prepare(&writer->db, sql, &stmt, doing, err);
    if (status != NT_OK)
        return status;
    int index = 1;
    if (first != 0)
        sqlite3_bind_int64(stmt, index++, first);
    for (int i = 0; text[i] != NULL; i++)
        nt_bind_text(stmt, index++, text[i]);
    status = nt_db_step_id(&writer->db, stmt, id, doing, err);
    sqlite3_finalize(stmt);
    return status;
}

static nt_status add_device(nt_writer *writer, const nt_device_info *device, int64_t *id, nt_error *err)
{
    nt_str sql = {0};
    nt_str_add(&sql, "INSERT INTO device (kind, uuid, name");
    nt_columns_list(&sql, nt_device_columns, nt_device_column_count, "@");
    nt_str_add(&sql, ") VALUES (?, ?, ?");
    nt_columns_marks(&sql, nt_device_column_count);
    nt_str_add(&sql, ") ON CONFLICT DO UPDATE SET kind = kind");
    nt_columns_list(&sql, nt_device_columns, nt_device_column_count, "@ = excluded.@");
    nt_str_add(&sql, " RETURNING id");
    sqlite3_stmt *stmt;
    nt_status status = nt_db_prepare(&writer->db, nt_str_text(&sql), &stmt, doing, err);
    nt_str_done(&sql);
    if (status != NT_OK)
        return status;
    nt_bind_text(stmt, 1, nt_device_kind_name(device->kind));
    nt_bind_text(stmt, 2, device->uuid);
    nt_bind_text(stmt, 3, device->name);
    nt_columns_bind(stmt, 4, nt_device_columns, nt_device_column_count, device);
    status = nt_db_step_id(&writer->db, stmt, id, doing, err);
    sqlite3_finalize(stmt);
    return status;
}

nt_status nt_writer_environment(nt_writer *writer, const nt_device_info *device, bool add, int64_t *device_id,
                                int64_t *id, nt_error *err)
{
    const char *identity[] = {nt_device_kind_name(device->kind), device->uuid, device->name, NULL};
    const char *software[] = {device->driver, device->compiler, device->features, NULL};
    *id = 0;
    nt_status status = add ? add_device(writer, device, device_id, err)
                           : id_of(writer, "SELECT id FROM device WHERE kind = ? AND uuid = ? AND name = ?", 0,
                                   identity, device_id, err);
    if (status != NT_OK || *device_id == 0)
        return status;
    status =
        id_of(writer, "SELECT id FROM environment WHERE device_id = ? AND driver = ? AND compiler = ? AND features = ?",
              *device_id, software, id, err);
    if (status != NT_OK || *id != 0 || !add)
        return status;
    return id_of(writer,
                 "INSERT INTO environment (device_id, driver, compiler, features) VALUES (?, ?, ?, ?) RETURNING id",
                 *device_id, software, id, err);
}
