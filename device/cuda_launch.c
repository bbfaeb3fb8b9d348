/* cuda_launch.c: a plan's stages on the device: arguments from roles and addresses, clusters, zeroing. */
#include "device/cuda_device.h"

#ifdef NT_HAVE_CUDA_H

#include <stdio.h>
#include <string.h>

enum { PORTABLE_CLUSTER_BLOCKS = 8 };

static uint32_t cluster_blocks(const nt_stage *stage)
{
    uint32_t blocks = 1;
    for (int i = 0; i < 3; i++)
        blocks *= stage->cluster[i] > 1 ? stage->cluster[i] : 1;
    return blocks;
}

/* Clusters of more than 8 blocks exist on some chips only, and must be asked for. */
static nt_status allow_cluster(nt_device *device, const nt_stage *stage, nt_cuda_function *function, nt_error *err)
{
    if (cluster_blocks(stage) <= PORTABLE_CLUSTER_BLOCKS || function->wide_cluster)
        return NT_OK;
    CUresult result =
        device->cu->function_set(function->handle, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    if (result != CUDA_SUCCESS)
        return nt_cuda_launch_error(result, stage, err);
    function->wide_cluster = true;
    return NT_OK;
}

nt_status nt_cuda_stages_get(nt_device *device, nt_module *module, const nt_stage *stage, int count,
                             nt_cuda_stages *out, nt_error *err)
{
    out->count = count;
    out->stage = stage;
    out->first_time = false;
    out->operations = 0;
    for (int i = 0; i < count; i++) {
        out->function[i] = NULL;
        out->operations += stage[i].kind == NT_STAGE_VENDOR ? NT_CUDA_VENDOR_OPERATIONS : 1;
        if (stage[i].kind == NT_STAGE_VENDOR) {
            bool fresh = false;
            nt_status made = nt_cuda_call_get(&device->calls, &stage[i], &out->call[i], &fresh, err);
            if (made != NT_OK)
                return made;
            out->first_time = out->first_time || fresh;
        }
        if (stage[i].kind == NT_STAGE_SYMBOL) {
            nt_status found =
                nt_cuda_variable_get(device, module, stage[i].entry, stage[i].zero_bytes, &out->variable[i], err);
            if (found != NT_OK)
                return found;
        }
        if (stage[i].kind != NT_STAGE_KERNEL)
            continue;
        if (module == NULL)
            return nt_fail(err, NT_LAUNCH_FAILED, "entry '%s' is to be launched without a module", stage[i].entry);
        nt_cuda_function *function = NULL;
        nt_status status =
            nt_cuda_function_get(device, module, stage[i].entry, stage[i].smem_dynamic_bytes, &function, err);
        if (status == NT_OK)
            status = allow_cluster(device, &stage[i], function, err);
        if (status != NT_OK)
            return status;
        out->function[i] = function->handle;
        out->first_time = out->first_time || !function->looked_up_to_run;
        function->looked_up_to_run = true;
    }
    return NT_OK;
}

/* One argument as the kernel receives it: a pointer, a 32-bit or a 64-bit number. */
typedef union value {
    uint64_t address;
    int64_t i64;
    int32_t i32;
    float f32;
} value;

static value argument(const nt_arg *arg, const nt_binding *binding)
{
    value v = {0};
    if (arg->kind == NT_ARG_BUFFER)
        v.address = binding->address[arg->role] + (uint64_t)arg->value;
    else if (arg->kind == NT_ARG_I32)
        v.i32 = (int32_t)arg->value;
    else if (arg->kind == NT_ARG_I64)
        v.i64 = arg->value;
    else
        v.f32 = arg->real;
    return v;
}

/* All arguments of a launch where the driver finds them. */
typedef struct values {
    CUtensorMap map[NT_MAX_MAPS];
    value value[NT_MAX_ARGS];
    void *address[NT_MAX_ARGS];
} values;

static CUresult bind(nt_device *device, const nt_stage *stage, const nt_binding *binding, values *out)
{
    for (int i = 0; i < stage->map_count; i++) {
        CUresult result = nt_cuda_tensor_map(device, &stage->map[i], binding, &out->map[i]);
        if (result != CUDA_SUCCESS)
            return result;
    }
    for (int i = 0; i < stage->arg_count; i++) {
        out->value[i] = argument(&stage->arg[i], binding);
        out->address[i] = &out->value[i];
        if (stage->arg[i].kind == NT_ARG_TENSOR_MAP)
            out->address[i] = &out->map[stage->arg[i].value];
    }
    return CUDA_SUCCESS;
}

static CUresult launch(nt_device *device, CUfunction function, const nt_stage *stage, void **args)
{
    if (cluster_blocks(stage) == 1)
        return device->cu->launch(function, stage->grid[0], stage->grid[1], stage->grid[2], stage->block[0],
                                  stage->block[1], stage->block[2], stage->smem_dynamic_bytes, device->stream, args,
                                  NULL);
    CUlaunchAttribute cluster;
    memset(&cluster, 0, sizeof cluster);
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim.x = stage->cluster[0] > 1 ? stage->cluster[0] : 1;
    cluster.value.clusterDim.y = stage->cluster[1] > 1 ? stage->cluster[1] : 1;
    cluster.value.clusterDim.z = stage->cluster[2] > 1 ? stage->cluster[2] : 1;
    CUlaunchConfig config = {
        .gridDimX = stage->grid[0],
        .gridDimY = stage->grid[1],
        .gridDimZ = stage->grid[2],
        .blockDimX = stage->block[0],
        .blockDimY = stage->block[1],
        .blockDimZ = stage->block[2],
        .sharedMemBytes = stage->smem_dynamic_bytes,
        .hStream = device->stream,
        .attrs = &cluster,
        .numAttrs = 1,
    };
    return device->cu->launch_ex(&config, function, args, NULL);
}

static CUresult zero(nt_device *device, const nt_stage *stage, const nt_binding *binding)
{
    CUdeviceptr at = (CUdeviceptr)binding->address[stage->zero_role];
    if (stage->zero_bytes == 0)
        return CUDA_SUCCESS;
    if (at % 4 == 0 && stage->zero_bytes % 4 == 0)
        return device->cu->set_words(at, 0, stage->zero_bytes / 4, device->stream);
    return device->cu->set_bytes(at, 0, stage->zero_bytes, device->stream);
}

CUresult nt_cuda_enqueue(nt_device *device, const nt_cuda_stages *stages, int index, const nt_binding *binding)
{
    const nt_stage *stage = &stages->stage[index];
    if (stage->kind == NT_STAGE_ZERO)
        return zero(device, stage, binding);
    if (stage->kind == NT_STAGE_SYMBOL)
        return device->cu->copy_within(stages->variable[index], (CUdeviceptr)binding->address[stage->zero_role],
                                       stage->zero_bytes, device->stream);
    nt_cuda_call *call = stages->call[index];
    if (stage->kind == NT_STAGE_VENDOR)
        return call != NULL ? (CUresult)call->run(call, binding, device->stream) : CUDA_ERROR_INVALID_HANDLE;
    values bound;
    CUresult result = bind(device, stage, binding, &bound);
    return result == CUDA_SUCCESS ? launch(device, stages->function[index], stage, bound.address) : result;
}

nt_status nt_cuda_launch_error(CUresult result, const nt_stage *stage, nt_error *err)
{
    if (stage->kind == NT_STAGE_VENDOR)
        return nt_cuda_vendor_error((int)result, stage, err);
    if (stage->kind == NT_STAGE_ZERO)
        return nt_cuda_fail(err, (int)result, "zeroing %zu bytes", stage->zero_bytes);
    if (stage->kind == NT_STAGE_SYMBOL)
        return nt_cuda_fail(err, (int)result, "filling the variable '%s' with %zu bytes", stage->entry,
                            stage->zero_bytes);
    return nt_cuda_fail(err, (int)result,
                        "launching '%s' with grid %ux%ux%u, block %ux%ux%u, cluster %ux%ux%u and %u "
                        "bytes of dynamic shared memory",
                        stage->entry, stage->grid[0], stage->grid[1], stage->grid[2], stage->block[0], stage->block[1],
                        stage->block[2], stage->cluster[0], stage->cluster[1], stage->cluster[2],
                        stage->smem_dynamic_bytes);
}

/* A stage's name for the message of a fault that shows only when waiting. */
static const char *stages_name(const nt_cuda_stages *stages)
{
    for (int i = 0; i < stages->count; i++)
        if (stages->stage[i].kind == NT_STAGE_KERNEL)
            return stages->stage[i].entry;
    return "the plan";
}

static nt_status enqueue_all(nt_device *device, const nt_cuda_stages *stages, const nt_binding *binding, nt_error *err)
{
    for (int i = 0; i < stages->count; i++) {
        CUresult result = nt_cuda_enqueue(device, stages, i, binding);
        if (result != CUDA_SUCCESS)
            return nt_cuda_launch_error(result, &stages->stage[i], err);
    }
    return NT_OK;
}

nt_status nt_cuda_launch(nt_device *device, nt_module *module, const nt_plan *plan, const nt_binding *binding,
                         nt_error *err)
{
    nt_cuda_stages stages = {0};
    nt_status status = nt_cuda_stages_get(device, module, plan->stage, plan->stage_count, &stages, err);
    return status == NT_OK ? enqueue_all(device, &stages, binding, err) : status;
}

nt_status nt_cuda_run(nt_device *device, nt_module *module, const nt_plan *plan, bool prepare,
                      const nt_binding *binding, double *elapsed_ns, nt_error *err)
{
    const nt_cuda_api *cu = device->cu;
    nt_cuda_stages stages = {0};
    char doing[NT_ENTRY_BYTES + 16];
    nt_status status = nt_cuda_stages_get(device, module, prepare ? plan->prepare : plan->stage,
                                          prepare ? plan->prepare_count : plan->stage_count, &stages, err);
    if (status != NT_OK)
        return status;
    CUresult timed = cu->event_record(device->begin, device->stream);
    status = enqueue_all(device, &stages, binding, err);
    if (timed == CUDA_SUCCESS)
        timed = cu->event_record(device->end, device->stream);
    if (status != NT_OK)
        return status;
    snprintf(doing, sizeof doing, "running '%s'", stages_name(&stages));
    status = nt_cuda_wait(device, doing, err);
    if (status != NT_OK || elapsed_ns == NULL)
        return status;
    float ms = 0;
    if (timed == CUDA_SUCCESS)
        timed = cu->event_elapsed(&ms, device->begin, device->end);
    *elapsed_ns = (double)ms * 1e6;
    return timed == CUDA_SUCCESS ? NT_OK : nt_cuda_fail(err, (int)timed, "timing '%s'", stages_name(&stages));
}

#endif
