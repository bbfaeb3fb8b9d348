/* run_cuda.c: kernels on a GPU: a cubin in the caller's context, launches queued on the caller's stream. */
#include "runtime/cuda.h"
#include "runtime/kernel.h"

enum {
    CLUSTER_DIMENSION = 4,
    MAX_DYNAMIC_SHARED = 8,
    NON_PORTABLE_CLUSTER = 14,
    PLAIN_SMEM_BYTES = 48 * 1024,
    LEAST_CODE_BYTES = 16
};

static uint32_t cluster_blocks(const nntune_stage *stage)
{
    uint32_t blocks = 1;
    for (int i = 0; i < 3; i++)
        blocks *= stage->cluster[i] > 1 ? stage->cluster[i] : 1;
    return blocks;
}

/* Stages may share a function, whose limit must do for all of them. */
static uint32_t most_smem_bytes(const nntune_kernel *kernel, const char *entry)
{
    uint32_t most = 0;
    for (int i = 0; i < kernel->prepare_count + kernel->stage_count; i++)
        if (kernel->stage[i].kind == 0 && strcmp(kernel->stage[i].entry, entry) == 0 &&
            kernel->stage[i].smem_bytes > most)
            most = kernel->stage[i].smem_bytes;
    return most;
}

static nntune_status find_function(const nntune_cuda *cuda, nntune_kernel *kernel, nntune_stage *stage, char *why)
{
    uint32_t smem_bytes = most_smem_bytes(kernel, stage->entry);
    int code = cuda->module_function(&stage->function, kernel->module, stage->entry);
    if (code == 0 && smem_bytes > PLAIN_SMEM_BYTES)
        code = cuda->function_set(stage->function, MAX_DYNAMIC_SHARED, (int)smem_bytes);
    if (code == 0 && cluster_blocks(stage) > 8)
        code = cuda->function_set(stage->function, NON_PORTABLE_CLUSTER, 1);
    if (code == 0)
        return NNTUNE_OK;
    return nntune_fail(why, NNTUNE_FAILED, "entry %s cannot be used: %s", stage->entry, nntune_cuda_error(cuda, code));
}

static void unload(nntune_kernel *kernel)
{
    const nntune_cuda *cuda;
    if (kernel->module != NULL && nntune_cuda_get(&cuda, NULL) == NNTUNE_OK)
        cuda->module_unload(kernel->module);
}

static nntune_status load(nntune_kernel *kernel, const void *code, size_t bytes, char *why)
{
    const nntune_cuda *cuda;
    nntune_status status = nntune_cuda_get(&cuda, why);
    if (status != NNTUNE_OK)
        return status;
    if (bytes < LEAST_CODE_BYTES)
        return nntune_fail(why, NNTUNE_CORRUPT, "%zu bytes are no code for a GPU", bytes);
    int result = cuda->module_load(&kernel->module, code);
    if (result != 0)
        return nntune_fail(why, NNTUNE_FAILED, "the driver does not load %zu bytes of code: %s (is a context current?)",
                           bytes, nntune_cuda_error(cuda, result));
    for (int i = 0; status == NNTUNE_OK && i < kernel->prepare_count + kernel->stage_count; i++)
        if (kernel->stage[i].kind == 0)
            status = find_function(cuda, kernel, &kernel->stage[i], why);
    if (status != NNTUNE_OK)
        unload(kernel);
    return status;
}

static int launch(const nntune_cuda *cuda, const nntune_stage *s, void **args, void *stream)
{
    if (cluster_blocks(s) == 1)
        return cuda->launch(s->function, s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1], s->block[2],
                            s->smem_bytes, stream, args, NULL);
    nntune_cuda_attribute cluster = {.id = CLUSTER_DIMENSION};
    nntune_cuda_config config = {
        .smem_bytes = s->smem_bytes, .stream = stream, .attributes = &cluster, .attribute_count = 1};
    for (int i = 0; i < 3; i++) {
        cluster.value.cluster[i] = s->cluster[i] > 1 ? s->cluster[i] : 1;
        config.grid[i] = s->grid[i];
        config.block[i] = s->block[i];
    }
    return cuda->launch_ex(&config, s->function, args, NULL);
}

static int zero(const nntune_cuda *cuda, const nntune_stage *s, uint64_t at, void *stream)
{
    if (s->zero_bytes == 0)
        return 0;
    if (at % 4 == 0 && s->zero_bytes % 4 == 0)
        return cuda->set_words(at, 0, s->zero_bytes / 4, stream);
    return cuda->set_bytes(at, 0, s->zero_bytes, stream);
}

static nntune_status run(nntune_kernel *kernel, nntune_stage *stages, int count, const uint64_t *address, void *stream,
                         char *why)
{
    const nntune_cuda *cuda;
    nntune_value values[NNTUNE_MAX_ARGS];
    void *args[NNTUNE_MAX_ARGS];
    nntune_status status = nntune_cuda_get(&cuda, why);
    (void)kernel;
    for (int i = 0; status == NNTUNE_OK && i < count; i++) {
        status = nntune_maps_encode(&stages[i], address, why);
        if (status != NNTUNE_OK)
            break;
        nntune_arguments(&stages[i], address, values, args);
        int code = stages[i].kind == 1 ? zero(cuda, &stages[i], address[stages[i].zero_role], stream)
                                       : launch(cuda, &stages[i], args, stream);
        if (code != 0)
            status = nntune_fail(why, NNTUNE_FAILED, "%s cannot be launched: %s",
                                 stages[i].kind == 1 ? "zeroing" : stages[i].entry, nntune_cuda_error(cuda, code));
    }
    return status;
}

const nntune_backend nntune_backend_cuda = {load, unload, run};
