/* sweep_state.h: the sweep's own state, shared by the sweep_*.c files and nobody else.
 *
 *   sweep_wait.c       waiting for children, signals and the clock; progress
 *   sweep_seeds.c      rules of thumb and defaults, tried before the strategy
 *   sweep_feed.c       strategy -> plan -> cache or compile pool -> ready
 *   sweep_trial.c      ready -> device -> stored
 *   sweep_units.c      options -> units (problem x cache mode) with their kernels and spaces
 *   sweep_candidate.c  a configuration on its way: plan, static pruning, compile request, queues
 *   sweep_device.c     the device worker: start, requests, deadlines, replacement
 *   sweep_store.c      finished trials: record, best, counts, sink
 *   sweep_finals.c     finalists of a unit, their ranks
 *   sweep_rounds.c     their interleaved rounds, in blocks
 *   sweep_profile.c    hardware counters of a unit's trials
 *   sweep_resume.c     what an earlier run left
 *   sweep.c            the loop */
#ifndef NT_SWEEP_STATE_H
#define NT_SWEEP_STATE_H

#include <signal.h>

#include "autotune/finals.h"
#include "autotune/lock.h"
#include "autotune/objective.h"
#include "autotune/pool.h"
#include "autotune/strategy.h"
#include "autotune/sweep.h"
#include "autotune/warm_start.h"

enum { NT__KERNELS = 24, NT__TOP = 24, NT__LOSSES = 5, NT__SPARES = 2 };

/* A kernel that serves a unit, with its legal configurations. */
typedef struct nt__served {
    const nt_kernel *kernel;
    nt_space *space;
    char *source;
    char hash[NT_KEY_BYTES];
} nt__served;

typedef struct nt__unit {
    nt_problem problem;
    nt_cache_mode cache;
    const nt_layer *layer;
    nt_extents extents;
    nt__served served[NT__KERNELS];
    int served_count;
} nt__unit;

/* A configuration between the strategy and its result. In one of the queues, or in flight. */
typedef struct nt__candidate {
    struct nt__candidate *next;
    uint64_t job;
    int served; /* index into the unit's kernels */
    nt_config config;
    bool in_space;    /* has a number, so the strategy wants to be told of it */
    nt_candidate ask; /* that number */
    const char *rule; /* name of the rule of thumb it is, or NULL */
    nt_plan plan;
    nt_str options; /* -D... */
    char *params_json;
    char key[NT_KEY_BYTES];
    bool compiling; /* a child has it (or one of equal key) */
    bool sent_back; /* its artefact was gone when its turn came: compiled a second time */
    double compile_ms;
    nt_artefact artefact;
} nt__candidate;

typedef struct nt__queue {
    nt__candidate *first, **end;
    int count;
} nt__queue;

void nt__queue_init(nt__queue *queue);
void nt__queue_add(nt__queue *queue, nt__candidate *candidate);
nt__candidate *nt__queue_take(nt__queue *queue); /* NULL when empty */

/* One of the fastest so far, kept for the finals. */
typedef struct nt__top {
    nt_trial trial; /* without samples */
    int served;
    nt_config config;
} nt__top;

/* An ok trial that is to get counters. */
typedef struct nt__counted {
    int64_t trial_id;
    int served;
    nt_config config;
} nt__counted;

typedef enum nt__device_state {
    NT__DEVICE_NONE,
    NT__DEVICE_OPENING,
    NT__DEVICE_PREPARING,
    NT__DEVICE_IDLE,
    NT__DEVICE_TRIAL,
    NT__DEVICE_FINALS
} nt__device_state;

typedef struct nt__sweep {
    const nt_sweep_options *options;
    nt_sink *sink;
    const nt_sweep_events *events;
    nt_sweep_result *out;
    const nt_trial *only; /* rerun: the one configuration to try */

    nt__unit *unit;
    int unit_count, unit_index;
    nt_device_info device;
    double floor_ns;
    nt_lock lock;
    nt_pool *pool;
    nt_child worker;
    nt_child spare[NT__SPARES]; /* device workers of the finals' further blocks: open, without inputs, asked nothing */
    nt__device_state state;
    double deadline_s; /* of the worker's request; INFINITY when idle */
    double busy_since_s;
    double first_sent_s, last_answered_s; /* trials of this unit; 0 before the first */
    int losses;                           /* workers lost in a row without a result between */
    int problem_losses;                   /* workers lost while preparing this unit */
    int compile_losses;                   /* compiles in a row that failed for no reason of their own */
    int asked_unit;                       /* the unit the worker was last asked to prepare */
    double opened_s, prepared_s;          /* what opening the device and preparing a unit took the last time */
    bool spares_refused;                  /* said once; a GPU in exclusive mode, for example, has one process alone */
    bool timing_only;                     /* a spare is at work: it verifies nothing, so it makes no references */
    const char *phase;

    double started_s, spent_before_s; /* monotonic; seconds of the run before this process */
    double budget_end_s;              /* monotonic; trials end here, finals may follow. INFINITY when not limited */
    double unit_end_s;                /* monotonic; no earlier than its inputs are ready */
    bool share_pending;               /* the unit's share of the time has not begun */
    double fair_share_s;              /* an equal part of the whole time budget */
    double unit_cost_s;               /* what the unit's trials of earlier processes took */
    int64_t unit_trials;              /* trials this unit may have; INT64_MAX when not limited */
    int64_t trials_done, unit_done;   /* not counting pruned ones */

    nt_objective *objective;
    const nt_strategy *strategy;
    void *strategy_state;
    nt_warm_start own; /* what the units so far measured, for those that follow; scores instead of times */
    bool exhausted, more_to_feed; /* refilling stopped for the loop's sake: come back at once */
    nt__queue seeds, to_compile, ready;
    nt__candidate *in_flight;
    bool compile_phase; /* cpu: compiling and timing alternate */
    int compiling;
    uint64_t next_job, unit_first_job;

    nt__top top[NT__TOP + 1]; /* the last place is of the fastest vendor's kernel, a rival beside ours */
    bool has_vendor;          /* that place is taken */
    int top_count;
    double best_ns;
    nt_candidate *seen; /* tried in an earlier process of this run */
    size_t seen_count, seen_capacity;

    nt_child counter_worker;
    int counters_problem;  /* unit the counter worker has prepared; -1 none */
    int counters_owed;     /* answers that it will send before those to later questions */
    bool counters_refused; /* said once */
    nt__counted *counted;  /* ok trials of this unit */
    size_t counted_count, counted_capacity;

    double wait_compile_s, last_progress_s;
    int stop_signal; /* first signal: finish the trial in flight */
    bool stop_now;   /* second signal */
} nt__sweep;

/* units */
nt_status nt__units_build(const nt_sweep_options *options, const nt_device_info *device, nt__unit **out, int *count,
                          nt_error *err);
void nt__units_free(nt__unit *units, int count);
/* Are vendors' libraries needed: by --vendor, or by a kernel that is named? */
bool nt__wants_vendors(const nt_sweep_options *options);
/* Is this kernel a rival, which is measured beside ours and cannot win? */
bool nt__is_rival(const nt__sweep *sweep, int served);

/* candidates */
nt__candidate *nt__candidate_new(nt__sweep *sweep, int served, const nt_config *config);
void nt__candidate_free(nt__candidate *candidate);
/* Plans it; false: cannot be launched, `reason` says why. */
bool nt__candidate_plan(nt__sweep *sweep, nt__candidate *candidate, char *reason, size_t capacity);
/* With the compiler's resources: false when no block fits an SM. */
bool nt__candidate_fits(nt__sweep *sweep, const nt__candidate *candidate, char *reason, size_t capacity);
void nt__candidate_request(nt__sweep *sweep, const nt__candidate *candidate, nt_compile_request *out);
void nt__candidate_trial(nt__sweep *sweep, const nt__candidate *candidate, nt_outcome outcome, const char *reason,
                         nt_trial *out);
json_t *nt__candidate_json(nt__sweep *sweep, const nt__candidate *candidate); /* kernel, params, artefact */

/* device */
/* The error that a worker's reply carries; NT_OK when its status is 0. `worker` names it: "device worker". */
nt_status nt__reply_status(const json_t *reply, const char *worker, nt_error *err);
nt_status nt__device_identify(nt__sweep *sweep, nt_error *err); /* blocking, before the lock */
nt_status nt__device_step(nt__sweep *sweep, nt_error *err);     /* starts or prepares a worker where there is none */
nt_status nt__device_send_trial(nt__sweep *sweep, nt__candidate *candidate, nt_error *err);
nt_status nt__device_send_finals(nt__sweep *sweep, json_t *items, int rounds, bool verify, nt_error *err);
/* Reads an answer if there is one. *answer: the finals' or trial's reply (state is IDLE again), or NULL. *lost: the
 * worker died, hung or lost its device while busy; `how` says which and `timed_out` whether it was the deadline. */
nt_status nt__device_poll(nt__sweep *sweep, json_t **answer, bool *lost, bool *timed_out, char *how, size_t capacity,
                          nt_error *err);
void nt__device_drop(nt__sweep *sweep);
/* A spare takes the device worker's place, and gives it back. It is started the first time, keeps the device open for the
 * units that follow, and gives its inputs' memory back when its rounds are done. */
nt_status nt__device_to_spare(nt__sweep *sweep, int spare, nt_error *err);
void nt__device_from_spare(nt__sweep *sweep, int spare);
void nt__device_drop_all(nt__sweep *sweep); /* and the spares */
void nt__device_new_problem(nt__sweep *sweep); /* the worker is to prepare the present unit */
/* Called when its inputs are ready: its share of the time budget begins. */
void nt__unit_prepared(nt__sweep *sweep);

/* store: kept in the sink, told to the strategy and counted; then announced to people */
nt_status nt__record_trial(nt__sweep *sweep, nt_trial *trial, const nt__candidate *candidate, const nt__candidate *next,
                           nt_error *err);
void nt__announce_trial(nt__sweep *sweep, const nt_trial *trial);
void nt__tell_strategy(nt__sweep *sweep, const nt_trial *trial, nt_candidate number);
/* Both. */
nt_status nt__store_trial(nt__sweep *sweep, nt_trial *trial, const nt__candidate *candidate, const nt__candidate *next,
                          nt_error *err);
nt_status nt__store_journal(nt__sweep *sweep, const nt__candidate *next, nt_error *err);
void nt__count_trial(nt__sweep *sweep, const nt_trial *trial, int served, const nt_config *config);
/* By the objective, the smaller the better; NAN where the trial has none. */
double nt__score(const nt__sweep *sweep, const nt_trial *trial);
bool nt__over_error(const nt__sweep *sweep, const nt_trial *trial); /* error_prec beyond --max-error */
/* Checks a worker's trial for sense; NT_CORRUPT says what makes none. */
nt_status nt__check_answer(const nt_trial *trial, nt_error *err);

/* resume, reuse */
nt_status nt__resume_run(nt__sweep *sweep, nt_run *run, bool *resumed, nt_error *err);
/* Trials of the present unit stored by earlier processes: counted, and put on the list of what is seen. */
nt_status nt__resume_unit(nt__sweep *sweep, nt_error *err);
/* Tells the strategy their results. */
nt_status nt__resume_tell(nt__sweep *sweep, nt_error *err);
bool nt__seen_before(const nt__sweep *sweep, nt_candidate candidate);
nt_status nt__reuse(nt__sweep *sweep, nt__candidate *candidate, bool *reused, nt_error *err);

/* profile: after the finals, waiting inside */
nt_status nt__profile_check(nt__sweep *sweep, nt_error *err); /* --metrics names what the chip has, or NT_USAGE */
/* Begins to open the counter worker's device, beside the device worker's own opening; nothing is counted before profile_run. */
void nt__profile_prepare(nt__sweep *sweep);
void nt__profile_remember(nt__sweep *sweep, const nt_trial *trial, int served, const nt_config *config);
void nt__profile_note(nt__sweep *sweep, int64_t trial, const json_t *values);
nt_status nt__profile_run(nt__sweep *sweep, nt_error *err);
int nt__finalist_count(const nt__sweep *sweep);                           /* trials of top[] near enough to the best */
void nt__device_name(const nt__sweep *sweep, char *out, size_t capacity); /* "cuda:0" */

/* finals: runs to its end inside (its own poll loop) */
nt_status nt__finals_run(nt__sweep *sweep, nt_unit_result *result, nt_error *err);
/* The fastest by its first measurement, where no finals can be held; nothing when there is none. */
void nt__take_leader(const nt__sweep *sweep, nt_unit_result *result);

/* feed */
bool nt__unit_spent(const nt__sweep *sweep);
double
nt__unit_end_s(const nt__sweep *sweep); /* its share of the time; the whole budget's end before its first trial */
int nt__in_pipeline(const nt__sweep *sweep);
nt_status nt__refill(nt__sweep *sweep, nt_error *err);
nt_status nt__submit(nt__sweep *sweep, nt_error *err);
nt_status nt__take_compiled(nt__sweep *sweep, nt_error *err);

/* trial */
nt_status nt__dispatch(nt__sweep *sweep, nt_error *err);
nt_status nt__poll_trial(nt__sweep *sweep, nt_error *err);

/* seeds */
void nt__add_seeds(nt__sweep *sweep);
void nt__open_strategy(nt__sweep *sweep); /* the strategy is not asked for seeds and for what was seen */
nt_status nt__add_only(nt__sweep *sweep, nt_error *err);

/* wait: SIGINT, SIGTERM and SIGHUP are blocked except inside nt__wait */
void nt__catch_signals(sigset_t *old_mask);
void nt__release_signals(const sigset_t *old_mask);
/* Waits for descriptors, signals or `timeout_ms`; updates stop flags and the progress line. */
nt_status nt__wait(nt__sweep *sweep, int timeout_ms, nt_error *err);
void nt__progress(nt__sweep *sweep, const char *phase, bool always);

#endif
