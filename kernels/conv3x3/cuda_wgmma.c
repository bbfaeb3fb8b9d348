/* cuda_wgmma.c: the row of wgmma.cu: parameters, what makes a configuration legal, and its launches.
 *
 * Groups of four warps multiply straight from shared memory, so operands cost no registers and a group may hold large
 * tiles; what counts is that blocks divide the problem into whole waves and that copies keep up (stages, and a second
 * block on the SM). */
#include "kernels/conv3x3/conv3x3.h"
#include "kernels/conv3x3/igemm.h"

extern const char nt_embed_conv3x3_wgmma_cu[];

static const nt_param params[] = {
    {.name = "tile_m", .help = "output pixels of a block", .NT_INTS(64, 128, 192, 256), .dflt = 1},
    {.name = "tile_n", .help = "output channels of a block", .NT_INTS(64, 128, 192, 256), .dflt = 1},
    {.name = "groups_m", .help = "groups of four warps along pixels", .NT_INTS(1, 2, 3, 4), .dflt = 1},
    {.name = "groups_n", .help = "groups of four warps along output channels", .NT_INTS(1, 2), .dflt = 0},
    {.name = "stages", .help = "tiles in shared memory, all but two under way", .NT_INTS(3, 4, 5, 6), .dflt = 1},
    {.name = "taps_inner",
     .help = "walk the nine taps inside a slice of channels, pixels through L1",
     .NT_INTS(0, 1),
     .dflt = 0,
     .is_bool = true},
    {.name = "min_blocks", .help = "blocks per SM that registers must allow", .NT_INTS(1, 2), .dflt = 0},
    {.name = "split_k",
     .help = "slices of the reduction, added by a second kernel",
     .NT_INTS(1, 2, 4, 8, NT__IGEMM_MAX_SPLIT),
     .dflt = 0,
     .use = NT_PARAM_LAUNCH},
};

/* A row of a tile is 128 bytes, the width that the instruction's layout permutes. */
enum { ROW_BYTES = 128 };
#define TILE_K       "(128 // elem_bytes)"
#define THREADS      "(groups_m * groups_n * 128)"
#define SMEM         "(stages * (tile_m + tile_n) * 128)"
#define ACCUMULATORS "(tile_m * tile_n // " THREADS ")"
#define BLOCKS       "((n * h * w + tile_m - 1) // tile_m * ((k + tile_n - 1) // tile_n))"

static const nt_constraint constraints[] = {
    {"cc == 90", "only compute capability 9.0 has the instruction"},
    {THREADS " <= 512", "a block has 1 to 4 groups of warps"},
    {"tile_m % (64 * groups_m) == 0", "a group computes whole tiles of 64 pixels"},
    {"tile_n // groups_n in (64, 128, 192, 256) and tile_n % groups_n == 0", "the instruction takes 64 to 256 columns"},
    {"32 <= " ACCUMULATORS " <= 192", "a thread has 32 to 192 accumulators"},
    {SMEM " <= smem_per_block", "the stages fit in shared memory"},
    {"min_blocks * (" SMEM " + 1024) <= smem_per_block + 1024", "the stages of min_blocks blocks fit in shared memory"},
    {"min_blocks * (" ACCUMULATORS " + 40) * " THREADS " <= regs_per_sm",
     "accumulators and addresses of min_blocks blocks fit in the registers"},
    {"min_blocks == 1 or min_blocks * (" ACCUMULATORS " + 64) * " THREADS " > regs_per_sm",
     "min_blocks is asked for only where registers would otherwise not allow it"},
    {"not taps_inner or c % " TILE_K " == 0", "a slice of channels is a whole tile"},
    {"tile_m == 64 or tile_m < 2 * n * h * w", "smaller tiles hold all pixels"},
    {"tile_n == 64 or tile_n < 2 * k", "smaller tiles hold all channels"},
    {"split_k == 1 or " BLOCKS " * split_k <= 2 * sm_count", "the reduction is split where blocks are few"},
    {"split_k == 1 or 9 * c >= 4 * split_k * " TILE_K, "each slice has four tiles or more"},
};

static int64_t value(const nt_config *config, const char *name)
{
    return nt_config_int(params, config, name);
}

static nt__igemm_tiling tiling_of(const nt_problem *problem, const nt_config *config)
{
    return (nt__igemm_tiling){
        .entry = "nt_conv3x3_wgmma",
        .tile_m = value(config, "tile_m"),
        .tile_n = value(config, "tile_n"),
        .tile_k = ROW_BYTES / (int64_t)nt_dtype_bytes(nt_precisions[problem->precision].in),
        .stages = value(config, "stages"),
        .threads = value(config, "groups_m") * value(config, "groups_n") * 128,
        .split = value(config, "split_k"),
        .row_padding_bytes = 0,
        .warp_columns = value(config, "tile_n") / value(config, "groups_n"),
    };
}

static void options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    nt__igemm_tiling tiling = tiling_of(problem, config);
    nt__igemm_options(problem, &tiling, out);
    nt_str_addf(out, " -DTILE_K=%lld -DSWIZZLE=1 -DWGMMA_N=%lld", (long long)tiling.tile_k,
                (long long)tiling.warp_columns);
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    nt__igemm_tiling tiling = tiling_of(problem, config);
    return nt__igemm_plan(problem, &tiling, device, out, err);
}

const nt_kernel nt_kernel_conv3x3_cuda_wgmma = {
    .name = "wgmma",
    .summary = "implicit matrix product on Hopper's tensor cores (wgmma), tiles read from shared memory",
    .layer = "conv3x3",
    .device = NT_DEVICE_CUDA,
    .source = {nt_embed_common_prelude_cuh, nt_embed_common_tensor_core_cuh, nt_embed_conv3x3_tiles_cuh,
               nt_embed_conv3x3_wgmma_cu},
    .precisions = NT_BIT(NT_TF32) | NT_BIT(NT_FP16) | NT_BIT(NT_BF16),
    .layouts = NT_BIT(NT_NHWC),
    .min_compute_capability = 90,
    .arch_specific = true,
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .constraints = constraints,
    .constraint_count = sizeof constraints / sizeof constraints[0],
    .bound = NT_BOUND_DIRECT,
    .additions = nt__igemm_additions,
    .refuses = nt__conv3x3_cuda_refuses,
    .options = options,
    .plan = plan,
};
