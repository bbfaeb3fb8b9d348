/* cpu_direct.c: the table rows of direct.cpu.c, one a layer: parameters, constraints, rules of thumb and launches. */
#include "kernels/conv/cpu.h"

extern const char nt_embed_conv_direct_cpu_c[];

static const nt_param params[] = {
    {.name = "vector_bytes", .help = "bytes of a vector", .NT_INTS(16, 32, 64), .dflt = 1},
    {.name = "positions", .help = "pixels of a register tile", .NT_INTS(2, 4, 6, 7, 8, 14, 28), .dflt = 2},
    {.name = "vectors", .help = "vectors of output channels in a register tile", .NT_INTS(1, 2, 3, 4), .dflt = 1},
    {.name = "unroll", .help = "steps of the innermost loop at a time", .NT_INTS(1, 2, 4), .dflt = 0},
    {.name = "c_block", .help = "input channels packed at a time", .NT_INTS(4, 16, 64, 256), .dflt = 2},
    {.name = "rows", .help = "rows of a work item", .NT_INTS(1, 2, 4, 7, 14), .dflt = 2, .use = NT_PARAM_LAUNCH},
    {.name = "x_tiles",
     .help = "register tiles along a row of a work item",
     .NT_INTS(1, 2, 4, 8),
     .dflt = 2,
     .use = NT_PARAM_LAUNCH},
    {.name = "k_blocks",
     .help = "register tiles along the output channels of a work item",
     .NT_INTS(1, 2, 4, 8),
     .dflt = 0,
     .use = NT_PARAM_LAUNCH},
    {.name = "k_outer",
     .help = "work items next to each other share weights, not inputs",
     .NT_INTS(0, 1),
     .dflt = 0,
     .is_bool = true,
     .use = NT_PARAM_LAUNCH},
};

#define CONSTRAINTS(lines, columns)                                                                            \
    NT_CPU_VECTOR_CONSTRAINTS, {"rows == 1 or rows <= h", "a work item has no more rows than the image"},      \
        {"x_tiles == 1 or positions * (x_tiles - 1) < w", "a work item is no wider than the image"},           \
        {"c_block <= 16 or c_block < 2 * c", "a block of input channels is at most twice the channels"},       \
    {                                                                                                          \
        "(" lines ") * (" columns ") * c_block <= 65536", "the packed rows of a work item stay within 256 KiB" \
    }

/* Any stride up to 2 within the scratch; larger ones by fewer rows. */
static const nt_constraint three[] = {CONSTRAINTS("2 * rows + 1", "2 * positions * x_tiles + 1")};
static const nt_constraint seven[] = {CONSTRAINTS("2 * rows + 5", "2 * positions * x_tiles + 5")};

/* What people write by hand: a tile of 6 pixels by 2 vectors fits the 16 registers of AVX2. */
static const nt_rule rules[] = {
    {"6x2 AVX2 tile", "vector_bytes=32 positions=6 vectors=2 unroll=1 c_block=64 rows=1 x_tiles=4 k_blocks=1"},
};

static const char *refuses(const nt_problem *problem)
{
    return nt_conv_of(problem).stride > 2 ? "strides are 1 or 2" : nt_cpu_refuses(problem);
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    nt_conv d = nt_conv_of(problem);
    int64_t rows = nt_config_int(params, config, "rows"), x_tiles = nt_config_int(params, config, "x_tiles");
    int64_t k_blocks = nt_config_int(params, config, "k_blocks");
    nt_cpu_tile tile = nt_cpu_tile_of(params, config);
    int64_t columns = nt_ceil_div(d.out_w, x_tiles * tile.positions), bands = nt_ceil_div(d.out_h, rows);
    const int64_t items[3] = {columns * bands, nt_ceil_div(d.k, k_blocks * tile.channels), d.n};
    (void)device;
    nt_status status = nt_cpu_convolution(problem, tile, nt_config_int(params, config, "c_block"), items, out, err);
    const int64_t own[] = {rows, x_tiles, k_blocks, nt_config_int(params, config, "k_outer"), d.n};
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

#define ROW(of_layer, of_name, of_summary, of_precisions, of_constraints, of_additions, of_options, of_plan, ...) \
    const nt_kernel nt_kernel_##of_layer##_cpu_##of_name = {                                                      \
        .name = #of_name,                                                                                         \
        .summary = of_summary,                                                                                    \
        .layer = #of_layer,                                                                                       \
        .device = NT_DEVICE_CPU,                                                                                  \
        .source = {nt_embed_conv_tile_cpu_c, nt_embed_conv_pack_cpu_c, nt_embed_conv_direct_cpu_c, __VA_ARGS__},  \
        .precisions = of_precisions,                                                                              \
        .layouts = NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW),                                                             \
        .params = params,                                                                                         \
        .param_count = sizeof params / sizeof params[0],                                                          \
        .constraints = of_constraints,                                                                            \
        .constraint_count = sizeof of_constraints / sizeof of_constraints[0],                                     \
        .rules = rules,                                                                                           \
        .rule_count = sizeof rules / sizeof rules[0],                                                             \
        .bound = NT_BOUND_DIRECT,                                                                                 \
        .additions = of_additions,                                                                                \
        .refuses = refuses,                                                                                       \
        .options = of_options,                                                                                    \
        .plan = of_plan,                                                                                          \
    };

#define DIRECT(of_layer, of_precisions, of_constraints)                                                      \
    ROW(of_layer, direct, "direct convolution over packed rows, register tile of pixels by output channels", \
        of_precisions, of_constraints, nt_conv_additions, nt_cpu_options, plan, NULL)

#define FLOATS (NT_BIT(NT_FP32) | NT_BIT(NT_BF16))
DIRECT(conv3x3, FLOATS | NT_BIT(NT_INT8), three)
DIRECT(conv7x7, FLOATS | NT_BIT(NT_INT8), seven)
DIRECT(conv_bn_relu, FLOATS, three)
ROW(conv_bn_relu, chain, "the convolution of 'direct', then batch norm, then activation, each a pass over memory",
    FLOATS, three, nt_conv_chain_additions, nt_cpu_chain_options, chain_plan, nt_embed_conv_chain_cpu_c)
