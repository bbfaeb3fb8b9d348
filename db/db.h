/* db.h: the results database for the rest of the tool: opens a sink to write and a reader to read one SQLite file.
 *
 * Both are the structs of functions of core/store.h. A sink is used by one thread; any number of readers, in this or
 * other processes, may read the same file while it writes. */
#ifndef NT_DB_H
#define NT_DB_H

#include "core/profile_store.h"
#include "core/store.h"

/* Zero means the default of each. */
typedef struct nt_db_options {
    int busy_ms;              /* how long to wait for another writer; default 60000 */
    int query_ms;             /* how long one nt_reader.query may run; default 60000 */
    const char *journal_mode; /* "wal" or "truncate"; default: wal, truncate where the file system cannot */
} nt_db_options;

/* Opens a database to write, made when missing. `options` may be NULL. */
nt_status nt_db_sink_open(const char *path, nt_sink **out, nt_error *err);
nt_status nt_db_sink_open_with(const char *path, const nt_db_options *options, nt_sink **out, nt_error *err);

/* Commits only every `puts` results from now on, for importers and generators; 0 goes back to one commit a result. A
 * crash, or a disk that fills, then loses up to that many results. A sweep never calls it. */
nt_status nt_db_sink_batch(nt_sink *sink, int puts, nt_error *err);

/* Opens an existing database to read: beside a running sweep, on a read-only file, on a copy. */
nt_status nt_db_reader_open(const char *path, nt_reader **out, nt_error *err);
nt_status nt_db_reader_open_with(const char *path, const nt_db_options *options, nt_reader **out, nt_error *err);

/* Opens a database to store profiles of programs in, made when missing. */
nt_status nt_db_profile_open(const char *path, nt_profile_sink **out, nt_error *err);

/* Reads an SQLite export of Nsight Systems into an empty trace. NT_NOT_FOUND, NT_CORRUPT say what the file is not. */
nt_status nt_db_nsys_read(const char *path, nt_trace *trace, nt_error *err);

#endif
