/* cuda_memory.c: buffers of the cuda device. Every call waits until it is done, on the device's one stream, so a copy
 * can neither overtake a kernel nor be overtaken. */
#include "device/cuda_device.h"

#ifdef NT_HAVE_CUDA_H

#include "core/units.h"

nt_status nt_cuda_wait(nt_device *device, const char *doing, nt_error *err)
{
    CUresult result = device->cu->stream_wait(device->stream);
    return result == CUDA_SUCCESS ? NT_OK : nt_cuda_fail(err, (int)result, "%s", doing);
}

/* Ends an operation put on the stream: reports `result`, or waits. */
static nt_status finish(nt_device *device, CUresult result, const char *doing, size_t bytes, nt_error *err)
{
    if (result == CUDA_SUCCESS)
        result = device->cu->stream_wait(device->stream);
    if (result == CUDA_SUCCESS)
        return NT_OK;
    return nt_cuda_fail(err, (int)result, "%s of %s on %s", doing, nt_text_bytes((double)bytes).s, device->info.name);
}

nt_status nt_cuda_alloc(nt_device *device, size_t bytes, nt_mem *out, nt_error *err)
{
    CUdeviceptr address = 0;
    *out = 0;
    CUresult result = device->cu->memory_alloc(&address, bytes > 0 ? bytes : 1);
    if (result == CUDA_SUCCESS) {
        *out = (nt_mem)address;
        return NT_OK;
    }
    size_t left = 0;
    nt_status told = nt_cuda_memory_free(device, &left, NULL);
    return nt_cuda_fail(err, (int)result, "allocating %s on %s, where %s is free", nt_text_bytes((double)bytes).s,
                        device->info.name, told == NT_OK ? nt_text_bytes((double)left).s : "an unknown amount");
}

void nt_cuda_free(nt_device *device, nt_mem memory)
{
    if (memory != 0)
        device->cu->memory_free((CUdeviceptr)memory);
}

nt_status nt_cuda_memory_free(nt_device *device, size_t *free_bytes, nt_error *err)
{
    size_t total = 0;
    CUresult result = device->cu->memory_info(free_bytes, &total);
    return result == CUDA_SUCCESS ? NT_OK : nt_cuda_fail(err, (int)result, "asking for free memory");
}

nt_status nt_cuda_upload(nt_device *device, nt_mem to, const void *from, size_t bytes, nt_error *err)
{
    if (bytes == 0)
        return NT_OK;
    return finish(device, device->cu->copy_in((CUdeviceptr)to, from, bytes, device->stream), "upload", bytes, err);
}

nt_status nt_cuda_download(nt_device *device, void *to, nt_mem from, size_t bytes, nt_error *err)
{
    if (bytes == 0)
        return NT_OK;
    return finish(device, device->cu->copy_out(to, (CUdeviceptr)from, bytes, device->stream), "download", bytes, err);
}

nt_status nt_cuda_copy(nt_device *device, nt_mem to, nt_mem from, size_t bytes, nt_error *err)
{
    if (bytes == 0)
        return NT_OK;
    return finish(device, device->cu->copy_within((CUdeviceptr)to, (CUdeviceptr)from, bytes, device->stream), "copy",
                  bytes, err);
}

nt_status nt_cuda_fill(nt_device *device, nt_mem to, unsigned char byte, size_t bytes, nt_error *err)
{
    if (bytes == 0)
        return NT_OK;
    return finish(device, device->cu->set_bytes((CUdeviceptr)to, byte, bytes, device->stream), "fill", bytes, err);
}

nt_status nt_cuda_scratch(nt_device *device, size_t bytes, nt_mem *out, nt_error *err)
{
    if (bytes > device->scratch_bytes) {
        nt_cuda_free(device, device->scratch);
        device->scratch = 0;
        device->scratch_bytes = 0;
        nt_status status = nt_cuda_alloc(device, bytes, &device->scratch, err);
        if (status != NT_OK)
            return status;
        device->scratch_bytes = bytes;
    }
    *out = device->scratch;
    return NT_OK;
}

#endif
