/* store.h: where trials go and where they come from, as structs of functions.
 *
 * The tuner writes through nt_sink, reports and screens read through nt_reader; db/ implements both over SQLite, tests
 * use their own. So nothing but db/ knows SQL. */
#ifndef NT_STORE_H
#define NT_STORE_H

#include "core/record.h"
#include "core/window.h"

typedef struct nt_run {
    int64_t id;              /* assigned by the sink */
    char *command;           /* the command line; owned */
    char *options_json;      /* every option that shapes the run; owned */
    char nntune_version[32];
    uint64_t seed;
    char strategy[NT_NAME_BYTES];
    char host[128];
    nt_device_info device;
    double started_unix_s, ended_unix_s; /* ended NAN while running or killed */
    char state[16];          /* running, done, interrupted, failed */
    bool recorded;           /* read from a file of another tuner or machine: never shown as measured here */
    /* where the time went, seconds */
    double compile_s, verify_s, measure_s, idle_s, total_s;
} nt_run;

void nt_run_init(nt_run *run); /* id and seed 0, other numbers unknown, texts empty */
void nt_run_done(nt_run *run); /* frees what it owns and leaves it as after nt_run_init */

/* What a trial in flight is known by, written before its launch. */
typedef struct nt_journal {
    char kernel[NT_NAME_BYTES];
    const char *params_json;
    const nt_problem *problem;
    int attempts; /* times it was in flight when the process died; filled by resume */
    double total_s; /* the run's time so far, kept for the case that its process is killed; not positive: unknown */
} nt_journal;

/* One finalist of the interleaved rounds. */
typedef struct nt_final {
    int64_t trial_id;
    int rank;             /* 1 is the winner */
    bool tied;            /* not distinguishable from the winner */
    double ratio;         /* paired ratio to the winner, 1 for itself */
    double time_ns, time_lo_ns, time_hi_ns;
    nt_samples samples;
} nt_final;

/* One counter of one trial. */
typedef struct nt_counter {
    int64_t trial_id;
    const char *name;   /* the view's column (occupancy_pct) or the metric's own name */
    double value;       /* NAN: it was asked for and the device did not give it */
    const char *unit;   /* "%", "byte", "ns", ... */
    const char *source; /* how collected: "CUPTI range profiler, user replay" */
    int passes;         /* of the set it was collected in */
    nt_cache_mode cache;
} nt_counter;

typedef struct nt_sink nt_sink;
struct nt_sink {
    void *state;
    nt_status (*begin_run)(nt_sink *sink, nt_run *run, nt_error *err);
    /* One transaction: stores the finished trial (NULL for none) and journals the next in flight (NULL for none). */
    nt_status (*put)(nt_sink *sink, nt_trial *finished, const nt_journal *next, nt_error *err);
    /* Stores the finalists of one problem and marks its winner. One transaction. */
    nt_status (*put_finals)(nt_sink *sink, const nt_problem *problem, const nt_final *finals, int count, nt_error *err);
    /* Stores counters of trials already put; those of equal trial and name are replaced. One transaction. */
    nt_status (*put_counters)(nt_sink *sink, const nt_counter *counters, int count, nt_error *err);
    nt_status (*end_run)(nt_sink *sink, const nt_run *run, nt_error *err);
    /* The newest run of this device that did not end as `done` and has equal options; NT_NOT_FOUND when none. */
    nt_status (*find_resumable)(nt_sink *sink, const nt_run *like, nt_run *out, nt_error *err);
    /* Calls `each` for every trial of a run (params_json and times filled, no samples); stops when it returns false. */
    nt_status (*each_trial)(nt_sink *sink, int64_t run_id, bool (*each)(void *context, const nt_trial *trial),
                            void *context, nt_error *err);
    /* An ok trial of equal key (problem, kernel, source hash, params, compiler, driver, device UUID, cache mode), for
     * --reuse. Samples included. NT_NOT_FOUND when none. */
    nt_status (*find_equal)(nt_sink *sink, const nt_trial *like, nt_trial *out, nt_error *err);
    /* Entry journalled for a run and not finished; NT_NOT_FOUND when none. kernel/params copied into `trial`. */
    nt_status (*in_flight)(nt_sink *sink, int64_t run_id, nt_trial *trial, int *attempts, nt_error *err);
    void (*close)(nt_sink *sink); /* NULL-safe through nt_sink_close */
};

static inline void nt_sink_close(nt_sink *sink)
{
    if (sink != NULL)
        sink->close(sink);
}

/* A row of the contract view `trials`, as text for tables and typed for JSON: column names are the contract. */
typedef enum nt_cell_kind { NT_CELL_NULL, NT_CELL_INT, NT_CELL_REAL, NT_CELL_TEXT } nt_cell_kind;
typedef struct nt_cell {
    nt_cell_kind kind;
    int64_t i;
    double r;
    const char *text; /* valid until the next row */
} nt_cell;

typedef struct nt_row {
    int count;
    const char *const *name;
    const nt_cell *cell;
} nt_row;

typedef bool (*nt_row_fn)(void *context, const nt_row *row); /* false stops */

typedef struct nt_reader nt_reader;
struct nt_reader {
    void *state;
    /* Winning rows of the view `best`, restricted where an argument is non-NULL. */
    nt_status (*best)(nt_reader *reader, const char *layer, const char *device, nt_row_fn each, void *context,
                      nt_error *err);
    nt_status (*trial)(nt_reader *reader, int64_t id, nt_row_fn each, void *context, nt_error *err);
    nt_status (*samples)(nt_reader *reader, int64_t trial_id, nt_samples *out, nt_error *err);
    /* Rows of the view `trials` in the order of their numbers: of one run (0: all) and of one layer (NULL: all). */
    nt_status (*trials)(nt_reader *reader, int64_t run_id, const char *layer, nt_row_fn each, void *context,
                        nt_error *err);
    nt_status (*runs)(nt_reader *reader, nt_row_fn each, void *context, nt_error *err);
    /* The same row of one run, 0: of the newest; no row when there is none. */
    nt_status (*run)(nt_reader *reader, int64_t run_id, nt_row_fn each, void *context, nt_error *err);
    /* Counters of a trial, a row each: name, value, unit, source, passes, cache; by name. None is no error. */
    nt_status (*counters)(nt_reader *reader, int64_t trial_id, nt_row_fn each, void *context, nt_error *err);
    /* The device of a run with its limits and the peaks that run saw: one row, columns as nt_json_device names them. */
    nt_status (*device)(nt_reader *reader, int64_t run_id, nt_row_fn each, void *context, nt_error *err);
    /* Any read-only SQL; anything that would write is refused with NT_USAGE. */
    nt_status (*query)(nt_reader *reader, const char *sql, nt_row_fn each, void *context, nt_error *err);
    /* ---- for a screen that follows a run and shows parts of a million rows ---- */
    /* Rows of the view `trials` by a window. */
    nt_status (*window)(nt_reader *reader, const nt_window *window, nt_row_fn each, void *context, nt_error *err);
    /* How many rows its conditions leave. */
    nt_status (*window_count)(nt_reader *reader, const nt_window *window, int64_t *out, nt_error *err);
    /* The same columns of a run's trials with numbers beyond `after`, at most `limit`, by number. */
    nt_status (*follow)(nt_reader *reader, int64_t run_id, int64_t after, int limit, nt_row_fn each, void *context,
                        nt_error *err);
    /* A row each problem and cache mode of a run, from the counts kept: trials by outcome, the least time and columns of
     * the trial that has it. Of what was stored until then, which takes a scan; NAN: all. */
    nt_status (*units)(nt_reader *reader, int64_t run_id, double until_unix_s, nt_row_fn each, void *context,
                       nt_error *err);
    /* limiter, trials: of the run's trials numbered after < trial <= upto. */
    nt_status (*limiters)(nt_reader *reader, int64_t run_id, int64_t after, int64_t upto, nt_row_fn each, void *context,
                          nt_error *err);
    /* x, y, least_time_ns, trials: over two keys, for the window's conditions. */
    nt_status (*heat)(nt_reader *reader, const nt_window *window, nt_row_fn each, void *context, nt_error *err);
    /* Changes whenever another connection stored something. */
    nt_status (*version)(nt_reader *reader, int64_t *out, nt_error *err);
    /* How much of what another thread reads through this reader has been looked at, 0 to 1; NAN when that is not counted. */
    double (*progress)(const nt_reader *reader);
    /* Ends what another thread is reading through this reader with NT_TIMED_OUT. */
    void (*interrupt)(nt_reader *reader);
    void (*close)(nt_reader *reader);
};

#endif
