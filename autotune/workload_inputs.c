#include "autotune/workload_inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/parallel.h"
#include "core/convert.h"
#include "core/mem.h"
#include "core/random.h"

enum { STREAM_IN = 1, STREAM_WEIGHT = 2 };

static const nt_precision_row *row_of(const nt_problem *problem)
{
    return &nt_precisions[problem->precision];
}

/* ---- inputs -------------------------------------------------------------------------------------------------------- */

static double largest_magnitude(const float *values, size_t n)
{
    float largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmaxf(largest, fabsf(values[i]));
    return largest > 0 ? largest : 1;
}

/* Symmetric int8: one scale for the input, one per output channel for the weight; without a weight the output has the
 * scale of the input. */
static void make_scales(const nt_extents *extents, const float *in, const float *weight, float *in_scale,
                        float *weight_scale)
{
    *in_scale = (float)(largest_magnitude(in, (size_t)extents->in) / 127);
    size_t per_channel = (size_t)(extents->weight / extents->out_channels);
    for (int64_t k = 0; k < extents->out_channels; k++)
        weight_scale[k] =
            per_channel > 0 ? (float)(largest_magnitude(weight + (size_t)k * per_channel, per_channel) / 127) : 1;
}

/* Packs fp32 values into the problem's type, uploads them and replaces the values by what stands in memory. */
static nt_status put_tensor(nt_workload *w, nt_dtype type, float *values, size_t n, const float *scale, size_t scales,
                            nt_guarded *to, nt_error *err)
{
    size_t bytes = n * nt_dtype_bytes(type);
    void *packed = nt_alloc(bytes);
    if (n > 0) { /* a layer may have no weight */
        nt_pack(type, values, n, scale, scales, scales > 0 ? n / scales : n, packed);
        nt_unpack(type, packed, n, values);
    }
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

bool nt__inputs_are_rounded(const nt_problem *problem)
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

/* Prunes host_weight where the precision says so, and rounds both in place to what it holds, uploading as it goes. */
static nt_status put_inputs(nt_workload *w, nt_input_set *set, nt_error *err)
{
    const nt_precision_row *row = row_of(&w->problem);
    const nt_extents *e = &w->extents;
    float in_scale = 1, *weight_scale = nt_alloc((size_t)e->out_channels * sizeof(float));
    size_t scales = 0;
    nt_status status = NT_OK;
    if (nt_precision_is_pruned(w->problem.precision) && e->weight > 0)
        nt_prune(set->host_weight, (size_t)e->weight, (size_t)e->reduction);
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
    if (w->layer != NULL && w->layer->amend_weight != NULL)
        w->layer->amend_weight(&w->problem, set->host_weight);
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

nt_status nt__inputs_make(nt_workload *w, nt_input_set *set, uint64_t seed, nt_error *err)
{
    draw_inputs(w, set, seed);
    nt_status status = NT_OK;
    if (nt__inputs_are_rounded(&w->problem))
        status = reference_original(w, set, set->host_in, set->host_weight, err);
    if (status == NT_OK)
        status = put_inputs(w, set, err);
    if (status == NT_OK)
        status = keep_rounded(w, set, err);
    if (status == NT_OK)
        status = reference_rounded(w, set, NT_BOUND_DIRECT, &set->ref, err);
    return status;
}

nt_status nt__inputs_draw(nt_workload *w, nt_input_set *set, uint64_t seed, nt_error *err)
{
    draw_inputs(w, set, seed);
    nt_status status = put_inputs(w, set, err);
    free_host(set);
    return status;
}

void nt__inputs_free(nt_workload *w, nt_input_set *set)
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

nt_status nt__inputs_bound(nt_workload *w, nt_input_set *set, nt_bound bound, nt_error *err)
{
    return set->abs[bound] != 0 ? NT_OK : reference_rounded(w, set, bound, NULL, err);
}
