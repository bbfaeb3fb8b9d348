/* cuda_identity.c: who a GPU is and what its limits are, and the list that `nntune devices` shows. No context is made:
 * attributes come from the driver, clocks and the driver's version from NVML where it is there. */
#include "device/cuda_device.h"

#ifdef NT_HAVE_CUDA_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "device/cuda_peaks.h"
#include "device/nvml.h"
#include "device/nvrtc.h"

/* Where each limit of nt_device_info comes from. */
static const struct limit {
    CUdevice_attribute attribute;
    size_t offset;
} limits[] = {
#define LIMIT(field, attribute)                                          \
    {                                                                    \
        CU_DEVICE_ATTRIBUTE_##attribute, offsetof(nt_device_info, field) \
    }
    LIMIT(sm_count, MULTIPROCESSOR_COUNT),
    LIMIT(l2_bytes, L2_CACHE_SIZE),
    LIMIT(smem_per_block_bytes, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
    LIMIT(smem_per_sm_bytes, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
    LIMIT(smem_reserved_bytes, RESERVED_SHARED_MEMORY_PER_BLOCK),
    LIMIT(regs_per_block, MAX_REGISTERS_PER_BLOCK),
    LIMIT(regs_per_sm, MAX_REGISTERS_PER_MULTIPROCESSOR),
    LIMIT(max_threads_per_block, MAX_THREADS_PER_BLOCK),
    LIMIT(max_threads_per_sm, MAX_THREADS_PER_MULTIPROCESSOR),
    LIMIT(max_blocks_per_sm, MAX_BLOCKS_PER_MULTIPROCESSOR),
    LIMIT(warp_size, WARP_SIZE),
#undef LIMIT
};

static int64_t attribute(const nt_cuda_api *cu, CUdevice handle, CUdevice_attribute which)
{
    int value = 0;
    return cu->device_attribute(&value, which, handle) == CUDA_SUCCESS ? value : NT_UNKNOWN;
}

static double attribute_mhz(const nt_cuda_api *cu, CUdevice handle, CUdevice_attribute khz)
{
    int64_t value = attribute(cu, handle, khz);
    return value > 0 ? (double)value / 1e3 : (double)NAN;
}

static void fill_uuid(const nt_cuda_api *cu, CUdevice handle, nt_device_info *out)
{
    CUuuid uuid;
    if (cu->device_uuid(&uuid, handle) != CUDA_SUCCESS)
        return;
    size_t at = (size_t)snprintf(out->uuid, sizeof out->uuid, "GPU");
    for (int i = 0; i < 16; i++)
        at +=
            (size_t)snprintf(out->uuid + at, sizeof out->uuid - at, "%s%02x",
                             i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned char)uuid.bytes[i]);
}

static void fill_driver(const nt_cuda_api *cu, nt_device_info *out)
{
    char version[32];
    int cuda = 0;
    bool cuda_known = cu->driver_version(&cuda) == CUDA_SUCCESS;
    bool named = nt_nvml_driver_version(version, sizeof version);
    if (named && cuda_known)
        snprintf(out->driver, sizeof out->driver, "%s (CUDA %d.%d)", version, cuda / 1000, cuda % 1000 / 10);
    else if (named)
        nt_copy(out->driver, sizeof out->driver, version);
    else if (cuda_known)
        snprintf(out->driver, sizeof out->driver, "CUDA %d.%d", cuda / 1000, cuda % 1000 / 10);
}

/* The driver's clocks are those of the boost table too, but some drivers no longer tell; NVML then does. */
static void fill_clocks(const nt_cuda_api *cu, CUdevice handle, nt_device_info *out)
{
    nt_nvml_device managed = NULL;
    nt_nvml_limits top;
    nt_nvml_find(out->uuid, &managed, NULL);
    nt_nvml_read_limits(managed, &top);
    double sm_mhz = attribute_mhz(cu, handle, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    double mem_mhz = attribute_mhz(cu, handle, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    int64_t bus_bits = attribute(cu, handle, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    out->sm_clock_max_mhz = top.sm_clock_max_mhz > 0 ? top.sm_clock_max_mhz : sm_mhz;
    out->mem_clock_max_mhz = mem_mhz > 0 ? mem_mhz : top.mem_clock_max_mhz;
    nt_cuda_fill_peaks(out, bus_bits > 0 ? (double)bus_bits : top.bus_bits);
}

static void fill_limits(const nt_cuda_api *cu, CUdevice handle, nt_device_info *out)
{
    size_t memory = 0;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        int64_t value = attribute(cu, handle, limits[i].attribute);
        memcpy((char *)out + limits[i].offset, &value, sizeof value);
    }
    out->memory_bytes = cu->device_memory(&memory, handle) == CUDA_SUCCESS ? (int64_t)memory : NT_UNKNOWN;
    int64_t major = attribute(cu, handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    int64_t minor = attribute(cu, handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    out->compute_capability = major == NT_UNKNOWN || minor == NT_UNKNOWN ? NT_UNKNOWN : major * 10 + minor;
    if (out->compute_capability != NT_UNKNOWN)
        snprintf(out->arch, sizeof out->arch, "sm_%d", (int)out->compute_capability);
}

nt_status nt_cuda_identify(const nt_cuda_api *cu, int ordinal, CUdevice *handle, nt_device_info *out, nt_error *err)
{
    int count = 0;
    CUresult result = cu->device_count(&count);
    if (result != CUDA_SUCCESS)
        return nt_cuda_fail(err, (int)result, "counting GPUs");
    if (ordinal < 0 || ordinal >= count) {
        nt_fail(err, NT_NO_DEVICE, "there is no cuda:%d; this machine shows %d GPU%s", ordinal, count,
                count == 1 ? "" : "s");
        nt_hint(err, "use cuda:0%s, or see `nntune devices`", count > 1 ? " and up" : "");
        return NT_NO_DEVICE;
    }
    memset(out, 0, sizeof *out);
    out->kind = NT_DEVICE_CUDA;
    out->ordinal = ordinal;
    result = cu->device_get(handle, ordinal);
    if (result == CUDA_SUCCESS)
        result = cu->device_name(out->name, (int)sizeof out->name, *handle);
    if (result != CUDA_SUCCESS)
        return nt_cuda_fail(err, (int)result, "asking who cuda:%d is", ordinal);
    fill_uuid(cu, *handle, out);
    fill_driver(cu, out);
    fill_limits(cu, *handle, out);
    fill_clocks(cu, *handle, out);
    nt_compiler_identity(NT_DEVICE_CUDA, out->compiler, sizeof out->compiler, NULL);
    return NT_OK;
}

static void say(nt_device_listing *out, const nt_error *err)
{
    nt_copy(out->missing, sizeof out->missing, err->what);
    nt_copy(out->hint, sizeof out->hint, err->hint);
}

/* A GPU without a compiler for it is listed, with what keeps it from being used. */
static void say_compiler(const nt_cuda_api *cu, nt_device_listing *out)
{
    nt_nvrtc_about about;
    nt_error err = {0};
    int cuda = 0;
    if (nt_nvrtc_describe(&about, &err) != NT_OK) {
        say(out, &err);
        return;
    }
    if (cu->driver_version(&cuda) == CUDA_SUCCESS && cuda / 1000 < about.major) {
        nt_fail(&err, NT_NO_DEVICE, "the driver (CUDA %d.%d) is too old for what NVRTC %d.%d compiles", cuda / 1000,
                cuda % 1000 / 10, about.major, about.minor);
        nt_hint(&err, "update the NVIDIA driver, or name the libnvrtc.so of a CUDA %d toolkit in NNTUNE_NVRTC",
                cuda / 1000);
        say(out, &err);
        return;
    }
    for (int i = 0; i < out->count; i++) {
        if (nt_nvrtc_knows(&about, out->info[i].compute_capability))
            continue;
        nt_fail(&err, NT_NO_DEVICE, "NVRTC %d.%d does not compile for %s (%s)", about.major, about.minor,
                out->info[i].name, out->info[i].arch);
        nt_hint(&err, "install the NVRTC of another CUDA toolkit, or name its libnvrtc.so in NNTUNE_NVRTC");
        say(out, &err);
        return;
    }
}

void nt_cuda_list(nt_device_listing *out)
{
    enum { ROOM = sizeof out->info / sizeof out->info[0] };
    const nt_cuda_api *cu = NULL;
    nt_error err = {0};
    int count = 0;
    memset(out, 0, sizeof *out);
    nt_status status = nt_cuda_api_get(&cu, &err);
    if (status == NT_OK && cu->device_count(&count) == CUDA_SUCCESS && count == 0)
        status = nt_fail(&err, NT_NO_DEVICE, "NVIDIA's driver library is here but finds no GPU");
    for (int i = 0; status == NT_OK && i < count && i < ROOM; i++) {
        CUdevice handle;
        status = nt_cuda_identify(cu, i, &handle, &out->info[out->count], &err);
        out->count += status == NT_OK;
    }
    if (status != NT_OK)
        say(out, &err);
    else
        say_compiler(cu, out);
}

#endif
