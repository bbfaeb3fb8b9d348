/* model.h: what there is to show: a snapshot of a run, of the devices, and of the part that the view in front wants.
 *
 * A feed, which the command line connects to a database and to live sources, fills snapshots in a thread of its own;
 * the screen only ever looks at the latest one. So no key waits for a database. */
#ifndef NT_MODEL_H
#define NT_MODEL_H

#include <stdatomic.h>

#include "core/advice.h"
#include "core/store.h"
#include "tui/layout.h"
#include "tui/sheet.h"

enum { NT_POINTS = 1024, NT_GAUGES = 64, NT_LIVE_DEVICES = 17, NT_PARAMS = 24, NT_TAGS = 8 };

/* A trial as a point of the time line. */
typedef struct nt_point {
    int64_t trial;
    nt_outcome outcome;
    uint64_t problem;                        /* points of one problem have the same */
    double time_ns, limit_pct, achieved_pct; /* NAN unknown */
} nt_point;

/* One value of a device right now. */
typedef struct nt_gauge {
    char name[32];   /* occupancy_pct */
    char label[24];  /* occupancy */
    char source[12]; /* who measured it */
    double number;   /* NAN unknown */
    double share;    /* 0 to 1 where a bar makes sense, else NAN */
    nt_sheet_kind kind;
} nt_gauge;

typedef struct nt_shown_device {
    char name[32], model[128];
    int gauges;
    nt_gauge gauge[NT_GAUGES];
    char throttle[96]; /* reasons, "none", or "" when unknown */
    char note[160];
    nt_sheet processes; /* pid, user, name, memory_bytes */
} nt_shown_device;

typedef struct nt_facts {
    bool has_run;
    int64_t run;
    char database[NT_PATH_BYTES], command[256], state[24], strategy[NT_NAME_BYTES], driver[64];
    nt_device_info device; /* of the run */
    int64_t trials, outcome[NT_OUTCOME_COUNT];
    int64_t planned;                   /* NT_UNKNOWN */
    double budget_s, elapsed_s, eta_s; /* NAN unknown */
    nt_sheet units;                    /* a row each problem: shape, batch, ..., best */
    int points;
    nt_point point[NT_POINTS]; /* the latest, by number */
    int64_t limiter[NT_LIMIT_COUNT];
    double limiter_share; /* how much of the run is counted yet, 0 to 1 */
    int params;
    char param[NT_PARAMS][48];
    bool varies[NT_PARAMS];
    char latest[192];                         /* the last trial in words */
    double roof_flop_per_s, roof_bytes_per_s; /* of the run's device and precision; NAN unknown */
    double dot_intensity, dot_flop_per_s;     /* the best of the problem in work */
    char roof_text[128];
    nt_sheet log; /* time, what */
    int devices;
    nt_shown_device live[NT_LIVE_DEVICES];
} nt_facts;

typedef struct nt_trial_view {
    int64_t trial;  /* 0: none read */
    nt_sheet sheet; /* group, name, value, unit, source */
    nt_samples samples;
    nt_advice advice;
    char command[512]; /* measures it again */
    nt_block_use use;  /* threads NT_UNKNOWN: not known */
} nt_trial_view;

/* What the view in front needs. */
typedef struct nt_want {
    nt_view_id view;
    nt_window window; /* of the table; run and until are the feed's */
    int64_t trial;    /* opened; 0 for none */
    int64_t tagged[NT_TAGS];
    int tags;
    nt_window heat; /* two keys and the filter */
} nt_want;

typedef struct nt_snapshot {
    nt_want want; /* that it answers */
    nt_facts facts;
    nt_sheet trials;
    int64_t total; /* rows that the filter leaves; NT_UNKNOWN while it is counted */
    nt_trial_view trial;
    nt_sheet heat; /* x, y, least_time_ns, trials */
    nt_sheet compare;
    char problem[256]; /* why something of it could not be read; "" when nothing */
} nt_snapshot;

void nt_snapshot_init(nt_snapshot *snapshot);
void nt_snapshot_free(nt_snapshot *snapshot); /* NULL allowed */

/* What ends a wait early. */
typedef struct nt_wake {
    const atomic_bool *stop;
    int fd; /* readable once *stop is true; -1: a signal sets it */
} nt_wake;

typedef struct nt_feed nt_feed;
struct nt_feed {
    void *state;
    /* Waits that long, or until woken, which is NT_TIMED_OUT; *changed tells whether a new snapshot would differ. */
    nt_status (*wait)(nt_feed *feed, double seconds, const nt_wake *wake, bool *changed, nt_error *err);
    nt_status (*read)(nt_feed *feed, const nt_want *want, nt_snapshot *out, nt_error *err);
    /* Finds the total that the last read left unknown, for the next read. */
    nt_status (*count)(nt_feed *feed, const nt_want *want, nt_error *err);
    /* How much of what it reads is done, 0 to 1, NAN where that is not counted; from another thread. NULL: never. */
    double (*progress)(nt_feed *feed);
    void (*interrupt)(nt_feed *feed); /* from another thread: what it reads is not wanted any more */
};

#endif
