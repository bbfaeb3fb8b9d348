/* kernels.c: the rows of add: map.cu and map.cpu.c of kernels/common, with two operands. */
#include "kernels/common/map.h"

/* One rounding, of the sum. */
static double additions(const nt_problem *problem)
{
    (void)problem;
    return 1;
}

static void options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    (void)problem, (void)config;
    nt_str_add(out, " -DNT_MAP_ADD=1");
}

static nt_status cuda_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device,
                           nt_plan *out, nt_error *err)
{
    (void)device;
    return nt__map_cuda_plan(problem, config, true, out, err);
}

static nt_status cpu_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device,
                          nt_plan *out, nt_error *err)
{
    (void)device;
    return nt__map_cpu_plan(problem, config, true, out, err);
}

const nt_kernel nt_kernel_add_cuda_map = {
    .name = "map",
    .summary = "vectors of up to 16 bytes, several under way a thread",
    .layer = "add",
    .device = NT_DEVICE_CUDA,
    .source = {nt_embed_common_prelude_cuh, nt_embed_common_vector_cuh, nt_embed_common_map_cu},
    .precisions = NT_BIT(NT_FP32) | NT_BIT(NT_FP16) | NT_BIT(NT_BF16),
    .layouts = NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW),
    .min_compute_capability = 75,
    .params = nt__map_cuda_params,
    .param_count = NT_MAP_CUDA_PARAMS,
    .constraints = nt__map_cuda_constraints,
    .constraint_count = NT_MAP_CUDA_CONSTRAINTS,
    .rules = &nt__map_cuda_rule,
    .rule_count = 1,
    .bound = NT_BOUND_DIRECT,
    .additions = additions,
    .options = options,
    .plan = cuda_plan,
};

const nt_kernel nt_kernel_add_cpu_map = {
    .name = "map",
    .summary = "vectors in chunks, stored through or past the caches",
    .layer = "add",
    .device = NT_DEVICE_CPU,
    .source = {nt_embed_common_vector_cpu_c, nt_embed_common_map_cpu_c},
    .precisions = NT_BIT(NT_FP32) | NT_BIT(NT_FP16) | NT_BIT(NT_BF16),
    .layouts = NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW),
    .params = nt__map_cpu_params,
    .param_count = NT_MAP_CPU_PARAMS,
    .constraints = nt__map_cpu_constraints,
    .constraint_count = NT_MAP_CPU_CONSTRAINTS,
    .rules = &nt__map_cpu_rule,
    .rule_count = 1,
    .bound = NT_BOUND_DIRECT,
    .additions = additions,
    .options = options,
    .plan = cpu_plan,
};
