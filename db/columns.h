/* columns.h: which member of a record is which column of a table, once, for writing and reading. */
#ifndef NT_DB_COLUMNS_H
#define NT_DB_COLUMNS_H

#include <sqlite3.h>

#include "core/store.h"

typedef enum nt_column_kind {
    NT_COLUMN_REAL,  /* double; NAN is NULL */
    NT_COLUMN_INT,   /* int64_t; NT_UNKNOWN is NULL */
    NT_COLUMN_BOOL,  /* bool; 0 or 1 */
    NT_COLUMN_COUNT, /* size_t; written only, because it counts what is stored elsewhere */
    NT_COLUMN_TEXT   /* char array; empty is NULL */
} nt_column_kind;

typedef struct nt_column {
    const char *name;
    nt_column_kind kind;
    size_t offset;
    size_t size; /* TEXT: bytes of the array */
} nt_column;

extern const nt_column nt_trial_columns[]; /* of nt_trial */
extern const int nt_trial_column_count;
extern const nt_column nt_device_columns[]; /* of nt_device_info: limits */
extern const int nt_device_column_count;
extern const nt_column nt_run_columns[]; /* of nt_run: what end_run brings up to date */
extern const int nt_run_column_count;

/* Adds ", PATTERN" for each column, with the column's name for every @, as in "@ = excluded.@". */
void nt_columns_list(nt_str *out, const nt_column *columns, int count, const char *pattern);
/* Adds ", ?" for each column. */
void nt_columns_marks(nt_str *out, int count);
/* Binds record's members to parameters first, first + 1, ...; returns the next free one. */
int nt_columns_bind(sqlite3_stmt *stmt, int first, const nt_column *columns, int count, const void *record);
/* Reads result columns first, first + 1, ... into the record. */
void nt_columns_read(sqlite3_stmt *stmt, int first, const nt_column *columns, int count, void *record);

void nt_bind_text(sqlite3_stmt *stmt, int index, const char *text); /* the text must outlive the step */
void nt_bind_real(sqlite3_stmt *stmt, int index, double value);     /* NAN is NULL */
double nt_read_real(sqlite3_stmt *stmt, int index);                 /* NULL is NAN */
const char *nt_read_text(sqlite3_stmt *stmt, int index);            /* NULL is "" */

/* Samples as stored: little-endian doubles. The caller frees what `nt_samples_bytes` returns. */
void *nt_samples_bytes(const nt_samples *samples, size_t *bytes);
void nt_samples_from_bytes(nt_samples *samples, const void *data, size_t bytes);

#endif
