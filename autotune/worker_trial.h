/* worker_trial.h: one trial inside the device worker: load, check limits, verify, time. Shared with the finals. */
#ifndef NT_WORKER_TRIAL_H
#define NT_WORKER_TRIAL_H

#include <jansson.h>

#include "autotune/workload.h"

typedef struct nt_worker {
    const nt_device_ops *ops;
    nt_device *device;
    int ordinal;
    double floor_ns;
    nt_workload *workload;
    nt_cache_mode cache;
    double last_work_s;  /* monotonic time the device last ran something; 0 before */
    nt_module *leftover; /* of the trial answered last */
} nt_worker;

/* A configuration ready to run. */
typedef struct nt_loaded {
    const nt_kernel *kernel;
    nt_config config;
    nt_artefact artefact;
    nt_plan plan;
    nt_module *module;
} nt_loaded;

/* Parses {kernel, params, artefact}, plans and loads it. Free with nt__worker_unload. */
nt_status nt__worker_load(nt_worker *worker, const json_t *item, nt_loaded *out, nt_error *err);
void nt__worker_unload(nt_worker *worker, nt_loaded *loaded);

/* Runs the target until the clocks have had time to settle, when the device was idle before. */
nt_status nt__worker_warm(nt_worker *worker, const nt_target *target, nt_error *err);

nt_status nt__worker_trial(nt_worker *worker, const json_t *request, json_t *reply, nt_error *err);
/* Unloads what the last trial left: after its answer is sent, while the coordinator stores it. */
void nt__worker_tidy(nt_worker *worker);

#endif
