/* cpu_rows.c: the row of rows.cpu.c. */
#include "kernels/layernorm/layernorm.h"

extern const char nt_embed_layernorm_rows_cpu_c[];

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    (void)device;
    return nt__rows_cpu_plan(problem, config, "layernorm", true, out, err);
}

const nt_kernel nt_kernel_layernorm_cpu_rows = {
    .name = "rows",
    .summary = "the mean, the variance of the differences, then the row",
    .layer = "layernorm",
    .device = NT_DEVICE_CPU,
    .source = {nt_embed_common_vector_cpu_c, nt_embed_layernorm_rows_cpu_c},
    .precisions = NT_BIT(NT_FP32) | NT_BIT(NT_FP16) | NT_BIT(NT_BF16),
    .layouts = NT_BIT(NT_NHWC),
    .params = nt__rows_cpu_params,
    .param_count = NT_ROWS_CPU_PARAMS,
    .constraints = nt__rows_cpu_constraints,
    .constraint_count = NT_ROWS_CPU_CONSTRAINTS,
    .rules = &nt__rows_cpu_rule,
    .rule_count = 1,
    .bound = NT_BOUND_DIRECT,
    .additions = nt_layernorm_additions,
    .refuses = nt__rows_cpu_refuses,
    .plan = plan,
};
