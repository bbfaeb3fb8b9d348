/* cuda_clock.c: the SM clock while a sample ran, from the device's own counters and without privileges: %globaltimer
 * and clock64 of every SM before and after, matched by %smid. The kernel is nt_read_clocks of cuda_support.cu. */
#include "device/cuda_device.h"

#ifdef NT_HAVE_CUDA_H

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"

/* Laid out as `reading` of cuda_support.cu; both 0 where no block ran on that SM. */
typedef struct reading {
    uint64_t ns, cycles;
} reading;

nt_status nt_cuda_clocks_prepare(nt_device *device, size_t samples, nt_cuda_clocks *out, nt_error *err)
{
    nt_module *support = NULL;
    nt_cuda_function *function = NULL;
    out->slots = device->info.sm_count > 0 ? (uint32_t)device->info.sm_count : 1;
    out->count = samples + 1;
    size_t bytes = out->count * out->slots * sizeof(reading);
    nt_status status = nt_cuda_support(device, &support, err);
    if (status == NT_OK)
        status = nt_cuda_function_get(device, support, "nt_read_clocks", 0, &function, err);
    if (status == NT_OK)
        status = nt_cuda_scratch(device, bytes, &out->readings, err);
    if (status != NT_OK)
        return status;
    out->function = function->handle;
    /* Not waited for: the readings come later on the same stream. */
    CUresult result = device->cu->set_bytes((CUdeviceptr)out->readings, 0, bytes, device->stream);
    return result == CUDA_SUCCESS ? NT_OK : nt_cuda_fail(err, (int)result, "clearing the clock readings");
}

CUresult nt_cuda_clocks_read(nt_device *device, const nt_cuda_clocks *clocks, size_t index)
{
    nt_mem at = clocks->readings + index * clocks->slots * sizeof(reading);
    uint32_t slots = clocks->slots;
    void *args[] = {&at, &slots};
    return nt_cuda_support_launch(device, clocks->function, slots, 1, args);
}

/* Mean over the SMs that were read both times. A counter that went backwards (the GPU was reset or shared in between)
 * tells nothing. */
static double clock_between(const reading *before, const reading *after, uint32_t slots)
{
    double sum = 0;
    int known = 0;
    for (uint32_t i = 0; i < slots; i++) {
        if (before[i].ns == 0 || after[i].ns <= before[i].ns || after[i].cycles <= before[i].cycles)
            continue;
        sum += (double)(after[i].cycles - before[i].cycles) / (double)(after[i].ns - before[i].ns) * 1e3;
        known++;
    }
    return known > 0 ? sum / known : (double)NAN;
}

nt_status nt_cuda_clocks_fetch(nt_device *device, const nt_cuda_clocks *clocks, double *out_mhz, nt_error *err)
{
    size_t samples = clocks->count - 1, bytes = clocks->count * clocks->slots * sizeof(reading);
    reading *host = nt_alloc(bytes);
    nt_status status = nt_cuda_download(device, host, clocks->readings, bytes, err);
    nt_grow((void **)&device->clock, &device->clock_capacity, device->clock_count + samples, sizeof *device->clock);
    for (size_t i = 0; status == NT_OK && i < samples; i++) {
        const reading *before = host + i * clocks->slots;
        double mhz = clock_between(before, before + clocks->slots, clocks->slots);
        if (out_mhz != NULL)
            out_mhz[i] = mhz;
        if (isfinite(mhz))
            device->clock[device->clock_count++] = mhz;
    }
    free(host);
    return status;
}

#endif
