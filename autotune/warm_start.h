/* warm_start.h: results of earlier runs that a sweep begins with: configurations with their times on other problems and
 * devices, and which of them a unit's strategy is told. */
#ifndef NT_WARM_START_H
#define NT_WARM_START_H

#include "autotune/strategy.h"

/* Times that compare with each other: of one run, problem and cache mode. */
typedef struct nt_warm_group {
    int64_t run;
    nt_problem problem;
    nt_cache_mode cache;
    char device_uuid[64];
    size_t results;
} nt_warm_group;

typedef struct nt_warm_result {
    int group;
    char kernel[NT_NAME_BYTES];
    char *params_json; /* owned */
    double time_ns;
} nt_warm_result;

/* All zero is empty. */
typedef struct nt_warm_start {
    nt_warm_group *group;
    nt_warm_result *result;
    size_t group_count, group_capacity, count, capacity;
} nt_warm_start;

/* Results of a group are to come one after another. */
void nt_warm_start_add(nt_warm_start *warm, const nt_warm_group *of, const char *kernel, const char *params_json,
                       double time_ns);
void nt_warm_start_done(nt_warm_start *warm);

/* What is known for candidates of these spaces, from the groups nearest to the problem: the same shape before another,
 * then the same device, precision, batch and cache mode; of equal ones the newest. *out is to be freed; returns how
 * many. */
enum { NT_WARM_GROUPS = 4 };
size_t nt_warm_start_for(const nt_warm_start *warm, const nt_warm_group *like, const nt_space *const *space,
                         int space_count, nt_earlier **out);

#endif
