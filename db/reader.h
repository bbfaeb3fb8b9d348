/* reader.h: what the files of a reader share. Inside db/ only. */
#ifndef NT_DB_READER_H
#define NT_DB_READER_H

#include "db/guard.h"

typedef struct nt_db_reader {
    nt_reader base;
    nt_db db;
    nt_guard guard;
} nt_db_reader;

/* Steps a bound statement through all its rows and finalizes it. */
nt_status nt_reader_rows(nt_db_reader *r, sqlite3_stmt *stmt, nt_row_fn each, void *context, nt_error *err);

/* ---- window.c: the members for screens ---------------------------------------------------------------------------- */
void nt_reader_add_windows(nt_reader *base);

#endif
