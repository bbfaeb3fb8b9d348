/* cuda_vendor.c: NVIDIA's libraries by name, and the calls that a device keeps ready. See cuda_vendor.h. */
#include "device/cuda_vendor.h"

#ifdef NT_HAVE_CUDA_H

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/str.h"

static const nt_cuda_vendor_ops *const libraries[] = {&nt_vendor_cublaslt, &nt_vendor_cudnn};
enum { LIBRARIES = sizeof libraries / sizeof libraries[0] };

void nt_cuda_vendor_libraries(nt_device_info *info)
{
    for (int i = 0; i < LIBRARIES; i++) {
        nt_vendor_library *found = &info->library[libraries[i]->vendor];
        *found = (nt_vendor_library){{0}, {0}};
        libraries[i]->find(found);
    }
}

static nt_status make(const nt_cuda_vendor_ops *ops, const nt_stage *stage, nt_cuda_call **out, nt_error *err)
{
    nt_vendor_library library = {{0}, {0}};
    nt_vendor_conv conv;
    if (strcmp(stage->entry, "convolve") != 0)
        return nt_fail(err, NT_LAUNCH_FAILED, "%s has no call '%s' here; there is 'convolve'",
                       nt_vendor_name(ops->vendor), stage->entry);
    ops->find(&library);
    if (library.version[0] == '\0')
        return nt_fail(err, NT_LAUNCH_FAILED, "%s cannot be called: %s", nt_vendor_name(ops->vendor), library.missing);
    nt_vendor_conv_of(stage, &conv);
    return ops->make(&conv, stage->vendor_algorithm, out, err);
}

nt_status nt_cuda_vendor_make(const nt_stage *stage, nt_cuda_call **out, nt_error *err)
{
    *out = NULL;
    for (int i = 0; i < LIBRARIES; i++)
        if ((int)libraries[i]->vendor == stage->vendor_id)
            return make(libraries[i], stage, out, err);
    return nt_fail(err, NT_LAUNCH_FAILED, "the cuda device has no library %s",
                   nt_vendor_name((nt_vendor)stage->vendor_id));
}

nt_status nt_cuda_vendor_error(int code, const nt_stage *stage, nt_error *err)
{
    for (int i = 0; i < LIBRARIES; i++)
        if ((int)libraries[i]->vendor == stage->vendor_id)
            return nt_fail(err, NT_LAUNCH_FAILED, "%s, algorithm %lld: %s", nt_vendor_name(libraries[i]->vendor),
                           (long long)stage->vendor_algorithm, libraries[i]->explain(code));
    return nt_fail(err, NT_LAUNCH_FAILED, "a vendor's call failed with code %d", code);
}

/* ---- calls that a device keeps ----------------------------------------------------------------------------------------- */

/* Field by field: structs have gaps. */
static bool same_stage(const nt_stage *a, const nt_stage *b)
{
    bool same = a->vendor_id == b->vendor_id && a->vendor_algorithm == b->vendor_algorithm &&
                a->arg_count == b->arg_count && strcmp(a->entry, b->entry) == 0;
    for (int i = 0; same && i < a->arg_count; i++)
        same = a->arg[i].value == b->arg[i].value;
    return same;
}

nt_status nt_cuda_call_get(nt_cuda_calls *calls, const nt_stage *stage, nt_cuda_call **out, bool *fresh, nt_error *err)
{
    *fresh = false;
    for (size_t i = 0; i < calls->count; i++)
        if (same_stage(&calls->kept[i].stage, stage)) {
            *out = calls->kept[i].call;
            return NT_OK;
        }
    nt_status status = nt_cuda_vendor_make(stage, out, err);
    if (status != NT_OK)
        return status;
    *fresh = true;
    nt_grow((void **)&calls->kept, &calls->capacity, calls->count + 1, sizeof calls->kept[0]);
    calls->kept[calls->count].stage = *stage;
    calls->kept[calls->count++].call = *out;
    return NT_OK;
}

nt_status nt_cuda_calls_tile(nt_cuda_calls *calls, const nt_plan *plan, int *out_tile, nt_error *err)
{
    *out_tile = 0;
    for (int i = 0; i < plan->stage_count; i++) {
        nt_cuda_call *call = NULL;
        bool fresh = false;
        if (plan->stage[i].kind != NT_STAGE_VENDOR)
            continue;
        nt_status status = nt_cuda_call_get(calls, &plan->stage[i], &call, &fresh, err);
        if (status != NT_OK || call == NULL)
            return status;
        *out_tile = call->out_tile > *out_tile ? call->out_tile : *out_tile;
    }
    return NT_OK;
}

void nt_cuda_calls_free(nt_cuda_calls *calls)
{
    for (size_t i = 0; i < calls->count; i++)
        calls->kept[i].call->free(calls->kept[i].call);
    free(calls->kept);
    *calls = (nt_cuda_calls){NULL, 0, 0};
}

#endif
