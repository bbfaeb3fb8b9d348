/* cuda_igemm.c: the row of igemm.cu: parameters, what makes a configuration legal, and its launches.
 *
 * A warp computes tile_m/warps_m x tile_n/warps_n outputs. Its operands cross shared memory once a step, so large warp
 * tiles are fast until their accumulators fill the registers; blocks should also divide the problem into whole waves of
 * the device. Problems too small for that split the reduction (split_k) over blocks and add the partial sums after. */
#include "kernels/conv3x3/conv3x3.h"
#include "kernels/conv3x3/igemm.h"

extern const char nt_embed_conv3x3_igemm_cu[];

static const nt_param params[] = {
    {.name = "tile_m", .help = "output pixels of a block", .NT_INTS(32, 64, 96, 128, 192, 256), .dflt = 3},
    {.name = "tile_n", .help = "output channels of a block", .NT_INTS(32, 64, 128, 256), .dflt = 2},
    {.name = "tile_k", .help = "length of the reduction per stage", .NT_INTS(16, 32, 64), .dflt = 1},
    {.name = "warps_m", .help = "warps of a block along pixels", .NT_INTS(1, 2, 4), .dflt = 1},
    {.name = "warps_n", .help = "warps of a block along output channels", .NT_INTS(1, 2, 4), .dflt = 1},
    {.name = "stages", .help = "tiles in shared memory, all but one under way", .NT_INTS(2, 3, 4), .dflt = 1},
    {.name = "swizzle",
     .help = "avoid bank conflicts by permuting units, else by padding rows",
     .NT_INTS(0, 1),
     .dflt = 1,
     .is_bool = true},
    {.name = "taps_inner",
     .help = "walk the nine taps inside a slice of channels, pixels through L1",
     .NT_INTS(0, 1),
     .dflt = 0,
     .is_bool = true},
    {.name = "min_blocks", .help = "blocks per SM that registers must allow", .NT_INTS(1, 2, 3), .dflt = 0},
    {.name = "round_inputs",
     .help = "round f32 to tf32, else the hardware truncates",
     .NT_INTS(0, 1),
     .dflt = 0,
     .is_bool = true},
    {.name = "split_k",
     .help = "slices of the reduction, added by a second kernel",
     .NT_INTS(1, 2, 4, 8, NT__IGEMM_MAX_SPLIT),
     .dflt = 0,
     .use = NT_PARAM_LAUNCH},
};

#define THREADS      "(warps_m * warps_n * 32)"
#define ROW_BYTES    "(tile_k * elem_bytes)"
#define SMEM         "(stages * (tile_m + tile_n) * (" ROW_BYTES " + (0 if swizzle else 16)))"
#define WARP_M       "(tile_m // warps_m)"
#define WARP_N       "(tile_n // warps_n)"
#define ACCUMULATORS "(tile_m * tile_n // " THREADS ")"
/* Accumulators and two sets of operands; addresses and the like come on top. */
#define TILE_REGISTERS "(" ACCUMULATORS " + (" WARP_M " + " WARP_N ") // 2)"
#define BLOCKS(PIXELS) "((" PIXELS " + tile_m - 1) // tile_m * ((k + tile_n - 1) // tile_n))"

#define CONSTRAINTS(PIXELS, TAPS)                                                                                 \
    {ROW_BYTES " in (64, 128)", "a row of a tile is 64 or 128 bytes: 2 or 4 steps of the tensor cores"},          \
        {"64 <= " THREADS " <= 256", "a block has 2 to 8 warps"},                                                 \
        {"tile_m % (16 * warps_m) == 0 and tile_n % (16 * warps_n) == 0", "a warp computes whole 16x16 tiles"},   \
        {"max(" WARP_M ", " WARP_N ") <= 3 * min(" WARP_M ", " WARP_N ")",                                        \
         "longer warp tiles read too much for their work"},                                                       \
        {"16 <= " ACCUMULATORS " <= 128", "a thread has 16 to 128 accumulators"},                                 \
        {"tile_m * " ROW_BYTES " % (16 * " THREADS ") == 0 and tile_n * " ROW_BYTES " % (16 * " THREADS ") == 0", \
         "each thread copies the same number of 16-byte units"},                                                  \
        {SMEM " <= smem_per_block", "the stages fit in shared memory"},                                           \
        {"min_blocks * (" SMEM " + 1024) <= smem_per_block + 1024",                                               \
         "the stages of min_blocks blocks fit in shared memory"},                                                 \
        {"min_blocks * (" TILE_REGISTERS " + 16) * " THREADS " <= regs_per_sm",                                   \
         "accumulators and operands of min_blocks blocks fit in the registers"},                                  \
        {"min_blocks == 1 or min_blocks * (" TILE_REGISTERS " + 48) * " THREADS " > regs_per_sm",                 \
         "min_blocks is asked for only where registers would otherwise not allow it"},                            \
        {"not taps_inner or (c % tile_k == 0 and " TAPS " == 9)",                                                 \
         "a slice of channels is a whole tile, and there are taps to walk"},                                      \
        {"not round_inputs or elem_bytes == 4", "only f32 is rounded"},                                           \
        {"tile_m == 32 or tile_m < 2 * " PIXELS, "smaller tiles hold all pixels"},                                \
        {"tile_n == 32 or tile_n < 2 * k", "smaller tiles hold all channels"},                                    \
        {"split_k == 1 or " BLOCKS(PIXELS) " * split_k <= 2 * sm_count",                                          \
         "the reduction is split where blocks are few"},                                                          \
    {                                                                                                             \
        "split_k == 1 or " TAPS " * c >= 4 * split_k * tile_k", "each slice has four tiles or more"               \
    }

static const nt_constraint constraints[] = {CONSTRAINTS("(n * h * w)", "9")};
static const nt_constraint one_tap_constraints[] = {CONSTRAINTS("(n * h * w)", "1")};
static const nt_constraint matrix_constraints[] = {CONSTRAINTS("n", "1")};

static const nt_rule rules[] = {
    {"128x128 tile", "tile_m=128 tile_n=128 tile_k=32 warps_m=2 warps_n=2 stages=3 swizzle=true taps_inner=false "
                     "min_blocks=1 round_inputs=false split_k=1"},
};

static int64_t value(const nt_config *config, const char *name)
{
    return nt_config_int(params, config, name);
}

static nt__igemm_tiling tiling_of(const nt_config *config)
{
    return (nt__igemm_tiling){
        .entry = "nt_conv3x3_igemm",
        .tile_m = value(config, "tile_m"),
        .tile_n = value(config, "tile_n"),
        .tile_k = value(config, "tile_k"),
        .stages = value(config, "stages"),
        .threads = value(config, "warps_m") * value(config, "warps_n") * 32,
        .split = value(config, "split_k"),
        .row_padding_bytes = value(config, "swizzle") ? 0 : 16,
        .warp_columns = value(config, "tile_n") / value(config, "warps_n"),
    };
}

static void options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    nt__igemm_tiling tiling = tiling_of(config);
    nt__igemm_options(problem, &tiling, out);
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    nt__igemm_tiling tiling = tiling_of(config);
    return nt__igemm_plan(problem, &tiling, device, out, err);
}

/* Pixels in and out are the same ones. */
static const char *strides_refused(const nt_problem *problem)
{
    return nt_conv_of(problem).stride != 1 ? "it has stride 1 alone" : nt_conv_cuda_refuses(problem);
}

#define ROW(NAME, LAYER, CONSTRAINTS, REFUSES)                                                                         \
    const nt_kernel NAME = {.name = "igemm",                                                                           \
                            .summary =                                                                                 \
                                "implicit matrix product on tensor cores (mma.sync), pipelined through shared memory", \
                            .layer = (LAYER),                                                                          \
                            .device = NT_DEVICE_CUDA,                                                                  \
                            .source = {nt_embed_common_prelude_cuh, nt_embed_common_tensor_core_cuh,                   \
                                       nt_embed_conv3x3_tiles_cuh, nt_embed_conv3x3_igemm_cu},                         \
                            .precisions = NT_BIT(NT_TF32) | NT_BIT(NT_FP16) | NT_BIT(NT_BF16),                         \
                            .layouts = NT_BIT(NT_NHWC),                                                                \
                            .min_compute_capability = 80,                                                              \
                            .params = params,                                                                          \
                            .param_count = sizeof params / sizeof params[0],                                           \
                            .constraints = (CONSTRAINTS),                                                              \
                            .constraint_count = sizeof(CONSTRAINTS) / sizeof(CONSTRAINTS)[0],                          \
                            .rules = rules,                                                                            \
                            .rule_count = sizeof rules / sizeof rules[0],                                              \
                            .bound = NT_BOUND_DIRECT,                                                                  \
                            .additions = nt__igemm_additions,                                                          \
                            .refuses = (REFUSES),                                                                      \
                            .options = options,                                                                        \
                            .plan = plan}

ROW(nt_kernel_conv3x3_cuda_igemm, "conv3x3", constraints, nt__conv3x3_cuda_refuses);
ROW(nt_kernel_conv1x1_cuda_igemm, "conv1x1", one_tap_constraints, strides_refused);
ROW(nt_kernel_fc_cuda_igemm, "fc", matrix_constraints, strides_refused);
