/* profile_count.h: `nntune profile --counters`: what is to be counted, whether it can be, and what became of it. */
#ifndef NT_PROFILE_COUNT_H
#define NT_PROFILE_COUNT_H

#include <stdbool.h>

#include "cli/options.h"
#include "core/str.h"
#include "profiler/count_summary.h"

enum { NT_PROFILE_LAUNCHES = 5 /* counted of each kernel */ };

typedef struct nt_profile_counts {
    const char *regex; /* NULL: nothing is counted */
    char launches[24];
    nt_str metrics;
    int passes; /* 0 unknown */
} nt_profile_counts;

/* Reads and checks the options; tries the counters for real, in a process of its own, so call it before anything else
 * touches CUDA. NT_USAGE, or NT_NO_PERMISSION and NT_BUSY with what `nntune doctor` would say. A machine without a
 * usable GPU passes: the program may know better. */
nt_status nt_profile_counts_ask(const nt_args *args, nt_profile_counts *out, nt_error *err);
void nt_profile_counts_done(nt_profile_counts *counts);

/* Why nothing was counted, where nothing was; NT_OK otherwise. Warns of launches that could not be counted. */
nt_status nt_profile_counts_explain(const nt_args *args, const nt_profile_counts *counts, const nt_trace *trace,
                                    nt_error *err);

/* The table on stdout, and what it says of caches and passes. */
void nt_profile_counts_print(const nt_args *args, const nt_trace *trace, const nt_count_summary *summary, int most);

#endif
