/* top_feed.h: what the screen of `nntune top` shows, from a database and from live devices: the feed of tui/model.h. */
#ifndef NT_TOP_FEED_H
#define NT_TOP_FEED_H

#include <stdio.h>

#include "profiler/live.h"
#include "tui/model.h"

typedef struct nt_top_device {
    const char *name; /* cuda:0 */
    const nt_device_info *info;
    nt_live *live;
} nt_top_device;

typedef struct nt_top_feed nt_top_feed;

typedef struct nt_top_source {
    const char *database; /* NULL: devices alone */
    int64_t run;          /* 0: the newest, and any newer one that begins */
    double speed;         /* plays the run from its start, so much faster; 0: shows it as it is */
    const nt_top_device *devices;
    int device_count;
    FILE *log; /* every frame of the devices as JSON lines; NULL: none */
} nt_top_source;

nt_status nt_top_feed_open(const nt_top_source *source, nt_top_feed **out, nt_error *err);
nt_feed *nt_top_feed_base(nt_top_feed *feed);
const nt_facts *nt_top_feed_facts(const nt_top_feed *feed); /* of the run; NULL without one */
void nt_top_feed_close(nt_top_feed *feed);                  /* NULL allowed */

/* ---- top_run.c: a run's facts --------------------------------------------------------------------------------------- */

typedef struct nt_top_run nt_top_run;

nt_status nt_top_run_open(const nt_top_source *source, nt_top_run **out, nt_error *err);
void nt_top_run_close(nt_top_run *run); /* NULL allowed */
nt_reader *nt_top_run_reader(nt_top_run *run);
/* Looks at the database; *changed when there is something new or more to count. */
nt_status nt_top_run_update(nt_top_run *run, bool *changed, nt_error *err);
const char *nt_top_run_trouble(const nt_top_run *run); /* "" when nothing is wrong with the database */
const nt_facts *nt_top_run_facts(const nt_top_run *run);
double nt_top_run_until(const nt_top_run *run); /* where playing is; NAN otherwise */

/* ---- top_rows.c: sheets of trials ------------------------------------------------------------------------------------- */

nt_status nt_top_trials(nt_reader *reader, const nt_facts *facts, const nt_window *window, nt_sheet *out,
                        nt_error *err);
nt_status nt_top_heat(nt_reader *reader, const nt_window *window, nt_sheet *out, nt_error *err);
nt_status nt_top_compare(nt_reader *reader, const nt_facts *facts, const int64_t *trial, int count, nt_sheet *out,
                         nt_error *err);
nt_status nt_top_trial(nt_reader *reader, const char *database, int64_t id, nt_trial_view *out, nt_error *err);

/* ---- top_gauges.c ------------------------------------------------------------------------------------------------------- */

void nt_top_gauges(const nt_top_device *device, const nt_live_frame *frame, nt_shown_device *out);

#endif
