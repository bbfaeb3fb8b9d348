/* cpu_chain.c: the rows of the cpu: fused (chain.cpu.c), and as three launches of the matrix product of kernels/conv.
 */
#include "kernels/conv/cpu.h"
#include "kernels/conv1x1_chain3/chain3.h"

extern const char nt_embed_conv1x1_chain3_chain_cpu_c[];
extern const nt_kernel nt_kernel_conv1x1_cpu_gemm;

static const nt_param params[] = {
    {.name = "vector_bytes", .help = "bytes of a vector", .NT_INTS(16, 32, 64), .dflt = 1},
    {.name = "positions", .help = "pixels of a register tile", .NT_INTS(1, 2, 4, 6, 7, 8, 14, 28), .dflt = 3},
    {.name = "vectors", .help = "vectors of output channels in a register tile", .NT_INTS(1, 2, 3, 4), .dflt = 1},
    {.name = "unroll", .help = "steps of the innermost loop at a time", .NT_INTS(1, 2, 4), .dflt = 0},
    {.name = "pixel_tiles",
     .help = "register tiles of a work item",
     .NT_INTS(1, 2, 4, 8, 16),
     .dflt = 2,
     .use = NT_PARAM_LAUNCH},
};

#define LARGEST "(k if k > (k1 if k1 > k2 else k2) else (k1 if k1 > k2 else k2))"

static const nt_constraint constraints[] = {
    NT_CPU_TILE_CONSTRAINTS,
    {"pixel_tiles == 1 or positions * (pixel_tiles - 1) < n * h * w", "a work item has no more pixels than the batch"},
    {"vectors == 1 or (vectors - 1) * vector_bytes < 4 * " LARGEST, "a tile has no more channels than there are"},
    {"positions * (c + k1 + k2 + 3 * vectors * vector_bytes // 4 + 48) <= 131072",
     "the pixels of a tile and what lies between stay within 512 KiB"},
};

static const nt_constraint three_constraints[] = {
    NT_CPU_TILE_CONSTRAINTS,
    {"k_blocks == 1 or (k_blocks - 1) * vectors * vector_bytes < 4 * " LARGEST,
     "a work item has no more channels than there are"},
    {"pixel_tiles == 1 or positions * (pixel_tiles - 1) < n * h * w", "a work item has no more pixels than the batch"},
    {"positions * pixel_tiles * (depth + 16) <= 65536", "the pixels of a work item stay within 256 KiB"},
};

static const nt_rule rules[] = {{"6x2 AVX2 tile", "vector_bytes=32 positions=6 vectors=2 unroll=1 pixel_tiles=4"}};
static const nt_rule three_rules[] = {
    {"6x2 AVX2 tile", "vector_bytes=32 positions=6 vectors=2 unroll=1 depth=144 pixel_tiles=4 k_blocks=4"}};

static const char *refuses(const nt_problem *problem)
{
    nt_chain3 d = nt_chain3_of(problem);
    return d.c > 65536 || d.k > 65536 ? "c and k must be at most 65536" : NULL;
}

static void options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    nt_chain3 d = nt_chain3_of(problem);
    (void)config;
    nt_str_addf(out, " -DTAPS=1 -DSTRIDE=1 -DPAD=0 -DEPILOGUE=2 -DACT=1 -DC=%d -DK1=%d -DK2=%d -DK=%d", (int)d.c,
                (int)d.k1, (int)d.k2, (int)d.k);
}

static void three_options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    (void)problem, (void)config;
    nt_str_add(out, " -DTAPS=1 -DSTRIDE=1 -DPAD=0 -DEPILOGUE=2 -DACT=1");
}

/* Packed weights of step i, behind those before. */
static size_t prepare(const nt_problem *problem, const nt_chain3 *d, int i, int64_t channels, nt_plan *out)
{
    nt_chain3_step step = nt_chain3_step_of(d, i);
    int64_t blocks = nt_ceil_div(step.out, channels);
    size_t at = out->packed_bytes, element = nt_dtype_bytes(nt_precisions[problem->precision].weight);
    nt_stage *stage = &out->prepare[out->prepare_count++];
    nt_stage_kernel(stage, "pack_weights", (uint32_t)blocks, 1, 1, 1, 1, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, (size_t)step.weight * element);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, at);
    nt_stage_arg_i64(stage, step.in);
    nt_stage_arg_i64(stage, step.out);
    nt_stage_arg_i64(stage, step.in);
    out->packed_bytes += ((size_t)(blocks * channels * (step.in + 1)) * 4 + 255) / 256 * 256;
    return at;
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    nt_chain3 d = nt_chain3_of(problem);
    nt_cpu_tile tile = nt_cpu_tile_of(params, config);
    int64_t pixel_tiles = nt_config_int(params, config, "pixel_tiles");
    (void)device;
    nt_status status = nt_launch_items(out, "chain3", nt_ceil_div(d.pixels, pixel_tiles * tile.positions), err);
    if (status != NT_OK)
        return status;
    nt_stage *stage = &out->stage[0];
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    for (int i = 0; i < 3; i++)
        nt_stage_arg_buffer(stage, NT_ROLE_PACKED, prepare(problem, &d, i, tile.channels, out));
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i64(stage, d.pixels);
    nt_stage_arg_i64(stage, d.h * d.w);
    nt_stage_arg_i64(stage, pixel_tiles);
    return NT_OK;
}

static nt_status three_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device,
                            nt_plan *out, nt_error *err)
{
    *out = (nt_plan){.stage_count = 0};
    for (int i = 0; i < 3; i++) {
        nt_problem one = nt_chain3_problem(problem, i);
        nt_plan step;
        nt_status status = nt_kernel_conv1x1_cpu_gemm.plan(&one, config, device, &step, err);
        if (status != NT_OK)
            return status;
        nt_chain3_append(problem, i, &step, out);
    }
    return NT_OK;
}

#define COMMON                                                                                                \
    .layer = "conv1x1_chain3", .device = NT_DEVICE_CPU, .precisions = NT_BIT(NT_FP32) | NT_BIT(NT_BF16),      \
    .layouts = NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW), .bound = NT_BOUND_DIRECT, .additions = nt_chain3_additions, \
    .refuses = refuses

const nt_kernel nt_kernel_conv1x1_chain3_cpu_fused = {
    COMMON,
    .name = "fused",
    .summary = "all three for a tile of pixels: what lies between stays in the core's cache",
    .source = {nt_embed_conv_tile_cpu_c, nt_embed_conv_pack_cpu_c, nt_embed_conv1x1_chain3_chain_cpu_c},
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .constraints = constraints,
    .constraint_count = sizeof constraints / sizeof constraints[0],
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .options = options,
    .plan = plan,
};

const nt_kernel nt_kernel_conv1x1_chain3_cpu_three = {
    COMMON,
    .name = "three",
    .summary = "three launches of the matrix product of conv1x1, by way of memory",
    .source = {nt_embed_conv_tile_cpu_c, nt_embed_conv_pack_cpu_c, nt_embed_conv_gemm_cpu_c},
    .params = nt_cpu_gemm_params,
    .param_count = NT_CPU_GEMM_PARAMS,
    .constraints = three_constraints,
    .constraint_count = sizeof three_constraints / sizeof three_constraints[0],
    .rules = three_rules,
    .rule_count = sizeof three_rules / sizeof three_rules[0],
    .options = three_options,
    .plan = three_plan,
};
