#include "autotune/worker_trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/json.h"
#include "core/occupancy.h"
#include "profiler/nvtx.h"

nt_status nt__worker_load(nt_worker *worker, const json_t *item, nt_loaded *out, nt_error *err)
{
    const char *name;
    json_t *params, *artefact;
    *out = (nt_loaded){0};
    if (json_unpack((json_t *)item, "{s:s, s:o, s:o}", "kernel", &name, "params", &params, "artefact", &artefact) != 0)
        return nt_fail(err, NT_CORRUPT, "a trial request is damaged");
    const nt_problem *problem = &worker->workload->problem;
    out->kernel = nt_kernel_find(problem->layer, worker->ops->kind, name);
    if (out->kernel == NULL)
        return nt_fail(err, NT_CORRUPT, "layer %s has no kernel '%s' for this device", problem->layer, name);
    nt_status status = nt_json_to_config(params, out->kernel->params, out->kernel->param_count, &out->config, err);
    if (status == NT_OK)
        status = nt_json_to_artefact(artefact, &out->artefact, err);
    if (status == NT_OK)
        status = out->kernel->plan(problem, &out->config, worker->ops->info(worker->device), &out->plan, err);
    if (status == NT_OK && out->kernel->source[0] != NULL)
        status = worker->ops->module_load(worker->device, out->artefact.path, &out->module, err);
    return status;
}

void nt__worker_unload(nt_worker *worker, nt_loaded *loaded)
{
    worker->ops->module_unload(worker->device, loaded->module);
    loaded->module = NULL;
}

/* Asks the driver about each kernel stage and keeps the largest demands. */
static nt_status inspect(nt_worker *worker, const nt_loaded *loaded, nt_trial *trial, nt_error *err)
{
    const nt_device_info *device = worker->ops->info(worker->device);
    trial->occupancy_limit_pct = NAN;
    for (int i = 0; i < loaded->plan.stage_count; i++) {
        const nt_stage *stage = &loaded->plan.stage[i];
        if (stage->kind != NT_STAGE_KERNEL)
            continue;
        uint32_t threads = stage->block[0] * stage->block[1] * stage->block[2];
        nt_function_info info;
        nt_status status = worker->ops->function_info(worker->device, loaded->module, stage->entry, threads,
                                                      stage->smem_dynamic_bytes, &info, err);
        if (status != NT_OK)
            return status;
        int64_t smem = stage->smem_dynamic_bytes + (info.smem_static_bytes > 0 ? info.smem_static_bytes : 0);
        int64_t blocks = (int64_t)stage->grid[0] * stage->grid[1] * stage->grid[2];
        if (trial->grid_blocks == NT_UNKNOWN || blocks > trial->grid_blocks)
            trial->grid_blocks = blocks;
        if (device->kind == NT_DEVICE_CPU)
            continue;
        nt_occupancy occupancy = nt_occupancy_of(device, threads, info.registers, smem);
        if (isnan(trial->occupancy_limit_pct) || occupancy.pct < trial->occupancy_limit_pct) {
            trial->occupancy_limit_pct = occupancy.pct;
            snprintf(trial->occupancy_limiter, sizeof trial->occupancy_limiter, "%s",
                     nt_limiter_name(occupancy.limiter));
            trial->threads_per_block = threads;
            trial->smem_bytes = smem;
        }
        if (threads > info.max_threads_per_block && info.max_threads_per_block > 0)
            return nt_fail(err, NT_LAUNCH_FAILED, "%s has %u threads a block, its compiled code allows %lld",
                           stage->entry, threads, (long long)info.max_threads_per_block);
    }
    return NT_OK;
}

nt_status nt__worker_warm(nt_worker *worker, const nt_target *target, nt_error *err)
{
    static const double idle_s = 0.2, first_s = 0.3, again_s = 0.03;
    double begin = nt_now_s(), ns = 0;
    bool first = worker->last_work_s == 0;
    if (!first && begin - worker->last_work_s < idle_s)
        return NT_OK;
    double end = begin + (first ? first_s : again_s);
    nt_status status = NT_OK;
    while (status == NT_OK && nt_now_s() < end)
        status = nt_measure_once(target, ns > 0 ? nt_measure_launches(5e6, ns) : 1, &ns, err);
    worker->last_work_s = nt_now_s();
    return status;
}

static double option(const json_t *request, const char *key, double unknown)
{
    const json_t *value = json_object_get(request, key);
    return json_is_number(value) ? json_number_value(value) : unknown;
}

static void take_measurement(nt_trial *trial, nt_measurement *m)
{
    trial->probe_ns = m->probe_ns;
    trial->converged = m->converged;
    trial->conditions.sm_clock_mhz = m->sm_clock_mhz;
    if (m->abandoned)
        return;
    trial->time_ns = m->time.median;
    trial->time_lo_ns = m->time.lo;
    trial->time_hi_ns = m->time.hi;
    trial->samples = m->samples; /* ownership moves */
    /* Sensors saw the whole window: of one execution it is the power for its time. */
    trial->conditions.energy_mj = trial->conditions.power_mw * trial->time_ns * 1e-9;
}

static nt_status time_it(nt_worker *worker, const json_t *request, const nt_loaded *loaded, nt_trial *trial,
                         nt_error *err)
{
    nt_measure_options options = nt_measure_defaults;
    options.ci_rel = option(request, "ci_rel", options.ci_rel);
    options.cap_s = option(request, "cap_s", options.cap_s);
    options.least_s = option(request, "least_s", options.least_s);
    if (options.least_s > 0)
        options.sample_ns *= 5; /* no more samples than usual in a longer time */
    options.abandon_over_ns = option(request, "abandon_over_ns", INFINITY);
    options.settle_over_ns = option(request, "settle_over_ns", INFINITY);
    nt_target target;
    nt_measurement m = {0};
    double begin = nt_now_s();
    nt_status status = nt_workload_target(worker->workload, loaded->module, &loaded->plan, &target, err);
    if (status == NT_OK)
        status = nt__worker_warm(worker, &target, err);
    if (status != NT_OK)
        return status;
    if (worker->ops->conditions_begin != NULL)
        worker->ops->conditions_begin(worker->device);
    status = nt_measure(&target, &options, &m, err);
    if (worker->ops->conditions_end != NULL)
        worker->ops->conditions_end(worker->device, &trial->conditions);
    trial->measure_ms = (nt_now_s() - begin) * 1e3;
    if (status != NT_OK)
        return status;
    take_measurement(trial, &m);
    if (!m.abandoned) {
        trial->outcome = NT_OUTCOME_OK;
        return NT_OK;
    }
    trial->outcome = NT_OUTCOME_ABANDONED;
    snprintf(trial->reason, sizeof trial->reason, "the probe took %.4g us, over the limit of %.4g us (3 x the best)",
             m.probe_ns / 1e3, options.abandon_over_ns / 1e3);
    return NT_OK;
}

static nt_status check_it(nt_worker *worker, const nt_loaded *loaded, nt_trial *trial, bool *right, nt_error *err)
{
    nt_verdict verdict;
    double begin = nt_now_s();
    nt_status status =
        nt_workload_verify(worker->workload, loaded->kernel, loaded->module, &loaded->plan, &verdict, err);
    trial->verify_ms = (nt_now_s() - begin) * 1e3;
    *right = status == NT_OK && verdict.right;
    if (status != NT_OK)
        return status;
    trial->error_impl = verdict.error_impl;
    trial->error_prec = verdict.error_prec;
    trial->prepare_ns = verdict.prepare_ns;
    if (!verdict.right) {
        trial->outcome = NT_OUTCOME_WRONG_RESULT;
        nt_copy(trial->reason, sizeof trial->reason, verdict.reason);
    }
    return NT_OK;
}

/* Failures that belong to the configuration, not to the worker. */
static nt_status as_outcome(nt_status status, nt_trial *trial, const nt_error *err)
{
    if (status != NT_LAUNCH_FAILED && status != NT_NO_MEMORY)
        return status;
    trial->outcome = NT_OUTCOME_LAUNCH_FAILED;
    nt_copy(trial->reason, sizeof trial->reason, err->what);
    return NT_OK;
}

void nt__worker_tidy(nt_worker *worker)
{
    worker->ops->module_unload(worker->device, worker->leftover);
    worker->leftover = NULL;
}

nt_status nt__worker_trial(nt_worker *worker, const json_t *request, json_t *reply, nt_error *err)
{
    nt_loaded loaded;
    nt_trial trial;
    nt__worker_tidy(worker);
    nt_trial_init(&trial);
    bool right = false;
    trial.problem = worker->workload->problem;
    trial.cache = worker->cache;
    trial.floor_ns = worker->floor_ns;
    nt_status status = nt__worker_load(worker, request, &loaded, err);
    nt_copy(trial.kernel, sizeof trial.kernel, loaded.kernel != NULL ? loaded.kernel->name : "?");
    trial.artefact = loaded.artefact;
    nt_nvtx_push("trial %s %s", trial.kernel, trial.artefact.key); /* NVIDIA's tools show what ran by these names */
    if (status == NT_OK)
        status = inspect(worker, &loaded, &trial, err);
    nt_nvtx_push("verify");
    if (status == NT_OK)
        status = check_it(worker, &loaded, &trial, &right, err);
    nt_nvtx_pop();
    nt_nvtx_push("time");
    if (status == NT_OK && right)
        status = time_it(worker, request, &loaded, &trial, err);
    nt_nvtx_pop();
    nt_nvtx_pop();
    worker->leftover = loaded.module;
    worker->last_work_s = nt_now_s();
    status = as_outcome(status, &trial, err);
    if (status == NT_OK)
        json_object_set_new(reply, "trial", nt_json_trial(&trial));
    nt_trial_done(&trial);
    return status;
}
