/* cuda_module.c: compiled code on the device: loading a cubin, its functions with their limits, and how many blocks of
 * one fit on an SM by the driver's own count. Functions are looked up once and kept with their module. */
#include "device/cuda_device.h"

#ifdef NT_HAVE_CUDA_H

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/paths.h"
#include "device/name_table.h"

enum { CUBIN_LIMIT_BYTES = 256 << 20 };

nt_status nt_cuda_module_load(nt_device *device, const char *path, nt_module **out, nt_error *err)
{
    char *image = NULL;
    size_t bytes = 0;
    CUmodule handle = NULL;
    *out = NULL;
    nt_status status = nt_read_file(path, CUBIN_LIMIT_BYTES, &image, &bytes, err);
    if (status != NT_OK)
        return status;
    CUresult result = device->cu->module_load(&handle, image);
    char *names = result == CUDA_SUCCESS ? nt_name_table_read(image, bytes) : NULL;
    free(image);
    if (result != CUDA_SUCCESS)
        return nt_cuda_fail(err, (int)result, "loading %s on %s (%s)", path, device->info.name, device->info.arch);
    nt_module *module = nt_alloc_zero(1, sizeof *module);
    module->handle = handle;
    module->names = names;
    nt_str_add(&module->path, path);
    *out = module;
    return NT_OK;
}

void nt_cuda_module_unload(nt_device *device, nt_module *module)
{
    if (module == NULL)
        return;
    device->cu->module_unload(module->handle);
    nt_str_done(&module->path);
    free(module->function);
    free(module->names);
    free(module);
}

static nt_status look_up(nt_device *device, nt_module *module, const char *entry, nt_cuda_function **out, nt_error *err)
{
    for (size_t i = 0; i < module->count; i++)
        if (strcmp(module->function[i].entry, entry) == 0) {
            *out = &module->function[i];
            return NT_OK;
        }
    nt_cuda_function fresh = {0};
    if (!nt_copy(fresh.entry, sizeof fresh.entry, entry))
        return nt_fail(err, NT_NOT_FOUND, "entry name '%s' is longer than %d characters", entry, NT_ENTRY_BYTES - 1);
    char *symbol = nt_name_table_find(module->names, entry);
    CUresult result = device->cu->module_function(&fresh.handle, module->handle, symbol);
    free(symbol);
    if (result != CUDA_SUCCESS)
        return nt_cuda_fail(err, (int)result, "looking up entry '%s' in %s", entry, nt_str_text(&module->path));
    nt_grow((void **)&module->function, &module->capacity, module->count + 1, sizeof fresh);
    module->function[module->count] = fresh;
    *out = &module->function[module->count++];
    return NT_OK;
}

nt_status nt_cuda_variable_get(nt_device *device, nt_module *module, const char *name, size_t bytes, CUdeviceptr *out,
                               nt_error *err)
{
    size_t size = 0;
    if (module == NULL)
        return nt_fail(err, NT_LAUNCH_FAILED, "variable '%s' is to be filled without a module", name);
    if (device->cu->module_global(out, &size, module->handle, name) != CUDA_SUCCESS)
        return nt_fail(err, NT_LAUNCH_FAILED, "the compiled code has no variable '%s'", name);
    if (size < bytes)
        return nt_fail(err, NT_LAUNCH_FAILED, "the variable '%s' has %zu bytes, %zu are to be put there", name, size,
                       bytes);
    return NT_OK;
}

nt_status nt_cuda_function_get(nt_device *device, nt_module *module, const char *entry, uint32_t smem_dynamic_bytes,
                               nt_cuda_function **out, nt_error *err)
{
    nt_cuda_function *found = NULL;
    nt_status status = look_up(device, module, entry, &found, err);
    *out = found;
    if (found == NULL || smem_dynamic_bytes <= found->smem_dynamic_bytes)
        return status;
    CUresult result = device->cu->function_set(found->handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                               (int)smem_dynamic_bytes);
    if (result != CUDA_SUCCESS) {
        nt_cuda_fail(err, (int)result, "%u bytes of dynamic shared memory for '%s', where a block may have %lld in all",
                     smem_dynamic_bytes, entry, (long long)device->info.smem_per_block_bytes);
        if (err != NULL && err->status != NT_DEVICE_LOST)
            err->status = NT_LAUNCH_FAILED;
        return nt_cuda_status((int)result) == NT_DEVICE_LOST ? NT_DEVICE_LOST : NT_LAUNCH_FAILED;
    }
    found->smem_dynamic_bytes = smem_dynamic_bytes;
    return NT_OK;
}

static int64_t function_attribute(nt_device *device, CUfunction function, CUfunction_attribute which)
{
    int value = 0;
    return device->cu->function_get(&value, which, function) == CUDA_SUCCESS ? value : NT_UNKNOWN;
}

nt_status nt_cuda_function_info(nt_device *device, nt_module *module, const char *entry, uint32_t block_threads,
                                uint32_t smem_dynamic_bytes, nt_function_info *out, nt_error *err)
{
    nt_cuda_function *function = NULL;
    *out = (nt_function_info){NT_UNKNOWN, NT_UNKNOWN, NT_UNKNOWN, NT_UNKNOWN, NT_UNKNOWN};
    nt_status status = nt_cuda_function_get(device, module, entry, smem_dynamic_bytes, &function, err);
    if (function == NULL || status != NT_OK)
        return status;
    out->registers = function_attribute(device, function->handle, CU_FUNC_ATTRIBUTE_NUM_REGS);
    out->smem_static_bytes = function_attribute(device, function->handle, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    out->local_bytes = function_attribute(device, function->handle, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    out->max_threads_per_block = function_attribute(device, function->handle, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    if (out->max_threads_per_block != NT_UNKNOWN && block_threads > out->max_threads_per_block) {
        nt_fail(err, NT_LAUNCH_FAILED, "'%s' can be launched with at most %lld threads per block, not %u", entry,
                (long long)out->max_threads_per_block, block_threads);
        nt_hint(err, "its registers (%lld) or its __launch_bounds__ set that limit", (long long)out->registers);
        return NT_LAUNCH_FAILED;
    }
    int blocks = 0;
    CUresult result = device->cu->occupancy(&blocks, function->handle, (int)block_threads, smem_dynamic_bytes);
    if (result != CUDA_SUCCESS)
        return nt_cuda_fail(err, (int)result, "asking how many blocks of '%s' fit on an SM", entry);
    out->blocks_per_sm = blocks;
    return NT_OK;
}

#endif
