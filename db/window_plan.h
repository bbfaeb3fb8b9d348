/* window_plan.h: how the trials of a window are found. Inside db/ only.
 *
 * - Without conditions and with one key, SQLite walks along the index of that key.
 * - Else the first `walk` trials in the order of the window are looked at, which finds what is common.
 * - Else trials are read from the index `trial_by_problem`, which holds problem, time, occupancy and outcome.
 * Conditions and keys about the problem (batch, shape, precision, ...) are decided before on the counts that the writer
 * keeps: a run has few problems and maybe a million trials.
 * - What that index does not hold (parameters, counters) is read trial by trial in the order they are stored in: any
 *   other order would jump to and fro in the file. */
#ifndef NT_DB_WINDOW_PLAN_H
#define NT_DB_WINDOW_PLAN_H

#include "db/reader.h"

typedef enum nt_window_source { NT_FROM_ORDER, NT_FROM_INDEX, NT_FROM_FILE } nt_window_source;

typedef struct nt_window_plan {
    nt_window rest; /* what is left to meet, to order by and to skip, once the problems are decided */
    nt_window_source source;
    bool whole;      /* the index holds all that `rest` names */
    int walk;        /* trials to look at first; 0: none */
    nt_str problems; /* " AND x.problem_id IN (3,7)"; "" for all */
    nt_str rank;     /* "CASE x.problem_id WHEN 7 THEN 1 ... END, " where the order begins with problems; else "" */
    int64_t total;   /* trials that meet the conditions; NT_UNKNOWN */
} nt_window_plan;

nt_status nt_window_plan_make(nt_db_reader *r, const nt_window *window, nt_window_plan *out, nt_error *err);
void nt_window_plan_done(nt_window_plan *plan);

/* The column of the index that holds a key, "x.time_ns"; NULL when it holds it not. */
const char *nt_window_indexed(const nt_window_key *key);
extern const char *const nt_window_signs[NT_WINDOW_OPS]; /* of SQL */

#endif
