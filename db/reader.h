/* reader.h: what the files of a reader share. Inside db/ only. */
#ifndef NT_DB_READER_H
#define NT_DB_READER_H

#include "db/guard.h"

enum { NT_KEPT_STATEMENTS = 24 };

typedef struct nt_kept_statement {
    char *sql;
    sqlite3_stmt *stmt; /* NULL: an empty place */
    bool busy;
    int64_t used; /* when it was asked for last */
} nt_kept_statement;

typedef struct nt_db_reader {
    nt_reader base;
    nt_db db;
    nt_guard guard;
    nt_kept_statement kept[NT_KEPT_STATEMENTS];
    int64_t uses;
    /* of a scan through a run's trials by number: from, to, seen; to 0: none is going on. Read by other threads. */
    _Atomic int64_t scan_from, scan_to, scanned;
} nt_db_reader;

/* Steps a bound statement through all its rows and releases it. */
nt_status nt_reader_rows(nt_db_reader *r, sqlite3_stmt *stmt, nt_row_fn each, void *context, nt_error *err);
/* What a step that gave neither a row nor the end is called: NT_TIMED_OUT when it was interrupted. */
nt_status nt_reader_failure(const nt_db_reader *r, int code, nt_error *err);

/* ---- statements.c: as nt_db_prepare; the same text asked for again is not compiled again ------------------------------ */
nt_status nt_reader_prepare(nt_db_reader *r, const char *sql, sqlite3_stmt **out, const char *doing, nt_error *err);
void nt_reader_release(nt_db_reader *r, sqlite3_stmt *stmt); /* instead of sqlite3_finalize */
void nt_reader_drop_statements(nt_db_reader *r);             /* before the connection is closed */

/* ---- window.c, follow.c: the members for screens ---------------------------------------------------------------------- */
#define NT_WINDOW_COLUMNS                                                                                        \
    "trial, layer, shape, batch, precision, layout, fill, cache, kernel, params, outcome, reason, rule, "        \
    "first_time_ns, first_time_lo_ns, first_time_hi_ns, occupancy_limit_pct, occupancy_pct, occupancy_limiter, " \
    "registers, smem_bytes, spill_bytes, threads_per_block, dram_read_bytes, dram_write_bytes, sm_clock_mhz, "   \
    "error_prec, error_impl, compile_ms, rank, stored_unix_s"
nt_status nt_reader_add_windows(nt_reader *base, nt_error *err);
void nt_reader_add_follow(nt_reader *base);

#endif
