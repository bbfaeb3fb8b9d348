/* cupti_error.c: see cupti_error.h. Codes as numbered by CUPTI, whose numbers never change. */
#include "profiler/cupti_error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

static const char privileges_hint[] =
    "the driver keeps counters for administrators: load it with NVreg_RestrictProfilingToAdminUsers=0 (a line "
    "'options nvidia NVreg_RestrictProfilingToAdminUsers=0' in /etc/modprobe.d, then reboot), or run with "
    "CAP_SYS_ADMIN (in a container: --cap-add SYS_ADMIN)";
static const char busy_hint[] =
    "another tool holds the counters: end ncu, nsys or a second nntune, and pause DCGM with "
    "`dcgmi profile --pause` (`--resume` gives them back)";
static const char virtual_hint[] = "let the host's administrator enable profiling for this virtual GPU, or measure on "
                                   "the bare machine; times need no counters and go on";
static const char order_hint[] = "this is a mistake in nntune: report it with the command that led to it";
static const char version_hint[] = "use the libcupti of a CUDA toolkit that the installed driver supports "
                                   "(NNTUNE_LIBCUPTI names one)";

static const struct row {
    int code;
    nt_status status;
    const char *name, *hint;
} rows[] = {
    {0, NT_OK, "CUPTI_SUCCESS", ""},
    {1, NT_FAILED, "CUPTI_ERROR_INVALID_PARAMETER", ""},
    {2, NT_NO_DEVICE, "CUPTI_ERROR_INVALID_DEVICE", "`nntune devices` lists the devices that are there"},
    {3, NT_DEVICE_LOST, "CUPTI_ERROR_INVALID_CONTEXT", ""},
    {7, NT_FAILED, "CUPTI_ERROR_INVALID_OPERATION", order_hint},
    {8, NT_NO_MEMORY, "CUPTI_ERROR_OUT_OF_MEMORY", "ask for fewer metrics, or free memory of the GPU and the host"},
    {9, NT_FAILED, "CUPTI_ERROR_HARDWARE", "see the kernel log (dmesg, lines with Xid); then try once more"},
    {10, NT_FAILED, "CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT", version_hint},
    {11, NT_NO_DEVICE, "CUPTI_ERROR_API_NOT_IMPLEMENTED", version_hint},
    {12, NT_FAILED, "CUPTI_ERROR_MAX_LIMIT_REACHED", "ask for fewer metrics"},
    {13, NT_FAILED, "CUPTI_ERROR_NOT_READY", ""},
    {14, NT_NO_DEVICE, "CUPTI_ERROR_NOT_COMPATIBLE", version_hint},
    {15, NT_FAILED, "CUPTI_ERROR_NOT_INITIALIZED",
     "CUPTI found no driver or one too new for it; `nntune doctor` shows both versions"},
    {16, NT_NOT_FOUND, "CUPTI_ERROR_INVALID_METRIC_ID", ""},
    {NT_CUPTI_UNKNOWN_NAME, NT_NOT_FOUND, "CUPTI_ERROR_INVALID_METRIC_NAME", ""},
    {23, NT_FAILED, "CUPTI_ERROR_DISABLED", ""},
    {24, NT_FAILED, "CUPTI_ERROR_INVALID_MODULE", ""},
    {NT_CUPTI_BUSY, NT_BUSY, "CUPTI_ERROR_HARDWARE_BUSY", busy_hint},
    {NT_CUPTI_NOT_SUPPORTED, NT_NO_DEVICE, "CUPTI_ERROR_NOT_SUPPORTED",
     "this chip or driver does not give these counters; times and theoretical occupancy need none"},
    {33, NT_NO_DEVICE, "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED", virtual_hint},
    {34, NT_NO_DEVICE, "CUPTI_ERROR_CUDA_COMPILER_NOT_COMPATIBLE", version_hint},
    {NT_CUPTI_NO_PRIVILEGES, NT_NO_PERMISSION, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", privileges_hint},
    {36, NT_FAILED, "CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED",
     "something in this process uses CUPTI's old event interface; do not run it under that tool"},
    {38, NT_NO_DEVICE, "CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED", version_hint},
    {NT_CUPTI_SECOND_SUBSCRIBER, NT_BUSY, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
     "this process is watched already (nsys, ncu, cuda-gdb, compute-sanitizer or a profiler of its own): run it "
     "without that tool"},
    {40, NT_NO_PERMISSION, "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES", virtual_hint},
    {41, NT_NO_DEVICE, "CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED",
     "the GPU runs in confidential computing mode, which hides its counters"},
    {42, NT_NO_DEVICE, "CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED", "a mining processor (CMP) has no counters to give"},
    {43, NT_NO_DEVICE, "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED",
     "the GPU is split by MIG: measure counters on an instance that covers the whole GPU, or on another GPU"},
    {44, NT_NO_DEVICE, "CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED", "switch SLI off (nvidia-settings), then try again"},
    {45, NT_NO_DEVICE, "CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED",
     "allow counters for all users in the NVIDIA control panel of Windows and update its driver, or use Linux itself"},
    {46, NT_NOT_FOUND, "CUPTI_ERROR_INVALID_CHIP_NAME",
     "this libcupti is older than the chip: install a newer CUDA toolkit, or name its libcupti in NNTUNE_LIBCUPTI"},
    {999, NT_FAILED, "CUPTI_ERROR_UNKNOWN", "`nntune doctor` looks for known reasons; the kernel log (dmesg) may tell"},
};

static const struct row *find(int result)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].code == result)
            return &rows[i];
    return NULL;
}

nt_status nt_cupti_status(int result)
{
    const struct row *row = find(result);
    return row != NULL ? row->status : NT_FAILED;
}

const char *nt_cupti_error_name(int result)
{
    const struct row *row = find(result);
    return row != NULL ? row->name : "CUPTI error";
}

const char *nt_cupti_error_hint(int result)
{
    const struct row *row = find(result);
    return row != NULL ? row->hint : "";
}

nt_status nt_cupti_fail(nt_error *err, int result, const char *format, ...)
{
    char doing[512];
    va_list args;
    va_start(args, format);
    vsnprintf(doing, sizeof doing, format, args);
    va_end(args);
    nt_status status = nt_cupti_status(result);
    nt_fail(err, status, "%s: %s (%d)", doing, nt_cupti_error_name(result), result);
    nt_hint(err, "%s", nt_cupti_error_hint(result));
    return status;
}

nt_status nt_cupti_lacks(nt_error *err, const char *function)
{
    nt_fail(err, NT_NO_DEVICE, "the CUPTI found has no function %s; that of CUDA 12.6 or newer has it", function);
    nt_hint(err, "install a newer CUDA toolkit, or name its libcupti.so in NNTUNE_LIBCUPTI");
    return NT_NO_DEVICE;
}
