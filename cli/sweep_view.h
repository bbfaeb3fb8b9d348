/* sweep_view.h: what a sweep shows: progress on stderr while it runs, then a table of the winners, or JSON lines. */
#ifndef NT_SWEEP_VIEW_H
#define NT_SWEEP_VIEW_H

#include "autotune/sweep.h"
#include "cli/options.h"

typedef struct nt_sweep_view nt_sweep_view;

/* `resume`: say so when there is nothing to resume. */
nt_sweep_view *nt_sweep_view_open(const nt_args *args, const char *database, bool resume);
nt_sweep_events nt_sweep_view_events(nt_sweep_view *view);
/* The table, or the summary line of the JSON stream. `status` and `err` say how the sweep ended. */
void nt_sweep_view_finish(nt_sweep_view *view, const nt_sweep_result *result, nt_status status, const nt_error *err);
void nt_sweep_view_close(nt_sweep_view *view);

#endif
