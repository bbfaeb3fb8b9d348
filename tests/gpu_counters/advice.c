/* advice.c: times and counts the kernels of advice.h and asks the rules: each must speak of the kernel with its fault
 * and be silent about the repaired twin. `advice compile ARCH` does what needs no GPU: all of them compile, and the one
 * whose fault is spilling spills. */
#include "core/advice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "device/compiler.h"
#include "device/nvrtc.h"
#include "tests/gpu_counters/advice.h"
#include "tests/gpu_counters/judge.h"

enum { MOST = 32, BUFFER_MIB = 1024 };

static const char *const sets[] = {"t1", "banks", "coalescing"};
static const char empty[] = "extern \"C\" __global__ void judge(const float *in, float *out, long long n) {}\n";

/* One kernel, ready to run. */
typedef struct ready {
    nt_artefact artefact;
    nt_module *module;
    nt_plan plan;
    nt_binding binding;
    size_t position;
    nt_target target;
    nt_trial trial;
} ready;

typedef struct room {
    const nt_device_ops *ops;
    nt_device *device;
    nt_mem in, out;
    double floor_ns;
} room;

static nt_status compile(const nt_device_info *info, const char *source, nt_artefact *out, nt_error *err)
{
    nt_compile_request request = {.kind = NT_DEVICE_CUDA,
                                  .name = "judge",
                                  .source = source,
                                  .options = "",
                                  .arch = info->arch,
                                  .compiler = info->compiler,
                                  .features = info->features,
                                  .deadline_s = 60};
    return nt_compile(&request, out, err);
}

/* ---- on the device ------------------------------------------------------------------------------------------------- */

static uint32_t blocks_of(const room *r, const advice_kernel *k, const nt_function_info *info)
{
    double whole = (double)info->blocks_per_sm * (double)r->ops->info(r->device)->sm_count;
    return k->waves > 0 ? (uint32_t)ceil(k->waves * whole) : k->blocks;
}

static nt_status get_ready(room *r, const advice_kernel *k, ready *out, nt_error *err)
{
    nt_function_info info;
    nt_status status = compile(r->ops->info(r->device), k->source, &out->artefact, err);
    if (status == NT_OK)
        status = r->ops->module_load(r->device, out->artefact.path, &out->module, err);
    if (status == NT_OK)
        status = r->ops->function_info(r->device, out->module, "judge", k->threads, k->smem_bytes, &info, err);
    if (status != NT_OK)
        return status;
    nt_stage *stage = &out->plan.stage[0];
    uint32_t blocks = blocks_of(r, k, &info);
    out->plan.stage_count = 1;
    nt_stage_kernel(stage, "judge", blocks, 1, 1, k->threads, 1, 1);
    stage->smem_dynamic_bytes = k->smem_bytes;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i64(stage, k->n);
    out->binding.address[NT_ROLE_IN] = r->in;
    out->binding.address[NT_ROLE_OUT] = r->out;
    out->target = (nt_target){r->ops, r->device, out->module, &out->plan, &out->binding, 1, &out->position, NULL, NULL};
    nt_trial_init(&out->trial);
    out->trial.outcome = NT_OUTCOME_OK;
    out->trial.problem.precision = NT_FP32;
    out->trial.artefact = out->artefact;
    out->trial.smem_bytes = info.smem_static_bytes + k->smem_bytes;
    out->trial.threads_per_block = k->threads;
    out->trial.grid_blocks = blocks;
    return NT_OK;
}

static nt_status take_time(room *r, ready *k, nt_error *err)
{
    nt_measure_options options = nt_measure_defaults;
    nt_measurement m;
    options.cap_s = 0.2;
    options.abandon_over_ns = options.settle_over_ns = INFINITY;
    nt_status status = nt_measure(&k->target, &options, &m, err);
    if (status != NT_OK)
        return status;
    k->trial.time_ns = m.time.median;
    k->trial.floor_ns = r->floor_ns;
    k->trial.conditions.sm_clock_mhz = m.sm_clock_mhz;
    nt_samples_done(&m.samples);
    return NT_OK;
}

static nt_status open_room(room *r, nt_error *err)
{
    const advice_kernel nothing = {empty, 32, 0, 0, 1, 0, NAN, NAN};
    ready *k = nt_alloc_zero(1, sizeof *k);
    const size_t bytes = (size_t)BUFFER_MIB << 20;
    *r = (room){.ops = &nt_device_cuda_ops, .floor_ns = NAN};
    nt_status status = r->ops->open(0, &r->device, err);
    if (status == NT_OK)
        status = r->ops->alloc(r->device, bytes, &r->in, err);
    if (status == NT_OK)
        status = r->ops->alloc(r->device, bytes, &r->out, err);
    if (status == NT_OK)
        status = r->ops->fill(r->device, r->in, 0, bytes, err);
    if (status == NT_OK)
        status = get_ready(r, &nothing, k, err);
    if (status == NT_OK)
        status = take_time(r, k, err);
    r->floor_ns = k->trial.time_ns;
    free(k);
    return status;
}

static bool ask(const room *r, const advice_pair *pair, bool faulty, const ready *k, const nt_counter *counters,
                size_t count)
{
    const advice_kernel *kernel = faulty ? &pair->faulty : &pair->repaired;
    nt_advice_input input = {.device = r->ops->info(r->device),
                             .trial = &k->trial,
                             .counters = counters,
                             .counter_count = count,
                             .flop = kernel->flop,
                             .bytes = kernel->bytes};
    char sentence[400] = "", name[96];
    bool speaks = false;
    for (int i = 0; i < nt_advice_rule_count(); i++)
        if (strcmp(nt_advice_rule_name(i), pair->rule) == 0)
            speaks = nt_advice_rule_speaks(i, &input, sentence, sizeof sentence);
    snprintf(name, sizeof name, "%s: speaks of the kernel %s", pair->rule, faulty ? "with the fault" : "without it");
    bool holds = judge_bar("advice", name, "", speaks, "==", faulty ? 1 : 0);
    printf("      %.4g us, floor %.4g us; %s\n", k->trial.time_ns * 1e-3, k->trial.floor_ns * 1e-3,
           speaks ? sentence : "(silent)");
    if (!holds)
        for (size_t i = 0; i < count; i++)
            printf("      %-28s %.6g\n", counters[i].name, counters[i].value);
    return holds;
}

static int judge_all(const room *r, const nt_counters *counters, const ready *all, const double *values)
{
    const nt_metric_plan *plan = nt_counters_plan(counters);
    nt_counter *list = nt_alloc_zero(plan->count, sizeof *list);
    int missed = 0;
    for (size_t i = 0; i < 2 * advice_pair_count; i++) {
        for (size_t m = 0; m < plan->count; m++)
            list[m] = (nt_counter){.name = plan->metric[m].name, .value = values[i * plan->count + m]};
        missed += !ask(r, &advice_pairs[i / 2], i % 2 == 0, &all[i], list, plan->count);
    }
    free(list);
    return missed > 0;
}

static int on_the_device(void)
{
    static ready all[MOST];
    nt_target targets[MOST];
    nt_error err = {0};
    nt_counters *counters = NULL;
    room r;
    size_t count = 2 * advice_pair_count;
    if (count > MOST || open_room(&r, &err) != NT_OK)
        return judge_fail("getting ready", &err);
    for (size_t i = 0; i < count; i++) {
        const advice_pair *pair = &advice_pairs[i / 2];
        if (get_ready(&r, i % 2 == 0 ? &pair->faulty : &pair->repaired, &all[i], &err) != NT_OK ||
            take_time(&r, &all[i], &err) != NT_OK)
            return judge_fail(pair->rule, &err);
        targets[i] = all[i].target;
    }
    if (nt_counters_open(r.ops, r.device, sets, sizeof sets / sizeof sets[0], 0, &counters, &err) != NT_OK)
        return judge_fail("opening the counters", &err);
    double *values = nt_alloc_zero(MOST * nt_counters_count(counters), sizeof *values);
    int code = nt_counters_collect(counters, targets, count, NT_COLD, values, NULL, &err) == NT_OK
                   ? judge_all(&r, counters, all, values)
                   : judge_fail("counting", &err);
    free(values);
    nt_counters_close(counters);
    return code;
}

/* ---- without one --------------------------------------------------------------------------------------------------- */

static int compile_all(const char *arch)
{
    nt_device_info info;
    nt_nvrtc_about about;
    nt_error err = {0};
    int missed = 0;
    nt_device_info_init(&info, NT_DEVICE_CUDA);
    if (nt_nvrtc_describe(&about, &err) != NT_OK)
        return judge_fail("finding NVRTC", &err);
    nt_copy(info.arch, sizeof info.arch, arch);
    snprintf(info.compiler, sizeof info.compiler, "NVRTC %d.%d", about.major, about.minor);
    for (size_t i = 0; i < 2 * advice_pair_count; i++) {
        const advice_pair *pair = &advice_pairs[i / 2];
        bool faulty = i % 2 == 0, must_spill = faulty && strcmp(pair->rule, "spills") == 0;
        nt_artefact made;
        if (compile(&info, faulty ? pair->faulty.source : pair->repaired.source, &made, &err) != NT_OK)
            return judge_fail(pair->rule, &err);
        printf("%-14s %-8s %3lld registers, %4lld bytes of spills, %lld of static shared memory\n", pair->rule,
               faulty ? "faulty" : "repaired", (long long)made.registers, (long long)made.spill_bytes,
               (long long)made.smem_static_bytes);
        missed += must_spill != (made.spill_bytes > 0);
    }
    return missed > 0;
}

int judge_advice(int argc, char **argv)
{
    return argc > 0 && strcmp(argv[0], "compile") == 0 ? compile_all(argc > 1 ? argv[1] : "sm_90") : on_the_device();
}
