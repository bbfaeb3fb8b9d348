/* cuda_direct.c: the row of direct.cu: parameters, what makes a configuration legal, and its launch.
 *
 * A thread's tile is tile_w x tile_k outputs; a multiply-add then costs (1/tile_w + 1/tile_k) loads, so large tiles
 * are fast until registers run out or the grid no longer fills the device. Most constraints below bound registers by
 * what a tile surely needs: accumulators, a vector of each pixel, and the next step's share that is under way. */
#include "kernels/conv3x3/conv3x3.h"
#include "kernels/kernel.h"

extern const char nt_embed_common_prelude_cuh[];
extern const char nt_embed_conv3x3_direct_cu[];

static const nt_param params[] = {
    {.name = "block_x",
     .help = "threads along memory: output channels in nhwc, pixels in nchw",
     .NT_INTS(8, 16, 32),
     .dflt = 0},
    {.name = "block_y",
     .help = "threads across: pixels in nhwc, output channels in nchw",
     .NT_INTS(4, 8, 16, 32),
     .dflt = 2},
    {.name = "tile_w", .help = "pixels a thread computes", .NT_INTS(1, 2, 4, 7, 8), .dflt = 2},
    {.name = "tile_k", .help = "output channels a thread computes", .NT_INTS(1, 2, 4, 8), .dflt = 3},
    {.name = "c_step", .help = "input channels per step", .NT_INTS(4, 8, 16), .dflt = 1},
    {.name = "vec", .help = "channels loaded at once", .NT_INTS(1, 2, 4), .dflt = 2},
    {.name = "unroll", .help = "vectors of a step that are unrolled", .NT_INTS(1, 2, 4), .dflt = 1},
    {.name = "smem", .help = "stage input and weights in shared memory", .NT_INTS(0, 1), .dflt = 1, .is_bool = true},
    {.name = "buffers", .help = "shared-memory buffers; two save a barrier a step", .NT_INTS(1, 2), .dflt = 1},
    {.name = "launch_bounds", .help = "tell the compiler the block size", .NT_INTS(0, 1), .dflt = 1, .is_bool = true},
    {.name = "min_blocks", .help = "blocks per SM that registers must allow", .NT_INTS(1, 2, 3, 4), .dflt = 3},
    {.name = "group",
     .help = "pixel tiles walked before the next channel tile",
     .NT_INTS(1, 8, 64),
     .dflt = 0,
     .use = NT_PARAM_LAUNCH},
};

#define THREADS "(block_x * block_y)"
/* Expressions do not know the layout, so rows of the staged tiles are counted for the worse one. */
#define STAGED_BYTES   "(buffers * (block_x + block_y) * max(tile_w, tile_k) * (c_step + vec) * 4)"
#define TILE_REGISTERS "(tile_w * tile_k + tile_w * vec + 20)"

static const nt_constraint constraints[] = {
    {"64 <= " THREADS " <= max_threads", "a block has 64 threads or more, up to the device's limit"},
    {"unroll * vec <= c_step", "no more can be unrolled than a step has"},
    {"tile_w * tile_k * vec * unroll <= 1024", "longer loop bodies leave the instruction cache"},
    {"smem or buffers == 1", "buffers are of shared memory"},
    {"not smem or " STAGED_BYTES " <= smem_per_block", "the staged tiles fit in shared memory"},
    {"not smem or (block_x * tile_k + block_y * tile_w) * c_step <= 32 * " THREADS,
     "a thread's share of the next step fits in registers"},
    {THREADS " * " TILE_REGISTERS " <= regs_per_block", "accumulators and operands of a block fit in the registers"},
    {"launch_bounds or min_blocks == 1", "min_blocks is part of the launch bounds"},
    {"min_blocks == 1 or min_blocks * " THREADS " <= 1024", "an SM holds min_blocks blocks on every device"},
    {"min_blocks == 1 or min_blocks * " THREADS " * " TILE_REGISTERS " <= regs_per_sm",
     "accumulators and operands of min_blocks blocks fit in the registers"},
    {"tile_k == 1 or min(block_x, block_y) * tile_k < 2 * k", "smaller tiles hold all output channels"},
    {"tile_w == 1 or min(block_x, block_y) * tile_w < 2 * n * h * w", "smaller tiles hold all pixels"},
    {"group == 1 or min(block_x, block_y) * tile_k < k", "one channel tile has no order to choose"},
};

static const nt_rule rules[] = {
    {"16x16 threads", "block_x=16 block_y=16 tile_w=1 tile_k=1 c_step=8 vec=1 unroll=1 smem=false buffers=1 "
                      "launch_bounds=false min_blocks=1 group=1"},
};

static int64_t value(const nt_config *config, const char *name)
{
    return nt_config_int(params, config, name);
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Every product goes through one f32 accumulator. */
static double additions(const nt_problem *problem)
{
    return 9.0 * (double)nt_shape_get(&problem->shape, "c");
}

static void options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    bool whole = problem->layout == NT_NHWC && nt_shape_get(&problem->shape, "c") % value(config, "vec") == 0;
    nt_str_addf(out, " -DWHOLE_VECTORS=%d", whole);
}

/* Rows have an odd number of vectors; direct.cu says why. */
static int64_t smem_bytes(const nt_config *config, int64_t pixels, int64_t channels)
{
    if (!value(config, "smem"))
        return 0;
    int64_t vec = value(config, "vec"), vectors = value(config, "c_step") / vec;
    return value(config, "buffers") * (pixels + channels) * (vectors | 1) * vec * (int64_t)sizeof(float);
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    nt_conv q = nt_conv_of(problem);
    int64_t pixels = q.n * q.h * q.w;
    int64_t x = value(config, "block_x"), y = value(config, "block_y");
    bool nchw = problem->layout == NT_NCHW;
    int64_t tile_p = (nchw ? x : y) * value(config, "tile_w"), tile_c = (nchw ? y : x) * value(config, "tile_k");
    int64_t pixel_tiles = ceil_div(pixels, tile_p), blocks = pixel_tiles * ceil_div(q.k, tile_c);
    int64_t smem = smem_bytes(config, tile_p, tile_c), group = value(config, "group");
    if (blocks > INT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld blocks, a grid holds 2147483647: larger tiles are needed",
                       (long long)blocks);
    if (device->smem_per_block_bytes != NT_UNKNOWN && smem > device->smem_per_block_bytes)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld bytes of shared memory, a block may have %lld", (long long)smem,
                       (long long)device->smem_per_block_bytes);
    *out = (nt_plan){.stage_count = 1};
    nt_stage *stage = &out->stage[0];
    nt_stage_kernel(stage, "nt_conv3x3_direct", (uint32_t)blocks, 1, 1, (uint32_t)x, (uint32_t)y, 1);
    stage->smem_dynamic_bytes = (uint32_t)smem;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i32(stage, pixels);
    nt_stage_arg_i32(stage, q.c);
    nt_stage_arg_i32(stage, q.k);
    nt_stage_arg_i32(stage, q.h);
    nt_stage_arg_i32(stage, q.w);
    nt_stage_arg_i32(stage, group < pixel_tiles ? group : pixel_tiles);
    return NT_OK;
}

const nt_kernel nt_kernel_conv3x3_cuda_direct = {
    .name = "direct",
    .summary = "direct convolution on the CUDA cores, blocked in registers and shared memory",
    .layer = "conv3x3",
    .device = NT_DEVICE_CUDA,
    .source = {nt_embed_common_prelude_cuh, nt_embed_conv3x3_direct_cu},
    .precisions = NT_BIT(NT_FP32) | NT_BIT(NT_FP16) | NT_BIT(NT_BF16),
    .layouts = NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW),
    .min_compute_capability = 75,
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .constraints = constraints,
    .constraint_count = sizeof constraints / sizeof constraints[0],
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .bound = NT_BOUND_DIRECT,
    .additions = additions,
    .refuses = nt__conv3x3_cuda_refuses,
    .options = options,
    .plan = plan,
};
