/* cuda_depthwise.c: the table row of depthwise.cu: parameters, constraints, rules of thumb and launches. */
#include "kernels/conv/conv.h"
#include "kernels/kernel.h"

#include <inttypes.h>

extern const char nt_embed_common_prelude_cuh[], nt_embed_dwconv3x3_depthwise_cu[];

static const nt_param params[] = {
    {.name = "vec", .help = "channels of a thread (1 in NCHW)", .NT_INTS(1, 2, 4, 8), .dflt = 0},
    {.name = "pixels", .help = "neighbouring outputs of a thread", .NT_INTS(1, 2, 4, 7, 8), .dflt = 1},
    {.name = "threads", .help = "threads of a block", .NT_INTS(64, 128, 256, 512), .dflt = 1},
};

static const nt_constraint constraints[] = {
    {"c % vec == 0", "vectors of channels fill the channels"},
    {"vec * elem_bytes <= 16", "a thread reads at most 16 bytes at once"},
    {"vec * pixels <= 32", "the sums of a thread fit its registers"},
    {"threads <= max_threads", "a block has at most the device's number of threads"},
};

static const nt_rule rules[] = {{"256 threads, an output each", "vec=1 pixels=1 threads=256"}};

static void options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    nt_conv d = nt_conv_of(problem);
    (void)config;
    nt_str_addf(out, " -DTAPS=%d -DSTRIDE=%d -DPAD=%d", (int)d.taps, (int)d.stride, (int)d.pad);
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    nt_conv d = nt_conv_of(problem);
    int64_t vec = nt_config_int(params, config, "vec"), pixels = nt_config_int(params, config, "pixels");
    int64_t threads = nt_config_int(params, config, "threads"), weights = d.c * d.taps * d.taps;
    (void)device;
    if (problem->layout == NT_NCHW && vec != 1)
        return nt_fail(err, NT_LAUNCH_FAILED, "vec is 1 in nchw, where the channels of a pixel lie apart");
    int64_t count = d.n * d.out_h * ((d.out_w + pixels - 1) / pixels) * (d.c / vec);
    int64_t blocks = (count + threads - 1) / threads;
    if (blocks > INT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED, "%" PRId64 " blocks are more than 2147483647", blocks);
    *out = (nt_plan){.prepare_count = 1, .stage_count = 1};
    out->packed_bytes = (size_t)weights * nt_dtype_bytes(nt_precisions[problem->precision].weight);
    nt_stage_kernel(&out->prepare[0], "pack_weights", (uint32_t)((weights + 255) / 256), 1, 1, 256, 1, 1);
    nt_stage_arg_buffer(&out->prepare[0], NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(&out->prepare[0], NT_ROLE_PACKED, 0);
    nt_stage_arg_i32(&out->prepare[0], d.c);
    nt_stage *stage = &out->stage[0];
    nt_stage_kernel(stage, "convolve", (uint32_t)blocks, 1, 1, (uint32_t)threads, 1, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i64(stage, count);
    const int64_t sizes[] = {d.c, d.h, d.w, d.out_h, d.out_w};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        nt_stage_arg_i32(stage, sizes[i]);
    return NT_OK;
}

const nt_kernel nt_kernel_dwconv3x3_cuda_depthwise = {
    .name = "depthwise",
    .summary = "a thread has some channels of some neighbouring outputs; shared inputs are read once",
    .layer = "dwconv3x3",
    .device = NT_DEVICE_CUDA,
    .source = {nt_embed_common_prelude_cuh, nt_embed_dwconv3x3_depthwise_cu},
    .precisions = NT_BIT(NT_FP32) | NT_BIT(NT_FP16) | NT_BIT(NT_BF16) | NT_BIT(NT_INT8),
    .layouts = NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW),
    .min_compute_capability = 75,
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .constraints = constraints,
    .constraint_count = sizeof constraints / sizeof constraints[0],
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .bound = NT_BOUND_DIRECT,
    .additions = nt_conv_additions,
    .refuses = nt_conv_cuda_refuses,
    .options = options,
    .plan = plan,
};
