/* cpu_im2col.c: the table row of im2col.cpu.c: parameters, constraints, rules of thumb and launches. */
#include "kernels/conv3x3/cpu.h"

extern const char nt_embed_conv3x3_im2col_cpu_c[];

static const nt_param params[] = {
    {.name = "vector_bytes", .help = "bytes of a vector", .NT_INTS(16, 32, 64), .dflt = 1},
    {.name = "positions", .help = "pixels of a register tile", .NT_INTS(2, 4, 6, 7, 8, 14, 28), .dflt = 2},
    {.name = "vectors", .help = "vectors of output channels in a register tile", .NT_INTS(1, 2, 3, 4), .dflt = 1},
    {.name = "unroll", .help = "steps of the innermost loop at a time", .NT_INTS(1, 2, 4), .dflt = 0},
    {.name = "depth",
     .help = "words of the reduction laid out at a time (a word: 1 fp32 or 4 int8 channels)",
     .NT_INTS(64, 144, 288, 576),
     .dflt = 1},
    {.name = "pixel_tiles",
     .help = "register tiles along the pixels of a work item",
     .NT_INTS(1, 2, 4, 8, 16),
     .dflt = 2,
     .use = NT_PARAM_LAUNCH},
    {.name = "k_blocks",
     .help = "register tiles along the output channels of a work item",
     .NT_INTS(1, 2, 4, 8),
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
    {"pixel_tiles == 1 or positions * (pixel_tiles - 1) < n * h * w", "a work item has no more pixels than the batch"},
    {"depth == 64 or depth < 18 * c", "a step of the reduction is at most twice the reduction"},
    {"positions * pixel_tiles * (depth + 16) <= (65536 if elem_bytes == 4 else 16384)",
     "the patches of a work item stay within 256 KiB"},
};

static const nt_rule rules[] = {
    {"6x2 AVX2 tile", "vector_bytes=32 positions=6 vectors=2 unroll=1 depth=144 pixel_tiles=4 k_blocks=4"},
};

static double additions(const nt_problem *problem)
{
    return 9.0 * (double)nt_conv_of(problem).c;
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    nt_conv d = nt_conv_of(problem);
    nt_cpu_tile tile = nt_cpu_tile_of(params, config);
    int64_t pixel_tiles = nt_config_int(params, config, "pixel_tiles");
    int64_t k_blocks = nt_config_int(params, config, "k_blocks");
    (void)device;

    *out = (nt_plan){.stage_count = 1};
    nt_cpu_pack_weights(problem, tile, d.c, out);
    nt_status status = nt_cpu_convolve(problem, out, nt_ceil_div(d.n * d.h * d.w, pixel_tiles * tile.positions),
                                       nt_ceil_div(d.k, k_blocks * tile.channels), 1, err);
    if (status != NT_OK)
        return status;
    nt_stage *stage = &out->stage[0];
    nt_stage_arg_i64(stage, pixel_tiles);
    nt_stage_arg_i64(stage, k_blocks);
    nt_stage_arg_i64(stage, nt_config_int(params, config, "k_outer"));
    nt_stage_arg_i64(stage, d.n);
    return NT_OK;
}

const nt_kernel nt_kernel_conv3x3_cpu_im2col = {
    .name = "im2col",
    .summary = "patches laid out in scratch, then a matrix product; pixels counted through rows and images",
    .layer = "conv3x3",
    .device = NT_DEVICE_CPU,
    .source = {nt_embed_conv3x3_tile_cpu_c, nt_embed_conv3x3_pack_cpu_c, nt_embed_conv3x3_im2col_cpu_c},
    .precisions = NT_BIT(NT_FP32) | NT_BIT(NT_INT8),
    .layouts = NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW),
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .constraints = constraints,
    .constraint_count = sizeof constraints / sizeof constraints[0],
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .bound = NT_BOUND_DIRECT,
    .additions = additions,
    .refuses = nt_cpu_refuses,
    .plan = plan,
};
