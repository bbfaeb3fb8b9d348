/* run_objective.h: what each stored run made small or large, where that is not time, and the value of a trial. */
#ifndef NT_RUN_OBJECTIVE_H
#define NT_RUN_OBJECTIVE_H

#include "autotune/objective.h"
#include "core/store.h"

/* All zero is empty. */
typedef struct nt_run_objectives {
    struct nt_run_objective *item;
    size_t count, capacity;
} nt_run_objectives;

nt_status nt_run_objectives_read(nt_reader *reader, nt_run_objectives *out, nt_error *err);
void nt_run_objectives_done(nt_run_objectives *objectives);

/* Of a row of the view `trials` or `best`: the objective of its run, or NULL where that is time, and the row's value.
 */
const char *nt_run_objective_of(const nt_run_objectives *objectives, const nt_row *row, double *value);

#endif
