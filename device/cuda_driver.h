/* cuda_driver.h: the functions of NVIDIA's driver library that nntune uses, opened at run time.
 *
 * One row of NT_CUDA_FUNCTIONS is one function: its field in the table and its exported name. Only versions that every
 * driver since CUDA 12.0 exports are named, so that a build against a newer header still runs with an older driver. */
#ifndef NT_CUDA_DRIVER_H
#define NT_CUDA_DRIVER_H

#ifdef NT_HAVE_CUDA_H

#include <cuda.h>

#include "device/cuda_error.h"

/* X(field, exported name) */
#define NT_CUDA_FUNCTIONS(X)                                  \
    X(init, cuInit)                                           \
    X(driver_version, cuDriverGetVersion)                     \
    X(device_count, cuDeviceGetCount)                         \
    X(device_get, cuDeviceGet)                                \
    X(device_name, cuDeviceGetName)                           \
    X(device_uuid, cuDeviceGetUuid_v2)                        \
    X(device_attribute, cuDeviceGetAttribute)                 \
    X(device_memory, cuDeviceTotalMem_v2)                     \
    X(context_retain, cuDevicePrimaryCtxRetain)               \
    X(context_release, cuDevicePrimaryCtxRelease_v2)          \
    X(context_set, cuCtxSetCurrent)                           \
    X(stream_create, cuStreamCreate)                          \
    X(stream_destroy, cuStreamDestroy_v2)                     \
    X(stream_wait, cuStreamSynchronize)                       \
    X(event_create, cuEventCreate)                            \
    X(event_destroy, cuEventDestroy_v2)                       \
    X(event_record, cuEventRecord)                            \
    X(event_wait, cuEventSynchronize)                         \
    X(event_elapsed, cuEventElapsedTime)                      \
    X(memory_alloc, cuMemAlloc_v2)                            \
    X(memory_free, cuMemFree_v2)                              \
    X(memory_info, cuMemGetInfo_v2)                           \
    X(host_alloc, cuMemHostAlloc)                             \
    X(host_free, cuMemFreeHost)                               \
    X(host_address, cuMemHostGetDevicePointer_v2)             \
    X(copy_in, cuMemcpyHtoDAsync_v2)                          \
    X(copy_out, cuMemcpyDtoHAsync_v2)                         \
    X(copy_within, cuMemcpyDtoDAsync_v2)                      \
    X(set_bytes, cuMemsetD8Async)                             \
    X(set_words, cuMemsetD32Async)                            \
    X(module_load, cuModuleLoadData)                          \
    X(module_unload, cuModuleUnload)                          \
    X(module_function, cuModuleGetFunction)                   \
    X(module_global, cuModuleGetGlobal_v2)                    \
    X(function_get, cuFuncGetAttribute)                       \
    X(function_set, cuFuncSetAttribute)                       \
    X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor) \
    X(launch, cuLaunchKernel)                                 \
    X(launch_ex, cuLaunchKernelEx)                            \
    X(map_tiled, cuTensorMapEncodeTiled)                      \
    X(map_images, cuTensorMapEncodeIm2col)

typedef struct nt_cuda_api {
#define X(field, symbol) __typeof__(symbol) *field;
    NT_CUDA_FUNCTIONS(X)
#undef X
} nt_cuda_api;

/* Opens libcuda.so.1 (or the file named by NNTUNE_LIBCUDA) on the first call and initialises it. NT_NO_DEVICE says why
 * there is none and what to do. Success is kept for the process; a failure is tried again by the next call. */
nt_status nt_cuda_api_get(const nt_cuda_api **api, nt_error *err);

#endif
#endif
