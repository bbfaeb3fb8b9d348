/* cpu_gemm.c: the table rows of gemm.cpu.c, one a layer: parameters, constraints, rules of thumb and launches. Where
 * patches are more than the pixels themselves it is called im2col. */
#include "kernels/conv/cpu.h"

const nt_param nt_cpu_gemm_params[NT_CPU_GEMM_PARAMS] = {
    {.name = "vector_bytes", .help = "bytes of a vector", .NT_INTS(16, 32, 64), .dflt = 1},
    {.name = "positions", .help = "pixels of a register tile", .NT_INTS(1, 2, 4, 6, 7, 8, 14, 28), .dflt = 3},
    {.name = "vectors", .help = "vectors of output channels in a register tile", .NT_INTS(1, 2, 3, 4, 8), .dflt = 1},
    {.name = "unroll", .help = "steps of the innermost loop at a time", .NT_INTS(1, 2, 4), .dflt = 0},
    {.name = "depth",
     .help = "words of the reduction laid out at a time (a word: 1 fp32 or 4 int8 channels)",
     .NT_INTS(64, 144, 160, 288, 576),
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

#define CONSTRAINTS(pixels, reduction)                                                                       \
    NT_CPU_VECTOR_CONSTRAINTS,                                                                               \
        {"pixel_tiles == 1 or positions * (pixel_tiles - 1) < " pixels,                                      \
         "a work item has no more pixels than the batch"},                                                   \
        {"depth == 64 or depth < 2 * " reduction, "a step of the reduction is at most twice the reduction"}, \
    {                                                                                                        \
        "positions * pixel_tiles * (depth + 16) <= (16384 if elem_bytes == 1 else 65536)",                   \
            "the patches of a work item stay within 256 KiB"                                                 \
    }

static const nt_constraint one[] = {CONSTRAINTS("n * h * w", "c")};
static const nt_constraint three[] = {CONSTRAINTS("n * h * w", "9 * c")};
static const nt_constraint seven[] = {CONSTRAINTS("n * h * w", "49 * c")};
static const nt_constraint product[] = {CONSTRAINTS("n", "c")};

static const nt_rule rules[] = {
    {"6x2 AVX2 tile", "vector_bytes=32 positions=6 vectors=2 unroll=1 depth=144 pixel_tiles=4 k_blocks=4"},
};

static const nt_rule product_rules[] = {
    {"6x2 AVX2 tile", "vector_bytes=32 positions=6 vectors=2 unroll=1 depth=144 pixel_tiles=1 k_blocks=4"},
    {"1x8 tile, a matrix times a vector",
     "vector_bytes=32 positions=1 vectors=8 unroll=1 depth=576 pixel_tiles=1 k_blocks=1"},
};

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    nt_conv d = nt_conv_of(problem);
    nt_cpu_tile tile = nt_cpu_tile_of(nt_cpu_gemm_params, config);
    int64_t pixel_tiles = nt_config_int(nt_cpu_gemm_params, config, "pixel_tiles");
    int64_t k_blocks = nt_config_int(nt_cpu_gemm_params, config, "k_blocks");
    const int64_t items[3] = {nt_ceil_div(d.n * d.out_h * d.out_w, pixel_tiles * tile.positions),
                              nt_ceil_div(d.k, k_blocks * tile.channels), 1};
    (void)device;
    nt_status status = nt_cpu_convolution(problem, tile, d.c, items, out, err);
    const int64_t own[] = {pixel_tiles, k_blocks, nt_config_int(nt_cpu_gemm_params, config, "k_outer"), d.n};
    for (size_t i = 0; status == NT_OK && i < sizeof own / sizeof own[0]; i++)
        nt_stage_arg_i64(&out->stage[0], own[i]);
    return status;
}

static nt_status chain_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device,
                            nt_plan *out, nt_error *err)
{
    nt_status status = plan(problem, config, device, out, err);
    if (status == NT_OK)
        nt_cpu_chain(problem, out);
    return status;
}

#define ROW(of_layer, of_name, of_summary, of_precisions, of_constraints, of_rules, of_additions, of_options, of_plan, \
            ...)                                                                                                       \
    const nt_kernel nt_kernel_##of_layer##_cpu_##of_name = {                                                           \
        .name = #of_name,                                                                                              \
        .summary = of_summary,                                                                                         \
        .layer = #of_layer,                                                                                            \
        .device = NT_DEVICE_CPU,                                                                                       \
        .source = {nt_embed_conv_tile_cpu_c, nt_embed_conv_pack_cpu_c, nt_embed_conv_gemm_cpu_c, __VA_ARGS__},         \
        .precisions = of_precisions,                                                                                   \
        .layouts = NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW),                                                                  \
        .params = nt_cpu_gemm_params,                                                                                  \
        .param_count = NT_CPU_GEMM_PARAMS,                                                                             \
        .constraints = of_constraints,                                                                                 \
        .constraint_count = sizeof of_constraints / sizeof of_constraints[0],                                          \
        .rules = of_rules,                                                                                             \
        .rule_count = sizeof of_rules / sizeof of_rules[0],                                                            \
        .bound = NT_BOUND_DIRECT,                                                                                      \
        .additions = of_additions,                                                                                     \
        .refuses = nt_cpu_refuses,                                                                                     \
        .options = of_options,                                                                                         \
        .plan = of_plan,                                                                                               \
    };

#define PRODUCT(of_layer, of_name, of_precisions, of_constraints, of_rules)                                          \
    ROW(of_layer, of_name,                                                                                           \
        "patches laid out in scratch, then a matrix product; pixels counted through rows and images", of_precisions, \
        of_constraints, of_rules, nt_conv_additions, nt_cpu_options, plan, NULL)

#define FLOATS (NT_BIT(NT_FP32) | NT_BIT(NT_BF16))
#define ALL    (FLOATS | NT_BIT(NT_INT8))
PRODUCT(conv3x3, im2col, ALL, three, rules)
PRODUCT(conv1x1, gemm, ALL, one, rules)
PRODUCT(conv7x7, im2col, ALL, seven, rules)
PRODUCT(fc, gemm, ALL, product, product_rules)
PRODUCT(conv_bn_relu, im2col, FLOATS, three, rules)
ROW(conv_bn_relu, chain_im2col,
    "the convolution of 'im2col', then batch norm, then activation, each a pass over memory", FLOATS, three, rules,
    nt_conv_chain_additions, nt_cpu_chain_options, chain_plan, nt_embed_conv_chain_cpu_c)
