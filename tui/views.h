/* views.h: the views, one file each: what they draw into a pane and which sheet they are for programs. */
#ifndef NT_VIEWS_H
#define NT_VIEWS_H

#include "tui/screen.h"

typedef struct nt_view {
    void (*draw)(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane); /* NULL: the overview */
    void (*sheet)(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out);
} nt_view;

extern const nt_view nt_views[NT_VIEW_COUNT];

/* ---- view_overview.c ---------------------------------------------------------------------------------------------- */
void nt_overview_pane(nt_pane_id id, const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane);
void nt_overview_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out);

/* ---- view_plots.c: the pictures of the overview --------------------------------------------------------------------- */
void nt_draw_occupancy(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane);
void nt_draw_timeline(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane);
void nt_draw_limiters(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane);
void nt_draw_failures(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane);
void nt_draw_roofline(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane);

/* ---- view_trials.c -------------------------------------------------------------------------------------------------- */
void nt_draw_trials(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane);
void nt_draw_table(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane); /* of the overview */
void nt_trials_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out);
void nt_draw_compare(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane);
void nt_compare_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out);

/* ---- view_trial.c --------------------------------------------------------------------------------------------------- */
void nt_draw_trial(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane);
void nt_trial_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out);

/* ---- view_heat.c, view_what_if.c, view_text.c ------------------------------------------------------------------------- */
void nt_draw_heat(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane);
void nt_heat_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out);
void nt_draw_what_if(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane);
void nt_what_if_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out);
/* The resources that the sliders stand at, and whether the device says enough. */
bool nt_what_if_use(const nt_screen *screen, const nt_snapshot *shown, nt_block_use *out);
void nt_draw_devices(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane);
void nt_devices_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out);
void nt_draw_log(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane);
void nt_log_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out);
void nt_draw_help(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane);
void nt_help_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out);

/* A title in the first line; the rest of the pane. */
nt_pane nt_titled(const nt_pane *pane, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
