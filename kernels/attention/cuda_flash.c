/* cuda_flash.c: the row of flash.cu. */
#include "kernels/attention/attention.h"
#include "kernels/common/launch.h"

extern const char nt_embed_attention_flash_cu[];

static const nt_param params[] = {
    {.name = "warps", .help = "warps of a block, 16 queries each", .NT_INTS(1, 2, 4, 8), .dflt = 2},
    {.name = "keys", .help = "keys of a block in shared memory", .NT_INTS(16, 32, 64, 128), .dflt = 2},
    {.name = "stages", .help = "blocks of keys in shared memory, all but one under way", .NT_INTS(1, 2, 3), .dflt = 1},
};

#define SMEM_BYTES "2 * (d + 8) * (16 * warps + 2 * stages * keys)"

static const nt_constraint constraints[] = {
    {SMEM_BYTES " <= smem_per_block", "queries, keys and values fit in shared memory"},
    {"keys // 2 + d // 2 + d // 4 <= 168", "scores, sums and queries of a thread fit in its registers"},
    {"keys == 16 or keys < 2 * tokens", "a smaller block holds all keys"},
    {"stages == 1 or (stages - 1) * keys < tokens", "no more blocks are under way than there are"},
    {"warps == 1 or 8 * warps < tokens", "a smaller block has all queries"},
};

static const nt_rule rules[] = {
    {"64 queries by 64 keys", "warps=4 keys=64 stages=1"},
};

static const char *refuses(const nt_problem *problem)
{
    return nt__attention_cuda_refuses(problem, 16);
}

static void options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    (void)config;
    nt_attention_options(problem, out);
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    nt_attention a = nt_attention_of(problem);
    int64_t warps = nt_config_int(params, config, "warps"), keys = nt_config_int(params, config, "keys");
    int64_t smem = 2 * (a.d + 8) * (16 * warps + 2 * nt_config_int(params, config, "stages") * keys);
    if (device->smem_per_block_bytes != NT_UNKNOWN && smem > device->smem_per_block_bytes)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld bytes of shared memory, a block may have %lld", (long long)smem,
                       (long long)device->smem_per_block_bytes);
    nt_status status = nt_launch_blocks(out, "nt_attention_flash", nt_attention_blocks(problem, 16 * warps), 32 * warps,
                                        1, "warps", err);
    nt_stage *stage = &out->stage[0];
    if (status != NT_OK)
        return status;
    stage->smem_dynamic_bytes = (uint32_t)smem;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i32(stage, a.heads);
    nt_stage_arg_i32(stage, a.tokens);
    nt_stage_arg_i32(stage, nt_div_up(a.tokens, 16 * warps));
    return NT_OK;
}

const nt_kernel nt_kernel_attention_cuda_flash = {
    .name = "flash",
    .summary = "fused, on tensor cores (mma.sync): scores stay in registers, one pass over the keys",
    .layer = "attention",
    .device = NT_DEVICE_CUDA,
    .source = {nt_embed_common_prelude_cuh, nt_embed_common_tensor_core_cuh, nt_embed_attention_flash_cu},
    .precisions = NT_BIT(NT_FP16) | NT_BIT(NT_BF16),
    .layouts = NT_BIT(NT_NHWC),
    .min_compute_capability = 80,
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
