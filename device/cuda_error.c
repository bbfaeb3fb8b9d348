/* cuda_error.c: see cuda_error.h. Codes as numbered by the driver API, whose numbers never change. */
#include "device/cuda_error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

static const char fault_hint[] = "the kernel itself did it and its context is gone; compute-sanitizer shows where, "
                                 "with the command of `nntune rerun`";
static const char memory_hint[] = "free GPU memory (nvidia-smi lists who holds it), or take a smaller batch or shape";
static const char driver_hint[] = "update the NVIDIA driver, or use the NVRTC of a CUDA toolkit no newer than it";
static const char hardware_hint[] = "see `nvidia-smi -q -d ECC` and the kernel log (dmesg, lines with Xid)";

static const struct row {
    int code;
    nt_status status;
    const char *name, *hint;
} rows[] = {
    {0, NT_OK, "CUDA_SUCCESS", ""},
    {1, NT_LAUNCH_FAILED, "CUDA_ERROR_INVALID_VALUE", ""},
    {2, NT_NO_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", memory_hint},
    {3, NT_DEVICE_LOST, "CUDA_ERROR_NOT_INITIALIZED", ""},
    {4, NT_DEVICE_LOST, "CUDA_ERROR_DEINITIALIZED", ""},
    {34, NT_NO_DEVICE, "CUDA_ERROR_STUB_LIBRARY",
     "the libcuda.so.1 found is the toolkit's stub for linking; take its folder off the loader's path"},
    {46, NT_BUSY, "CUDA_ERROR_DEVICE_UNAVAILABLE",
     "another process holds the GPU in exclusive mode; nvidia-smi shows which"},
    {100, NT_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", ""},
    {101, NT_NO_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "`nntune devices` lists the devices that are there"},
    {200, NT_CORRUPT, "CUDA_ERROR_INVALID_IMAGE", ""},
    {201, NT_DEVICE_LOST, "CUDA_ERROR_INVALID_CONTEXT", ""},
    {209, NT_LAUNCH_FAILED, "CUDA_ERROR_NO_BINARY_FOR_GPU", "the code was compiled for another architecture"},
    {214, NT_DEVICE_LOST, "CUDA_ERROR_ECC_UNCORRECTABLE", hardware_hint},
    {218, NT_LAUNCH_FAILED, "CUDA_ERROR_INVALID_PTX", ""},
    {220, NT_DEVICE_LOST, "CUDA_ERROR_NVLINK_UNCORRECTABLE", hardware_hint},
    {222, NT_LAUNCH_FAILED, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", driver_hint},
    {226, NT_DEVICE_LOST, "CUDA_ERROR_CONTAINED", hardware_hint},
    {301, NT_IO, "CUDA_ERROR_FILE_NOT_FOUND", ""},
    {304, NT_FAILED, "CUDA_ERROR_OPERATING_SYSTEM", "see the kernel log (dmesg); the driver module may not be loaded"},
    {400, NT_FAILED, "CUDA_ERROR_INVALID_HANDLE", ""},
    {500, NT_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", ""},
    {600, NT_BUSY, "CUDA_ERROR_NOT_READY", ""},
    {700, NT_DEVICE_LOST, "CUDA_ERROR_ILLEGAL_ADDRESS", fault_hint},
    {701, NT_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "registers times threads per block exceed what one SM has; __launch_bounds__ lets the compiler know"},
    {702, NT_DEVICE_LOST, "CUDA_ERROR_LAUNCH_TIMEOUT", "the GPU drives a display, which limits how long a kernel runs"},
    {709, NT_DEVICE_LOST, "CUDA_ERROR_CONTEXT_IS_DESTROYED", ""},
    {710, NT_DEVICE_LOST, "CUDA_ERROR_ASSERT", fault_hint},
    {714, NT_DEVICE_LOST, "CUDA_ERROR_HARDWARE_STACK_ERROR", fault_hint},
    {715, NT_DEVICE_LOST, "CUDA_ERROR_ILLEGAL_INSTRUCTION", fault_hint},
    {716, NT_DEVICE_LOST, "CUDA_ERROR_MISALIGNED_ADDRESS", fault_hint},
    {717, NT_DEVICE_LOST, "CUDA_ERROR_INVALID_ADDRESS_SPACE", fault_hint},
    {718, NT_DEVICE_LOST, "CUDA_ERROR_INVALID_PC", fault_hint},
    {719, NT_DEVICE_LOST, "CUDA_ERROR_LAUNCH_FAILED", fault_hint},
    {720, NT_LAUNCH_FAILED, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", ""},
    {721, NT_DEVICE_LOST, "CUDA_ERROR_TENSOR_MEMORY_LEAK", fault_hint},
    {800, NT_NO_PERMISSION, "CUDA_ERROR_NOT_PERMITTED", ""},
    {801, NT_LAUNCH_FAILED, "CUDA_ERROR_NOT_SUPPORTED", ""},
    {802, NT_NO_DEVICE, "CUDA_ERROR_SYSTEM_NOT_READY", "start NVIDIA's fabric manager, or see the driver's log"},
    {803, NT_NO_DEVICE, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "libcuda and the loaded kernel module are of different versions: reboot after a driver update"},
    {804, NT_NO_DEVICE, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
     "remove CUDA's forward compatibility package from the loader's path"},
    {807, NT_FAILED, "CUDA_ERROR_MPS_SERVER_NOT_READY", "wait for the MPS server, or stop it"},
    {912, NT_LAUNCH_FAILED, "CUDA_ERROR_INVALID_CLUSTER_SIZE", ""},
    {999, NT_DEVICE_LOST, "CUDA_ERROR_UNKNOWN", "see the kernel log (dmesg); the driver may need to be reloaded"},
};

static const struct row *find(int result)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].code == result)
            return &rows[i];
    return NULL;
}

nt_status nt_cuda_status(int result)
{
    const struct row *row = find(result);
    return row != NULL ? row->status : NT_FAILED;
}

const char *nt_cuda_error_name(int result)
{
    const struct row *row = find(result);
    return row != NULL ? row->name : "CUDA error";
}

const char *nt_cuda_error_hint(int result)
{
    const struct row *row = find(result);
    return row != NULL ? row->hint : "";
}

nt_status nt_cuda_fail(nt_error *err, int result, const char *format, ...)
{
    nt_status status = nt_cuda_status(result);
    if (err == NULL)
        return status;
    char doing[640];
    va_list args;
    va_start(args, format);
    vsnprintf(doing, sizeof doing, format, args);
    va_end(args);
    nt_fail(err, status, "%s: %s (%d)", doing, nt_cuda_error_name(result), result);
    nt_hint(err, "%s", nt_cuda_error_hint(result));
    return status;
}
