/* cuda_winograd.c: the rows of winograd.cu: parameters, what makes a configuration legal, and its launches.
 *
 * A place's tile is (threads_p tile_p) tiles x (threads_k tile_k) channels, multiplied by threads_p x threads_k
 * threads, and all 16 or 36 places of it by one block, so that nothing but inputs and outputs passes through memory.
 * Small problems have too few such blocks for a device: they share the channels (split_c) and add partial outputs
 * after. */
#include "kernels/conv3x3/conv3x3.h"
#include "kernels/kernel.h"

extern const char nt_embed_common_prelude_cuh[];
extern const char nt_embed_conv3x3_winograd_cuh[];
extern const char nt_embed_conv3x3_winograd_cu[];

enum { HELPER_THREADS = 256, MOST_SHARES = 16 };

static const nt_param params[] = {
    {.name = "threads_p", .help = "threads of a place along tiles", .NT_INTS(1, 2, 4, 8), .dflt = 1},
    {.name = "threads_k", .help = "threads of a place along output channels", .NT_INTS(2, 4, 8), .dflt = 1},
    {.name = "tile_p", .help = "tiles a thread computes", .NT_INTS(4, 8), .dflt = 1},
    {.name = "tile_k", .help = "output channels a thread computes", .NT_INTS(4, 8, 16), .dflt = 1},
    {.name = "c_step", .help = "input channels per step", .NT_INTS(4, 8, 16), .dflt = 1},
    {.name = "buffers", .help = "shared-memory buffers; two save a barrier a step", .NT_INTS(1, 2), .dflt = 1},
    {.name = "unroll", .help = "channels of a step that are unrolled", .NT_INTS(1, 2, 4, 8), .dflt = 2},
    {.name = "min_blocks", .help = "blocks per SM that registers must allow", .NT_INTS(1, 2, 3, 4), .dflt = 0},
    {.name = "split_c",
     .help = "shares of the input channels, added by a second kernel",
     .NT_INTS(1, 2, 3, 4, 6, 8, MOST_SHARES),
     .dflt = 0,
     .use = NT_PARAM_LAUNCH},
};

/* Tiles and channels of a block, and bytes of its shared memory; P places, M outputs along a tile's side. */
#define TILES         "(threads_p * tile_p)"
#define CHANNELS      "(threads_k * tile_k)"
#define THREADS(P)    "(" P " * threads_p * threads_k)"
#define ALL_TILES(M)  "(n * ((h + " M " - 1) // " M ") * ((w + " M " - 1) // " M "))"
#define STAGE_SMEM(P) "(buffers * " P " * c_step * (" TILES " + 4 + " CHANNELS ") * 4)"
#define SUM_SMEM(P)   "(" P " * 4 * (" CHANNELS " * (4 * threads_p + 4) if nchw else 4 * threads_p * (" CHANNELS " + 4)))"
#define SMEM(P)       "max(" STAGE_SMEM(P) ", " SUM_SMEM(P) ")"
#define PATCHES(P)    "((" TILES " * c_step + " THREADS(P) " - 1) // " THREADS(P) ")"
#define BLOCKS(M)     "((" ALL_TILES(M) " + " TILES " - 1) // " TILES " * ((k + " CHANNELS " - 1) // " CHANNELS "))"
/* Sums, operands of a channel, and patches on their way; addresses and the like come on top. */
#define REGISTERS(P) "(tile_p * tile_k + tile_p + tile_k + " PATCHES(P) " * " P " + 24)"

#define CONSTRAINTS(P, M)                                                                                            \
    {                                                                                                                \
        {"64 <= " THREADS(P) " <= max_threads and " THREADS(P) " % 32 == 0", "a block is whole warps, two or more"}, \
            {"threads_p * threads_k >= 8", "eight threads that read together are of one place"},                     \
            {"tile_k <= 2 * tile_p", "longer tiles read too much for their work"},                                   \
            {"unroll <= c_step", "no more can be unrolled than a step has"},                                         \
            {"unroll * tile_p * tile_k <= 512", "longer loop bodies leave the instruction cache"},                   \
            {SMEM(P) " <= smem_per_block", "inputs, weights and sums of a block fit in shared memory"},              \
            {"min_blocks * (" SMEM(P) " + 1024) <= smem_per_block + 1024", "shared memory holds min_blocks blocks"}, \
            {REGISTERS(P) " <= 255 and min_blocks * " THREADS(P) " * " REGISTERS(P) " <= regs_per_sm",               \
             "sums, operands and patches of min_blocks blocks fit in the registers"},                                \
            {"min_blocks == 1 or min_blocks * " THREADS(P) " <= 1024", "an SM holds min_blocks blocks everywhere"},  \
            {TILES " <= 16 or " TILES " < 2 * " ALL_TILES(M), "smaller blocks hold all tiles"},                      \
            {CHANNELS " <= 16 or " CHANNELS " < 2 * k", "smaller blocks hold all output channels"},                  \
            {"c_step == 4 or c_step < 2 * c", "a step is less than twice the channels"},                             \
            {"split_c == 1 or " BLOCKS(M) " * split_c <= 4 * sm_count", "channels are shared where blocks are few"}, \
        {                                                                                                            \
            "split_c == 1 or c >= 2 * split_c * c_step", "each share has two steps or more"                          \
        }                                                                                                            \
    }

static const nt_constraint constraints_2[] = CONSTRAINTS("16", "2");
static const nt_constraint constraints_4[] = CONSTRAINTS("36", "4");

static const nt_rule rules[] = {
    {"16 tiles x 32 channels", "threads_p=2 threads_k=4 tile_p=8 tile_k=8 c_step=8 buffers=2 unroll=4 min_blocks=1 "
                               "split_c=1"},
};

/* What a configuration gives a block. */
typedef struct sizes {
    int64_t out_tile, places, threads, tiles, channels, steps, smem_bytes;
    int64_t all_tiles, tile_blocks, k_blocks, shares;
} sizes;

static int64_t value(const nt_config *config, const char *name)
{
    return nt_config_int(params, config, name);
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static sizes sizes_of(const nt_problem *problem, const nt_config *config, int64_t out_tile)
{
    nt_conv d = nt_conv_of(problem);
    int64_t threads_p = value(config, "threads_p"), threads_k = value(config, "threads_k");
    int64_t c_step = value(config, "c_step");
    sizes s = {.out_tile = out_tile, .places = (out_tile + 2) * (out_tile + 2)};
    s.threads = s.places * threads_p * threads_k;
    s.tiles = threads_p * value(config, "tile_p");
    s.channels = threads_k * value(config, "tile_k");
    s.steps = ceil_div(d.c, c_step);
    s.all_tiles = d.n * ceil_div(d.h, out_tile) * ceil_div(d.w, out_tile);
    s.tile_blocks = ceil_div(s.all_tiles, s.tiles);
    s.k_blocks = ceil_div(d.k, s.channels);
    s.shares = value(config, "split_c") < s.steps ? value(config, "split_c") : s.steps;
    int64_t stage = value(config, "buffers") * s.places * c_step * (s.tiles + 4 + s.channels) * 4, part = 4 * threads_p;
    int64_t sums = problem->layout == NT_NCHW ? s.channels * (part + 4) : part * (s.channels + 4);
    s.smem_bytes = stage > sums * s.places * 4 ? stage : sums * s.places * 4;
    return s;
}

static void options_of(const nt_problem *problem, const nt_config *config, int64_t out_tile, nt_str *out)
{
    bool whole = problem->layout == NT_NCHW && nt_conv_of(problem).w % out_tile == 0;
    nt_str_addf(out, " -DOUT_TILE=%d -DSPLIT=%d -DWHOLE_ROWS=%d", (int)out_tile,
                sizes_of(problem, config, out_tile).shares > 1, whole);
}

static void options_2(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    options_of(problem, config, 2, out);
}

static void options_4(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    options_of(problem, config, 4, out);
}

static void weights_stage(const nt_conv *d, const sizes *s, int64_t pairs, nt_stage *stage)
{
    nt_stage_kernel(stage, "nt_winograd_weights", (uint32_t)ceil_div(pairs, HELPER_THREADS), 1, 1, HELPER_THREADS, 1,
                    1);
    nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_i32(stage, d->c);
    nt_stage_arg_i32(stage, d->k);
    nt_stage_arg_i32(stage, s->steps);
    nt_stage_arg_i64(stage, pairs);
}

static void product_stage(const nt_conv *d, const sizes *s, int64_t outputs, nt_stage *stage)
{
    nt_stage_kernel(stage, "nt_winograd", (uint32_t)(s->tile_blocks * s->k_blocks), 1, (uint32_t)s->shares,
                    (uint32_t)s->threads, 1, 1);
    stage->smem_dynamic_bytes = (uint32_t)s->smem_bytes;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_buffer(stage, s->shares > 1 ? NT_ROLE_WORKSPACE : NT_ROLE_OUT, 0);
    const int64_t numbers[] = {
        s->all_tiles, ceil_div(d->h, s->out_tile), ceil_div(d->w, s->out_tile), d->c, d->k, d->h, d->w, s->steps,
        s->k_blocks};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        nt_stage_arg_i32(stage, numbers[i]);
    nt_stage_arg_i64(stage, outputs);
}

static void add_stage(int64_t outputs, int64_t shares, nt_stage *stage)
{
    nt_stage_kernel(stage, "nt_winograd_add", (uint32_t)ceil_div(outputs, HELPER_THREADS), 1, 1, HELPER_THREADS, 1, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_WORKSPACE, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i64(stage, outputs);
    nt_stage_arg_i32(stage, shares);
}

static nt_status check(const sizes *s, int64_t pairs, int64_t outputs, const nt_device_info *device, nt_error *err)
{
    if (s->tile_blocks * s->k_blocks > INT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld blocks, a grid holds 2147483647: larger tiles are needed",
                       (long long)(s->tile_blocks * s->k_blocks));
    if (device->smem_per_block_bytes != NT_UNKNOWN && s->smem_bytes > device->smem_per_block_bytes)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld bytes of shared memory, a block may have %lld",
                       (long long)s->smem_bytes, (long long)device->smem_per_block_bytes);
    if (ceil_div(pairs, HELPER_THREADS) > INT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld pairs of channels are more than can be transformed",
                       (long long)pairs);
    if (s->shares > 1 && ceil_div(outputs, HELPER_THREADS) > INT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED, "the output is too large to add shares of it: split_c=1 is needed");
    return NT_OK;
}

static nt_status plan_of(const nt_problem *problem, const nt_config *config, const nt_device_info *device,
                         int64_t out_tile, nt_plan *out, nt_error *err)
{
    nt_conv d = nt_conv_of(problem);
    sizes s = sizes_of(problem, config, out_tile);
    int64_t pairs = s.k_blocks * s.channels * s.steps * value(config, "c_step"), outputs = d.n * d.k * d.h * d.w;
    nt_status status = check(&s, pairs, outputs, device, err);
    if (status != NT_OK)
        return status;
    *out = (nt_plan){.prepare_count = 1, .stage_count = 1};
    out->packed_bytes = (size_t)(pairs * s.places) * sizeof(float);
    weights_stage(&d, &s, pairs, &out->prepare[0]);
    product_stage(&d, &s, outputs, &out->stage[0]);
    if (s.shares > 1) {
        out->workspace_bytes = (size_t)(s.shares * outputs) * sizeof(float);
        add_stage(outputs, s.shares, &out->stage[out->stage_count++]);
    }
    return NT_OK;
}

static nt_status plan_2(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                        nt_error *err)
{
    return plan_of(problem, config, device, 2, out, err);
}

static nt_status plan_4(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                        nt_error *err)
{
    return plan_of(problem, config, device, 4, out, err);
}

static double additions_2(const nt_problem *problem)
{
    return nt_winograd_additions(problem, 2) + MOST_SHARES;
}

static double additions_4(const nt_problem *problem)
{
    return nt_winograd_additions(problem, 4) + MOST_SHARES;
}

#define ROW(NAME, M, SUMMARY, BOUND)                                                                          \
    const nt_kernel nt_kernel_conv3x3_cuda_##NAME = {                                                         \
        .name = #NAME,                                                                                        \
        .summary = SUMMARY,                                                                                   \
        .layer = "conv3x3",                                                                                   \
        .device = NT_DEVICE_CUDA,                                                                             \
        .source = {nt_embed_common_prelude_cuh, nt_embed_conv3x3_winograd_cuh, nt_embed_conv3x3_winograd_cu}, \
        .precisions = NT_BIT(NT_FP32),                                                                        \
        .layouts = NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW),                                                         \
        .min_compute_capability = 75,                                                                         \
        .params = params,                                                                                     \
        .param_count = sizeof params / sizeof params[0],                                                      \
        .constraints = constraints_##M,                                                                       \
        .constraint_count = sizeof constraints_##M / sizeof constraints_##M[0],                               \
        .rules = rules,                                                                                       \
        .rule_count = sizeof rules / sizeof rules[0],                                                         \
        .bound = (BOUND),                                                                                     \
        .additions = additions_##M,                                                                           \
        .refuses = nt__conv3x3_cuda_refuses,                                                                  \
        .options = options_##M,                                                                               \
        .plan = plan_##M}

ROW(winograd, 2, "Winograd F(2x2,3x3) on the CUDA cores: 16 multiplications for 4 outputs instead of 36",
    NT_BOUND_WINOGRAD_F2);
ROW(winograd4, 4, "Winograd F(4x4,3x3) on the CUDA cores: 36 multiplications for 16 outputs instead of 144",
    NT_BOUND_WINOGRAD_F4);
