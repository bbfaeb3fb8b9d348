/* plans_emulated.h: for tests of kernels with several stages: a plan's buffers with guards around them, and running all
 * of a plan's preparation and stages lane by lane on the host (hopper_emulation.h). Include it after cmocka.h. */
#ifndef PLANS_EMULATED_H
#define PLANS_EMULATED_H

#include "cuda_emulated.h"
#include "host_map.h"
#include "layers_fixture.h"
#include "tests/unit/emulated_library.h"

enum { GUARD = 4096, POISON = 0xff };

static nt_device_info large_gpu(void)
{
    nt_device_info info;
    nt_device_info_init(&info, NT_DEVICE_CUDA);
    info.compute_capability = 90;
    info.smem_per_block_bytes = 232448;
    info.max_threads_per_block = 1024;
    info.regs_per_block = info.regs_per_sm = 65536;
    info.sm_count = 132;
    info.warp_size = 32;
    return info;
}

/* ---- a problem in memory ------------------------------------------------------------------------------------------------ */

typedef struct memory {
    void *role[NT_ROLE_COUNT];
    guarded in, weight;      /* up to an unmapped page */
    unsigned char *block[3]; /* out, packed, workspace with their guards */
    size_t bytes[3];
} memory;

static guarded copy_of(const void *from, size_t bytes)
{
    guarded g = guarded_new((bytes + 15) / 16 * 16); /* begins at an address aligned to 16 bytes */
    memcpy(g.data, from, bytes);
    return g;
}

static memory memory_of(const fixture *f, const nt_plan *plan)
{
    static const nt_role roles[] = {NT_ROLE_OUT, NT_ROLE_PACKED, NT_ROLE_WORKSPACE};
    memory m = {.bytes = {fixture_out_bytes(f), plan->packed_bytes, plan->workspace_bytes}};
    for (int i = 0; i < 3; i++) {
        m.block[i] = aligned_alloc(256, (m.bytes[i] + 2 * GUARD + 255) / 256 * 256);
        memset(m.block[i], POISON, m.bytes[i] + 2 * GUARD);
        m.role[roles[i]] = m.block[i] + GUARD;
    }
    m.in = copy_of(f->in_memory, fixture_in_bytes(f));
    m.weight = copy_of(f->weight_memory, fixture_weight_bytes(f));
    m.role[NT_ROLE_IN] = m.in.data;
    m.role[NT_ROLE_WEIGHT] = m.weight.data;
    return m;
}

/* Wrong outputs and damaged guard bytes; frees the memory. */
static size_t faults_of(memory *m, const fixture *f, const nt_kernel *kernel)
{
    size_t found = fixture_violations(f, kernel, m->block[0] + GUARD);
    for (int i = 0; i < 3; i++) {
        for (size_t j = 0; j < GUARD; j++)
            found += (m->block[i][j] != POISON) + (m->block[i][GUARD + m->bytes[i] + j] != POISON);
        free(m->block[i]);
    }
    guarded_done(&m->in);
    guarded_done(&m->weight);
    return found;
}

static nt_config config_of(const nt_kernel *kernel, const char *params)
{
    nt_rule rule = {"test", params};
    nt_config config;
    nt_error err;
    if (nt_kernel_rule_config(kernel, &rule, &config, &err) != NT_OK)
        fail_msg("%s", err.what);
    return config;
}

static nt_plan plan_of(const nt_kernel *kernel, const fixture *f, const nt_config *config)
{
    nt_device_info device = large_gpu();
    nt_plan plan;
    nt_error err;
    assert_true(kernel->refuses == NULL || kernel->refuses(&f->problem) == NULL);
    if (kernel->plan(&f->problem, config, &device, &plan, &err) != NT_OK)
        fail_msg("%s", err.what);
    return plan;
}

/* ---- lane by lane ----------------------------------------------------------------------------------------------------- */

enum { MAX_ARGS = 16 };
typedef const char *(*run_function)(void *entry, const uint64_t args[MAX_ARGS], const uint32_t grid[3],
                                    uint32_t cluster, uint32_t threads, uint32_t shared_bytes, bool eager);

static nt_host_map host_map_of(const nt_tensor_map *map, const memory *m)
{
    nt_host_map h = {.base = (const char *)m->role[map->role] + map->offset_bytes,
                     .elem_bytes = map->elem_bytes,
                     .images = map->images};
    for (int i = 0; i < NT_MAP_RANK; i++) {
        h.size[i] = map->size[i];
        h.stride_bytes[i] = map->stride_bytes[i];
        h.box[i] = map->box[i];
    }
    for (int i = 0; i < 2; i++) {
        h.lower[i] = map->lower[i];
        h.upper[i] = map->upper[i];
        h.step[i] = map->step[i];
    }
    assert_true((uintptr_t)h.base % 16 == 0); /* as the copy engine demands */
    return h;
}

static const char *run_lanes_stage(void *object, const nt_stage *stage, const memory *m, bool eager)
{
    run_function run;
    uint64_t args[MAX_ARGS] = {0};
    nt_host_map maps[NT_MAX_MAPS];
    *(void **)&run = dlsym(object, "nt_host_run");
    void *entry = dlsym(object, stage->entry);
    assert_non_null(run);
    assert_non_null(entry);
    assert_true(stage->arg_count <= MAX_ARGS);
    for (int i = 0; i < stage->arg_count; i++) {
        const nt_arg *arg = &stage->arg[i];
        args[i] = (uint64_t)arg->value;
        if (arg->kind == NT_ARG_BUFFER)
            args[i] = (uint64_t)(uintptr_t)((char *)m->role[arg->role] + arg->value);
        if (arg->kind == NT_ARG_TENSOR_MAP) {
            maps[arg->value] = host_map_of(&stage->map[arg->value], m);
            args[i] = (uint64_t)(uintptr_t)&maps[arg->value];
        }
    }
    return run(entry, args, stage->grid, stage->cluster[0], stage->block[0], stage->smem_dynamic_bytes, eager);
}

static void *compile_lanes(const char *source, const char *options)
{
    return emulated_library("hopper_emulation.h", source, options);
}

/* Lane by lane, copies arriving at once and as late as allowed. What the emulation itself finds counts as a fault. */
static size_t run_lanes(const nt_kernel *kernel, const fixture *f, const nt_plan *plan, const char *source,
                        const char *options, const char **wrong)
{
    void *object = compile_lanes(source, options);
    size_t found = 0;
    *wrong = NULL;
    for (int eager = 0; eager < 2; eager++) {
        memory m = memory_of(f, plan);
        for (int i = 0; i < plan->prepare_count && *wrong == NULL; i++)
            *wrong = run_lanes_stage(object, &plan->prepare[i], &m, eager);
        for (int i = 0; i < plan->stage_count && *wrong == NULL; i++)
            *wrong = run_lanes_stage(object, &plan->stage[i], &m, eager);
        found += faults_of(&m, f, kernel);
    }
    static char said[256];
    if (*wrong != NULL) {
        nt_copy(said, sizeof said, *wrong); /* it lies in the object */
        *wrong = said;
    }
    dlclose(object);
    return found + (*wrong != NULL);
}

#endif
