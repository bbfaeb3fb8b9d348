#include "autotune/workload_arguments.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

static const nt_spec_argument *argument_of(const nt_arguments *a, int buffer)
{
    return &a->spec->argument[a->argument[buffer]];
}

static size_t bytes_of(const nt_arguments *a, int buffer)
{
    return (size_t)a->elements[buffer] * argument_of(a, buffer)->type->bytes;
}

static nt_binding bind(const nt_workload *w, const nt_argument_set *set)
{
    nt_binding binding = {{0}};
    for (int i = 0; i < w->arguments->count; i++)
        binding.address[NT_ROLE_USER + i] = set->buffer[i].data;
    binding.address[NT_ROLE_WORKSPACE] = w->workspace.data;
    return binding;
}

/* What a launch finds: outputs poisoned, buffers that are read and written as they were. */
static nt_status restore(nt_workload *w, const nt_argument_set *set, nt_error *err)
{
    const nt_arguments *a = w->arguments;
    nt_status status = NT_OK;
    for (int i = 0; status == NT_OK && i < a->count; i++) {
        if (set->before[i] != 0)
            status = w->ops->copy(w->device, set->buffer[i].data, set->before[i], bytes_of(a, i), err);
        else if (argument_of(a, i)->written)
            status = w->ops->fill(w->device, set->buffer[i].data, NT_POISON, bytes_of(a, i), err);
    }
    return status;
}

/* ---- references ------------------------------------------------------------------------------------------------------ */

static nt_status compile(const nt_compile_request *request, nt_artefact *out, nt_error *err)
{
    nt_status status = nt_compile_lookup(request, out, err);
    if (status == NT_NOT_FOUND)
        status = nt_compile(request, out, err);
    if (status != NT_COMPILE_FAILED || err == NULL)
        return status;
    char what[sizeof err->what];
    nt_copy(what, sizeof what, err->what);
    return nt_fail(err, NT_FAILED, "the reference does not compile: %.900s", what);
}

/* A C function runs in this process on the host's copies, whatever the device is. */
static nt_status load_function(nt_workload *w, const nt_artefact *artefact, nt_error *err)
{
    w->arguments->library = dlopen(artefact->path, RTLD_NOW | RTLD_LOCAL);
    if (w->arguments->library == NULL)
        return nt_fail(err, NT_FAILED, "cannot load the reference: %.900s", dlerror());
    return NT_OK;
}

static nt_status load_reference(nt_workload *w, nt_error *err)
{
    nt_arguments *a = w->arguments;
    bool on_host = a->spec->reference == NT_SPEC_OF_C;
    nt_device_listing *host = on_host ? nt_alloc_zero(1, sizeof *host) : NULL;
    const nt_device_info *info = w->ops->info(w->device);
    if (on_host && info->kind != NT_DEVICE_CPU) {
        nt_device_cpu_ops.list(host);
        info = &host->info[0];
    }
    nt_compile_request request;
    nt_artefact artefact;
    nt_str options = {0};
    char *source = NULL;
    nt_status status =
        nt_spec_reference_plan(a->spec, &w->problem, info, &request, &options, &source, &a->reference_plan, err);
    if (status == NT_OK)
        status = compile(&request, &artefact, err);
    if (status == NT_OK)
        status = on_host ? load_function(w, &artefact, err)
                         : w->ops->module_load(w->device, artefact.path, &a->reference, err);
    free(source);
    free(host);
    nt_str_done(&options);
    return status;
}

/* Turns the host's contents into what they are after the reference. */
static nt_status call_function(nt_workload *w, char *const *host, nt_error *err)
{
    const nt_stage *stage = &w->arguments->reference_plan.stage[0];
    void (*entry)(void *const *, int64_t, int64_t, int32_t, int32_t);
    void *symbol = dlsym(w->arguments->library, stage->entry);
    if (symbol == NULL)
        return nt_fail(err, NT_FAILED, "the reference has no entry '%s'", stage->entry);
    memcpy(&entry, &symbol, sizeof entry); /* ISO C has no cast between the two kinds of pointer */
    union {
        const void *buffer;
        int64_t i64;
        float f32;
    } value[NT_MAX_ARGS];
    void *args[NT_MAX_ARGS];
    for (int i = 0; i < stage->arg_count; i++) {
        const nt_arg *arg = &stage->arg[i];
        args[i] = &value[i];
        if (arg->kind == NT_ARG_BUFFER)
            value[i].buffer = host[arg->role - NT_ROLE_USER];
        else if (arg->kind == NT_ARG_F32)
            value[i].f32 = arg->real;
        else
            value[i].i64 = arg->value;
    }
    entry(args, 0, 1, 0, 1);
    return NT_OK;
}

static nt_status run_reference(nt_workload *w, const nt_argument_set *set, char *const *host, nt_error *err)
{
    nt_arguments *a = w->arguments;
    const nt_plan *plan = &a->reference_plan;
    nt_binding binding = bind(w, set);
    nt_status status = restore(w, set, err);
    for (int i = 0; status == NT_OK && i < plan->stage_count; i++) {
        nt_function_info info; /* asked for its side effect: the dynamic shared memory limit */
        if (plan->stage[i].kind == NT_STAGE_KERNEL)
            status = w->ops->function_info(w->device, a->reference, plan->stage[i].entry,
                                           plan->stage[i].block[0] * plan->stage[i].block[1] * plan->stage[i].block[2],
                                           plan->stage[i].smem_dynamic_bytes, &info, err);
    }
    if (status == NT_OK && plan->prepare_count > 0)
        status = w->ops->run(w->device, a->reference, plan, true, &binding, NULL, err);
    if (status == NT_OK)
        status = w->ops->run(w->device, a->reference, plan, false, &binding, NULL, err);
    for (int i = 0; status == NT_OK && i < a->count; i++)
        if (argument_of(a, i)->written)
            status = w->ops->download(w->device, host[i], set->buffer[i].data, bytes_of(a, i), err);
    return status;
}

static nt_status put_expected(nt_workload *w, nt_argument_set *set, char *const *host, nt_error *err)
{
    const nt_arguments *a = w->arguments;
    nt_status status = NT_OK;
    for (int i = 0; status == NT_OK && i < a->count; i++) {
        if (!argument_of(a, i)->written)
            continue;
        size_t bytes = (size_t)a->elements[i] * sizeof(double);
        double *values = nt_alloc(bytes);
        if (a->spec->reference == NT_SPEC_OF_FILES)
            status = nt_spec_expected(a->spec, a->argument[i], a->elements[i], values, err);
        else
            nt_spec_to_double(argument_of(a, i)->type, host[i], a->elements[i], values);
        if (status == NT_OK)
            status = w->ops->alloc(w->device, bytes, &set->expected[i], err);
        if (status == NT_OK)
            status = w->ops->upload(w->device, set->expected[i], values, bytes, err);
        free(values);
    }
    return status;
}

static nt_status refer(nt_workload *w, nt_argument_set *set, char *const *host, nt_error *err)
{
    nt_status status = NT_OK;
    if (w->arguments->spec->reference == NT_SPEC_OF_C)
        status = call_function(w, host, err);
    else if (w->arguments->spec->reference != NT_SPEC_OF_FILES)
        status = run_reference(w, set, host, err);
    return status == NT_OK ? put_expected(w, set, host, err) : status;
}

/* ---- sets ------------------------------------------------------------------------------------------------------------- */

static nt_status put_buffer(nt_workload *w, nt_argument_set *set, int i, const char *from, nt_error *err)
{
    const nt_arguments *a = w->arguments;
    size_t bytes = bytes_of(a, i);
    nt_status status = nt_guarded_resize(w->ops, w->device, &set->buffer[i], bytes, err);
    if (status == NT_OK)
        status = w->ops->upload(w->device, set->buffer[i].data, from, bytes, err);
    if (status != NT_OK || !argument_of(a, i)->read || !argument_of(a, i)->written)
        return status;
    status = w->ops->alloc(w->device, bytes, &set->before[i], err);
    return status == NT_OK ? w->ops->upload(w->device, set->before[i], from, bytes, err) : status;
}

static nt_status make_set(nt_workload *w, nt_argument_set *set, uint64_t seed, bool references, nt_error *err)
{
    const nt_arguments *a = w->arguments;
    char *host[NT_USER_BUFFERS] = {NULL};
    nt_status status = NT_OK;
    for (int i = 0; status == NT_OK && i < a->count; i++) {
        host[i] = nt_alloc(bytes_of(a, i));
        if (argument_of(a, i)->read)
            status = nt_spec_fill_buffer(a->spec, a->argument[i], seed, a->elements[i], host[i], err);
        else
            memset(host[i], NT_POISON, bytes_of(a, i));
        if (status == NT_OK)
            status = put_buffer(w, set, i, host[i], err);
    }
    if (status == NT_OK && references)
        status = refer(w, set, host, err);
    for (int i = 0; i < a->count; i++)
        free(host[i]);
    return status;
}

static void free_set(nt_workload *w, nt_argument_set *set)
{
    for (int i = 0; i < NT_USER_BUFFERS; i++) {
        nt_guarded_free(w->ops, w->device, &set->buffer[i]);
        w->ops->free(w->device, set->before[i]);
        w->ops->free(w->device, set->expected[i]);
    }
    *set = (nt_argument_set){0};
}

nt_status nt__arguments_open(nt_workload *w, const nt_spec *spec, bool references, uint64_t seed, nt_error *err)
{
    nt_arguments *a = w->arguments = nt_alloc_zero(1, sizeof *a);
    int64_t counts[NT_SPEC_ARGUMENTS];
    a->spec = spec;
    nt_status status = nt_spec_counts(spec, &w->problem, counts, err);
    for (int i = 0; status == NT_OK && i < spec->argument_count; i++)
        if (spec->argument[i].buffer >= 0) {
            a->argument[a->count] = i;
            a->elements[a->count++] = counts[i];
        }
    if (status == NT_OK && references && spec->reference != NT_SPEC_OF_FILES)
        status = load_reference(w, err);
    for (int i = 0; status == NT_OK && i < (references ? NT_CHECK_SETS : 1); i++)
        status = make_set(w, &a->set[i], seed + (uint64_t)i, references, err);
    return status;
}

void nt__arguments_close(nt_workload *w)
{
    nt_arguments *a = w->arguments;
    if (a == NULL)
        return;
    for (int i = 0; i < NT_CHECK_SETS; i++)
        free_set(w, &a->set[i]);
    free_set(w, &a->fresh);
    w->ops->module_unload(w->device, a->reference);
    if (a->library != NULL)
        dlclose(a->library);
    free(a);
    w->arguments = NULL;
}

nt_status nt__arguments_fill_slot(nt_workload *w, nt_mem at, nt_binding *binding, nt_error *err)
{
    const nt_arguments *a = w->arguments;
    nt_status status = NT_OK;
    for (int i = 0; status == NT_OK && i < a->count; i++) {
        binding->address[NT_ROLE_USER + i] = at;
        if (argument_of(a, i)->read)
            status =
                w->ops->copy(w->device, at, a->set[0].before[i] != 0 ? a->set[0].before[i] : a->set[0].buffer[i].data,
                             bytes_of(a, i), err);
        at += (bytes_of(a, i) + 255) / 256 * 256;
    }
    return status;
}

/* ---- verification ------------------------------------------------------------------------------------------------------- */

static nt_status run_once(nt_workload *w, const nt_argument_set *set, nt_module *module, const nt_plan *plan,
                          nt_verdict *out, nt_error *err)
{
    nt_binding binding = bind(w, set);
    double ns = NAN;
    nt_status status = restore(w, set, err);
    if (status == NT_OK && plan->prepare_count > 0) {
        status = w->ops->run(w->device, module, plan, true, &binding, &ns, err);
        out->prepare_ns = fmin(out->prepare_ns, ns);
    }
    if (status == NT_OK)
        status = w->ops->run(w->device, module, plan, false, &binding, &ns, err);
    if (status == NT_OK)
        out->first_run_ns = fmin(out->first_run_ns, ns);
    return status;
}

static void judge(const nt_arguments *a, int i, int set_index, const nt_compare_result *result, nt_verdict *out)
{
    double relative = result->sum_sq_ref > 0 ? sqrt(result->sum_sq_diff / result->sum_sq_ref) : NAN;
    out->error_impl = fmax(out->error_impl, result->max_ratio);
    out->error_prec = isnan(out->error_prec) ? relative : fmax(out->error_prec, relative);
    if ((result->violations == 0 && result->max_ratio <= 1) || !out->right) /* NaN fails both */
        return;
    out->right = false;
    snprintf(out->reason, sizeof out->reason,
             "%s, input set %d: %zu of %lld elements are off by more than the tolerance (worst %.3g times); the first "
             "is element %zu: %.9g where the reference has %.9g",
             argument_of(a, i)->name, set_index + 1, result->violations, (long long)a->elements[i], result->max_ratio,
             result->first_bad, result->first_out, result->first_ref);
}

static nt_status compare_set(nt_workload *w, const nt_argument_set *set, int set_index, nt_verdict *out, nt_error *err)
{
    const nt_arguments *a = w->arguments;
    nt_status status = NT_OK;
    for (int i = 0; status == NT_OK && i < a->count; i++) {
        const nt_spec_argument *argument = argument_of(a, i);
        nt_compare_result result;
        if (!argument->written)
            continue;
        nt_compare_request what = {.out = set->buffer[i].data,
                                   .out_type = (nt_dtype)argument->type->dtype,
                                   .count = (size_t)a->elements[i],
                                   .ref = set->expected[i],
                                   .abs = set->expected[i], /* of no weight: gamma is 0 */
                                   .original = set->expected[i],
                                   .channels = 1,
                                   .channel_stride = 1,
                                   .unit_out = argument->relative,
                                   .tiny = argument->absolute};
        status = w->ops->compare(w->device, &what, &result, err);
        if (status == NT_OK)
            judge(a, i, set_index, &result, out);
    }
    return status;
}

/* Zones of all buffers, read ones too; they are written anew for the trials after this one. */
static nt_status check_guards(nt_workload *w, const nt_argument_set *set, nt_verdict *out, nt_error *err)
{
    const nt_arguments *a = w->arguments;
    nt_status status = NT_OK;
    for (int i = 0; status == NT_OK && i < a->count; i++) {
        size_t front, rear;
        status = nt_guarded_check(w->ops, w->device, &set->buffer[i], &front, &rear, err);
        if (status != NT_OK || front + rear == 0)
            continue;
        if (out->right)
            snprintf(out->reason, sizeof out->reason,
                     "writes outside the buffer %s: %zu bytes before it, %zu behind it", argument_of(a, i)->name, front,
                     rear);
        out->right = false;
        status = nt_guarded_mend(w->ops, w->device, &set->buffer[i], err);
    }
    return status;
}

static nt_status verify(nt_workload *w, const nt_argument_set *sets, int count, nt_module *module, const nt_plan *plan,
                        nt_verdict *out, nt_error *err)
{
    *out = (nt_verdict){.right = true, .error_prec = NAN, .prepare_ns = NAN, .first_run_ns = NAN};
    nt_status status = NT_OK;
    for (int i = 0; status == NT_OK && i < count; i++) {
        status = run_once(w, &sets[i], module, plan, out, err);
        if (status == NT_OK)
            status = check_guards(w, &sets[i], out, err); /* first: it is often why a result is wrong */
        if (status == NT_OK)
            status = compare_set(w, &sets[i], i, out, err);
    }
    return status;
}

nt_status nt__arguments_verify(nt_workload *w, nt_module *module, const nt_plan *plan, nt_verdict *out, nt_error *err)
{
    return verify(w, w->arguments->set, NT_CHECK_SETS, module, plan, out, err);
}

nt_status nt__arguments_verify_fresh(nt_workload *w, uint64_t seed, nt_module *module, const nt_plan *plan,
                                     nt_verdict *out, nt_error *err)
{
    nt_arguments *a = w->arguments;
    nt_status status = a->has_fresh ? NT_OK : make_set(w, &a->fresh, seed, true, err);
    a->has_fresh = status == NT_OK;
    return status == NT_OK ? verify(w, &a->fresh, 1, module, plan, out, err) : status;
}

void nt__arguments_drop_fresh(nt_workload *w)
{
    free_set(w, &w->arguments->fresh);
    w->arguments->has_fresh = false;
}
