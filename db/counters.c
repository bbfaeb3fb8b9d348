/* counters.c: hardware counters of trials: one row a trial and name. */
#include <math.h>

#include "db/failure.h"
#include "db/writer.h"

static const char storing[] = "storing counters";

static nt_status put_one(nt_writer *writer, sqlite3_stmt *stmt, const nt_counter *counter, nt_error *err)
{
    sqlite3_reset(stmt);
    sqlite3_bind_int64(stmt, 1, counter->trial_id);
    sqlite3_bind_text(stmt, 2, counter->name, -1, SQLITE_STATIC);
    if (isfinite(counter->value))
        sqlite3_bind_double(stmt, 3, counter->value);
    else
        sqlite3_bind_null(stmt, 3);
    sqlite3_bind_text(stmt, 4, counter->unit, -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 5, counter->source, -1, SQLITE_STATIC);
    sqlite3_bind_int(stmt, 6, counter->passes);
    sqlite3_bind_text(stmt, 7, nt_cache_mode_name(counter->cache), -1, SQLITE_STATIC);
    return sqlite3_step(stmt) == SQLITE_DONE ? NT_OK : nt_db_error(&writer->db, storing, err);
}

nt_status nt_writer_put_counters(nt_sink *sink, const nt_counter *counters, int count, nt_error *err)
{
    nt_writer *writer = sink->state;
    sqlite3_stmt *stmt = NULL;
    nt_status status = nt_writer_begin(writer, storing, err);
    if (status != NT_OK)
        return status;
    status = nt_db_prepare(&writer->db,
                           "INSERT OR REPLACE INTO counter (trial_id, name, value, unit, source, passes, cache) "
                           "VALUES (?, ?, ?, ?, ?, ?, ?)",
                           &stmt, storing, err);
    for (int i = 0; status == NT_OK && i < count; i++)
        status = put_one(writer, stmt, &counters[i], err);
    sqlite3_finalize(stmt);
    return nt_writer_finish(writer, status, storing, err);
}
