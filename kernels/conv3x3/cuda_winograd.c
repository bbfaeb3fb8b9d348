/* cuda_winograd.c: the rows of winograd.cu: parameters, what makes a configuration legal, and its launches.
 *
 * A place's tile is (threads_p tile_p) tiles x (threads_k tile_k) channels, multiplied by threads_p x threads_k
 * threads, and all 16 or 36 places of it by one block, so that nothing but inputs and outputs passes through memory.
 * Small problems have too few such blocks for a device: they share the channels (split_c) and add partial outputs
 * after. */
#include "kernels/conv3x3/winograd.h"

extern const char nt_embed_conv3x3_winograd_cu[];

static const nt_param params[] = {
    {.name = "threads_p", .help = "threads of a place along tiles", .NT_INTS(1, 2, 4, 8), .dflt = 1},
    {.name = "threads_k", .help = "threads of a place along output channels", .NT_INTS(2, 4, 8), .dflt = 1},
    {.name = "tile_p", .help = "tiles a thread computes", .NT_INTS(4, 8), .dflt = 1},
    {.name = "tile_k", .help = "output channels a thread computes", .NT_INTS(4, 8), .dflt = 1},
    {.name = "c_step", .help = "input channels per step", .NT_INTS(4, 8, 16), .dflt = 1},
    {.name = "buffers", .help = "shared-memory buffers; two save a barrier a step", .NT_INTS(1, 2), .dflt = 1},
    {.name = "unroll", .help = "channels of a step that are unrolled", .NT_INTS(2, 4), .dflt = 1},
    {.name = "min_blocks", .help = "blocks per SM that registers must allow", .NT_INTS(1, 2, 3), .dflt = 0},
    {.name = "split_c",
     .help = "shares of the input channels, added by a second kernel",
     .NT_INTS(1, 2, 3, 4, 6, 8, NT__WINOGRAD_MOST_SHARES),
     .dflt = 0,
     .use = NT_PARAM_LAUNCH},
};

/* Tiles and channels of a block, and bytes of its shared memory; P places, M outputs along a tile's side. */
#define TILES         "(threads_p * tile_p)"
#define CHANNELS      "(threads_k * tile_k)"
#define THREADS(P)    "(" P " * threads_p * threads_k)"
#define STAGE_SMEM(P) "(buffers * " P " * c_step * (" TILES " + 4 + " CHANNELS ") * 4)"
#define SUM_SMEM(P)   "(" P " * 4 * (" CHANNELS " * (4 * threads_p + 4) if nchw else 4 * threads_p * (" CHANNELS " + 4)))"
#define SMEM(P)       "max(" STAGE_SMEM(P) ", " SUM_SMEM(P) ")"
#define PATCHES(P)    "((" TILES " * c_step + " THREADS(P) " - 1) // " THREADS(P) ")"
/* Sums, operands of a channel, and patches on their way; addresses and the like come on top. */
#define REGISTERS(P) "(tile_p * tile_k + tile_p + tile_k + " PATCHES(P) " * " P " + 24)"

#define CONSTRAINTS(P, M)                                                                                              \
    {                                                                                                                  \
        {"128 <= " THREADS(P) " <= max_threads and " THREADS(P) " % 32 == 0", "a block is whole warps, four or more"}, \
            {"threads_p * threads_k >= 8", "eight threads that read together are of one place"},                       \
            {SMEM(P) " <= smem_per_block", "inputs, weights and sums of a block fit in shared memory"},                \
            {"min_blocks * (" SMEM(P) " + 1024) <= smem_per_block + 1024", "shared memory holds min_blocks blocks"},   \
            {REGISTERS(P) " <= 255 and (min_blocks * " THREADS(P) " + 127) // 128 * 128 * " REGISTERS(                 \
                 P) " <= regs_per_sm",                                                                                 \
             "sums, operands and patches of min_blocks blocks fit in the registers"},                                  \
            {"min_blocks == 1 or min_blocks * " THREADS(P) " * (" REGISTERS(P) " + 48) > regs_per_sm",                 \
             "min_blocks is asked for only where registers would otherwise not allow it"},                             \
            {TILES " <= 16 or " TILES " < 2 * " NT__WINOGRAD_TILES(M), "smaller blocks hold all tiles"},               \
            {CHANNELS " <= 16 or " CHANNELS " < 2 * k", "smaller blocks hold all output channels"},                    \
            {"c_step == 4 or c_step < 2 * c", "a step is less than twice the channels"},                               \
            {"split_c == 1 or " NT__WINOGRAD_BLOCKS(M, TILES, CHANNELS) " * split_c <= 4 * sm_count",                  \
             "channels are shared where blocks are few"},                                                              \
        {                                                                                                              \
            "split_c == 1 or c >= 2 * split_c * c_step", "each share has two steps or more"                            \
        }                                                                                                              \
    }

static const nt_constraint constraints_2[] = CONSTRAINTS("16", "2");
static const nt_constraint constraints_4[] = CONSTRAINTS("36", "4");

static const nt_rule rules[] = {
    {"16 tiles x 32 channels", "threads_p=2 threads_k=4 tile_p=8 tile_k=8 c_step=8 buffers=2 unroll=4 min_blocks=1 "
                               "split_c=1"},
};

static int64_t value(const nt_config *config, const char *name)
{
    return nt_config_int(params, config, name);
}

static nt__winograd_block block_of(const nt_problem *problem, const nt_config *config, int64_t out_tile)
{
    int64_t threads_p = value(config, "threads_p"), threads_k = value(config, "threads_k");
    int64_t places = (out_tile + 2) * (out_tile + 2);
    nt__winograd_block b = {.out_tile = out_tile,
                            .threads = places * threads_p * threads_k,
                            .tiles = threads_p * value(config, "tile_p"),
                            .channels = threads_k * value(config, "tile_k"),
                            .c_step = value(config, "c_step"),
                            .packed_elem_bytes = sizeof(float),
                            .split = value(config, "split_c")};
    int64_t stage = value(config, "buffers") * places * b.c_step * (b.tiles + 4 + b.channels) * 4, part = 4 * threads_p;
    int64_t sums = places * (problem->layout == NT_NCHW ? b.channels * (part + 4) : part * (b.channels + 4)) * 4;
    b.smem_bytes = stage > sums ? stage : sums;
    return b;
}

NT__WINOGRAD_FUNCTIONS(2)
NT__WINOGRAD_FUNCTIONS(4)

#define ROW(NAME, M, SUMMARY, BOUND)                                                                                \
    const nt_kernel nt_kernel_conv3x3_cuda_##NAME = {                                                               \
        .name = #NAME,                                                                                              \
        .summary = SUMMARY,                                                                                         \
        .layer = "conv3x3",                                                                                         \
        .device = NT_DEVICE_CUDA,                                                                                   \
        .source = {nt_embed_common_prelude_cuh, nt_embed_conv3x3_winograd_cuh, nt_embed_conv3x3_winograd_block_cuh, \
                   nt_embed_conv3x3_winograd_tiles_cuh, nt_embed_conv3x3_winograd_cu},                              \
        .precisions = NT_BIT(NT_FP32),                                                                              \
        .layouts = NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW),                                                               \
        .min_compute_capability = 75,                                                                               \
        .params = params,                                                                                           \
        .param_count = sizeof params / sizeof params[0],                                                            \
        .constraints = constraints_##M,                                                                             \
        .constraint_count = sizeof constraints_##M / sizeof constraints_##M[0],                                     \
        .rules = rules,                                                                                             \
        .rule_count = sizeof rules / sizeof rules[0],                                                               \
        .bound = (BOUND),                                                                                           \
        .additions = nt__winograd_additions_##M,                                                                    \
        .refuses = nt__conv3x3_cuda_refuses,                                                                        \
        .options = options_##M,                                                                                     \
        .plan = plan_##M}

ROW(winograd, 2, "Winograd F(2x2,3x3) on the CUDA cores: 16 multiplications for 4 outputs instead of 36",
    NT_BOUND_WINOGRAD_F2);
ROW(winograd4, 4, "Winograd F(4x4,3x3) on the CUDA cores: 36 multiplications for 16 outputs instead of 144",
    NT_BOUND_WINOGRAD_F4);
