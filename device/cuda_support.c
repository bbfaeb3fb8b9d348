/* cuda_support.c: compiles and loads cuda_support.cu through the cache, the first time one of its kernels is needed. */
#include "device/cuda_device.h"

#ifdef NT_HAVE_CUDA_H

#include "device/compiler.h"

extern const char nt_embed_device_cuda_support_cu[];

nt_status nt_cuda_support(nt_device *device, nt_module **out, nt_error *err)
{
    *out = device->support;
    if (device->support != NULL)
        return NT_OK;
    nt_compile_request request = {
        .kind = NT_DEVICE_CUDA,
        .name = "cuda_support",
        .source = nt_embed_device_cuda_support_cu,
        .options = "",
        .arch = device->info.arch,
        .compiler = device->info.compiler,
        .features = device->info.features,
        .deadline_s = 60,
    };
    nt_artefact artefact;
    nt_status status = nt_compile_lookup(&request, &artefact, err);
    if (status != NT_OK) /* absent, or a cache that cannot be used, about which the compile will have its say */
        status = nt_compile(&request, &artefact, err);
    if (status == NT_OK)
        status = nt_cuda_module_load(device, artefact.path, &device->support, err);
    *out = device->support;
    return status;
}

CUresult nt_cuda_support_launch(nt_device *device, CUfunction function, uint32_t blocks, uint32_t threads, void **args)
{
    return device->cu->launch(function, blocks, 1, 1, threads, 1, 1, 0, device->stream, args, NULL);
}

#endif
