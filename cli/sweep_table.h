/* sweep_table.h: the end of a sweep as a table and as JSON: winners, rules of thumb, where the time went. */
#ifndef NT_SWEEP_TABLE_H
#define NT_SWEEP_TABLE_H

#include <jansson.h>

#include "autotune/sweep.h"

void nt_sweep_print(const nt_sweep_result *result, const char *database, bool bold_headings);
json_t *nt_sweep_summary_json(const nt_sweep_result *result, const char *database, nt_status status,
                              const nt_error *err);

/* Appends " (2 compile_failed, 1 crashed)" for what is not 0. */
void nt_sweep_failures(nt_str *out, const int64_t outcome[NT_OUTCOME_COUNT]);

#endif
