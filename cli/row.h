/* row.h: cells of a database row by the name of their column. A column that is absent, NULL or of another kind is
 * unknown. */
#ifndef NT_ROW_H
#define NT_ROW_H

#include <jansson.h>

#include "core/record.h"
#include "core/store.h"

const char *nt_row_text(const nt_row *row, const char *name); /* "" when unknown; until the next row */
int64_t nt_row_int(const nt_row *row, const char *name);      /* NT_UNKNOWN */
double nt_row_real(const nt_row *row, const char *name);      /* NAN; integers count */

/* A row of the view `runs` as JSON, with its JSON columns as values. */
json_t *nt_row_run_json(const nt_row *row);

/* A row of the view `trials`, as nt_json_row gives it, as a record. */
nt_status nt_row_trial(json_t *row, nt_trial *out, nt_error *err);

/* The problem of a row of the view `trials`. */
nt_status nt_row_problem(const nt_row *row, nt_problem *out, nt_error *err);

#endif
