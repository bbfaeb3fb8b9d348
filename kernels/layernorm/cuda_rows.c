/* cuda_rows.c: the rows of rows.cu: f32 sums, and fp16 sums, whose error the precision's error shows. */
#include "kernels/layernorm/layernorm.h"

extern const char nt_embed_layernorm_rows_cu[];

/* Sums in fp16 round at 2^-11 where the precision's row says 2^-23: 4096 times as much for each addition of the longest
 * chain, and for the rest of the bound what f32 costs. */
static double half_additions(const nt_problem *problem)
{
    return 4096 * nt__rows_cuda_chain(problem) + nt_layernorm_additions(problem);
}

static void half_options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    nt__rows_cuda_options(problem, config, out);
    nt_str_add(out, " -DHALF_SUMS=1");
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    (void)device;
    return nt__rows_cuda_plan(problem, config, "nt_layernorm", true, out, err);
}

#define ROW                                                                                      \
    .layer = "layernorm", .device = NT_DEVICE_CUDA,                                              \
    .source = {nt_embed_common_prelude_cuh, nt_embed_common_vector_cuh, nt_embed_common_row_cuh, \
               nt_embed_layernorm_rows_cu},                                                      \
    .layouts = NT_BIT(NT_NHWC), .min_compute_capability = 75, .params = nt__rows_cuda_params,    \
    .param_count = NT_ROWS_CUDA_PARAMS, .constraints = nt__rows_cuda_constraints,                \
    .constraint_count = NT_ROWS_CUDA_CONSTRAINTS, .rules = &nt__rows_cuda_rule, .rule_count = 1, \
    .bound = NT_BOUND_DIRECT, .refuses = nt__rows_cuda_refuses, .plan = plan

const nt_kernel nt_kernel_layernorm_cuda_rows = {
    .name = "rows",
    .summary = "rows stay in registers, sums in f32",
    .precisions = NT_BIT(NT_FP32) | NT_BIT(NT_FP16) | NT_BIT(NT_BF16),
    .additions = nt_layernorm_additions,
    .options = nt__rows_cuda_options,
    ROW,
};

const nt_kernel nt_kernel_layernorm_cuda_half_sums = {
    .name = "half_sums",
    .summary = "the same with sums in fp16: see what it costs in error",
    .precisions = NT_BIT(NT_FP16),
    .additions = half_additions,
    .options = half_options,
    ROW,
};
