/* space_kernels.h: devices, problems and a kernel for tests of spaces. Included after cmocka.h. */
#ifndef NT_TEST_SPACE_KERNELS_H
#define NT_TEST_SPACE_KERNELS_H

#include <string.h>

#include "autotune/space_model.h"
#include "autotune/space_tree.h"
#include "core/mem.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))

static inline nt_problem problem_of(int64_t c, nt_precision precision)
{
    nt_problem problem = {.layer = "conv3x3", .batch = 8, .precision = precision};
    problem.shape.count = 2;
    strcpy(problem.shape.dim[0].key, "c");
    problem.shape.dim[0].size = c;
    strcpy(problem.shape.dim[1].key, "h");
    problem.shape.dim[1].size = 56;
    return problem;
}

static inline nt_device_info gpu(void)
{
    return (nt_device_info){.kind = NT_DEVICE_CUDA,
                            .compute_capability = 90,
                            .sm_count = 132,
                            .smem_per_block_bytes = 232448,
                            .max_threads_per_block = 1024,
                            .regs_per_block = 65536,
                            .regs_per_sm = 65536,
                            .warp_size = 32};
}

static inline nt_device_info cpu(void)
{
    nt_device_info info = {.kind = NT_DEVICE_CPU,
                           .arch = "x86-64-avx2",
                           .compute_capability = NT_UNKNOWN,
                           .sm_count = 16,
                           .smem_per_block_bytes = NT_UNKNOWN,
                           .max_threads_per_block = NT_UNKNOWN,
                           .regs_per_block = NT_UNKNOWN,
                           .regs_per_sm = NT_UNKNOWN,
                           .warp_size = 1};
    return info;
}

static inline nt_kernel kernel_of(const nt_param *params, int param_count, const nt_constraint *constraints,
                                  int constraint_count)
{
    return (nt_kernel){.name = "direct",
                       .params = params,
                       .param_count = param_count,
                       .constraints = constraints,
                       .constraint_count = constraint_count};
}

static inline nt_space *built(const nt_kernel *kernel, const nt_device_info *device, const nt_narrowing *narrowing,
                              int narrowing_count, const char *where)
{
    nt_problem problem = problem_of(64, NT_FP32);
    nt_space *space = NULL;
    nt_error err = {0};
    if (nt_space_build(kernel, &problem, device, narrowing, narrowing_count, where, &space, &err) != NT_OK)
        fail_msg("%s", err.what);
    return space;
}

/* ---- a tile kernel, with its constraints written a second time in C --------------------------------------------- */

static const nt_param tile_params[] = {
    {.name = "tile_m", .NT_INTS(16, 32, 64, 128)},
    {.name = "warps", .NT_INTS(1, 2, 4, 8)},
    {.name = "tile_k", .NT_INTS(8, 16, 32)},
    {.name = "path", .NT_STRINGS("plain", "async", "tma")},
    {.name = "stages", .NT_INTS(1, 2, 3, 4)},
    {.name = "swizzle", .NT_INTS(0, 1), .is_bool = true, .use = NT_PARAM_LAUNCH},
};
static const nt_constraint tile_constraints[] = {
    {"tile_m * tile_k * elem_bytes * stages <= smem_per_block // 8", "the stages fit"},
    {"warps * warp_size <= max_threads and tile_m % (warps * 16) == 0", "a warp has whole rows"},
    {"path == 'tma' or stages < 4", "only tma has four stages"},
    {"not swizzle or tile_k >= 16", "a swizzled row has 16 elements"},
    {"cc >= 90 or path != 'tma'", "tma came with 9.0"},
    {"c % tile_k == 0", "whole steps"},
};

static inline bool tile_legal(const nt_config *config)
{
    int64_t m = nt_config_int(tile_params, config, "tile_m"), k = nt_config_int(tile_params, config, "tile_k");
    int64_t warps = nt_config_int(tile_params, config, "warps"), stages = nt_config_int(tile_params, config, "stages");
    bool is_tma = config->index[3] == 2, swizzle = config->index[5] == 1;
    return m * k * 4 * stages <= 232448 / 8 && m % (warps * 16) == 0 && (is_tma || stages < 4) &&
           (!swizzle || k >= 16) && 64 % k == 0;
}

/* Steps a configuration through nested loops, the last parameter innermost; false at the end. */
static inline bool next_config(const nt_param *params, nt_config *config)
{
    for (int i = config->count - 1; i >= 0; i--) {
        if (++config->index[i] < params[i].count)
            return true;
        config->index[i] = 0;
    }
    return false;
}

static inline void expect_error(const nt_kernel *kernel, const nt_narrowing *narrowing, int count, const char *where,
                                nt_status status, const char *what, const char *hint)
{
    nt_problem problem = problem_of(3, NT_FP32);
    nt_device_info device = gpu();
    nt_space *space = (nt_space *)&problem;
    nt_error err = {0};
    assert_int_equal(nt_space_build(kernel, &problem, &device, narrowing, count, where, &space, &err), status);
    assert_null(space);
    assert_int_equal(err.status, status);
    if (strstr(err.what, what) == NULL || strstr(err.hint, hint) == NULL)
        fail_msg("%s\n%s", err.what, err.hint);
    assert_int_equal(nt_space_build(kernel, &problem, &device, narrowing, count, where, &space, NULL), status);
}

#endif
