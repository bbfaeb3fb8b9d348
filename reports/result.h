/* result.h: the read model of plots and reports: runs, devices, problems and trials of a database, in memory.
 *
 * Filled through nt_reader in the order of the trials' numbers, so that the same database gives the same model. What a
 * layer is (its work, its short names) comes from the caller, because reports know records alone. Unknown is NAN. */
#ifndef NT_RESULT_H
#define NT_RESULT_H

#include "core/store.h"
#include "reports/pool.h"

/* Where results come from. `work`, `moved` and `shape` may be NULL: then rates are unknown and shapes are written out.
 */
typedef struct nt_report_source {
    nt_reader *reader;
    const char *database; /* its name, for titles */
    void (*work)(const nt_problem *problem, double *flop, double *bytes);
    void (*moved)(const nt_problem *problem, double *in_bytes, double *out_bytes); /* activations alone */
    void (*shape)(nt_str *out, const char *layer, const nt_shape *shape);
} nt_report_source;

/* What of the database is wanted; NULL and 0 mean any. */
typedef struct nt_result_filter {
    const char *device; /* its name, uuid or kind, in any case, or a part of the name */
    const char *layer, *shape, *precision, *kernel;
    int64_t batch, run;
} nt_result_filter;

typedef struct nt_result_device {
    nt_device_info info;
    char label[160]; /* its name, with the end of its uuid where another device has the same */
} nt_result_device;

typedef struct nt_result_run {
    int64_t id;
    int device;
    char state[16], source[16], strategy[NT_NAME_BYTES], host[128];
    char objective[NT_NAME_BYTES]; /* what was made small or large; empty where it was time */
    const char *command;
    uint64_t seed;
    int64_t trials, ok;
    double started_unix_s, compile_s, verify_s, measure_s, idle_s, total_s;
} nt_result_run;

/* A problem on a device with one cache mode. */
typedef struct nt_result_group {
    int device;
    nt_problem problem;
    nt_cache_mode cache;
    char label[256]; /* "conv3x3 64x56x56 batch 8 fp32" */
    double flop, bytes;
    int64_t outcome[NT_OUTCOME_COUNT];
    int best;   /* index of the winning trial; -1 for none */
    int rule;   /* fastest rule of thumb; -1 */
    int vendor; /* fastest trial of a vendor's library; -1 */
} nt_result_group;

typedef struct nt_result_trial {
    int64_t id;
    int run, group;
    const char *kernel, *params, *rule, *limiter, *reason; /* in the pool; "" where there is none */
    nt_outcome outcome;
    bool tied, converged;
    int rank; /* of the finals; 0 for none */
    int64_t samples, launches_per_sample, registers, smem_bytes, spill_bytes, threads_per_block, throttle_mask;
    double time_ns, lo_ns, hi_ns, first_ns, floor_ns;
    double error_impl, error_prec;
    double occupancy_limit_pct, occupancy_pct, dram_bytes;
    double sm_clock_mhz, temperature_c, power_mw, energy_mj;
    double prepare_ns, compile_ms, verify_ms, measure_ms;
} nt_result_trial;

typedef struct nt_result {
    nt_report_source source;
    nt_pool pool;
    nt_result_device *device;
    nt_result_run *run;
    nt_result_group *group;
    nt_result_trial *trial;
    size_t devices, runs, groups, trials;
    size_t device_capacity, run_capacity, group_capacity, trial_capacity;
} nt_result;

/* NT_NOT_FOUND when nothing is left of the database, with what it holds. */
nt_status nt_result_read(nt_result *out, const nt_report_source *source, const nt_result_filter *filter, nt_error *err);
void nt_result_done(nt_result *result);

/* Winner, rule of thumb and vendor of each group, from its trials alone; then a winner that the database names. */
void nt_result_choose(nt_result *result);
void nt_result_mark_best(nt_result *result, int64_t id);

/* The name of a kernel of a vendor's library. */
bool nt_result_is_vendor(const char *kernel);

/* "tile_m=64 stages=2" from {"tile_m":64,"stages":2}. */
void nt_result_params(nt_str *out, const char *params_json);

double nt_result_flops(const nt_result_group *group, double time_ns); /* FLOP/s; NAN */
/* Least time that either roof allows over the time taken, in percent; NAN. */
double nt_result_roof_pct(const nt_result *result, const nt_result_group *group, double time_ns);

#endif
