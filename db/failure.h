/* failure.h: turns what SQLite reports into an error that names the file, the cause and the next step. */
#ifndef NT_DB_FAILURE_H
#define NT_DB_FAILURE_H

#include "db/open.h"

/* The error of the last call on this connection, which failed while `doing` ("storing a trial"). Call it before any
 * other call on the connection. */
nt_status nt_db_error(const nt_db *db, const char *doing, nt_error *err);

/* Whether `path` can be a database at all: what is wrong with the file or its folder, before SQLite sees it. */
nt_status nt_db_check_path_write(const char *path, nt_error *err);
nt_status nt_db_check_path_read(const char *path, nt_error *err);

#endif
