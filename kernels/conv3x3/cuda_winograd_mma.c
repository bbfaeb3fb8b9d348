/* cuda_winograd_mma.c: the rows of winograd_mma.cu: parameters, what makes a configuration legal, and its launches.
 *
 * Tensor cores multiply so fast that transforms weigh: a block of more output channels transforms its patches less
 * often, and needs registers for the sums of all places at once. */
#include "kernels/conv3x3/winograd.h"

extern const char nt_embed_conv3x3_winograd_mma_cu[];

/* The parameters, of which warps share 16 or 36 places evenly: their values, and the one that is the default. */
#define PARAMS(WARPS_DEFAULT, ...)                                                                                   \
    {                                                                                                                \
        {.name = "block_tiles", .help = "tiles of a block", .NT_INTS(16, 32, 48, 64), .dflt = 0},                    \
            {.name = "block_k", .help = "output channels of a block", .NT_INTS(16, 32, 64, 96, 128), .dflt = 1},     \
            {.name = "warps",                                                                                        \
             .help = "warps of a block, which share the places",                                                     \
             .NT_INTS(__VA_ARGS__),                                                                                  \
             .dflt = (WARPS_DEFAULT)},                                                                               \
            {.name = "k_steps", .help = "times 32 bytes of input channels per step", .NT_INTS(1, 2), .dflt = 0},     \
            {.name = "buffers",                                                                                      \
             .help = "shared-memory buffers; two save a barrier a step",                                             \
             .NT_INTS(1, 2),                                                                                         \
             .dflt = 0},                                                                                             \
            {.name = "min_blocks", .help = "blocks per SM that registers must allow", .NT_INTS(1, 2, 3), .dflt = 0}, \
            {.name = "split_c",                                                                                      \
             .help = "shares of the input channels, added by a second kernel",                                       \
             .NT_INTS(1, 2, 3, 4, 6, 8, NT__WINOGRAD_MOST_SHARES),                                                   \
             .dflt = 0,                                                                                              \
             .use = NT_PARAM_LAUNCH},                                                                                \
    }

static const nt_param params_2[] = PARAMS(1, 4, 8, 16);
static const nt_param params_4[] = PARAMS(0, 6, 9, 12, 18);

#define C_STEP        "(32 * k_steps // elem_bytes)"
#define STAGE_SMEM(P) "(buffers * " P " * (block_tiles + block_k) * (32 * k_steps + 16))"
#define SUM_SMEM(P)   "(" P " * 8 * (block_k + 8) * 4)"
#define SMEM(P)       "max(" STAGE_SMEM(P) ", " SUM_SMEM(P) ")"
#define SUMS(P)       "(" P " // warps * block_tiles * block_k // 32)"
#define PATCHES(P)    "((block_tiles * " C_STEP " // 2 + 32 * warps - 1) // (32 * warps))"
/* Sums, and patches of two channels on their way; operands, addresses and the like come on top. */
#define REGISTERS(P) "(" SUMS(P) " + " PATCHES(P) " * 2 * " P " + 24)"

#define CONSTRAINTS(P, M)                                                                                            \
    {                                                                                                                \
        {SUMS(P) " <= 128", "a thread has 128 sums or fewer"},                                                       \
            {PATCHES(P) " <= 2", "a thread has one or two patches on their way"},                                    \
            {SMEM(P) " <= smem_per_block", "inputs, weights and sums of a block fit in shared memory"},              \
            {"min_blocks * (" SMEM(P) " + 1024) <= smem_per_block + 1024", "shared memory holds min_blocks blocks"}, \
            {REGISTERS(P) " <= 255 and (min_blocks * warps + 3) // 4 * 128 * " REGISTERS(P) " <= regs_per_sm",       \
             "sums, operands and patches of min_blocks blocks fit in the registers"},                                \
            {"min_blocks == 1 or min_blocks * 32 * warps <= 1024", "an SM holds min_blocks blocks everywhere"},      \
            {"block_tiles == 16 or block_tiles < 2 * " NT__WINOGRAD_TILES(M), "smaller blocks hold all tiles"},      \
            {"block_k == 16 or block_k < 2 * k", "smaller blocks hold all output channels"},                         \
            {"k_steps == 1 or " C_STEP " < 2 * c", "a step is less than twice the channels"},                        \
            {"split_c == 1 or " NT__WINOGRAD_BLOCKS(M, "block_tiles", "block_k") " * split_c <= 2 * sm_count",       \
             "channels are shared where blocks are few"},                                                            \
        {                                                                                                            \
            "split_c == 1 or c >= 2 * split_c * " C_STEP, "each share has two steps or more"                         \
        }                                                                                                            \
    }

static const nt_constraint constraints_2[] = CONSTRAINTS("16", "2");
static const nt_constraint constraints_4[] = CONSTRAINTS("36", "4");

static nt__winograd_block block_of(const nt_problem *problem, const nt_config *config, int64_t out_tile)
{
    const nt_param *params = out_tile == 2 ? params_2 : params_4;
    int64_t places = (out_tile + 2) * (out_tile + 2), step_bytes = 32 * nt_config_int(params, config, "k_steps");
    int64_t elem_bytes = (int64_t)nt_dtype_bytes(nt_precisions[problem->precision].in);
    nt__winograd_block b = {.out_tile = out_tile,
                            .threads = 32 * nt_config_int(params, config, "warps"),
                            .tiles = nt_config_int(params, config, "block_tiles"),
                            .channels = nt_config_int(params, config, "block_k"),
                            .c_step = step_bytes / elem_bytes,
                            .packed_elem_bytes = elem_bytes,
                            .split = nt_config_int(params, config, "split_c"),
                            .tensor_cores = true};
    int64_t stage = nt_config_int(params, config, "buffers") * places * (b.tiles + b.channels) * (step_bytes + 16);
    int64_t sums = places * 8 * (b.channels + 8) * 4;
    b.smem_bytes = stage > sums ? stage : sums;
    return b;
}

NT__WINOGRAD_FUNCTIONS(2)
NT__WINOGRAD_FUNCTIONS(4)

/* bf16 has too few bits for F(4x4, 3x3): of normal inputs its results are off by 2.5 %, with F(2x2, 3x3) by 0.5; those
 * of fp16 by 0.3 and 0.06. */
#define ROW(NAME, M, PRECISIONS, SUMMARY, BOUND)                                                                \
    const nt_kernel nt_kernel_conv3x3_cuda_##NAME = {                                                           \
        .name = #NAME,                                                                                          \
        .summary = SUMMARY,                                                                                     \
        .layer = "conv3x3",                                                                                     \
        .device = NT_DEVICE_CUDA,                                                                               \
        .source = {nt_embed_common_prelude_cuh, nt_embed_common_tensor_core_cuh, nt_embed_conv3x3_winograd_cuh, \
                   nt_embed_conv3x3_winograd_block_cuh, nt_embed_conv3x3_winograd_tiles_cuh,                    \
                   nt_embed_conv3x3_winograd_mma_cu},                                                           \
        .precisions = (PRECISIONS),                                                                             \
        .layouts = NT_BIT(NT_NHWC),                                                                             \
        .min_compute_capability = 80,                                                                           \
        .params = params_##M,                                                                                   \
        .param_count = sizeof params_##M / sizeof params_##M[0],                                                \
        .constraints = constraints_##M,                                                                         \
        .constraint_count = sizeof constraints_##M / sizeof constraints_##M[0],                                 \
        .bound = (BOUND),                                                                                       \
        .additions = nt__winograd_additions_##M,                                                                \
        .refuses = nt__conv3x3_cuda_refuses,                                                                    \
        .options = options_##M,                                                                                 \
        .plan = plan_##M}

ROW(winograd_mma, 2, NT_BIT(NT_TF32) | NT_BIT(NT_FP16) | NT_BIT(NT_BF16),
    "Winograd F(2x2,3x3) on tensor cores (mma.sync), transforms in f32", NT_BOUND_WINOGRAD_F2);
ROW(winograd4_mma, 4, NT_BIT(NT_FP16), "Winograd F(4x4,3x3) on tensor cores (mma.sync), transforms in f32",
    NT_BOUND_WINOGRAD_F4);
