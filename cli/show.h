/* show.h: one stored trial, read once, and what `nntune show` makes of it. */
#ifndef NT_SHOW_H
#define NT_SHOW_H

#include <jansson.h>

#include "cli/options.h"
#include "core/advice.h"
#include "kernels/kernel.h"

/* Everything the database says about a trial. */
typedef struct nt_shown {
    json_t *row;        /* of the view `trials` */
    json_t *run;        /* of the view `runs` */
    nt_trial trial;     /* the row as a record */
    nt_samples samples; /* those behind time_ns; none unless ok */
    json_t *counters;      /* [{name, value, unit, source, passes, cache}] */
    nt_device_info device; /* limits and peaks, as the run saw them */
    char path[NT_PATH_BYTES];
} nt_shown;

/* ---- show_text.c ------------------------------------------------------------------------------------------------ */

/* The sheet for people. */
void nt_show_text(const nt_shown *shown, bool bold);

/* ---- show_counters.c -------------------------------------------------------------------------------------------- */

/* Fills counters and device; trial must be there. */
nt_status nt_show_read_counters(nt_reader *reader, nt_shown *out, nt_error *err);
void nt_show_advice(const nt_shown *shown, nt_advice *out);
void nt_show_counters_text(const nt_shown *shown);
json_t *nt_show_advice_json(const nt_shown *shown); /* [{rule, text}] */

/* ---- show_code.c ------------------------------------------------------------------------------------------------ */

typedef enum nt_code { NT_CODE_SOURCE, NT_CODE_PTX, NT_CODE_SASS, NT_CODE_ASSEMBLY } nt_code;

/* Prints the kernel's text, or what its compiler makes of it with the trial's options; with --json as a document. */
nt_status nt_show_code(const nt_args *args, const nt_shown *shown, nt_code form, nt_error *err);

#endif
