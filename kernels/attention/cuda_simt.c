/* cuda_simt.c: the row of simt.cu. */
#include "kernels/attention/attention.h"
#include "kernels/common/launch.h"

extern const char nt_embed_attention_simt_cu[];

static const nt_param params[] = {
    {.name = "warps", .help = "warps of a block, which share the staged keys", .NT_INTS(1, 2, 4, 8), .dflt = 2},
    {.name = "queries", .help = "queries of a warp", .NT_INTS(1, 2, 4, 8), .dflt = 2},
    {.name = "keys", .help = "keys staged at a time", .NT_INTS(32, 64, 128), .dflt = 0},
};

#define SMEM_BYTES "4 * (keys * (2 * d + 4) + warps * queries * (d + keys))"

static const nt_constraint constraints[] = {
    {SMEM_BYTES " <= smem_per_block", "keys, values, queries and weights fit in shared memory"},
    {"queries * (keys // 32 + d // 32) <= 64", "scores and sums of a thread fit in its registers"},
    {"keys == 32 or keys < 2 * tokens", "a smaller block holds all keys"},
};

static const nt_rule rules[] = {
    {"a warp a query", "warps=4 queries=1 keys=32"},
};

static const char *refuses(const nt_problem *problem)
{
    return nt__attention_cuda_refuses(problem, 4);
}

static void options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    (void)config;
    nt_attention_options(problem, out);
    nt_str_add(out, " -DVEC=4");
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    nt_attention a = nt_attention_of(problem);
    int64_t warps = nt_config_int(params, config, "warps"), queries = nt_config_int(params, config, "queries");
    int64_t keys = nt_config_int(params, config, "keys");
    int64_t smem = 4 * (keys * (2 * a.d + 4) + warps * queries * (a.d + keys));
    if (device->smem_per_block_bytes != NT_UNKNOWN && smem > device->smem_per_block_bytes)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld bytes of shared memory, a block may have %lld", (long long)smem,
                       (long long)device->smem_per_block_bytes);
    nt_status status = nt_launch_blocks(out, "nt_attention_simt", nt_attention_blocks(problem, warps * queries),
                                        32 * warps, 1, "warps or queries", err);
    nt_stage *stage = &out->stage[0];
    if (status != NT_OK)
        return status;
    stage->smem_dynamic_bytes = (uint32_t)smem;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i32(stage, a.heads);
    nt_stage_arg_i32(stage, a.tokens);
    nt_stage_arg_i32(stage, nt_div_up(a.tokens, warps * queries));
    return NT_OK;
}

const nt_kernel nt_kernel_attention_cuda_simt = {
    .name = "simt",
    .summary = "fused, on the CUDA cores: keys and values staged in f32, one pass over the keys",
    .layer = "attention",
    .device = NT_DEVICE_CUDA,
    .source = {nt_embed_common_prelude_cuh, nt_embed_common_vector_cuh, nt_embed_attention_simt_cu},
    .precisions = NT_BIT(NT_FP32) | NT_BIT(NT_FP16) | NT_BIT(NT_BF16),
    .layouts = NT_BIT(NT_NHWC),
    .min_compute_capability = 75,
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .constraints = constraints,
    .constraint_count = sizeof constraints / sizeof constraints[0],
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .bound = NT_BOUND_DIRECT,
    .additions = nt_attention_additions,
    .refuses = refuses,
    .options = options,
    .plan = plan,
};
