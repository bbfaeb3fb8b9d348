/* cuda_simt.c: the rows of simt.cu: fused, and as three launches. */
#include "kernels/conv1x1_chain3/chain3.h"

extern const char nt_embed_common_prelude_cuh[], nt_embed_conv1x1_chain3_simt_cu[];

enum { PACK_THREADS = 256 };

#define COMMON_PARAMS                                                                                     \
    {.name = "block_x", .help = "threads along the output channels", .NT_INTS(8, 16, 32, 64), .dflt = 1}, \
        {.name = "block_y", .help = "threads along the pixels", .NT_INTS(2, 4, 8, 16), .dflt = 2},        \
        {.name = "pixels", .help = "pixels of a thread", .NT_INTS(1, 2, 4, 8), .dflt = 2},                \
    {                                                                                                     \
        .name = "channels", .help = "output channels of a thread", .NT_INTS(1, 2, 4, 8), .dflt = 2        \
    }

static const nt_param params[] = {COMMON_PARAMS};
static const nt_param three_params[] = {COMMON_PARAMS, NT__CHAIN3_PARTS};

#define UP(C)        "((" C " + 3) // 4 * 4)"
#define FUSED_ROW    NT__CHAIN3_FUSED_ROW(UP)
#define ONE_ROW      NT__CHAIN3_ONE_ROW(UP)

#define CONSTRAINTS(ROW, PARTS)                                                                                 \
    {"64 <= block_x * block_y <= max_threads", "a block has two warps at least and the device's most at most"}, \
        {"pixels * channels <= 32", "the sums of a thread fit its registers"},                                  \
        {"4 * block_y * pixels * " ROW " <= smem_per_block", "the pixels of a block fit in shared memory"},     \
        {"block_y * pixels == 2 or block_y * pixels < 2 * n * h * w", "smaller blocks hold all pixels"},        \
    {                                                                                                           \
        "channels * " PARTS " == 1 or block_x * channels * " PARTS " < 2 * " NT__CHAIN3_WIDEST,                 \
            "no more threads share channels than there are"                                                     \
    }

static const nt_constraint constraints[] = {CONSTRAINTS(FUSED_ROW, "1")};
static const nt_constraint three_constraints[] = {CONSTRAINTS(ONE_ROW, "parts")};

static const nt_rule rules[] = {{"16x16 threads", "block_x=16 block_y=16 pixels=1 channels=1"}};

static int64_t up(int64_t channels)
{
    return nt_div_up(channels, 4) * 4;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static size_t element_bytes(const nt_problem *problem)
{
    return nt_dtype_bytes(nt_precisions[problem->precision].weight);
}

static void prepare(const nt_problem *problem, const nt_chain3 *d, nt_plan *out)
{
    size_t element = element_bytes(problem);
    for (int i = 0; i < 3; i++) {
        nt_chain3_step step = nt_chain3_step_of(d, i);
        int64_t count = up(step.in) * step.out;
        nt_stage *stage = &out->prepare[out->prepare_count++];
        nt_stage_kernel(stage, "nt_chain3_pack", (uint32_t)nt_div_up(count, PACK_THREADS), 1, 1, PACK_THREADS, 1, 1);
        nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, (size_t)step.weight * element);
        nt_stage_arg_buffer(stage, NT_ROLE_PACKED, out->packed_bytes);
        nt_stage_arg_i32(stage, step.in);
        nt_stage_arg_i32(stage, step.out);
        out->packed_bytes += (size_t)count * element;
    }
}

static nt_status add_stage(const nt_chain3 *d, const nt_config *config, const char *entry, int64_t row_floats,
                           const nt_device_info *device, nt_plan *out, nt_error *err)
{
    int64_t x = nt_config_int(params, config, "block_x"), y = nt_config_int(params, config, "block_y");
    int64_t rows = y * nt_config_int(params, config, "pixels"), smem = 4 * rows * row_floats;
    if (device->smem_per_block_bytes != NT_UNKNOWN && smem > device->smem_per_block_bytes)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld bytes of shared memory, a block may have %lld", (long long)smem,
                       (long long)device->smem_per_block_bytes);
    nt_stage *stage = &out->stage[out->stage_count++];
    nt_stage_kernel(stage, entry, (uint32_t)nt_div_up(d->pixels, rows), 1, 1, (uint32_t)x, (uint32_t)y, 1);
    stage->smem_dynamic_bytes = (uint32_t)smem;
    return NT_OK;
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    nt_chain3 d = nt_chain3_of(problem);
    *out = (nt_plan){.stage_count = 0};
    prepare(problem, &d, out);
    int64_t row = larger(up(d.c), up(d.k2)) + up(d.k1);
    nt_status status = add_stage(&d, config, "nt_chain3", row, device, out, err);
    nt_stage *stage = &out->stage[0];
    if (status != NT_OK)
        return status;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    const int64_t sizes[] = {d.pixels, d.h * d.w, d.c, d.k1, d.k2, d.k};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        nt_stage_arg_i32(stage, sizes[i]);
    return NT_OK;
}

static nt_status three_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device,
                            nt_plan *out, nt_error *err)
{
    nt_chain3 d = nt_chain3_of(problem);
    size_t between[2], packed = 0;
    *out = (nt_plan){.workspace_bytes = nt_chain3_between(problem, between)};
    prepare(problem, &d, out);
    for (int i = 0; i < 3; i++) {
        nt_chain3_step step = nt_chain3_step_of(&d, i);
        nt_status status = add_stage(&d, config, "nt_chain3_one", up(step.in), device, out, err);
        if (status != NT_OK)
            return status;
        nt_stage *stage = &out->stage[i];
        int64_t parts = nt_config_int(three_params, config, "parts");
        stage->grid[1] = (uint32_t)parts;
        nt_stage_arg_buffer(stage, i == 0 ? NT_ROLE_IN : NT_ROLE_WORKSPACE, i == 0 ? 0 : between[i - 1]);
        nt_stage_arg_buffer(stage, NT_ROLE_PACKED, packed);
        nt_stage_arg_buffer(stage, i == 2 ? NT_ROLE_OUT : NT_ROLE_WORKSPACE, i == 2 ? 0 : between[i]);
        const int64_t sizes[] = {d.pixels, d.h * d.w, step.in, step.out, parts};
        for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++)
            nt_stage_arg_i32(stage, sizes[j]);
        packed += (size_t)(up(step.in) * step.out) * element_bytes(problem);
    }
    return NT_OK;
}

#define ROW(of_row, of_summary, of_params, of_constraints, of_plan)               \
    const nt_kernel nt_kernel_conv1x1_chain3_cuda_##of_row = {                    \
        .name = #of_row,                                                          \
        .summary = of_summary,                                                    \
        .layer = "conv1x1_chain3",                                                \
        .device = NT_DEVICE_CUDA,                                                 \
        .source = {nt_embed_common_prelude_cuh, nt_embed_conv1x1_chain3_simt_cu}, \
        .precisions = NT_BIT(NT_FP32),                                            \
        .layouts = NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW),                             \
        .min_compute_capability = 75,                                             \
        .params = of_params,                                                      \
        .param_count = sizeof of_params / sizeof of_params[0],                    \
        .constraints = of_constraints,                                            \
        .constraint_count = sizeof of_constraints / sizeof of_constraints[0],     \
        .rules = rules,                                                           \
        .rule_count = sizeof rules / sizeof rules[0],                             \
        .bound = NT_BOUND_DIRECT,                                                 \
        .additions = nt_chain3_additions,                                         \
        .refuses = nt_chain3_cuda_refuses,                                        \
        .plan = of_plan,                                                          \
    };

ROW(simt, "fused, on CUDA cores: what lies between stays in shared memory", params, constraints, plan)
ROW(simt_three, "three launches on CUDA cores, by way of memory", three_params, three_constraints, three_plan)
