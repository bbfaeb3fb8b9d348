/* cpu_blocks.c: the row of blocks.cpu.c. */
#include "kernels/attention/attention.h"
#include "kernels/common/launch.h"

extern const char nt_embed_common_vector_cpu_c[], nt_embed_common_exp_cpu_c[], nt_embed_attention_blocks_cpu_c[];

enum { WIDEST_HEAD = 256 };

static const nt_param params[] = {
    {.name = "vector_bytes", .help = "bytes of a vector of f32", .NT_INTS(16, 32, 64), .dflt = 1},
    {.name = "queries", .help = "queries of a register tile", .NT_INTS(1, 2, 4, 6, 8), .dflt = 2},
    {.name = "vectors", .help = "vectors of a register tile", .NT_INTS(1, 2, 4), .dflt = 1},
    {.name = "keys", .help = "keys laid out at a time", .NT_INTS(64, 128, 256), .dflt = 0},
    {.name = "rows",
     .help = "queries of a work item, for which keys are laid out once",
     .NT_INTS(16, 32, 64, 128, 256),
     .dflt = 2,
     .use = NT_PARAM_LAUNCH},
};

static const nt_constraint constraints[] = {
    {"vector_bytes <= simd_bytes", "the processor has vectors as wide"},
    {"queries * vectors + vectors + 1 <= (32 if simd_bytes >= 64 else 16)", "a tile fits the vector registers"},
    {"queries * vectors >= 4", "fewer than 4 sums leave the multipliers waiting for each other"},
    {"keys == 64 or keys < 2 * tokens", "a smaller block holds all keys"},
    {"rows == 16 or rows < 2 * tokens", "a work item has no more queries than there are"},
    {"4 * ((2 * keys + 2 * rows) * (d + 63) + queries * keys) <= 786432", "scratch stays within 768 KiB"},
};

static const nt_rule rules[] = {
    {"4x2 AVX2 tile", "vector_bytes=32 queries=4 vectors=2 keys=64 rows=64"},
};

static const char *refuses(const nt_problem *problem)
{
    return nt_attention_of(problem).d > WIDEST_HEAD ? "the width of a head must be at most 256" : NULL;
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    nt_attention a = nt_attention_of(problem);
    int64_t rows = nt_config_int(params, config, "rows");
    (void)device;
    nt_status status = nt_launch_items(out, "attention", nt_attention_blocks(problem, rows), err);
    nt_stage *stage = &out->stage[0];
    if (status != NT_OK)
        return status;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    const int64_t sizes[] = {a.n, a.heads, a.tokens, a.d, rows};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        nt_stage_arg_i64(stage, sizes[i]);
    return NT_OK;
}

const nt_kernel nt_kernel_attention_cpu_blocks = {
    .name = "blocks",
    .summary = "fused: blocks of keys laid out in scratch, register tiles of queries, one pass over the keys",
    .layer = "attention",
    .device = NT_DEVICE_CPU,
    .source = {nt_embed_common_vector_cpu_c, nt_embed_common_exp_cpu_c, nt_embed_attention_blocks_cpu_c},
    .precisions = NT_BIT(NT_FP32) | NT_BIT(NT_FP16) | NT_BIT(NT_BF16),
    .layouts = NT_BIT(NT_NHWC),
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .constraints = constraints,
    .constraint_count = sizeof constraints / sizeof constraints[0],
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .bound = NT_BOUND_DIRECT,
    .additions = nt_attention_additions,
    .refuses = refuses,
    .plan = plan,
};
