/* cuda_mma.c: the rows of mma.cu: fused, fused by clusters of blocks, and as three launches. */
#include "kernels/conv1x1_chain3/chain3.h"

extern const char nt_embed_common_prelude_cuh[], nt_embed_common_tensor_core_cuh[], nt_embed_common_hopper_cuh[];
extern const char nt_embed_conv1x1_chain3_mma_cu[];

enum { PACK_THREADS = 256, LANES = 32, LANE_ELEMENTS = 8 };

#define COMMON_PARAMS                                                                                          \
    {.name = "tiles", .help = "tiles of 16 pixels of a warp", .NT_INTS(1, 2, 4), .dflt = 1},                   \
        {.name = "warps_m", .help = "warps along the pixels", .NT_INTS(1, 2, 4), .dflt = 0},                   \
        {.name = "warps_n", .help = "warps along the channels", .NT_INTS(1, 2, 4, 8, 16), .dflt = 2},          \
        {.name = "blocks", .help = "blocks of 16 channels of a warp at a time", .NT_INTS(1, 2, 4), .dflt = 0}, \
        {.name = "prefetch", .help = "steps of weights under way", .NT_INTS(1, 2, 4, 8), .dflt = 1},           \
    {                                                                                                          \
        .name = "min_blocks", .help = "blocks per SM that registers must allow", .NT_INTS(1, 2, 4), .dflt = 0  \
    }

static const nt_param params[] = {COMMON_PARAMS};
static const nt_param cluster_params[] = {
    COMMON_PARAMS,
    {.name = "cluster", .help = "blocks that share the channels of the same pixels", .NT_INTS(2, 4, 8, 16), .dflt = 1}};
static const nt_param three_params[] = {COMMON_PARAMS, NT__CHAIN3_PARTS};

/* Bytes of a row in shared memory, and registers of a thread. */
#define PITCH(C)     "((" C " + 15) // 16 * 32 + 16)"
#define FUSED_ROW    NT__CHAIN3_FUSED_ROW(PITCH)
#define ONE_ROW      NT__CHAIN3_ONE_ROW(PITCH)
#define REGISTERS    "(8 * tiles * blocks + 4 * tiles + 4 * blocks * prefetch)"

#define CONSTRAINTS(ROW, PARTS)                                                                             \
    {"64 <= 32 * warps_m * warps_n <= 512", "a block has 2 to 16 warps"},                                   \
        {"16 * tiles * warps_m * " ROW " <= smem_per_block", "the pixels of a block fit in shared memory"}, \
        {REGISTERS " <= 160", "sums, pixels and weights of a thread fit its registers"},                    \
        {"min_blocks * 32 * warps_m * warps_n * (" REGISTERS " + 40) <= regs_per_sm",                       \
         "min_blocks blocks fit in the registers"},                                                         \
        {"min_blocks * (16 * tiles * warps_m * " ROW " + 1024) <= smem_per_block + 1024",                   \
         "min_blocks blocks fit in shared memory"},                                                         \
        {"tiles * warps_m == 1 or 8 * tiles * warps_m < n * h * w", "smaller blocks hold all pixels"},      \
    {                                                                                                       \
        "warps_n * " PARTS " == 1 or 8 * warps_n * blocks * " PARTS " < " NT__CHAIN3_WIDEST,                \
            "no more warps share channels than there are"                                                   \
    }

static const nt_constraint constraints[] = {CONSTRAINTS(FUSED_ROW, "1")};
static const nt_constraint cluster_constraints[] = {CONSTRAINTS(FUSED_ROW, "cluster")};
static const nt_constraint three_constraints[] = {CONSTRAINTS(ONE_ROW, "parts")};

static const nt_rule rules[] = {{"64 pixels, 8 warps", "tiles=4 warps_m=1 warps_n=8 blocks=1"}};

static int64_t up(int64_t channels)
{
    return nt_div_up(channels, 16);
}

static int64_t pitch(int64_t channels)
{
    return up(channels) * 32 + 16;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    nt_chain3 d = nt_chain3_of(problem);
    (void)config;
    nt_str_addf(out, " -DC=%d -DK1=%d -DK2=%d -DK=%d", (int)d.c, (int)d.k1, (int)d.k2, (int)d.k);
}

static const char *refuses(const nt_problem *problem)
{
    nt_chain3 d = nt_chain3_of(problem);
    if (d.c * d.k1 > INT32_MAX / 32 || d.k2 * d.k > INT32_MAX / 32)
        return "weights of a convolution must be below 2^26";
    return nt_chain3_cuda_refuses(problem);
}

static int64_t packed_bytes(const nt_chain3_step *step)
{
    return up(step->in) * up(step->out) * LANES * LANE_ELEMENTS * 2;
}

/* The weights of all three, one after another. */
static void prepare(const nt_chain3 *d, nt_plan *out)
{
    for (int i = 0; i < 3; i++) {
        nt_chain3_step step = nt_chain3_step_of(d, i);
        nt_stage *stage = &out->prepare[out->prepare_count++];
        nt_stage_kernel(stage, "nt_chain3_pack", (uint32_t)nt_div_up(packed_bytes(&step) / 2, PACK_THREADS), 1, 1,
                        PACK_THREADS, 1, 1);
        nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, (size_t)step.weight * 2);
        nt_stage_arg_buffer(stage, NT_ROLE_PACKED, out->packed_bytes);
        nt_stage_arg_i32(stage, step.in);
        nt_stage_arg_i32(stage, step.out);
        out->packed_bytes += (size_t)packed_bytes(&step);
    }
}

static int64_t rows_of(const nt_config *config)
{
    return 16 * nt_config_int(params, config, "tiles") * nt_config_int(params, config, "warps_m");
}

/* Stage `entry` over all pixels, `across` blocks for each ROWS of them, `row_bytes` of shared memory a pixel. */
static nt_status add_stage(const nt_chain3 *d, const nt_config *config, const char *entry, int64_t row_bytes,
                           const nt_device_info *device, nt_plan *out, nt_error *err)
{
    int64_t rows = rows_of(config), smem = rows * row_bytes;
    int64_t threads = 32 * nt_config_int(params, config, "warps_m") * nt_config_int(params, config, "warps_n");
    if (device->smem_per_block_bytes != NT_UNKNOWN && smem > device->smem_per_block_bytes)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld bytes of shared memory, a block may have %lld", (long long)smem,
                       (long long)device->smem_per_block_bytes);
    nt_stage *stage = &out->stage[out->stage_count++];
    nt_stage_kernel(stage, entry, (uint32_t)nt_div_up(d->pixels, rows), 1, 1, (uint32_t)threads, 1, 1);
    stage->smem_dynamic_bytes = (uint32_t)smem;
    return NT_OK;
}

static void add_sizes(const nt_chain3 *d, nt_stage *stage)
{
    nt_stage_arg_i32(stage, d->pixels);
    nt_stage_arg_i32(stage, d->h * d->w);
}

static nt_status plan_fused(const nt_problem *problem, const nt_config *config, int64_t cluster,
                            const nt_device_info *device, nt_plan *out, nt_error *err)
{
    nt_chain3 d = nt_chain3_of(problem);
    *out = (nt_plan){.stage_count = 0};
    prepare(&d, out);
    int64_t row_bytes = larger(pitch(d.c), pitch(d.k2)) + pitch(d.k1);
    nt_status status = add_stage(&d, config, "nt_chain3", row_bytes, device, out, err);
    if (status != NT_OK)
        return status;
    nt_stage *stage = &out->stage[0];
    if ((int64_t)stage->grid[0] * cluster > INT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED, "more blocks than a grid holds: larger tiles are needed");
    stage->grid[0] *= (uint32_t)cluster;
    stage->cluster[0] = (uint32_t)cluster;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    add_sizes(&d, stage);
    return NT_OK;
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    return plan_fused(problem, config, 1, device, out, err);
}

static nt_status cluster_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device,
                              nt_plan *out, nt_error *err)
{
    return plan_fused(problem, config, nt_config_int(cluster_params, config, "cluster"), device, out, err);
}

static nt_status three_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device,
                            nt_plan *out, nt_error *err)
{
    static const char *const entries[] = {"nt_chain3_1", "nt_chain3_2", "nt_chain3_3"};
    nt_chain3 d = nt_chain3_of(problem);
    size_t between[2], packed = 0;
    *out = (nt_plan){.workspace_bytes = nt_chain3_between(problem, between)};
    prepare(&d, out);
    for (int i = 0; i < 3; i++) {
        nt_chain3_step step = nt_chain3_step_of(&d, i);
        nt_status status = add_stage(&d, config, entries[i], pitch(step.in), device, out, err);
        if (status != NT_OK)
            return status;
        nt_stage *stage = &out->stage[i];
        int64_t parts = nt_config_int(three_params, config, "parts");
        stage->grid[1] = (uint32_t)parts;
        nt_stage_arg_buffer(stage, i == 0 ? NT_ROLE_IN : NT_ROLE_WORKSPACE, i == 0 ? 0 : between[i - 1]);
        nt_stage_arg_buffer(stage, NT_ROLE_PACKED, packed);
        nt_stage_arg_buffer(stage, i == 2 ? NT_ROLE_OUT : NT_ROLE_WORKSPACE, i == 2 ? 0 : between[i]);
        add_sizes(&d, stage);
        nt_stage_arg_i32(stage, parts);
        packed += (size_t)packed_bytes(&step);
    }
    return NT_OK;
}

#define ROW(of_name, of_row, of_summary, of_capability, of_layouts, of_params, of_constraints, of_plan)      \
    const nt_kernel nt_kernel_conv1x1_chain3_cuda_##of_row = {                                               \
        .name = of_name,                                                                                     \
        .summary = of_summary,                                                                               \
        .layer = "conv1x1_chain3",                                                                           \
        .device = NT_DEVICE_CUDA,                                                                            \
        .source = {nt_embed_common_prelude_cuh, nt_embed_common_tensor_core_cuh, nt_embed_common_hopper_cuh, \
                   nt_embed_conv1x1_chain3_mma_cu},                                                          \
        .precisions = NT_BIT(NT_FP16) | NT_BIT(NT_BF16),                                                     \
        .layouts = of_layouts,                                                                               \
        .min_compute_capability = of_capability,                                                             \
        .params = of_params,                                                                                 \
        .param_count = sizeof of_params / sizeof of_params[0],                                               \
        .constraints = of_constraints,                                                                       \
        .constraint_count = sizeof of_constraints / sizeof of_constraints[0],                                \
        .rules = rules,                                                                                      \
        .rule_count = sizeof rules / sizeof rules[0],                                                        \
        .bound = NT_BOUND_DIRECT,                                                                            \
        .additions = nt_chain3_additions,                                                                    \
        .refuses = refuses,                                                                                  \
        .options = options,                                                                                  \
        .plan = of_plan,                                                                                     \
    };

#define BOTH (NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW))
ROW("mma", mma, "fused, on tensor cores (mma.sync): what lies between stays in shared memory", 80, BOTH, params,
    constraints, plan)
ROW("mma_cluster", mma_cluster, "the same by clusters of blocks that share weights of few pixels", 90, NT_BIT(NT_NHWC),
    cluster_params, cluster_constraints, cluster_plan)
ROW("mma_three", mma_three, "three launches on tensor cores (mma.sync), by way of memory", 80, BOTH, three_params,
    three_constraints, three_plan)
