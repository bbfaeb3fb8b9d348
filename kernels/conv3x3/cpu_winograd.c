/* cpu_winograd.c: the table row of winograd.cpu.c: parameters, constraints, rules of thumb and launches. */
#include "kernels/conv/cpu.h"

#include <inttypes.h>

extern const char nt_embed_conv3x3_winograd_cpu_c[];

static const nt_param params[] = {
    {.name = "vector_bytes", .help = "bytes of a vector", .NT_INTS(16, 32, 64), .dflt = 1},
    {.name = "positions", .help = "2x2 output tiles of a register tile", .NT_INTS(2, 4, 6, 7, 8, 14, 28), .dflt = 2},
    {.name = "vectors", .help = "vectors of output channels in a register tile", .NT_INTS(1, 2, 3, 4), .dflt = 1},
    {.name = "unroll", .help = "steps of the innermost loop at a time", .NT_INTS(1, 2, 4), .dflt = 0},
    {.name = "c_block", .help = "input channels transformed at a time", .NT_INTS(16, 32, 64, 128), .dflt = 2},
    {.name = "tile_groups",
     .help = "register tiles along the 2x2 output tiles of a work item",
     .NT_INTS(1, 2, 3, 4, 6, 8),
     .dflt = 3,
     .use = NT_PARAM_LAUNCH},
    {.name = "k_blocks",
     .help = "register tiles along the output channels of a work item",
     .NT_INTS(1, 2, 4, 8, 16),
     .dflt = 2,
     .use = NT_PARAM_LAUNCH},
    {.name = "k_outer",
     .help = "work items next to each other share weights, not inputs",
     .NT_INTS(0, 1),
     .dflt = 0,
     .is_bool = true,
     .use = NT_PARAM_LAUNCH},
};

static const nt_constraint constraints[] = {
    NT_CPU_VECTOR_CONSTRAINTS,
    {"tile_groups == 1 or positions * (tile_groups - 1) < n * ((h + 1) // 2) * ((w + 1) // 2)",
     "a work item has no more 2x2 tiles than the batch"},
    {"c_block == 16 or c_block < 2 * c", "a block of input channels is at most twice the channels"},
    {"16 * positions * tile_groups * (c_block + k_blocks * vectors * vector_bytes // 4) <= 131072",
     "the transformed inputs and products of a work item stay within 512 KiB"},
};

static const nt_rule rules[] = {
    {"6x2 AVX2 tile", "vector_bytes=32 positions=6 vectors=2 unroll=1 c_block=64 tile_groups=4 k_blocks=4"},
};

/* Roundings on the way to one output: the weight's transform (made in double, rounded once), two additions of the
 * input's, c products added up, and two passes of two additions of the output's. */
static double additions(const nt_problem *problem)
{
    return (double)nt_conv_of(problem).c + 1 + 2 + 4;
}

/* 16 transformed weights of one channel to one lane. */
static void transform_weights(const nt_problem *problem, nt_cpu_tile tile, nt_plan *out)
{
    nt_conv d = nt_conv_of(problem);
    int64_t blocks = nt_ceil_div(d.k, tile.channels);
    out->packed_bytes = (size_t)(blocks * tile.channels) * (size_t)d.c * 16 * sizeof(float);
    out->prepare_count = 1;
    nt_stage *stage = &out->prepare[0];
    nt_stage_kernel(stage, "transform_weights", (uint32_t)blocks, 1, 1, 1, 1, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_i64(stage, d.c);
    nt_stage_arg_i64(stage, d.k);
}

static const char *refuses(const nt_problem *problem)
{
    return nt_conv_of(problem).stride != 1 ? "it has stride 1 alone" : nt_cpu_refuses(problem);
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    nt_conv d = nt_conv_of(problem);
    nt_cpu_tile tile = nt_cpu_tile_of(params, config);
    int64_t tile_groups = nt_config_int(params, config, "tile_groups");
    int64_t k_blocks = nt_config_int(params, config, "k_blocks");
    int64_t tiles = d.n * nt_ceil_div(d.h, 2) * nt_ceil_div(d.w, 2);
    (void)device;

    int64_t items[2] = {nt_ceil_div(tiles, tile_groups * tile.positions), nt_ceil_div(d.k, k_blocks * tile.channels)};
    if (items[0] > UINT32_MAX || items[1] > UINT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED,
                       "%" PRId64 " x %" PRId64 " work items are more than 4294967295 along a side", items[0],
                       items[1]);
    *out = (nt_plan){.stage_count = 1};
    transform_weights(problem, tile, out);
    nt_stage *stage = &out->stage[0];
    nt_stage_kernel(stage, "convolve", (uint32_t)items[0], (uint32_t)items[1], 1, 1, 1, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i64(stage, d.c);
    nt_stage_arg_i64(stage, d.k);
    nt_stage_arg_i64(stage, d.h);
    nt_stage_arg_i64(stage, d.w);
    nt_stage_arg_i64(stage, tile_groups);
    nt_stage_arg_i64(stage, k_blocks);
    nt_stage_arg_i64(stage, nt_config_int(params, config, "k_outer"));
    nt_stage_arg_i64(stage, d.n);
    return NT_OK;
}

const nt_kernel nt_kernel_conv3x3_cpu_winograd = {
    .name = "winograd",
    .summary = "Winograd F(2x2,3x3): 16 multiplications for 4 outputs instead of 36",
    .layer = "conv3x3",
    .device = NT_DEVICE_CPU,
    .source = {nt_embed_conv_tile_cpu_c, nt_embed_conv3x3_winograd_cpu_c},
    .precisions = NT_BIT(NT_FP32),
    .layouts = NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW),
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .constraints = constraints,
    .constraint_count = sizeof constraints / sizeof constraints[0],
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .bound = NT_BOUND_WINOGRAD_F2,
    .additions = additions,
    .refuses = refuses,
    .plan = plan,
};
