/* sweep_options.h: the options of `nntune sweep` as rows, and their values as nt_sweep_options. */
#ifndef NT_SWEEP_OPTIONS_H
#define NT_SWEEP_OPTIONS_H

#include "autotune/sweep.h"
#include "cli/options.h"

extern const nt_option nt_sweep_option_rows[];

/* Memory that nt_sweep_options points into. */
typedef struct nt_sweep_parts {
    nt_narrowing *narrowing;
    char **text;
    size_t text_count, text_capacity;
} nt_sweep_parts;

nt_status nt_sweep_options_read(const nt_args *args, nt_sweep_options *out, nt_sweep_parts *parts, nt_error *err);
void nt_sweep_parts_done(nt_sweep_parts *parts);

#endif
