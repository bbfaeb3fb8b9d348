#include "autotune/workload_arguments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

const nt_spec_argument *nt__argument(const nt_arguments *a, int buffer)
{
    return &a->spec->argument[a->argument[buffer]];
}

size_t nt__argument_bytes(const nt_arguments *a, int buffer)
{
    return (size_t)a->elements[buffer] * nt__argument(a, buffer)->type->bytes;
}

nt_binding nt__arguments_bind(const nt_workload *w, const nt_argument_set *set)
{
    nt_binding binding = {{0}};
    for (int i = 0; i < w->arguments->count; i++)
        binding.address[NT_ROLE_USER + i] = set->buffer[i].data;
    binding.address[NT_ROLE_WORKSPACE] = w->workspace.data;
    return binding;
}

/* What a launch finds: outputs poisoned, buffers that are read and written as they were. Reals are NaN. Every byte is
 * some integer's right value, so the sets have different ones: an element that is not written cannot be right in both.
 */
nt_status nt__arguments_restore(nt_workload *w, const nt_argument_set *set, nt_error *err)
{
    static const unsigned char integer_poison[] = {NT_POISON, 0xa5};
    const nt_arguments *a = w->arguments;
    size_t which = set == &a->set[1] ? 1 : 0;
    nt_status status = NT_OK;
    for (int i = 0; status == NT_OK && i < a->count; i++) {
        if (set->before[i] != 0)
            status = w->ops->copy(w->device, set->buffer[i].data, set->before[i], nt__argument_bytes(a, i), err);
        else if (nt__argument(a, i)->written)
            status = w->ops->fill(w->device, set->buffer[i].data,
                                  nt__argument(a, i)->type->is_integer ? integer_poison[which] : NT_POISON,
                                  nt__argument_bytes(a, i), err);
    }
    return status;
}

/* ---- sets ------------------------------------------------------------------------------------------------------------- */

static nt_status put_buffer(nt_workload *w, nt_argument_set *set, int i, const char *from, nt_error *err)
{
    const nt_arguments *a = w->arguments;
    size_t bytes = nt__argument_bytes(a, i);
    nt_status status = nt_guarded_resize(w->ops, w->device, &set->buffer[i], bytes, err);
    if (status == NT_OK)
        status = w->ops->upload(w->device, set->buffer[i].data, from, bytes, err);
    if (status != NT_OK || !nt__argument(a, i)->read || !nt__argument(a, i)->written)
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
        host[i] = nt_alloc(nt__argument_bytes(a, i));
        if (nt__argument(a, i)->read)
            status = nt_spec_fill_buffer(a->spec, a->argument[i], seed, a->elements[i], host[i], err);
        else
            memset(host[i], NT_POISON, nt__argument_bytes(a, i));
        if (status == NT_OK)
            status = put_buffer(w, set, i, host[i], err);
    }
    if (status == NT_OK && references)
        status = nt__arguments_refer(w, set, host, err);
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
        status = nt__arguments_load_reference(w, err);
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
    nt__arguments_drop_reference(w);
    free(a);
    w->arguments = NULL;
}

nt_status nt__arguments_fill_slot(nt_workload *w, nt_mem at, nt_binding *binding, nt_error *err)
{
    const nt_arguments *a = w->arguments;
    nt_status status = NT_OK;
    for (int i = 0; status == NT_OK && i < a->count; i++) {
        binding->address[NT_ROLE_USER + i] = at;
        if (nt__argument(a, i)->read)
            status =
                w->ops->copy(w->device, at, a->set[0].before[i] != 0 ? a->set[0].before[i] : a->set[0].buffer[i].data,
                             nt__argument_bytes(a, i), err);
        at += (nt__argument_bytes(a, i) + 255) / 256 * 256;
    }
    return status;
}

/* A launch leaves its mark in what it reads and writes, so slots that were used since the last time get what they held.
 * The slots come in the order in which they were used: the ring stays as cold as it is without this. */
nt_status nt__arguments_restore_ring(void *context, nt_error *err)
{
    nt_workload *w = context;
    nt_arguments *a = w->arguments;
    size_t used = w->position - a->restored;
    size_t first = used > w->ring_count ? w->position - w->ring_count : a->restored;
    nt_status status = NT_OK;
    for (size_t at = first; status == NT_OK && at != w->position; at++)
        for (int i = 0; status == NT_OK && i < a->count; i++)
            if (a->set[0].before[i] != 0)
                status = w->ops->copy(w->device, w->ring[at % w->ring_count].address[NT_ROLE_USER + i],
                                      a->set[0].before[i], nt__argument_bytes(a, i), err);
    a->restored = w->position;
    return status;
}

bool nt__arguments_drift(const nt_workload *w)
{
    for (int i = 0; w->arguments != NULL && i < w->arguments->count; i++)
        if (w->arguments->set[0].before[i] != 0)
            return true;
    return false;
}

/* ---- verification ------------------------------------------------------------------------------------------------------- */

static nt_status run_once(nt_workload *w, const nt_argument_set *set, nt_module *module, const nt_plan *plan,
                          nt_verdict *out, nt_error *err)
{
    nt_binding binding = nt__arguments_bind(w, set);
    double ns = NAN;
    nt_status status = nt__arguments_restore(w, set, err);
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
    int digits = nt__argument(a, i)->type->is_integer ? 20 : 9;
    out->right = false;
    snprintf(out->reason, sizeof out->reason,
             "%s, input set %d: %zu of %lld elements are off by more than the tolerance (worst %.3g times); the first "
             "is element %zu: %.*g where the reference has %.*g",
             nt__argument(a, i)->name, set_index + 1, result->violations, (long long)a->elements[i], result->max_ratio,
             result->first_bad, digits, result->first_out, digits, result->first_ref);
}

static nt_status compare_set(nt_workload *w, const nt_argument_set *set, int set_index, nt_verdict *out, nt_error *err)
{
    const nt_arguments *a = w->arguments;
    nt_status status = NT_OK;
    for (int i = 0; status == NT_OK && i < a->count; i++) {
        const nt_spec_argument *argument = nt__argument(a, i);
        nt_compare_result result;
        if (!argument->written)
            continue;
        nt_compare_request what = {.out = set->buffer[i].data,
                                   .out_type = argument->type->dtype,
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
                     "writes outside the buffer %s: %zu bytes before it, %zu behind it", nt__argument(a, i)->name,
                     front, rear);
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
