/* cpu_depthwise.c: the table row of depthwise.cpu.c: parameters, constraints, rules of thumb and launches. */
#include "kernels/conv/cpu.h"

#include <inttypes.h>

extern const char nt_embed_dwconv3x3_depthwise_cpu_c[];

static const nt_param params[] = {
    {.name = "vector_bytes", .help = "bytes of a vector", .NT_INTS(16, 32, 64), .dflt = 1},
    {.name = "positions", .help = "pixels of a register tile", .NT_INTS(1, 2, 4, 6, 7, 8, 14), .dflt = 2},
    {.name = "vectors", .help = "vectors of channels in a register tile", .NT_INTS(1, 2, 3, 4), .dflt = 1},
    {.name = "rows", .help = "rows of a work item", .NT_INTS(1, 2, 4, 7, 14), .dflt = 2, .use = NT_PARAM_LAUNCH},
};

static const nt_constraint constraints[] = {
    {"vector_bytes == simd_bytes or 2 * vector_bytes == simd_bytes", "vectors are the processor's widest or half that"},
    {"positions * vectors + vectors + 1 <= (32 if simd_bytes >= 64 else 16)",
     "the sums, weights and input of a tile fit the vector registers"},
    {"vectors == 1 or (vectors - 1) * vector_bytes < 4 * c", "a tile has no more channels than the layer"},
    {"rows == 1 or rows <= h", "a work item has no more rows than the image"},
};

/* One pixel and one vector at a time: what a plain loop over channels compiles to. */
static const nt_rule rules[] = {{"1x1 tile, a plain loop", "vector_bytes=32 positions=1 vectors=1 rows=1"}};

static const char *refuses(const nt_problem *problem)
{
    return nt_conv_of(problem).w > 1 << 16 ? "rows are at most 65536 wide" : nt_cpu_refuses(problem);
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    nt_conv d = nt_conv_of(problem);
    nt_cpu_tile tile = nt_cpu_tile_of(params, config);
    int64_t rows = nt_config_int(params, config, "rows"), padded = nt_ceil_div(d.c, tile.channels) * tile.channels;
    int64_t groups = problem->layout == NT_NHWC ? padded / tile.channels : d.c, bands = nt_ceil_div(d.out_h, rows);
    (void)device;
    if (d.n > UINT32_MAX || groups > UINT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED, "%" PRId64 " images are more than 4294967295", d.n);
    *out = (nt_plan){.prepare_count = 1, .stage_count = 1};
    out->packed_bytes = (size_t)(padded * d.taps * d.taps) * 4;
    nt_stage_kernel(&out->prepare[0], "pack_weights", (uint32_t)padded, 1, 1, 1, 1, 1);
    nt_stage_arg_buffer(&out->prepare[0], NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(&out->prepare[0], NT_ROLE_PACKED, 0);
    nt_stage_arg_i64(&out->prepare[0], d.c);
    nt_stage *stage = &out->stage[0];
    nt_stage_kernel(stage, "convolve", (uint32_t)groups, (uint32_t)bands, (uint32_t)d.n, 1, 1, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    const int64_t sizes[] = {d.c, d.h, d.w, d.out_h, d.out_w, rows, d.n};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        nt_stage_arg_i64(stage, sizes[i]);
    return NT_OK;
}

const nt_kernel nt_kernel_dwconv3x3_cpu_depthwise = {
    .name = "depthwise",
    .summary = "register tile of pixels by channels, each with its own filter",
    .layer = "dwconv3x3",
    .device = NT_DEVICE_CPU,
    .source = {nt_embed_conv_tile_cpu_c, nt_embed_dwconv3x3_depthwise_cpu_c},
    .precisions = NT_BIT(NT_FP32) | NT_BIT(NT_INT8) | NT_BIT(NT_BF16),
    .layouts = NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW),
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .constraints = constraints,
    .constraint_count = sizeof constraints / sizeof constraints[0],
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .bound = NT_BOUND_DIRECT,
    .additions = nt_conv_additions,
    .refuses = refuses,
    .options = nt_cpu_options,
    .plan = plan,
};
