/* sweep_table.h: the end of a sweep as a table and as JSON: winners, rules of thumb, where the time went. */
#ifndef NT_SWEEP_TABLE_H
#define NT_SWEEP_TABLE_H

#include <jansson.h>

#include "autotune/sweep.h"

/* Speed of one configuration against its device's roofs. NAN where a peak is unknown. */
typedef struct nt_speed {
    double flop_per_s, bytes_per_s, images_per_s;
    double roof_pct; /* least time that either roof allows over the time taken */
} nt_speed;

nt_speed nt_speed_of(const nt_device_info *device, const nt_problem *problem, const nt_extents *extents, double time_ns);

void nt_sweep_print(const nt_sweep_result *result, const char *database);
json_t *nt_sweep_summary_json(const nt_sweep_result *result, const char *database, nt_status status, const nt_error *err);

/* Appends " (2 compile_failed, 1 crashed)" for what is not 0. */
void nt_sweep_failures(nt_str *out, const int64_t outcome[NT_OUTCOME_COUNT]);

#endif
