/* profile_view.h: a profile's summary for people and as JSON. */
#ifndef NT_PROFILE_VIEW_H
#define NT_PROFILE_VIEW_H

#include "cli/options.h"
#include "cli/table.h"
#include "core/profile_store.h"
#include "profiler/count_summary.h"
#include "profiler/trace_summary.h"

/* Tables on stdout: the whole, kernels, ranges, copies. At most `most` rows each. */
void nt_profile_print(const nt_args *args, const nt_profile_run *run, const nt_trace *trace,
                      const nt_trace_summary *summary, int most);
/* One document with everything, on stdout. */
void nt_profile_print_json(const nt_profile_run *run, const nt_trace *trace, const nt_trace_summary *summary,
                           const nt_count_summary *counts);
/* A kernel's name, its middle left out where it is long. */
void nt_profile_name_cell(nt_table *table, const char *name);

#endif
