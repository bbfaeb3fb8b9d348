#include "autotune/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/workload_arguments.h"
#include "autotune/workload_inputs.h"
#include "core/clock.h"
#include "core/mem.h"
#include "core/units.h"
#include "device/compiler.h"

enum { ALIGN = 256, MOST_SLOTS = 4096, SEEDS = NT_CHECK_SETS + 1 };

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
    if (extents->buffer_bytes > 0)
        return (size_t)extents->buffer_bytes;
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

/* ---- ring --------------------------------------------------------------------------------------------------------------- */

static nt_status fill_slot(nt_workload *w, size_t slot, nt_error *err)
{
    const nt_input_set *set = &w->set[0];
    nt_mem at = w->ring_memory + slot * w->slot_bytes;
    nt_binding *binding = &w->ring[slot];
    *binding = (nt_binding){{0}};
    if (w->arguments != NULL)
        return nt__arguments_fill_slot(w, at, binding, err);
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

/* Copies of the packed weights: as many as leave the cache by themselves, at most one a slot, and slots go round them
 * evenly. Weights padded to many times their size would otherwise fill the memory. */
static size_t packed_slots(const nt_workload *w, size_t bytes)
{
    size_t count = slots_of(w->ops->info(w->device), bytes, w->cache);
    while (count < w->ring_count && w->ring_count % count != 0)
        count++;
    return count < w->ring_count ? count : w->ring_count;
}

/* Made once by the plan's preparation, then copied. */
static nt_status pack_ring(nt_workload *w, nt_module *module, const nt_plan *plan, nt_error *err)
{
    if (plan->packed_bytes == 0) /* it fills variables of the module: once for all slots */
        return w->ops->run(w->device, module, plan, true, &w->ring[0], NULL, err);
    size_t stride = aligned(plan->packed_bytes), count = packed_slots(w, stride), needed = stride * count;
    nt_status status = NT_OK;
    if (needed > w->ring_packed_capacity) {
        w->ops->free(w->device, w->ring_packed);
        w->ring_packed = 0;
        w->ring_packed_capacity = 0;
        status = w->ops->alloc(w->device, needed, &w->ring_packed, err);
        w->ring_packed_capacity = status == NT_OK ? needed : 0;
    }
    for (size_t i = 0; i < w->ring_count; i++)
        w->ring[i].address[NT_ROLE_PACKED] = w->ring_packed + i % count * stride;
    if (status == NT_OK)
        status = w->ops->run(w->device, module, plan, true, &w->ring[0], NULL, err);
    for (size_t i = 1; status == NT_OK && i < count; i++)
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
    *out = (nt_target){w->ops, w->device, module, plan, w->ring, w->ring_count, &w->position, NULL, w};
    if (nt__arguments_drift(w))
        out->restore = nt__arguments_restore_ring;
    return status;
}

/* ---- open, close, verify ------------------------------------------------------------------------------------------------ */

static nt_status load_reference(nt_workload *w, nt_error *err)
{
    const nt_device_info *info = w->ops->info(w->device);
    if (info->kind != NT_DEVICE_CUDA)
        return NT_OK;
    char *source = nt_layer_reference_source(w->layer);
    nt_compile_request request = {.kind = info->kind,
                                  .name = "reference",
                                  .source = source,
                                  .options = "",
                                  .arch = info->arch,
                                  .compiler = info->compiler,
                                  .features = info->features,
                                  .deadline_s = 60};
    nt_artefact artefact;
    nt_status status = nt_compile_lookup(&request, &artefact, err);
    if (status == NT_NOT_FOUND)
        status = nt_compile(&request, &artefact, err);
    free(source);
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

static nt_status fill_workload(nt_workload *w, bool references, nt_error *err)
{
    w->layer = nt_layer_find(w->problem.layer);
    nt_status status = w->layer != NULL ? w->layer->extents(&w->problem, &w->extents, err)
                                        : nt_fail(err, NT_USAGE, "unknown layer '%s'", w->problem.layer);
    if (status == NT_OK)
        status = check_fits(w, err);
    const nt_spec *spec = status == NT_OK ? nt_spec_of(w->problem.layer) : NULL;
    if (spec != NULL) {
        status = nt__arguments_open(w, spec, references, w->seed * SEEDS, err);
        return status == NT_OK ? make_ring(w, err) : status;
    }
    if (status == NT_OK && references)
        status = load_reference(w, err);
    for (int i = 0; status == NT_OK && references && i < NT_CHECK_SETS; i++)
        status = nt__inputs_make(w, &w->set[i], w->seed * SEEDS + (uint64_t)i, err);
    if (status == NT_OK && !references)
        status = nt__inputs_draw(w, &w->set[0], w->seed * SEEDS, err);
    return status == NT_OK ? make_ring(w, err) : status;
}

static nt_status open_workload(nt_workload like, bool references, nt_workload **out, nt_error *err)
{
    nt_workload *w = nt_alloc_zero(1, sizeof *w);
    *w = like;
    double begin = nt_now_ms();
    nt_status status = fill_workload(w, references, err);
    w->reference_ms = nt_now_ms() - begin;
    if (status != NT_OK) {
        nt_workload_close(w);
        w = NULL;
    }
    *out = w;
    return status;
}

nt_status nt_workload_open(const nt_device_ops *ops, nt_device *device, const nt_problem *problem, uint64_t seed,
                           nt_cache_mode cache, nt_workload **out, nt_error *err)
{
    nt_workload like = {.ops = ops, .device = device, .problem = *problem, .seed = seed, .cache = cache};
    return open_workload(like, true, out, err);
}

nt_status nt_workload_open_unchecked(const nt_device_ops *ops, nt_device *device, const nt_problem *problem,
                                     uint64_t seed, nt_cache_mode cache, nt_workload **out, nt_error *err)
{
    nt_workload like = {.ops = ops, .device = device, .problem = *problem, .seed = seed, .cache = cache};
    return open_workload(like, false, out, err);
}

void nt_workload_close(nt_workload *w)
{
    if (w == NULL)
        return;
    for (int i = 0; i < NT_CHECK_SETS; i++)
        nt__inputs_free(w, &w->set[i]);
    nt__inputs_free(w, &w->fresh);
    nt__arguments_close(w);
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
                          .original = nt__inputs_are_rounded(&w->problem) ? set->original : set->ref,
                          .scale = set->scale};
}

/* The row's, or that of the algorithm which a vendor's library says it uses. */
static nt_status bound_of(nt_workload *w, const nt_kernel *kernel, const nt_plan *plan, nt_bound *out, nt_error *err)
{
    int out_tile = 0;
    *out = kernel->bound;
    if (kernel->vendor == NT_VENDOR_NONE || w->ops->vendor_tile == NULL)
        return NT_OK;
    nt_status status = w->ops->vendor_tile(w->device, plan, &out_tile, err);
    if (status == NT_OK && out_tile > 0)
        *out = nt_bound_of_tile(out_tile);
    return status;
}

static nt_status verify_sets(nt_workload *w, nt_input_set *sets, int count, const nt_kernel *kernel, nt_module *module,
                             const nt_plan *plan, nt_verdict *out, nt_error *err)
{
    const nt_precision_row *row = row_of(&w->problem);
    nt_check_set check[NT_CHECK_SETS];
    nt_bound bound;
    nt_status status = bound_of(w, kernel, plan, &bound, err);
    for (int i = 0; i < count && status == NT_OK; i++) {
        status = nt__inputs_bound(w, &sets[i], bound, err);
        check[i] = check_set(w, &sets[i], bound);
    }
    if (status != NT_OK)
        return status;
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
                                 .gamma = exact ? 0 : nt_kernel_gamma_of(kernel, &w->problem, bound),
                                 .unit_out = exact ? 0 : row->unit_out,
                                 /* half the spacing of fp16 subnormals: relative rounding says nothing there */
                                 .tiny = row->out == NT_F16 ? 0x1p-25 : 0};
    return nt_verify(&request, out, err);
}

nt_status nt_workload_verify(nt_workload *w, const nt_kernel *kernel, nt_module *module, const nt_plan *plan,
                             nt_verdict *out, nt_error *err)
{
    if (w->arguments != NULL)
        return nt__arguments_verify(w, module, plan, out, err);
    return verify_sets(w, w->set, NT_CHECK_SETS, kernel, module, plan, out, err);
}

nt_status nt_workload_verify_fresh(nt_workload *w, const nt_kernel *kernel, nt_module *module, const nt_plan *plan,
                                   nt_verdict *out, nt_error *err)
{
    if (w->arguments != NULL)
        return nt__arguments_verify_fresh(w, w->seed * SEEDS + NT_CHECK_SETS, module, plan, out, err);
    nt_status status = w->fresh.ref != 0 ? NT_OK : nt__inputs_make(w, &w->fresh, w->seed * SEEDS + NT_CHECK_SETS, err);
    return status == NT_OK ? verify_sets(w, &w->fresh, 1, kernel, module, plan, out, err) : status;
}

void nt_workload_drop_fresh(nt_workload *w)
{
    if (w->arguments != NULL)
        nt__arguments_drop_fresh(w);
    nt__inputs_free(w, &w->fresh);
}
