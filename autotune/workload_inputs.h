/* workload_inputs.h: the input sets of a workload: drawn from the seed, rounded to the precision, uploaded between
 * guards, with their fp64 references. Shared by the workload*.c files and nobody else.
 *
 * References are made on the host's cores, or on the device where the workload has a compiled reference. */
#ifndef NT_WORKLOAD_INPUTS_H
#define NT_WORKLOAD_INPUTS_H

#include "autotune/workload.h"

/* Fills an empty set. What was made before an error is freed by nt__inputs_free. */
nt_status nt__inputs_make(nt_workload *w, nt_input_set *set, uint64_t seed, nt_error *err);
/* The same without references: data to run on, not to check against. */
nt_status nt__inputs_draw(nt_workload *w, nt_input_set *set, uint64_t seed, nt_error *err);
void nt__inputs_free(nt_workload *w, nt_input_set *set);

/* Makes the magnitudes of another algorithm's error bound where they are missing. */
nt_status nt__inputs_bound(nt_workload *w, nt_input_set *set, nt_bound bound, nt_error *err);

/* Whether the precision changes fp32 values, so that the original inputs have a reference of their own. */
bool nt__inputs_are_rounded(const nt_problem *problem);

#endif
