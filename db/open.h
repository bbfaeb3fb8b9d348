/* open.h: one connection to a database file: opening, creating, migrating, transactions. Inside db/ only. */
#ifndef NT_DB_OPEN_H
#define NT_DB_OPEN_H

#include <sqlite3.h>

#include "db/db.h"

enum {
    NT_DB_APPLICATION_ID = 0x6e6e7475, /* "nntu" at byte 68 of the file: file(1) and we tell it from other databases */
    NT_DB_SCHEMA_VERSION = 9,
    NT_DB_OLDEST_READABLE = 1 /* later steps only added to it */
};

typedef struct nt_db {
    sqlite3 *handle;
    char *path;
    int busy_ms;
    int query_ms;
} nt_db;

/* Opens to write; creates the file and its schema, or migrates an older one. A newer schema is left untouched. */
nt_status nt_db_open_write(nt_db *db, const char *path, const nt_db_options *options, nt_error *err);
/* Opens an existing database to read only. */
nt_status nt_db_open_read(nt_db *db, const char *path, const nt_db_options *options, nt_error *err);
void nt_db_close(nt_db *db);

nt_status nt_db_exec(const nt_db *db, const char *sql, const char *doing, nt_error *err);
nt_status nt_db_prepare(const nt_db *db, const char *sql, sqlite3_stmt **out, const char *doing, nt_error *err);
/* Runs a statement that gives no rows, and resets it. */
nt_status nt_db_step(const nt_db *db, sqlite3_stmt *stmt, const char *doing, nt_error *err);
/* The first column of the first row as an id, 0 when there is no row; resets the statement. */
nt_status nt_db_step_id(const nt_db *db, sqlite3_stmt *stmt, int64_t *id, const char *doing, nt_error *err);

/* Takes the write lock at once, so that a transaction that began can also end. */
nt_status nt_db_begin(const nt_db *db, const char *doing, nt_error *err);
/* Commits when `so_far` is NT_OK, else rolls back and returns it with `err` as it was. */
nt_status nt_db_finish(const nt_db *db, nt_status so_far, const char *doing, nt_error *err);

#endif
