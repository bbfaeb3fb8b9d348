/* cuda_gemv.c: the row of gemv.cu: fc for a batch of up to 16. What counts is bytes under way: warps, rows and vectors
 * ahead; few outputs want their inputs shared by several warps. */
#include "kernels/conv/conv.h"
#include "kernels/kernel.h"

extern const char nt_embed_common_prelude_cuh[], nt_embed_common_tensor_core_cuh[], nt_embed_fc_gemv_cu[];

enum { MOST_BATCH = 16 };

static const nt_param params[] = {
    {.name = "rows", .help = "outputs of a warp", .NT_INTS(1, 2, 4, 8), .dflt = 0},
    {.name = "warps", .help = "warps of a block", .NT_INTS(1, 2, 4, 8, 16), .dflt = 2},
    {.name = "parts", .help = "warps that share the inputs of an output", .NT_INTS(1, 2, 4, 8, 16), .dflt = 0},
    {.name = "unroll", .help = "vectors of 16 bytes a row under way", .NT_INTS(1, 2, 4, 8), .dflt = 1},
};

static const nt_constraint constraints[] = {
    {"warps % parts == 0", "a block has all parts of its outputs"},
    {"rows * n <= 64", "a thread has up to 64 sums"},
    {"rows * unroll * 4 + rows * n + 16 <= 160", "vectors and sums fit in the registers"},
    {"parts == 1 or c * elem_bytes >= 512 * parts", "each part has inputs"},
    {"rows == 1 or rows <= k", "a warp has its outputs"},
};

static const nt_rule rules[] = {
    {"a warp an output", "rows=1 warps=4 parts=1 unroll=1"},
};

static int64_t value(const nt_config *config, const char *name)
{
    return nt_config_int(params, config, name);
}

static const char *refuses(const nt_problem *problem)
{
    nt_conv d = nt_conv_of(problem);
    if (d.n > MOST_BATCH)
        return "it is for a batch of up to 16";
    if (d.c * (int64_t)nt_dtype_bytes(nt_precisions[problem->precision].in) % 16 != 0)
        return "the bytes of an example's inputs must be a multiple of 16";
    return nt_conv_cuda_refuses(problem);
}

static void options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    (void)config;
    nt_str_addf(out, " -DBATCH=%lld", (long long)problem->batch);
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    nt_conv d = nt_conv_of(problem);
    int64_t rows = value(config, "rows"), warps = value(config, "warps");
    int64_t outputs = rows * (warps / value(config, "parts")), blocks = (d.k + outputs - 1) / outputs;
    (void)device, (void)err;
    *out = (nt_plan){.stage_count = 1};
    nt_stage *stage = &out->stage[0];
    nt_stage_kernel(stage, "nt_fc_gemv", (uint32_t)blocks, 1, 1, (uint32_t)(warps * 32), 1, 1);
    stage->smem_dynamic_bytes = (uint32_t)(warps * rows * d.n * 4);
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i32(stage, d.c);
    nt_stage_arg_i32(stage, d.k);
    return NT_OK;
}

const nt_kernel nt_kernel_fc_cuda_gemv = {
    .name = "gemv",
    .summary = "dot products of a few examples with every weight, at the speed of memory",
    .layer = "fc",
    .device = NT_DEVICE_CUDA,
    .source = {nt_embed_common_prelude_cuh, nt_embed_common_tensor_core_cuh, nt_embed_fc_gemv_cu},
    .precisions = NT_BIT(NT_FP32) | NT_BIT(NT_TF32) | NT_BIT(NT_FP16) | NT_BIT(NT_BF16) | NT_BIT(NT_INT8),
    .layouts = NT_BIT(NT_NHWC),
    .min_compute_capability = 75,
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .constraints = constraints,
    .constraint_count = sizeof constraints / sizeof constraints[0],
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .bound = NT_BOUND_DIRECT,
    .additions = nt_conv_additions,
    .refuses = refuses,
    .options = options,
    .plan = plan,
};
