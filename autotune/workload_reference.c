/* workload_reference.c: what a user's kernel must compute, made by the spec's reference: a C function in this process,
 * a kernel on the device, or files. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/workload_arguments.h"
#include "core/mem.h"

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

nt_status nt__arguments_load_reference(nt_workload *w, nt_error *err)
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
    nt_binding binding = nt__arguments_bind(w, set);
    nt_status status = nt__arguments_restore(w, set, err);
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
        if (nt__argument(a, i)->written)
            status = w->ops->download(w->device, host[i], set->buffer[i].data, nt__argument_bytes(a, i), err);
    return status;
}

static nt_status put_expected(nt_workload *w, nt_argument_set *set, char *const *host, nt_error *err)
{
    const nt_arguments *a = w->arguments;
    nt_status status = NT_OK;
    for (int i = 0; status == NT_OK && i < a->count; i++) {
        if (!nt__argument(a, i)->written)
            continue;
        size_t bytes = (size_t)a->elements[i] * sizeof(double);
        double *values = nt_alloc(bytes);
        if (a->spec->reference == NT_SPEC_OF_FILES)
            status = nt_spec_expected(a->spec, a->argument[i], a->elements[i], values, err);
        else
            nt_spec_to_reference(nt__argument(a, i)->type, host[i], a->elements[i], values);
        if (status == NT_OK)
            status = w->ops->alloc(w->device, bytes, &set->expected[i], err);
        if (status == NT_OK)
            status = w->ops->upload(w->device, set->expected[i], values, bytes, err);
        free(values);
    }
    return status;
}

nt_status nt__arguments_refer(nt_workload *w, nt_argument_set *set, char *const *host, nt_error *err)
{
    nt_status status = NT_OK;
    if (w->arguments->spec->reference == NT_SPEC_OF_C)
        status = call_function(w, host, err);
    else if (w->arguments->spec->reference != NT_SPEC_OF_FILES)
        status = run_reference(w, set, host, err);
    return status == NT_OK ? put_expected(w, set, host, err) : status;
}

void nt__arguments_drop_reference(nt_workload *w)
{
    w->ops->module_unload(w->device, w->arguments->reference);
    if (w->arguments->library != NULL)
        dlclose(w->arguments->library);
}
