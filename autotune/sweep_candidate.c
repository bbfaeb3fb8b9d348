/* sweep_candidate.c: a configuration on its way: its plan, what can be pruned without a launch, its compile request. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/sweep_state.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/occupancy.h"

/* A compiler that hangs may cost a third of the budget, but an honest one gets the time it needs. */
static double compile_deadline_s(const nt_budget *budget)
{
    static const double least_s = 10, most_s = 60;
    return budget->seconds > 0 ? fmax(least_s, fmin(budget->seconds / 3, most_s)) : most_s;
}

void nt__queue_init(nt__queue *queue)
{
    *queue = (nt__queue){.end = &queue->first};
}

void nt__queue_add(nt__queue *queue, nt__candidate *candidate)
{
    candidate->next = NULL;
    *queue->end = candidate;
    queue->end = &candidate->next;
    queue->count++;
}

nt__candidate *nt__queue_take(nt__queue *queue)
{
    nt__candidate *first = queue->first;
    if (first == NULL)
        return NULL;
    queue->first = first->next;
    if (queue->first == NULL)
        queue->end = &queue->first;
    queue->count--;
    return first;
}

static nt__unit *unit_of(nt__sweep *sweep)
{
    return &sweep->unit[sweep->unit_index];
}

nt__candidate *nt__candidate_new(nt__sweep *sweep, int served, const nt_config *config)
{
    nt__candidate *c = nt_alloc_zero(1, sizeof *c);
    const nt_kernel *kernel = unit_of(sweep)->served[served].kernel;
    c->job = sweep->next_job++;
    c->served = served;
    c->config = *config;
    c->artefact = (nt_artefact){
        .registers = NT_UNKNOWN, .smem_static_bytes = NT_UNKNOWN, .spill_bytes = NT_UNKNOWN, .compile_ms = NAN};
    c->params_json = nt_json_dump_done(nt_json_config(kernel->params, config));
    return c;
}

void nt__candidate_free(nt__candidate *c)
{
    if (c == NULL)
        return;
    nt_str_done(&c->options);
    free(c->params_json);
    free(c);
}

static bool limited(int64_t value, int64_t limit)
{
    return limit != NT_UNKNOWN && limit > 0 && value > limit;
}

bool nt__candidate_plan(nt__sweep *sweep, nt__candidate *c, char *reason, size_t capacity)
{
    const nt__unit *unit = unit_of(sweep);
    const nt_kernel *kernel = unit->served[c->served].kernel;
    nt_error err = {0};
    if (kernel->plan(&unit->problem, &c->config, &sweep->device, &c->plan, &err) != NT_OK) {
        snprintf(reason, capacity, "%s", err.what);
        return false;
    }
    for (int i = 0; i < c->plan.stage_count; i++) {
        const nt_stage *stage = &c->plan.stage[i];
        int64_t threads = (int64_t)stage->block[0] * stage->block[1] * stage->block[2];
        if (stage->kind != NT_STAGE_KERNEL || sweep->device.kind == NT_DEVICE_CPU)
            continue;
        if (limited(threads, sweep->device.max_threads_per_block)) {
            snprintf(reason, capacity, "%lld threads a block, the device allows %lld", (long long)threads,
                     (long long)sweep->device.max_threads_per_block);
            return false;
        }
        if (limited(stage->smem_dynamic_bytes, sweep->device.smem_per_block_bytes)) {
            snprintf(reason, capacity, "%u bytes of shared memory a block, the device allows %lld",
                     stage->smem_dynamic_bytes, (long long)sweep->device.smem_per_block_bytes);
            return false;
        }
    }
    if (unit->served[c->served].source[0] == '\0')
        return true; /* a vendor's call: nothing to compile */
    nt_kernel_options(kernel, &unit->problem, &c->config, &c->options);
    nt_compile_request request;
    nt__candidate_request(sweep, c, &request);
    nt_compile_key(&request, c->key);
    return true;
}

bool nt__candidate_fits(nt__sweep *sweep, const nt__candidate *c, char *reason, size_t capacity)
{
    if (sweep->device.kind == NT_DEVICE_CPU)
        return true;
    int64_t fixed = c->artefact.smem_static_bytes > 0 ? c->artefact.smem_static_bytes : 0;
    for (int i = 0; i < c->plan.stage_count; i++) {
        const nt_stage *stage = &c->plan.stage[i];
        if (stage->kind != NT_STAGE_KERNEL)
            continue;
        int64_t threads = (int64_t)stage->block[0] * stage->block[1] * stage->block[2];
        long long smem = fixed + stage->smem_dynamic_bytes;
        nt_occupancy occupancy = nt_occupancy_of(&sweep->device, threads, c->artefact.registers, smem);
        if (occupancy.blocks_per_sm == 0) {
            snprintf(reason, capacity,
                     "no block fits an SM: limited by %s (%lld threads, %lld registers a thread, %lld bytes of shared "
                     "memory)",
                     nt_limiter_name(occupancy.limiter), (long long)threads, (long long)c->artefact.registers, smem);
            return false;
        }
    }
    return true;
}

/* sm_90 becomes sm_90a for kernels that use architecture-specific instructions. */
static const char *arch_of(const nt_kernel *kernel, const nt_device_info *device, char *buffer, size_t capacity)
{
    if (!kernel->arch_specific || device->kind != NT_DEVICE_CUDA)
        return device->arch;
    snprintf(buffer, capacity, "%sa", device->arch);
    return buffer;
}

void nt__candidate_request(nt__sweep *sweep, const nt__candidate *c, nt_compile_request *out)
{
    static char arch[48];
    const nt__served *served = &unit_of(sweep)->served[c->served];
    *out = (nt_compile_request){.kind = sweep->device.kind,
                                .name = served->kernel->name,
                                .source = served->source,
                                .options = nt_str_text(&c->options),
                                .arch = arch_of(served->kernel, &sweep->device, arch, sizeof arch),
                                .compiler = sweep->device.compiler,
                                .features = sweep->device.features,
                                .deadline_s = compile_deadline_s(&sweep->options->budget)};
}

void nt__candidate_trial(nt__sweep *sweep, const nt__candidate *c, nt_outcome outcome, const char *reason,
                         nt_trial *out)
{
    const nt__unit *unit = unit_of(sweep);
    nt_trial_init(out);
    out->run_id = sweep->out->run.id;
    out->problem = unit->problem;
    out->cache = unit->cache;
    out->outcome = outcome;
    out->floor_ns = sweep->floor_ns;
    out->artefact = c->artefact;
    nt_copy(out->artefact.key, sizeof out->artefact.key, c->key);
    out->compile_ms = c->compile_ms;
    out->params_json = nt_strdup(c->params_json);
    out->vendor = unit->served[c->served].kernel->vendor != NT_VENDOR_NONE;
    nt_copy(out->kernel, sizeof out->kernel, unit->served[c->served].kernel->name);
    nt_copy(out->source_hash, sizeof out->source_hash, unit->served[c->served].hash);
    nt_copy(out->rule, sizeof out->rule, c->rule != NULL ? c->rule : "");
    nt_copy(out->reason, sizeof out->reason, reason != NULL ? reason : "");
}

json_t *nt__candidate_json(nt__sweep *sweep, const nt__candidate *c)
{
    const nt_kernel *kernel = unit_of(sweep)->served[c->served].kernel;
    return json_pack("{s:s, s:o, s:o}", "kernel", kernel->name, "params", nt_json_config(kernel->params, &c->config),
                     "artefact", nt_json_artefact(&c->artefact));
}
