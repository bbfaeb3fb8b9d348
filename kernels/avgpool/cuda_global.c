/* cuda_global.c: the row of global.cu: averages of whole images. */
#include "kernels/common/launch.h"
#include "kernels/common/pool.h"

extern const char nt_embed_avgpool_global_cu[];

static const nt_param params[] = {
    {.name = "block_x",
     .help = "threads along memory: channels in nhwc, pixels in nchw",
     .NT_INTS(8, 16, 32, 64, 128),
     .dflt = 2},
    {.name = "block_y", .help = "threads across: pixels in nhwc, planes in nchw", .NT_INTS(1, 2, 4, 8, 16), .dflt = 3},
    {.name = "vec", .help = "channels of a thread (nhwc)", .NT_INTS(1, 2, 4, 8), .dflt = 1},
    {.name = "unroll", .help = "loads under way at once", .NT_INTS(1, 2, 4, 8), .dflt = 2},
};

static const nt_constraint constraints[] = {
    {"32 <= block_x * block_y <= max_threads",
     "a block has a warp at least, and no more threads than the device allows"},
    {"vec * elem_bytes <= 16", "a vector has at most 16 bytes"},
    {"vec == 1 or (not nchw and c % vec == 0)", "vectors divide the channels, which are neighbours in nhwc alone"},
    {"nchw or block_y == 1 or block_y < 2 * h * w", "no more threads share pixels than there are"},
    {"block_x * block_y * vec * 4 <= 49152", "partial sums fit in shared memory"},
};

static const nt_rule rules[] = {
    {"a channel a thread", "block_x=128 block_y=1 vec=1 unroll=1"},
};

static const char *refuses(const nt_problem *problem)
{
    nt_pool p = nt_pool_of(problem);
    if (!p.is_global)
        return "it serves the whole image, not windows";
    return p.h * p.w > INT32_MAX - 4096 || p.c > INT32_MAX - 4096
               ? "height x width and channels must be below 2^31 - 4096"
               : NULL;
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    nt_pool p = nt_pool_of(problem);
    int64_t x = nt_config_int(params, config, "block_x"), y = nt_config_int(params, config, "block_y");
    int64_t vec = nt_config_int(params, config, "vec");
    (void)device;
    if (p.c % vec != 0)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld channels are not a multiple of vec=%lld", (long long)p.c,
                       (long long)vec);
    int64_t blocks = problem->layout == NT_NCHW ? nt_div_up(p.n * p.c, y) : p.n * nt_div_up(p.c / vec, x);
    nt_status status = nt_launch_blocks(out, "nt_avgpool_global", blocks, x, y, "block_x or vec", err);
    nt_stage *stage = &out->stage[0];
    if (status != NT_OK)
        return status;
    stage->smem_dynamic_bytes = (uint32_t)(x * y * vec * (int64_t)sizeof(float));
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i32(stage, p.n);
    nt_stage_arg_i32(stage, p.c);
    nt_stage_arg_i32(stage, p.h * p.w);
    return NT_OK;
}

const nt_kernel nt_kernel_avgpool_cuda_global = {
    .name = "global",
    .summary = "whole images: threads share the pixels and meet in shared memory",
    .layer = "avgpool",
    .device = NT_DEVICE_CUDA,
    .source = {nt_embed_common_prelude_cuh, nt_embed_common_vector_cuh, nt_embed_avgpool_global_cu},
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
    .additions = nt__pool_additions,
    .refuses = refuses,
    .plan = plan,
};
