/* compare_side.h: the sides of `nntune compare`: what a word on the command line names, and its measurements. */
#ifndef NT_COMPARE_SIDE_H
#define NT_COMPARE_SIDE_H

#include "cli/options.h"
#include "core/store.h"
#include "reports/compare.h"

/* One problem of one side. */
typedef struct nt_side_row {
    nt_problem problem;
    nt_cache_mode cache;
    nt_compare_side side;
    char measurement[NT_PATH_BYTES + 32]; /* what side.measurement points at */
    char kernel[NT_NAME_BYTES], device_uuid[64];
    char *params_json; /* owned; NULL when failed */
    bool on_gpu;
    double roof_pct, power_mw;
    int64_t run;
} nt_side_row;

typedef struct nt_side {
    const char *word;
    char path[NT_PATH_BYTES];
    char name[192]; /* for people: "run 3 on NVIDIA H200" */
    nt_reader *reader;
    nt_side_row *row;
    size_t count, capacity;
} nt_side;

/* Reads the sides. `vendor` and `rule` are of the other side's runs. Free with nt_side_done, also after a failure. */
nt_status nt_sides_read(const nt_args *args, const char *a, const char *b, nt_side sides[2], nt_error *err);
void nt_side_done(nt_side *side);

/* Least time of a configuration at a problem on the device of a row; NAN when it was not measured there. */
double nt_side_time_of(nt_side *side, const nt_side_row *row, const char *kernel, const char *params_json);

#endif
