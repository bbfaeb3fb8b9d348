/* sweep.h: one invocation of a sweep: problems, spaces, compile pool, device worker, results.
 *
 * The coordinator runs here: one thread, one poll loop, the only writer of its run. It never touches CUDA or a
 * compiler; children do. What it finds goes to the sink at once, so that a kill at any moment costs at most the trial
 * in flight. */
#ifndef NT_SWEEP_H
#define NT_SWEEP_H

#include "autotune/space.h"
#include "core/store.h"

enum { NT_SWEEP_LIST = 16, NT_SWEEP_SHAPES = 64, NT_SWEEP_METRICS = 64 };

typedef struct nt_budget {
    int64_t trials; /* 0: not limited by trials */
    double seconds; /* 0: not limited by time */
} nt_budget;

/* Which trials get hardware counters: none, the finalists, or every ok trial (finalists more). */
typedef enum nt_profile_mode { NT_PROFILE_NONE, NT_PROFILE_BEST, NT_PROFILE_ALL } nt_profile_mode;

/* Kernels that are calls of a vendor's library: left out, as rivals of ours, or alone. */
typedef enum nt_vendor_mode { NT_VENDOR_NEVER, NT_VENDOR_ALSO, NT_VENDOR_ONLY } nt_vendor_mode;

typedef struct nt_sweep_options {
    const char *layer;
    nt_device_kind device;
    int ordinal;
    const char *shape[NT_SWEEP_SHAPES]; /* texts for the layer's parser; "all" is expanded here */
    int shape_count;                  /* 0: the first named shape */
    int64_t batch[NT_SWEEP_LIST];
    int batch_count; /* 0: the device kind's defaults */
    nt_precision precision[NT_PRECISION_COUNT];
    int precision_count; /* 0: the device kind's defaults */
    nt_layout layout[NT_LAYOUT_COUNT];
    int layout_count; /* 0: nhwc */
    nt_cache_mode cache[2];
    int cache_count; /* 0: cold */
    nt_fill fill;
    const char *kernel;            /* only this kernel; NULL: all that are not hidden */
    nt_vendor_mode vendor;         /* a vendor's kernel named by `kernel` is meant in any case */
    const nt_narrowing *narrowing; /* --param */
    int narrowing_count;
    const char *where;                /* --where; NULL: none */
    const char *strategy;             /* NULL: the default */
    const char *objective;            /* objective.h; NULL: time */
    const struct nt_warm_start *warm; /* what earlier runs measured; NULL: nothing is to be known of them */
    const char *warm_from;            /* as --warm-start names it, for the run record; NULL: none */
    bool cold_units;                  /* the strategy of a problem is not told what problems before it measured */
    nt_budget budget;
    uint64_t seed;
    double ci_rel;    /* 0.005 */
    double max_error; /* error_prec a winner should keep; one beyond it wins only where all are */
    nt_profile_mode profile;
    const char
        *metric[NT_SWEEP_METRICS]; /* --metrics: columns, sets or CUPTI names; none: the sets of sweep_profile.c */
    int metric_count;
    int compile_children; /* 0: one a usable core, at most 16 */
    bool resume, reuse, wait;
    const char *command; /* for the run record */
} nt_sweep_options;

/* State of the sweep for people, given at every change. Unknown times are NAN. */
typedef struct nt_progress {
    int unit, unit_count; /* problem in work, from 1 */
    const nt_problem *problem;
    int64_t done, planned; /* trials; planned 0 when the budget is time */
    int64_t outcome[NT_OUTCOME_COUNT];
    double best_ns; /* of the problem in work */
    double elapsed_s, eta_s;
    const char *phase; /* opening device, preparing inputs, compiling, timing, finals */
} nt_progress;

/* What was found for one problem. Trials are owned by the result. */
typedef struct nt_unit_result {
    nt_problem problem;
    nt_cache_mode cache;
    nt_extents extents;
    int64_t outcome[NT_OUTCOME_COUNT];
    double space_total, space_legal;
    bool has_best;
    bool over_error; /* even the best has an error_prec beyond --max-error: the precision cannot meet it */
    nt_trial best;   /* with the finals' times where there were finals */
    double objective; /* its value; NAN where the objective is time */
    double first_ns; /* the winner's time as first measured */
    /* the winner's counters; NAN without */
    double occupancy_pct, dram_read_bytes, dram_write_bytes, dram_pct, tensor_pct;
    /* The fastest trial of a vendor's library beside `best`, with the finals' times: never the winner, because it
     * cannot be deployed, except where --vendor only leaves nothing else. */
    bool has_vendor;
    nt_trial vendor;
    int tied; /* finalists not distinguishable from the winner */
    int rule_count;
    struct {
        char kernel[NT_NAME_BYTES], rule[NT_NAME_BYTES];
        nt_outcome outcome;
        double time_ns; /* NAN unless ok */
    } rule[8];
} nt_unit_result;

typedef struct nt_sweep_result {
    nt_run run;
    char objective[NT_NAME_BYTES]; /* as it was asked for, cut to what fits */
    nt_unit_result *unit;
    int unit_count;
    int interrupted_by;      /* signal number; 0 when it ran to its end */
    bool resumed;            /* an earlier run was continued */
    char first_failure[512]; /* reason of the first trial that was not ok; empty when it gave none */
    int64_t reused;          /* trials taken over by --reuse */
    int64_t counted;         /* trials that got counters, counting repeats for finalists */
    double counters_s;       /* time it took */
    double compile_child_s;  /* child-seconds of compiling */
    int64_t compiles, cache_hits;
    double device_busy_s,
        device_span_s; /* trials with the device worker; from each problem's first sent to its last answered */
} nt_sweep_result;

typedef struct nt_sweep_events {
    void *context;
    void (*run)(void *context, const nt_run *run, bool resumed);
    void (*trial)(void *context, const nt_trial *trial);          /* stored: id is set */
    void (*progress)(void *context, const nt_progress *progress); /* a few times a second */
    void (*unit)(void *context, const nt_unit_result *result);
    void (*warning)(void *context, const char *id, const char *text);
} nt_sweep_events;

/* Identity of a device, asked of a child: this process touches no driver. NT_NO_DEVICE says why there is none. */
nt_status nt_sweep_identify(nt_device_kind kind, int ordinal, nt_device_info *out, nt_error *err);
/* The same for a sweep: with the vendors' libraries, where its options want their kernels. */
nt_status nt_sweep_identify_for(const nt_sweep_options *options, nt_device_info *out, nt_error *err);

/* Compile processes that a sweep of these options has: --jobs, else one a usable core, at most 16. */
int nt_sweep_jobs(const nt_sweep_options *options);

/* Runs a sweep. Results up to an error or interrupt are in *out (free with nt_sweep_result_done) and in the sink. */
nt_status nt_sweep_run(const nt_sweep_options *options, nt_sink *sink, const nt_sweep_events *events,
                       nt_sweep_result *out, nt_error *err);
void nt_sweep_result_done(nt_sweep_result *result);

/* Measures one configuration again: a sweep of a single candidate. `like` gives problem, kernel and params. */
nt_status nt_sweep_rerun(const nt_sweep_options *options, const nt_trial *like, nt_sink *sink,
                         const nt_sweep_events *events, nt_sweep_result *out, nt_error *err);

/* What would be tried on a device: for --dry-run. Nothing is run. */
typedef struct nt_dry_unit {
    nt_problem problem;
    nt_cache_mode cache;
    const char *kernel;
    double total, legal;
    nt_space *space; /* for the rejections of each constraint */
} nt_dry_unit;

nt_status nt_sweep_dry_run(const nt_sweep_options *options, const nt_device_info *device, nt_dry_unit **out, int *count,
                           nt_error *err);
void nt_sweep_dry_free(nt_dry_unit *units, int count);

#endif
