/* cuda_gate.c: the kernel nt_hold spins on a word of host memory until the host has queued what is to be timed. The
 * host opens the gate by writing the ticket of the last hold. After 20 ms the kernel gives up by itself, so that
 * nothing here can hang the GPU; the samples behind it are then taken again. */
#include "device/cuda_device.h"

#ifdef NT_HAVE_CUDA_H

#include <string.h>

static const uint64_t patience_ns = 20000000;

static nt_status make_gate(nt_device *device, nt_error *err)
{
    void *host = NULL;
    CUresult result = device->cu->host_alloc(&host, sizeof *device->gate, CU_MEMHOSTALLOC_DEVICEMAP);
    if (result != CUDA_SUCCESS)
        return nt_cuda_fail(err, (int)result, "allocating memory that host and GPU share");
    memset(host, 0, sizeof *device->gate);
    result = device->cu->host_address(&device->gate_address, host, 0);
    if (result != CUDA_SUCCESS) {
        device->cu->host_free(host);
        return nt_cuda_fail(err, (int)result, "mapping host memory for the GPU");
    }
    device->gate = host;
    return NT_OK;
}

/* The first launch of a kernel may do work that the driver puts off until then; before an open gate it does no harm. */
static nt_status first_hold(nt_device *device, nt_error *err)
{
    device->gate->open = device->ticket + 1;
    CUresult result = nt_cuda_gate_hold(device);
    if (result != CUDA_SUCCESS)
        return nt_cuda_fail(err, (int)result, "launching the kernel that holds the GPU back");
    return nt_cuda_wait(device, "holding the GPU back", err);
}

static nt_status load_hold(nt_device *device, nt_error *err)
{
    nt_module *support = NULL;
    nt_cuda_function *function = NULL;
    nt_status status = nt_cuda_support(device, &support, err);
    if (status == NT_OK)
        status = nt_cuda_function_get(device, support, "nt_hold", 0, &function, err);
    if (status != NT_OK)
        return status;
    device->hold = function->handle;
    return first_hold(device, err);
}

nt_status nt_cuda_gate_prepare(nt_device *device, nt_error *err)
{
    nt_status status = device->gate == NULL ? make_gate(device, err) : NT_OK;
    if (device->gate != NULL && device->hold == NULL)
        status = load_hold(device, err);
    if (device->gate != NULL)
        device->gate->expired = 0;
    return status;
}

CUresult nt_cuda_gate_hold(nt_device *device)
{
    CUdeviceptr open = device->gate_address + offsetof(nt_cuda_gate, open);
    CUdeviceptr expired = device->gate_address + offsetof(nt_cuda_gate, expired);
    uint64_t patience = patience_ns;
    /* 0 means 'none expired', so the ticket skips it when it wraps. */
    device->ticket += device->ticket == UINT32_MAX ? 2 : 1;
    void *args[] = {&open, &device->ticket, &expired, &patience};
    return nt_cuda_support_launch(device, device->hold, 1, 1, args);
}

void nt_cuda_gate_open(nt_device *device)
{
    if (device->gate != NULL)
        device->gate->open = device->ticket;
}

bool nt_cuda_gate_expired(const nt_device *device)
{
    return device->gate->expired != 0;
}

#endif
