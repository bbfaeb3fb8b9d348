/* cuda_igemm.c: the row of igemm.cu: parameters, what makes a configuration legal, and its launches.
 *
 * A warp computes tile_m/warps_m x tile_n/warps_n outputs. Its operands cross shared memory once a step, so large warp
 * tiles are fast until their accumulators fill the registers; blocks should also divide the problem into whole waves of
 * the device. Problems too small for that split the reduction (split_k) over blocks and add the partial sums after. */
#include "kernels/conv3x3/conv3x3.h"
#include "kernels/kernel.h"

extern const char nt_embed_common_prelude_cuh[];
extern const char nt_embed_common_tensor_core_cuh[];
extern const char nt_embed_conv3x3_gather_cuh[];
extern const char nt_embed_conv3x3_igemm_cu[];

enum { MAX_SPLIT = 16, REDUCE_THREADS = 256 };

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
     .NT_INTS(1, 2, 4, 8, MAX_SPLIT),
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
#define BLOCKS         "((n * h * w + tile_m - 1) // tile_m * ((k + tile_n - 1) // tile_n))"

static const nt_constraint constraints[] = {
    {ROW_BYTES " in (64, 128)", "a row of a tile is 64 or 128 bytes: 2 or 4 steps of the tensor cores"},
    {"64 <= " THREADS " <= 256", "a block has 2 to 8 warps"},
    {"tile_m % (16 * warps_m) == 0 and tile_n % (16 * warps_n) == 0", "a warp computes whole 16x16 tiles"},
    {"max(" WARP_M ", " WARP_N ") <= 3 * min(" WARP_M ", " WARP_N ")",
     "longer warp tiles read too much for their work"},
    {"16 <= " ACCUMULATORS " <= 128", "a thread has 16 to 128 accumulators"},
    {"tile_m * " ROW_BYTES " % (16 * " THREADS ") == 0 and tile_n * " ROW_BYTES " % (16 * " THREADS ") == 0",
     "each thread copies the same number of 16-byte units"},
    {SMEM " <= smem_per_block", "the stages fit in shared memory"},
    {"min_blocks * (" SMEM " + 1024) <= smem_per_block + 1024", "the stages of min_blocks blocks fit in shared memory"},
    {"min_blocks * (" TILE_REGISTERS " + 16) * " THREADS " <= regs_per_sm",
     "accumulators and operands of min_blocks blocks fit in the registers"},
    {"min_blocks == 1 or min_blocks * (" TILE_REGISTERS " + 48) * " THREADS " > regs_per_sm",
     "min_blocks is asked for only where registers would otherwise not allow it"},
    {"not taps_inner or c % tile_k == 0", "a slice of channels is a whole tile"},
    {"not round_inputs or elem_bytes == 4", "only f32 is rounded"},
    {"tile_m == 32 or tile_m < 2 * n * h * w", "smaller tiles hold all pixels"},
    {"tile_n == 32 or tile_n < 2 * k", "smaller tiles hold all channels"},
    {"split_k == 1 or " BLOCKS " * split_k <= 2 * sm_count", "the reduction is split where blocks are few"},
    {"split_k == 1 or 9 * c >= 4 * split_k * tile_k", "each slice has four tiles or more"},
};

static const nt_rule rules[] = {
    {"128x128 tile", "tile_m=128 tile_n=128 tile_k=32 warps_m=2 warps_n=2 stages=3 swizzle=true taps_inner=false "
                     "min_blocks=1 round_inputs=false split_k=1"},
};

static int64_t value(const nt_config *config, const char *name)
{
    return nt_config_int(params, config, name);
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t extent(const nt_problem *problem, const char *key)
{
    return nt_shape_get(&problem->shape, key);
}

static int64_t elem_bytes(const nt_problem *problem)
{
    return (int64_t)nt_dtype_bytes(nt_precisions[problem->precision].in);
}

static int64_t threads(const nt_config *config)
{
    return value(config, "warps_m") * value(config, "warps_n") * 32;
}

/* The products of an output, and the partial sums of its slices. */
static double additions(const nt_problem *problem)
{
    return 9.0 * (double)extent(problem, "c") + MAX_SPLIT;
}

/* Output elements that a lane may store at once; 8 make 16 bytes of a 16-bit type. */
static int out_vector(const nt_problem *problem)
{
    int64_t k = extent(problem, "k");
    if (elem_bytes(problem) == 2 && k % 8 == 0)
        return 8;
    return k % 2 == 0 ? 2 : 1;
}

/* Whether a tensor has more elements than 32-bit offsets reach. Taps outside the image lie up to a row and a pixel
 * before and after the input. */
static bool wide_offsets(const nt_problem *problem)
{
    double c = (double)extent(problem, "c"), k = (double)extent(problem, "k"), w = (double)extent(problem, "w");
    double pixels = (double)problem->batch * (double)extent(problem, "h") * w;
    return (pixels + 2 * w + 1024) * c >= INT32_MAX || (k + 1024) * 9 * c >= INT32_MAX;
}

static void options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    int64_t c = extent(problem, "c"), tile_k = value(config, "tile_k");
    nt_str_addf(out, " -DTHREADS=%lld -DUNIT_COPIES=%d -DWHOLE_STEPS=%d -DOUT_VECTOR=%d -DSPLIT=%d -DWIDE_OFFSETS=%d",
                (long long)threads(config), c % (16 / elem_bytes(problem)) == 0, c % tile_k == 0, out_vector(problem),
                value(config, "split_k") > 1, wide_offsets(problem));
}

static int64_t smem_bytes(const nt_problem *problem, const nt_config *config)
{
    int64_t pitch = value(config, "tile_k") * elem_bytes(problem) + (value(config, "swizzle") ? 0 : 16);
    return value(config, "stages") * (value(config, "tile_m") + value(config, "tile_n")) * pitch;
}

static void product_stage(const nt_problem *problem, const nt_config *config, nt_stage *stage)
{
    int64_t c = extent(problem, "c"), k = extent(problem, "k"), h = extent(problem, "h"), w = extent(problem, "w");
    int64_t pixels = problem->batch * h * w, split = value(config, "split_k");
    int64_t columns = ceil_div(k, value(config, "tile_n"));
    int64_t blocks = ceil_div(pixels, value(config, "tile_m")) * columns;
    nt_stage_kernel(stage, "nt_conv3x3_igemm", (uint32_t)blocks, 1, (uint32_t)split, (uint32_t)threads(config), 1, 1);
    stage->smem_dynamic_bytes = (uint32_t)smem_bytes(problem, config);
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(stage, split > 1 ? NT_ROLE_WORKSPACE : NT_ROLE_OUT, 0);
    nt_stage_arg_i32(stage, pixels);
    nt_stage_arg_i32(stage, h);
    nt_stage_arg_i32(stage, w);
    nt_stage_arg_i32(stage, c);
    nt_stage_arg_i32(stage, k);
    nt_stage_arg_i32(stage, columns);
    nt_stage_arg_i32(stage, ceil_div(9 * c, value(config, "tile_k")));
}

static void reduce_stage(int64_t count, int64_t split, nt_stage *stage)
{
    nt_stage_kernel(stage, "nt_conv3x3_igemm_reduce", (uint32_t)ceil_div(count, REDUCE_THREADS), 1, 1, REDUCE_THREADS,
                    1, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_WORKSPACE, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i64(stage, count);
    nt_stage_arg_i32(stage, split);
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    int64_t k = extent(problem, "k"), pixels = problem->batch * extent(problem, "h") * extent(problem, "w");
    int64_t split = value(config, "split_k"), smem = smem_bytes(problem, config);
    int64_t blocks = ceil_div(pixels, value(config, "tile_m")) * ceil_div(k, value(config, "tile_n"));
    if (blocks > INT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld blocks, a grid holds 2147483647: larger tiles are needed",
                       (long long)blocks);
    if (device->smem_per_block_bytes != NT_UNKNOWN && smem > device->smem_per_block_bytes)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld bytes of shared memory, a block may have %lld", (long long)smem,
                       (long long)device->smem_per_block_bytes);
    *out = (nt_plan){.stage_count = 1};
    product_stage(problem, config, &out->stage[0]);
    if (split > 1) {
        int64_t count = pixels * k;
        out->workspace_bytes = (size_t)(split * count) * sizeof(float);
        reduce_stage(count, split, &out->stage[out->stage_count++]);
    }
    return NT_OK;
}

const nt_kernel nt_kernel_conv3x3_cuda_igemm = {
    .name = "igemm",
    .summary = "implicit matrix product on tensor cores (mma.sync), pipelined through shared memory",
    .layer = "conv3x3",
    .device = NT_DEVICE_CUDA,
    .source = {nt_embed_common_prelude_cuh, nt_embed_common_tensor_core_cuh, nt_embed_conv3x3_gather_cuh,
               nt_embed_conv3x3_igemm_cu},
    .precisions = NT_BIT(NT_TF32) | NT_BIT(NT_FP16) | NT_BIT(NT_BF16),
    .layouts = NT_BIT(NT_NHWC),
    .min_compute_capability = 80,
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
