/* layout.h: which panes a view has at a size, and where. A pure function: no size is refused, panes never overlap and
 * never leave the screen. Where there is less room panes go in a fixed order, the last stage is one status line. */
#ifndef NT_LAYOUT_H
#define NT_LAYOUT_H

#include "tui/grid.h"

#define NT_VIEWS(X)                                       \
    X(OVERVIEW, overview, "run, progress, best, plots")   \
    X(TRIALS, trials, "every trial, sorted and filtered") \
    X(TRIAL, trial, "one trial with everything")          \
    X(HEAT, heat, "least time over two parameters")       \
    X(WHAT_IF, what_if, "occupancy if resources changed") \
    X(COMPARE, compare, "tagged trials side by side")     \
    X(DEVICES, devices, "what the devices do right now")  \
    X(LOG, log, "failures and notes")                     \
    X(HELP, help, "the keys")

typedef enum nt_view_id {
#define X(id, name, summary) NT_VIEW_##id,
    NT_VIEWS(X)
#undef X
        NT_VIEW_COUNT
} nt_view_id;

const char *nt_view_name(nt_view_id view);
const char *nt_view_summary(nt_view_id view);
int nt_view_find(const char *name); /* -1 when unknown */

typedef enum nt_pane_id {
    NT_PANE_LINE, /* the last stage: everything in one line */
    NT_PANE_HEADER,
    NT_PANE_PROGRESS,
    NT_PANE_BEST,
    NT_PANE_CURRENT, /* the latest trial and its limiter, where there is no table */
    NT_PANE_OCCUPANCY,
    NT_PANE_TIMELINE,
    NT_PANE_LIMITERS,
    NT_PANE_FAILURES,
    NT_PANE_ROOFLINE,
    NT_PANE_TABLE,
    NT_PANE_BODY, /* of the views other than the overview */
    NT_PANE_KEYS,
    NT_PANE_COUNT
} nt_pane_id;

typedef struct nt_placed {
    nt_pane_id id;
    nt_rect at;
} nt_placed;

typedef struct nt_panes {
    int count;
    nt_placed pane[NT_PANE_COUNT];
} nt_panes;

void nt_panes_of(nt_view_id view, int width, int height, nt_panes *out);
const nt_rect *nt_panes_find(const nt_panes *layout, nt_pane_id id); /* NULL when it was dropped */

#endif
