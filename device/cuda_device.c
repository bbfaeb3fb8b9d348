/* cuda_device.c: opening and closing a GPU, and the struct of functions that device.h asks for. Built without NVIDIA's
 * header, the same struct exists and says why it lists nothing. */
#include "device/cuda_device.h"

#include "device/device.h"

#ifdef NT_HAVE_CUDA_H

#include <stdlib.h>

#include "core/mem.h"

static void close_device(nt_device *device)
{
    if (device == NULL)
        return;
    const nt_cuda_api *cu = device->cu;
    nt_cuda_watch_stop(device->watch);
    nt_cuda_gate_open(device);
    /* After a fault these calls return the fault again, which changes nothing: the context goes anyway. */
    if (device->stream != NULL)
        cu->stream_wait(device->stream);
    nt_cuda_calls_free(&device->calls);
    nt_cuda_module_unload(device, device->support);
    nt_cuda_free(device, device->scratch);
    for (size_t i = 0; i < device->event_count; i++)
        cu->event_destroy(device->event[i]);
    if (device->begin != NULL)
        cu->event_destroy(device->begin);
    if (device->end != NULL)
        cu->event_destroy(device->end);
    if (device->gate != NULL)
        cu->host_free((void *)(uintptr_t)device->gate);
    if (device->stream != NULL)
        cu->stream_destroy(device->stream);
    if (device->context != NULL) {
        cu->context_set(NULL);
        cu->context_release(device->handle);
    }
    free(device->event);
    free(device->clock);
    free(device);
}

/* The primary context, because vendor libraries in the same process use it too. */
static nt_status make_context(nt_device *device, nt_error *err)
{
    const nt_cuda_api *cu = device->cu;
    CUresult result = cu->context_retain(&device->context, device->handle);
    if (result == CUDA_SUCCESS)
        result = cu->context_set(device->context);
    if (result == CUDA_SUCCESS)
        result = cu->stream_create(&device->stream, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS)
        result = cu->event_create(&device->begin, CU_EVENT_DEFAULT);
    if (result == CUDA_SUCCESS)
        result = cu->event_create(&device->end, CU_EVENT_DEFAULT);
    return result == CUDA_SUCCESS ? NT_OK : nt_cuda_fail(err, (int)result, "opening %s", device->info.name);
}

static nt_status open_device(int ordinal, nt_device **out, nt_error *err)
{
    const nt_cuda_api *cu = NULL;
    *out = NULL;
    nt_status status = nt_cuda_api_get(&cu, err);
    if (status != NT_OK)
        return status;
    nt_device *device = nt_alloc_zero(1, sizeof *device);
    device->cu = cu;
    status = nt_cuda_identify(cu, ordinal, &device->handle, &device->info, err);
    if (status == NT_OK)
        status = make_context(device, err);
    if (status == NT_OK)
        *out = device;
    else
        close_device(device);
    return status;
}

static const nt_device_info *info(const nt_device *device)
{
    return &device->info;
}

void nt_cuda_native(const nt_device *device, CUdevice *handle, CUcontext *context)
{
    *handle = device->handle;
    *context = device->context;
}

static nt_status vendor_tile(nt_device *device, const nt_plan *plan, int *out_tile, nt_error *err)
{
    return nt_cuda_calls_tile(&device->calls, plan, out_tile, err);
}

const nt_device_ops nt_device_cuda_ops = {
    .name = "cuda",
    .kind = NT_DEVICE_CUDA,
    .list = nt_cuda_list,
    .open = open_device,
    .close = close_device,
    .info = info,
    .libraries = nt_cuda_vendor_libraries,
    .alloc = nt_cuda_alloc,
    .free = nt_cuda_free,
    .memory_free = nt_cuda_memory_free,
    .upload = nt_cuda_upload,
    .download = nt_cuda_download,
    .copy = nt_cuda_copy,
    .fill = nt_cuda_fill,
    .count_changed = nt_cuda_count_changed,
    .module_load = nt_cuda_module_load,
    .module_unload = nt_cuda_module_unload,
    .function_info = nt_cuda_function_info,
    .run = nt_cuda_run,
    .sample = nt_cuda_sample,
    .floor = nt_cuda_floor,
    .compare = nt_cuda_compare,
    .conditions_begin = nt_cuda_conditions_begin,
    .conditions_end = nt_cuda_conditions_end,
    .launch = nt_cuda_launch,
    .vendor_tile = vendor_tile,
};

#else /* no cuda.h at build time: nothing can be opened, so the functions that need an open device are left out */

#include <string.h>

static const char why[] = "this nntune was built without NVIDIA's CUDA headers, so it cannot use a GPU";
static const char how[] = "install NVIDIA's CUDA toolkit (cuda.h), then build again: make clean && make";

static void list(nt_device_listing *out)
{
    memset(out, 0, sizeof *out);
    nt_copy(out->missing, sizeof out->missing, why);
    nt_copy(out->hint, sizeof out->hint, how);
}

static nt_status open_device(int ordinal, nt_device **out, nt_error *err)
{
    (void)ordinal;
    *out = NULL;
    nt_fail(err, NT_NO_DEVICE, "%s", why);
    nt_hint(err, "%s", how);
    return NT_NO_DEVICE;
}

static void close_device(nt_device *device)
{
    (void)device;
}

const nt_device_ops nt_device_cuda_ops = {
    .name = "cuda",
    .kind = NT_DEVICE_CUDA,
    .list = list,
    .open = open_device,
    .close = close_device,
};

#endif
