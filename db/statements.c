/* statements.c: statements that a reader asks for again and again stay compiled: a screen asks the same few each time
 * it looks. An idle one is reset, so it holds no lock and no snapshot of the file. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "db/reader.h"

static nt_kept_statement *idle_of(nt_db_reader *r, const char *sql)
{
    for (int i = 0; i < NT_KEPT_STATEMENTS; i++)
        if (r->kept[i].stmt != NULL && !r->kept[i].busy && strcmp(r->kept[i].sql, sql) == 0)
            return &r->kept[i];
    return NULL;
}

static void drop(nt_kept_statement *kept)
{
    sqlite3_finalize(kept->stmt);
    free(kept->sql);
    *kept = (nt_kept_statement){0};
}

/* An empty place, or that of the one whose last use is longest ago; NULL when all are in use. */
static nt_kept_statement *place_for_one(nt_db_reader *r)
{
    nt_kept_statement *oldest = NULL;
    for (int i = 0; i < NT_KEPT_STATEMENTS; i++)
        if (!r->kept[i].busy && (oldest == NULL || r->kept[i].used < oldest->used))
            oldest = &r->kept[i];
    if (oldest != NULL)
        drop(oldest);
    return oldest;
}

nt_status nt_reader_prepare(nt_db_reader *r, const char *sql, sqlite3_stmt **out, const char *doing, nt_error *err)
{
    nt_kept_statement *kept = idle_of(r, sql);
    if (kept == NULL) {
        nt_status status = nt_db_prepare(&r->db, sql, out, doing, err);
        if (status != NT_OK)
            return status;
        kept = place_for_one(r);
        if (kept == NULL)
            return NT_OK;
        *kept = (nt_kept_statement){.sql = nt_strdup(sql), .stmt = *out};
    }
    kept->busy = true;
    kept->used = ++r->uses;
    *out = kept->stmt;
    return NT_OK;
}

void nt_reader_release(nt_db_reader *r, sqlite3_stmt *stmt)
{
    for (int i = 0; i < NT_KEPT_STATEMENTS; i++) {
        if (r->kept[i].stmt != stmt)
            continue;
        sqlite3_reset(stmt);
        sqlite3_clear_bindings(stmt);
        r->kept[i].busy = false;
        return;
    }
    sqlite3_finalize(stmt);
}

void nt_reader_drop_statements(nt_db_reader *r)
{
    for (int i = 0; i < NT_KEPT_STATEMENTS; i++)
        drop(&r->kept[i]);
}
