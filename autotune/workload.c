#include "autotune/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "autotune/parallel.h"
#include "core/convert.h"
#include "core/mem.h"
#include "core/random.h"
#include "core/units.h"
#include "device/compiler.h"

enum { ALIGN = 256, STREAM_IN = 1, STREAM_WEIGHT = 2, MOST_SLOTS = 4096, SEEDS = NT_CHECK_SETS + 1 };

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static const nt_precision_row *row_of(const nt_problem *problem)
{
    return &nt_precisions[problem->precision];
}

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static size_t slot_bytes(const nt_problem *problem, const nt_extents *extents)
{
    const nt_precision_row *row = row_of(problem);
    return aligned((size_t)extents->in * nt_dtype_bytes(row->in)) +
           aligned((size_t)extents->weight * nt_dtype_bytes(row->weight)) +
           aligned((size_t)extents->out * nt_dtype_bytes(row->out));
}

/* Slots so that the ring as a whole leaves the cache: 3 x L2 on a GPU, min(2 x L3, 1 GiB) on a cpu. */
static size_t slots_of(const nt_device_info *info, size_t bytes, nt_cache_mode cache)
{
    if (cache == NT_HOT)
        return 1;
    double last_level = info->l2_bytes > 0 ? (double)info->l2_bytes : 64.0 * 1024 * 1024;
    double wanted = info->kind == NT_DEVICE_CUDA ? 3 * last_level : fmin(2 * last_level, 1024.0 * 1024 * 1024);
    double slots = ceil(wanted / (double)bytes);
    return slots < 2 ? 2 : slots > MOST_SLOTS ? MOST_SLOTS : (size_t)slots;
}

double nt_workload_bytes(const nt_device_info *info, const nt_problem *problem, const nt_extents *extents,
                         nt_cache_mode cache)
{
    size_t slot = slot_bytes(problem, extents);
    double ring = (double)slot * (double)slots_of(info, slot, cache);
    double references = 8.0 * (double)extents->out * 3; /* ref, original, abs */
    double inputs = (double)slot + 4.0 * (double)(extents->in + extents->weight);
    return ring + NT_CHECK_SETS * (references + inputs) + (double)slot;
}

/* ---- inputs -------------------------------------------------------------------------------------------------------- */

static double largest_magnitude(const float *values, size_t n)
{
    float largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmaxf(largest, fabsf(values[i]));
    return largest > 0 ? largest : 1;
}

/* Symmetric int8: one scale for the input, one per output channel for the weight. */
static void make_scales(const nt_extents *extents, const float *in, const float *weight, float *in_scale,
                        float *weight_scale)
{
    *in_scale = (float)(largest_magnitude(in, (size_t)extents->in) / 127);
    size_t per_channel = (size_t)(extents->weight / extents->out_channels);
    for (int64_t k = 0; k < extents->out_channels; k++)
        weight_scale[k] = (float)(largest_magnitude(weight + (size_t)k * per_channel, per_channel) / 127);
}

/* Packs fp32 values into the problem's type, uploads them and replaces the values by what stands in memory. */
static nt_status put_tensor(nt_workload *w, nt_dtype type, float *values, size_t n, const float *scale, size_t scales,
                            nt_guarded *to, nt_error *err)
{
    size_t bytes = n * nt_dtype_bytes(type);
    void *packed = nt_alloc(bytes);
    nt_pack(type, values, n, scale, scales, scales > 0 ? n / scales : n, packed);
    nt_unpack(type, packed, n, values);
    nt_status status = nt_guarded_resize(w->ops, w->device, to, bytes, err);
    if (status == NT_OK)
        status = w->ops->upload(w->device, to->data, packed, bytes, err);
    free(packed);
    return status;
}

static nt_status put_array(nt_workload *w, const void *from, size_t bytes, nt_mem *to, nt_error *err)
{
    nt_status status = *to != 0 ? NT_OK : w->ops->alloc(w->device, bytes, to, err);
    return status == NT_OK ? w->ops->upload(w->device, *to, from, bytes, err) : status;
}

/* ---- references ------------------------------------------------------------------------------------------------------ */

typedef struct host_reference {
    const nt_workload *w;
    nt_bound bound;
    const float *in, *weight;
    double *out, *abs;
} host_reference;

static void reference_share(void *context, int64_t begin, int64_t end)
{
    const host_reference *job = context;
    job->w->layer->reference(&job->w->problem, job->bound, job->in, job->weight, job->out, job->abs, begin, end);
}

static nt_status reference_on_host(nt_workload *w, nt_bound bound, const float *in, const float *weight, nt_mem *ref,
                                   nt_mem *abs, nt_error *err)
{
    size_t bytes = (size_t)w->extents.out * sizeof(double);
    host_reference job = {w, bound, in, weight, nt_alloc(bytes), abs != NULL ? nt_alloc(bytes) : NULL};
    nt_parallel_for(w->layer->reference_rows(&w->problem), reference_share, &job);
    nt_status status = ref != NULL ? put_array(w, job.out, bytes, ref, err) : NT_OK;
    if (status == NT_OK && abs != NULL)
        status = put_array(w, job.abs, bytes, abs, err);
    free(job.out);
    free(job.abs);
    return status;
}

static nt_status reference_on_device(nt_workload *w, nt_bound bound, nt_mem in, nt_mem weight, nt_mem *ref, nt_mem *abs,
                                     nt_error *err)
{
    size_t bytes = (size_t)w->extents.out * sizeof(double);
    nt_mem scratch = 0, *ref_to = ref != NULL ? ref : &scratch, abs_scratch = 0,
           *abs_to = abs != NULL ? abs : &abs_scratch;
    nt_status status = NT_OK;
    if (*ref_to == 0)
        status = w->ops->alloc(w->device, bytes, ref_to, err);
    if (status == NT_OK && *abs_to == 0)
        status = w->ops->alloc(w->device, bytes, abs_to, err);
    nt_plan plan;
    if (status == NT_OK)
        status = w->layer->reference_cuda_plan(&w->problem, bound, &plan, err);
    if (status == NT_OK) {
        nt_binding binding = {{0}};
        binding.address[NT_ROLE_IN] = in;
        binding.address[NT_ROLE_WEIGHT] = weight;
        binding.address[NT_ROLE_REF] = *ref_to;
        binding.address[NT_ROLE_ABS] = *abs_to;
        status = w->ops->run(w->device, w->reference, &plan, false, &binding, NULL, err);
    }
    w->ops->free(w->device, scratch);
    w->ops->free(w->device, abs_scratch);
    return status;
}

/* Reference of one set on its rounded inputs; `abs` for one bound. */
static nt_status reference_rounded(nt_workload *w, nt_input_set *set, nt_bound bound, nt_mem *ref, nt_error *err)
{
    if (w->reference != NULL)
        return reference_on_device(w, bound, set->rounded_in, set->rounded_weight, ref, &set->abs[bound], err);
    return reference_on_host(w, bound, set->host_in, set->host_weight, ref, &set->abs[bound], err);
}

static nt_status reference_original(nt_workload *w, nt_input_set *set, const float *in, const float *weight,
                                    nt_error *err)
{
    if (w->reference == NULL)
        return reference_on_host(w, NT_BOUND_DIRECT, in, weight, &set->original, NULL, err);
    nt_mem device_in = 0, device_weight = 0;
    nt_status status = put_array(w, in, (size_t)w->extents.in * sizeof(float), &device_in, err);
    if (status == NT_OK)
        status = put_array(w, weight, (size_t)w->extents.weight * sizeof(float), &device_weight, err);
    if (status == NT_OK)
        status = reference_on_device(w, NT_BOUND_DIRECT, device_in, device_weight, &set->original, NULL, err);
    w->ops->free(w->device, device_in);
    w->ops->free(w->device, device_weight);
    return status;
}

/* ---- sets ------------------------------------------------------------------------------------------------------------- */

static bool rounds(const nt_problem *problem)
{
    return row_of(problem)->in != NT_F32;
}

static nt_status put_scales(nt_workload *w, nt_input_set *set, float in_scale, const float *weight_scale, nt_error *err)
{
    size_t channels = (size_t)w->extents.out_channels;
    double *scale = nt_alloc(channels * sizeof(double));
    for (size_t k = 0; k < channels; k++)
        scale[k] = (double)in_scale * (double)weight_scale[k];
    nt_status status = put_array(w, scale, channels * sizeof(double), &set->scale, err);
    free(scale);
    return status;
}

/* Rounds host_in and host_weight in place to what the precision holds, uploading as it goes. */
static nt_status put_inputs(nt_workload *w, nt_input_set *set, nt_error *err)
{
    const nt_precision_row *row = row_of(&w->problem);
    const nt_extents *e = &w->extents;
    float in_scale = 1, *weight_scale = nt_alloc((size_t)e->out_channels * sizeof(float));
    size_t scales = 0;
    nt_status status = NT_OK;
    if (row->in == NT_I8) {
        scales = (size_t)e->out_channels;
        make_scales(e, set->host_in, set->host_weight, &in_scale, weight_scale);
        status = put_scales(w, set, in_scale, weight_scale, err);
    }
    if (status == NT_OK)
        status = put_tensor(w, row->in, set->host_in, (size_t)e->in, &in_scale, scales > 0, &set->in, err);
    if (status == NT_OK)
        status =
            put_tensor(w, row->weight, set->host_weight, (size_t)e->weight, weight_scale, scales, &set->weight, err);
    free(weight_scale);
    return status;
}

static void draw_inputs(const nt_workload *w, nt_input_set *set, uint64_t seed)
{
    set->host_in = nt_realloc_array(set->host_in, (size_t)w->extents.in, sizeof(float));
    set->host_weight = nt_realloc_array(set->host_weight, (size_t)w->extents.weight, sizeof(float));
    nt_random_fill(w->problem.fill, seed, STREAM_IN, 0, set->host_in, (size_t)w->extents.in);
    nt_random_fill(w->problem.fill, seed, STREAM_WEIGHT, 0, set->host_weight, (size_t)w->extents.weight);
}

static void free_host(nt_input_set *set)
{
    free(set->host_in);
    free(set->host_weight);
    set->host_in = set->host_weight = NULL;
}

/* Keeps the rounded fp32 values where references are made: on the device for cuda, on the host otherwise. */
static nt_status keep_rounded(nt_workload *w, nt_input_set *set, nt_error *err)
{
    if (w->reference == NULL)
        return NT_OK;
    nt_status status = put_array(w, set->host_in, (size_t)w->extents.in * sizeof(float), &set->rounded_in, err);
    if (status == NT_OK)
        status = put_array(w, set->host_weight, (size_t)w->extents.weight * sizeof(float), &set->rounded_weight, err);
    free_host(set);
    return status;
}

static nt_status make_set(nt_workload *w, nt_input_set *set, uint64_t seed, nt_error *err)
{
    draw_inputs(w, set, seed);
    nt_status status = NT_OK;
    if (rounds(&w->problem))
        status = reference_original(w, set, set->host_in, set->host_weight, err);
    if (status == NT_OK)
        status = put_inputs(w, set, err);
    if (status == NT_OK)
        status = keep_rounded(w, set, err);
    if (status == NT_OK)
        status = reference_rounded(w, set, NT_BOUND_DIRECT, &set->ref, err);
    return status;
}

static void free_set(nt_workload *w, nt_input_set *set)
{
    nt_guarded_free(w->ops, w->device, &set->in);
    nt_guarded_free(w->ops, w->device, &set->weight);
    const nt_mem owned[] = {set->rounded_in, set->rounded_weight, set->ref, set->original, set->scale};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        w->ops->free(w->device, owned[i]);
    for (int i = 0; i < NT_BOUND_COUNT; i++)
        w->ops->free(w->device, set->abs[i]);
    free_host(set);
    *set = (nt_input_set){0};
}

/* ---- ring --------------------------------------------------------------------------------------------------------------- */

static nt_status fill_slot(nt_workload *w, size_t slot, nt_error *err)
{
    const nt_input_set *set = &w->set[0];
    nt_mem at = w->ring_memory + slot * w->slot_bytes;
    nt_binding *binding = &w->ring[slot];
    *binding = (nt_binding){{0}};
    binding->address[NT_ROLE_IN] = at;
    binding->address[NT_ROLE_WEIGHT] = at += aligned(set->in.bytes);
    binding->address[NT_ROLE_OUT] = at + aligned(set->weight.bytes);
    nt_status status = w->ops->copy(w->device, binding->address[NT_ROLE_IN], set->in.data, set->in.bytes, err);
    if (status == NT_OK)
        status = w->ops->copy(w->device, binding->address[NT_ROLE_WEIGHT], set->weight.data, set->weight.bytes, err);
    return status;
}

static nt_status make_ring(nt_workload *w, nt_error *err)
{
    w->slot_bytes = slot_bytes(&w->problem, &w->extents);
    w->ring_count = slots_of(w->ops->info(w->device), w->slot_bytes, w->cache);
    w->ring = nt_alloc_zero(w->ring_count, sizeof *w->ring);
    nt_status status = w->ops->alloc(w->device, w->ring_count * w->slot_bytes, &w->ring_memory, err);
    /* Outputs get a value, so that their pages exist before anything is timed. */
    if (status == NT_OK)
        status = w->ops->fill(w->device, w->ring_memory, 0, w->ring_count * w->slot_bytes, err);
    for (size_t i = 0; status == NT_OK && i < w->ring_count; i++)
        status = fill_slot(w, i, err);
    return status;
}

/* Packed weights in each slot: made once by the plan's preparation, then copied. */
static nt_status pack_ring(nt_workload *w, nt_module *module, const nt_plan *plan, nt_error *err)
{
    size_t stride = aligned(plan->packed_bytes), needed = stride * w->ring_count;
    nt_status status = NT_OK;
    if (needed > w->ring_packed_capacity) {
        w->ops->free(w->device, w->ring_packed);
        w->ring_packed = 0;
        w->ring_packed_capacity = 0;
        status = w->ops->alloc(w->device, needed, &w->ring_packed, err);
        w->ring_packed_capacity = status == NT_OK ? needed : 0;
    }
    for (size_t i = 0; i < w->ring_count; i++)
        w->ring[i].address[NT_ROLE_PACKED] = w->ring_packed + i * stride;
    if (status == NT_OK)
        status = w->ops->run(w->device, module, plan, true, &w->ring[0], NULL, err);
    for (size_t i = 1; status == NT_OK && i < w->ring_count; i++)
        status = w->ops->copy(w->device, w->ring_packed + i * stride, w->ring_packed, plan->packed_bytes, err);
    return status;
}

nt_status nt_workload_target(nt_workload *w, nt_module *module, const nt_plan *plan, nt_target *out, nt_error *err)
{
    nt_status status = NT_OK;
    if (plan->prepare_count > 0)
        status = pack_ring(w, module, plan, err);
    if (status == NT_OK)
        status = nt_guarded_resize(w->ops, w->device, &w->workspace, plan->workspace_bytes, err);
    for (size_t i = 0; i < w->ring_count; i++)
        w->ring[i].address[NT_ROLE_WORKSPACE] = w->workspace.data;
    *out = (nt_target){w->ops, w->device, module, plan, w->ring, w->ring_count, &w->position};
    return status;
}

/* ---- open, close, verify ------------------------------------------------------------------------------------------------ */

static nt_status load_reference(nt_workload *w, nt_error *err)
{
    const nt_device_info *info = w->ops->info(w->device);
    if (info->kind != NT_DEVICE_CUDA)
        return NT_OK;
    nt_compile_request request = {.kind = info->kind,
                                  .name = "reference",
                                  .source = w->layer->reference_cuda_source,
                                  .options = "",
                                  .arch = info->arch,
                                  .compiler = info->compiler,
                                  .features = info->features,
                                  .deadline_s = 60};
    nt_artefact artefact;
    nt_status status = nt_compile_lookup(&request, &artefact, err);
    if (status == NT_NOT_FOUND)
        status = nt_compile(&request, &artefact, err);
    return status == NT_OK ? w->ops->module_load(w->device, artefact.path, &w->reference, err) : status;
}

nt_status nt_workload_check_fits(const nt_device_info *info, const nt_problem *problem, const nt_extents *extents,
                                 nt_cache_mode cache, double available_bytes, nt_error *err)
{
    static const double usable = 0.95;
    double needed = nt_workload_bytes(info, problem, extents, cache);
    if (!(available_bytes > 0) || needed <= usable * available_bytes)
        return NT_OK;
    nt_str text = {0};
    nt_problem_print(&text, problem);
    nt_fail(err, NT_USAGE, "%s needs %s of device memory (inputs, references and the ring), %s is available",
            nt_str_text(&text), nt_text_bytes(needed).s, nt_text_bytes(available_bytes).s);
    nt_str_done(&text);
    return nt_hint(err, "take a smaller --batch or --shape");
}

static nt_status check_fits(nt_workload *w, nt_error *err)
{
    size_t available = 0;
    nt_status status = w->ops->memory_free(w->device, &available, err);
    if (status != NT_OK)
        return status;
    return nt_workload_check_fits(w->ops->info(w->device), &w->problem, &w->extents, w->cache, (double)available, err);
}

nt_status nt_workload_open(const nt_device_ops *ops, nt_device *device, const nt_problem *problem, uint64_t seed,
                           nt_cache_mode cache, nt_workload **out, nt_error *err)
{
    nt_workload *w = nt_alloc_zero(1, sizeof *w);
    *w = (nt_workload){.ops = ops, .device = device, .problem = *problem, .seed = seed, .cache = cache};
    double begin = now_ms();
    w->layer = nt_layer_find(problem->layer);
    nt_status status = w->layer != NULL ? w->layer->extents(problem, &w->extents, err)
                                        : nt_fail(err, NT_USAGE, "unknown layer '%s'", problem->layer);
    if (status == NT_OK)
        status = check_fits(w, err);
    if (status == NT_OK)
        status = load_reference(w, err);
    for (int i = 0; status == NT_OK && i < NT_CHECK_SETS; i++)
        status = make_set(w, &w->set[i], seed * SEEDS + (uint64_t)i, err);
    if (status == NT_OK)
        status = make_ring(w, err);
    w->reference_ms = now_ms() - begin;
    if (status != NT_OK) {
        nt_workload_close(w);
        w = NULL;
    }
    *out = w;
    return status;
}

void nt_workload_close(nt_workload *w)
{
    if (w == NULL)
        return;
    for (int i = 0; i < NT_CHECK_SETS; i++)
        free_set(w, &w->set[i]);
    free_set(w, &w->fresh);
    nt_guarded_free(w->ops, w->device, &w->out);
    nt_guarded_free(w->ops, w->device, &w->packed);
    nt_guarded_free(w->ops, w->device, &w->workspace);
    w->ops->free(w->device, w->ring_memory);
    w->ops->free(w->device, w->ring_packed);
    w->ops->module_unload(w->device, w->reference);
    free(w->ring);
    free(w);
}

static nt_check_set check_set(const nt_workload *w, const nt_input_set *set, nt_bound bound)
{
    return (nt_check_set){.in = &set->in,
                          .weight = &set->weight,
                          .ref = set->ref,
                          .abs = set->abs[bound],
                          .original = rounds(&w->problem) ? set->original : set->ref,
                          .scale = set->scale};
}

static nt_status verify_sets(nt_workload *w, nt_input_set *sets, int count, const nt_kernel *kernel, nt_module *module,
                             const nt_plan *plan, nt_verdict *out, nt_error *err)
{
    const nt_precision_row *row = row_of(&w->problem);
    nt_check_set check[NT_CHECK_SETS];
    for (int i = 0; i < count; i++) {
        nt_status status =
            sets[i].abs[kernel->bound] != 0 ? NT_OK : reference_rounded(w, &sets[i], kernel->bound, NULL, err);
        if (status != NT_OK)
            return status;
        check[i] = check_set(w, &sets[i], kernel->bound);
    }
    bool exact = row->out == NT_I32;
    nt_verify_request request = {.ops = w->ops,
                                 .device = w->device,
                                 .module = module,
                                 .plan = plan,
                                 .set = check,
                                 .set_count = count,
                                 .out = &w->out,
                                 .packed = &w->packed,
                                 .workspace = &w->workspace,
                                 .out_count = (size_t)w->extents.out,
                                 .channels = (size_t)w->extents.out_channels,
                                 .channel_stride = (size_t)w->extents.out_channel_stride,
                                 .out_type = row->out,
                                 .gamma = exact ? 0 : nt_kernel_gamma(kernel, &w->problem),
                                 .unit_out = exact ? 0 : row->unit_out,
                                 /* half the spacing of fp16 subnormals: relative rounding says nothing there */
                                 .tiny = row->out == NT_F16 ? 0x1p-25 : 0};
    return nt_verify(&request, out, err);
}

nt_status nt_workload_verify(nt_workload *w, const nt_kernel *kernel, nt_module *module, const nt_plan *plan,
                             nt_verdict *out, nt_error *err)
{
    return verify_sets(w, w->set, NT_CHECK_SETS, kernel, module, plan, out, err);
}

nt_status nt_workload_verify_fresh(nt_workload *w, const nt_kernel *kernel, nt_module *module, const nt_plan *plan,
                                   nt_verdict *out, nt_error *err)
{
    nt_status status = w->fresh.ref != 0 ? NT_OK : make_set(w, &w->fresh, w->seed * SEEDS + NT_CHECK_SETS, err);
    return status == NT_OK ? verify_sets(w, &w->fresh, 1, kernel, module, plan, out, err) : status;
}

void nt_workload_drop_fresh(nt_workload *w)
{
    free_set(w, &w->fresh);
}
