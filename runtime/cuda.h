/* cuda.h: the few functions of NVIDIA's driver that the library calls, opened at run time; no header of CUDA is needed.
 */
#ifndef NNTUNE_CUDA_H
#define NNTUNE_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/nntune.h"

/* As the driver has them. */
typedef struct nntune_cuda_attribute {
    int id;
    char pad[4];
    union {
        char bytes[64];
        uint32_t cluster[3];
    } value;
} nntune_cuda_attribute;

typedef struct nntune_cuda_config {
    unsigned grid[3], block[3], smem_bytes;
    void *stream;
    nntune_cuda_attribute *attributes;
    unsigned attribute_count;
} nntune_cuda_config;

/* X(field, exported name, parameters) */
#define NNTUNE_CUDA_FUNCTIONS(X)                                                                                   \
    X(init, "cuInit", (unsigned))                                                                                  \
    X(driver_version, "cuDriverGetVersion", (int *))                                                               \
    X(device_count, "cuDeviceGetCount", (int *))                                                                   \
    X(device_get, "cuDeviceGet", (int *, int))                                                                     \
    X(device_name, "cuDeviceGetName", (char *, int, int))                                                          \
    X(device_attribute, "cuDeviceGetAttribute", (int *, int, int))                                                 \
    X(module_load, "cuModuleLoadData", (void **, const void *))                                                    \
    X(module_unload, "cuModuleUnload", (void *))                                                                   \
    X(module_function, "cuModuleGetFunction", (void **, void *, const char *))                                     \
    X(function_set, "cuFuncSetAttribute", (void *, int, int))                                                      \
    X(launch, "cuLaunchKernel",                                                                                    \
      (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **))    \
    X(launch_ex, "cuLaunchKernelEx", (const nntune_cuda_config *, void *, void **, void **))                       \
    X(map_tiled, "cuTensorMapEncodeTiled",                                                                         \
      (void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *, const uint32_t *, int, \
       int, int, int))                                                                                             \
    X(map_images, "cuTensorMapEncodeIm2col",                                                                       \
      (void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const int *, const int *, uint32_t,      \
       uint32_t, const uint32_t *, int, int, int, int))                                                            \
    X(set_words, "cuMemsetD32Async", (uint64_t, unsigned, size_t, void *))                                         \
    X(set_bytes, "cuMemsetD8Async", (uint64_t, unsigned char, size_t, void *))                                     \
    X(error_name, "cuGetErrorName", (int, const char **))

typedef struct nntune_cuda {
#define X(field, name, parameters) int(*field) parameters;
    NNTUNE_CUDA_FUNCTIONS(X)
#undef X
} nntune_cuda;

/* Opens libcuda.so.1, or the file named by NNTUNE_LIBCUDA, once. Thread-safe; without a lock once it is open. */
nntune_status nntune_cuda_get(const nntune_cuda **out, char *why);
/* "CUDA_ERROR_INVALID_VALUE" */
const char *nntune_cuda_error(const nntune_cuda *cuda, int code);

#endif
