/* cuda_simt.c: the table rows of simt.cu: conv7x7, conv_bn_relu fused, and the same as a chain of three kernels, which is
 * what fusing is compared with. */
#include "kernels/conv/conv.h"
#include "kernels/kernel.h"

#include <inttypes.h>

extern const char nt_embed_common_prelude_cuh[], nt_embed_conv_simt_cu[];

static const nt_param params[] = {
    {.name = "block_x", .help = "threads along the output channels", .NT_INTS(8, 16, 32, 64), .dflt = 1},
    {.name = "block_y", .help = "threads along the outputs", .NT_INTS(2, 4, 8, 16), .dflt = 3},
    {.name = "pixels", .help = "outputs of a thread", .NT_INTS(1, 2, 4, 8), .dflt = 2},
    {.name = "channels", .help = "output channels of a thread", .NT_INTS(1, 2, 4, 8), .dflt = 1},
};

static const nt_constraint constraints[] = {
    {"block_x * block_y <= max_threads", "a block has at most the device's number of threads"},
    {"block_x * block_y >= 64", "a block has two warps at least"},
    {"pixels * channels <= 32", "the sums of a thread fit its registers"},
    {"channels == 1 or block_x * (channels - 1) < k", "a block has no more channels than the layer"},
};

static const nt_rule rules[] = {{"16x16 threads", "block_x=16 block_y=16 pixels=1 channels=1"}};

enum { PASS_THREADS = 256 };

static void add_options(const nt_problem *problem, const char *more, nt_str *out)
{
    nt_conv d = nt_conv_of(problem);
    nt_str_addf(out, " -DTAPS=%d -DSTRIDE=%d -DPAD=%d%s", (int)d.taps, (int)d.stride, (int)d.pad, more);
    if (d.batch_norm)
        nt_str_addf(out, " -DACT=%d", (int)d.act);
}

static void options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    (void)config;
    add_options(problem, nt_conv_of(problem).batch_norm ? " -DFUSED=1" : "", out);
}

static void chain_options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    (void)config;
    add_options(problem, " -DCHAIN=1", out);
}

/* A stage of one thread an element. */
static void pass(nt_stage *stage, const char *entry, int64_t count)
{
    nt_stage_kernel(stage, entry, (uint32_t)((count + PASS_THREADS - 1) / PASS_THREADS), 1, 1, PASS_THREADS, 1, 1);
}

/* Packed: weights, then scales and shifts as floats on a boundary of 256 bytes. */
static size_t folded_at(const nt_problem *problem, const nt_conv *d)
{
    size_t bytes = (size_t)nt_conv_filters(d) * nt_dtype_bytes(nt_precisions[problem->precision].weight);
    return (bytes + 255) / 256 * 256;
}

static void prepare(const nt_problem *problem, const nt_conv *d, nt_plan *out)
{
    size_t element = nt_dtype_bytes(nt_precisions[problem->precision].weight), folded = folded_at(problem, d);
    out->packed_bytes = folded + (d->batch_norm ? (size_t)d->k * 2 * sizeof(float) : 0);
    out->prepare_count = d->batch_norm ? 2 : 1;
    pass(&out->prepare[0], "pack_weights", nt_conv_filters(d));
    nt_stage_arg_buffer(&out->prepare[0], NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(&out->prepare[0], NT_ROLE_PACKED, 0);
    nt_stage_arg_i32(&out->prepare[0], d->c);
    nt_stage_arg_i32(&out->prepare[0], d->k);
    if (!d->batch_norm)
        return;
    pass(&out->prepare[1], "fold_norm", d->k);
    nt_stage_arg_buffer(&out->prepare[1], NT_ROLE_WEIGHT, (size_t)nt_conv_filters(d) * element);
    nt_stage_arg_buffer(&out->prepare[1], NT_ROLE_PACKED, folded);
    nt_stage_arg_i32(&out->prepare[1], d->k);
}

static nt_status convolve(const nt_problem *problem, const nt_config *config, nt_role to, nt_plan *out, nt_error *err)
{
    nt_conv d = nt_conv_of(problem);
    int64_t block_x = nt_config_int(params, config, "block_x"), block_y = nt_config_int(params, config, "block_y");
    int64_t across = block_x * nt_config_int(params, config, "channels");
    int64_t down = block_y * nt_config_int(params, config, "pixels"), pixels = d.n * d.out_h * d.out_w;
    int64_t columns = (d.k + across - 1) / across;
    if (columns > 65535)
        return nt_fail(err, NT_LAUNCH_FAILED, "%" PRId64 " blocks along the channels are more than 65535", columns);
    *out = (nt_plan){.stage_count = 1};
    prepare(problem, &d, out);
    nt_stage *stage = &out->stage[0];
    nt_stage_kernel(stage, "convolve", (uint32_t)((pixels + down - 1) / down), (uint32_t)columns, 1, (uint32_t)block_x,
                    (uint32_t)block_y, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, d.batch_norm ? folded_at(problem, &d) : 0);
    nt_stage_arg_buffer(stage, to, 0);
    const int64_t sizes[] = {pixels, d.c, d.k, d.h, d.w, d.out_h, d.out_w};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        nt_stage_arg_i32(stage, sizes[i]);
    return NT_OK;
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    (void)device;
    return convolve(problem, config, NT_ROLE_OUT, out, err);
}

/* Convolution, batch norm, activation, by way of the workspace. */
static nt_status chain_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device,
                            nt_plan *out, nt_error *err)
{
    nt_conv d = nt_conv_of(problem);
    int64_t count = d.n * d.k * d.out_h * d.out_w;
    (void)device;
    nt_status status = convolve(problem, config, NT_ROLE_WORKSPACE, out, err);
    if (status != NT_OK)
        return status;
    size_t second = ((size_t)count * sizeof(float) + 255) / 256 * 256;
    out->workspace_bytes = second * 2;
    out->stage_count = 3;
    pass(&out->stage[1], "batch_norm", count);
    nt_stage_arg_buffer(&out->stage[1], NT_ROLE_WORKSPACE, 0);
    nt_stage_arg_buffer(&out->stage[1], NT_ROLE_PACKED, folded_at(problem, &d));
    nt_stage_arg_buffer(&out->stage[1], NT_ROLE_WORKSPACE, second);
    nt_stage_arg_i64(&out->stage[1], count);
    nt_stage_arg_i32(&out->stage[1], d.k);
    nt_stage_arg_i32(&out->stage[1], problem->layout == NT_NHWC ? 1 : d.out_h * d.out_w);
    pass(&out->stage[2], "activation", count);
    nt_stage_arg_buffer(&out->stage[2], NT_ROLE_WORKSPACE, second);
    nt_stage_arg_buffer(&out->stage[2], NT_ROLE_OUT, 0);
    nt_stage_arg_i64(&out->stage[2], count);
    return NT_OK;
}

#define ROW(of_layer, of_name, of_precisions, of_summary, of_options, of_plan)        \
    const nt_kernel nt_kernel_##of_layer##_cuda_##of_name = {                         \
        .name = #of_name,                                                             \
        .summary = of_summary,                                                        \
        .layer = #of_layer,                                                           \
        .device = NT_DEVICE_CUDA,                                                     \
        .source = {nt_embed_common_prelude_cuh, nt_embed_conv_simt_cu},               \
        .precisions = of_precisions,                                                  \
        .layouts = NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW),                                 \
        .min_compute_capability = 75,                                                 \
        .params = params,                                                             \
        .param_count = sizeof params / sizeof params[0],                              \
        .constraints = constraints,                                                   \
        .constraint_count = sizeof constraints / sizeof constraints[0],               \
        .rules = rules,                                                               \
        .rule_count = sizeof rules / sizeof rules[0],                                 \
        .bound = NT_BOUND_DIRECT,                                                     \
        .additions = nt_conv_additions,                                               \
        .refuses = nt_conv_cuda_refuses,                                              \
        .options = of_options,                                                        \
        .plan = of_plan,                                                              \
    };

#define FLOATS (NT_BIT(NT_FP32) | NT_BIT(NT_FP16) | NT_BIT(NT_BF16))
ROW(conv7x7, simt, FLOATS | NT_BIT(NT_INT8), "CUDA cores: a register tile of outputs by channels", options, plan)
ROW(conv_bn_relu, simt, FLOATS, "CUDA cores: batch norm and activation applied to sums", options, plan)
ROW(conv_bn_relu, chain, FLOATS, "convolution, batch norm and activation as three kernels", chain_options, chain_plan)
