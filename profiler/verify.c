#include "profiler/verify.h"

#include <math.h>
#include <stdio.h>

static nt_status poison(const nt_verify_request *request, const nt_guarded *buffer, nt_error *err)
{
    if (buffer->bytes == 0)
        return NT_OK;
    return request->ops->fill(request->device, buffer->data, NT_POISON, buffer->bytes, err);
}

static nt_binding bind(const nt_verify_request *request, const nt_check_set *set)
{
    nt_binding binding = {{0}};
    binding.address[NT_ROLE_IN] = set->in->data;
    binding.address[NT_ROLE_WEIGHT] = set->weight->data;
    binding.address[NT_ROLE_OUT] = request->out->data;
    binding.address[NT_ROLE_PACKED] = request->packed->data;
    binding.address[NT_ROLE_WORKSPACE] = request->workspace->data;
    return binding;
}

static nt_status run_once(const nt_verify_request *request, const nt_check_set *set, nt_verdict *out, nt_error *err)
{
    nt_binding binding = bind(request, set);
    nt_status status = poison(request, request->out, err);
    if (status == NT_OK)
        status = poison(request, request->packed, err);
    if (status == NT_OK)
        status = poison(request, request->workspace, err);
    double ns = NAN;
    if (status == NT_OK && request->plan->prepare_count > 0) {
        status = request->ops->run(request->device, request->module, request->plan, true, &binding, &ns, err);
        out->prepare_ns = fmin(out->prepare_ns, ns);
    }
    if (status == NT_OK)
        status = request->ops->run(request->device, request->module, request->plan, false, &binding, &ns, err);
    if (status == NT_OK)
        out->first_run_ns = fmin(out->first_run_ns, ns);
    return status;
}

static nt_status compare(const nt_verify_request *request, const nt_check_set *set, nt_compare_result *result,
                         nt_error *err)
{
    nt_compare_request what = {.out = request->out->data,
                               .out_type = request->out_type,
                               .count = request->out_count,
                               .ref = set->ref,
                               .abs = set->abs,
                               .original = set->original,
                               .channel_scale = set->scale,
                               .channels = request->channels,
                               .channel_stride = request->channel_stride,
                               .gamma = request->gamma,
                               .unit_out = request->unit_out,
                               .tiny = request->tiny};
    return request->ops->compare(request->device, &what, result, err);
}

static void judge(const nt_verify_request *request, int set_index, const nt_compare_result *result, nt_verdict *out)
{
    out->error_impl = fmax(out->error_impl, result->max_ratio);
    double relative = result->sum_sq_ref > 0 ? sqrt(result->sum_sq_diff / result->sum_sq_ref) : NAN;
    out->error_prec = isnan(out->error_prec) ? relative : fmax(out->error_prec, relative);
    bool right = result->violations == 0 && result->max_ratio <= 1; /* NaN fails both */
    if (right || !out->right)
        return;
    out->right = false;
    snprintf(out->reason, sizeof out->reason,
             "input set %d: %zu of %zu elements are off by more than the bound (worst %.3g times); the first is "
             "element %zu: "
             "%.9g where the reference has %.9g",
             set_index + 1, result->violations, request->out_count, result->max_ratio, result->first_bad,
             result->first_out, result->first_ref);
}

typedef struct guard_zone {
    const char *name;
    const nt_guarded *buffer;
} guard_zone;

/* The zones of an input stay broken for the trials after this one, so they are written anew. */
static nt_status check_zone(const nt_verify_request *request, const guard_zone *zone, nt_verdict *out, nt_error *err)
{
    size_t front, rear;
    nt_status status = nt_guarded_check(request->ops, request->device, zone->buffer, &front, &rear, err);
    if (status != NT_OK || front + rear == 0)
        return status;
    if (out->right)
        snprintf(out->reason, sizeof out->reason, "writes outside the %s buffer: %zu bytes before it, %zu behind it",
                 zone->name, front, rear);
    out->right = false;
    return nt_guarded_mend(request->ops, request->device, zone->buffer, err);
}

static nt_status check_guards(const nt_verify_request *request, nt_verdict *out, nt_error *err)
{
    const guard_zone outputs[] = {
        {"output", request->out}, {"packed weights", request->packed}, {"workspace", request->workspace}};
    nt_status status = NT_OK;
    for (size_t i = 0; status == NT_OK && i < sizeof outputs / sizeof outputs[0]; i++)
        status = check_zone(request, &outputs[i], out, err);
    for (int i = 0; i < request->set_count; i++) {
        const guard_zone inputs[] = {{"input", request->set[i].in}, {"weight", request->set[i].weight}};
        for (size_t j = 0; status == NT_OK && j < sizeof inputs / sizeof inputs[0]; j++)
            status = check_zone(request, &inputs[j], out, err);
    }
    return status;
}

static nt_status prepare_buffers(const nt_verify_request *request, nt_error *err)
{
    nt_status status = nt_guarded_resize(request->ops, request->device, request->out,
                                         request->out_count * nt_dtype_bytes(request->out_type), err);
    if (status == NT_OK)
        status = nt_guarded_resize(request->ops, request->device, request->packed, request->plan->packed_bytes, err);
    if (status == NT_OK)
        status =
            nt_guarded_resize(request->ops, request->device, request->workspace, request->plan->workspace_bytes, err);
    return status;
}

nt_status nt_verify(const nt_verify_request *request, nt_verdict *out, nt_error *err)
{
    *out = (nt_verdict){.right = true, .error_impl = 0, .error_prec = NAN, .prepare_ns = NAN, .first_run_ns = NAN};
    nt_status status = prepare_buffers(request, err);
    for (int i = 0; status == NT_OK && i < request->set_count; i++) {
        nt_compare_result result;
        status = run_once(request, &request->set[i], out, err);
        if (status == NT_OK)
            status = compare(request, &request->set[i], &result, err);
        if (status == NT_OK)
            judge(request, i, &result, out);
    }
    if (status == NT_OK)
        status = check_guards(request, out, err);
    return status;
}
