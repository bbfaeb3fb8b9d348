/* cuda_chain.c: the unfused chain with the fastest convolutions there are: those of kernels/gemm and shift.cu storing
 * their sums, then batch norm, then the activation (chain.cu), by way of the workspace. What fusing is compared with.
 */
#include "kernels/common/launch.h"
#include "kernels/conv3x3/shift.h"
#include "kernels/gemm/gemm.h"

#include <assert.h>

extern const char nt_embed_conv_bn_relu_chain_cu[];

enum { ITEMS = 4, PASS_THREADS = 256 };

#define PIXELS "(n * h * w)"
static const nt_constraint constraints[] = {NT__GEMM_CONSTRAINTS(PIXELS, "9", "1", "4096")};
static const nt_constraint exact_constraints[] = {NT__GEMM_CONSTRAINTS(PIXELS, "9", "2", "4096")};

/* The convolution alone. */
static nt_problem plain(const nt_problem *problem)
{
    nt_problem conv = *problem;
    nt_copy(conv.layer, sizeof conv.layer, "conv3x3");
    return conv;
}

/* As nt_conv_chain_additions, over what these convolutions add. */
static double additions(const nt_problem *problem)
{
    const nt_precision_row *row = &nt_precisions[problem->precision];
    return nt__product_additions(problem) + 2 * row->unit_out / row->unit_accumulate;
}

static int64_t vector_of(const nt_problem *problem, const nt_conv *d)
{
    int64_t vector = 16 / (int64_t)nt_dtype_bytes(nt_precisions[problem->precision].out);
    return d->k % vector == 0 ? vector : 1;
}

static void add_options(const nt_problem *problem, nt_str *out)
{
    nt_conv d = nt_conv_of(problem);
    nt_str_addf(out, " -DVECTOR=%d -DACT=%d", (int)vector_of(problem, &d), (int)d.act);
}

static void gemm_options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    nt_problem conv = plain(problem);
    nt__gemm_options(&conv, config, out);
    add_options(problem, out);
}

static void shift_options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    nt_problem conv = plain(problem);
    nt_kernel_conv3x3_cuda_shift.options(&conv, config, out);
    add_options(problem, out);
}

static const char *gemm_refuses(const nt_problem *problem)
{
    nt_problem conv = plain(problem);
    return nt__gemm_refuses(&conv);
}

static const char *shift_refuses(const nt_problem *problem)
{
    nt_problem conv = plain(problem);
    if (nt__product_of(&conv).stride != 1)
        return "taps are shifts of one copy of the pixels only where the stride is 1";
    return nt__gemm_refuses(&conv);
}

/* ---- launches ------------------------------------------------------------------------------------------------------------ */

static size_t whole(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static nt_stage *pass(nt_stage *stage, const char *entry, int64_t threads)
{
    nt_stage_kernel(stage, entry, (uint32_t)nt_div_up(threads, PASS_THREADS), 1, 1, PASS_THREADS, 1, 1);
    return stage;
}

/* The last stage of a convolution's plan stores to `at` of the workspace instead of the output. */
static void store_between(nt_plan *plan, size_t at)
{
    nt_stage *stage = &plan->stage[plan->stage_count - 1];
    int found = 0;
    for (int i = 0; i < stage->arg_count; i++)
        if (stage->arg[i].kind == NT_ARG_BUFFER && stage->arg[i].role == NT_ROLE_OUT) {
            stage->arg[i].role = NT_ROLE_WORKSPACE;
            stage->arg[i].value += (int64_t)at;
            found++;
        }
    assert(found == 1);
    (void)found;
}

/* Appends both passes to the plan of the convolution. */
static nt_status add_passes(const nt_problem *problem, nt_plan *plan, nt_error *err)
{
    nt_conv d = nt_conv_of(problem);
    const nt_precision_row *row = &nt_precisions[problem->precision];
    int64_t pixels = d.n * d.out_h * d.out_w, count = pixels * d.k, vector = vector_of(problem, &d);
    size_t bytes = whole((size_t)count * nt_dtype_bytes(row->out)), folded = whole(plan->packed_bytes);
    size_t first = whole(plan->workspace_bytes), second = first + bytes;
    if (count / vector > (int64_t)INT32_MAX * PASS_THREADS)
        return nt_fail(err, NT_LAUNCH_FAILED, "more outputs than a grid of %d threads a block holds", PASS_THREADS);
    store_between(plan, first);
    plan->workspace_bytes = second + bytes;
    plan->packed_bytes = folded + (size_t)d.k * 2 * sizeof(float);
    nt_stage *fold = pass(&plan->prepare[plan->prepare_count++], "nt_pass_fold", d.k);
    nt_stage_arg_buffer(fold, NT_ROLE_WEIGHT, (size_t)nt_conv_filters(&d) * nt_dtype_bytes(row->weight));
    nt_stage_arg_buffer(fold, NT_ROLE_PACKED, folded);
    nt_stage_arg_i32(fold, d.k);
    nt_stage *norm = pass(&plan->stage[plan->stage_count++], "nt_pass_norm", nt_div_up(pixels, ITEMS) * (d.k / vector));
    nt_stage_arg_buffer(norm, NT_ROLE_WORKSPACE, first);
    nt_stage_arg_buffer(norm, NT_ROLE_PACKED, folded);
    nt_stage_arg_buffer(norm, NT_ROLE_WORKSPACE, second);
    nt_stage_arg_i32(norm, pixels);
    nt_stage_arg_i32(norm, d.k);
    nt_stage *act = pass(&plan->stage[plan->stage_count++], "nt_pass_activation", nt_div_up(count / vector, ITEMS));
    nt_stage_arg_buffer(act, NT_ROLE_WORKSPACE, second);
    nt_stage_arg_buffer(act, NT_ROLE_OUT, 0);
    nt_stage_arg_i64(act, count);
    return NT_OK;
}

static nt_status gemm_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device,
                           nt_plan *out, nt_error *err)
{
    nt_problem conv = plain(problem);
    nt_status status = nt__gemm_plan(&conv, config, device, out, err);
    return status == NT_OK ? add_passes(problem, out, err) : status;
}

static nt_status shift_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device,
                            nt_plan *out, nt_error *err)
{
    nt_problem conv = plain(problem);
    nt_status status = nt_kernel_conv3x3_cuda_shift.plan(&conv, config, device, out, err);
    return status == NT_OK ? add_passes(problem, out, err) : status;
}

#define COMMON                                                                                                   \
    .layer = "conv_bn_relu", .device = NT_DEVICE_CUDA, .layouts = NT_BIT(NT_NHWC), .min_compute_capability = 90, \
    .arch_specific = true, .bound = NT_BOUND_DIRECT, .additions = additions

#define GEMM(of_constraints)                                                                           \
    COMMON,                                                                                            \
        .source = {nt_embed_common_prelude_cuh, nt_embed_common_tensor_core_cuh, NT__GEMM_TEXTS,       \
                   nt_embed_conv_bn_relu_chain_cu},                                                    \
        .params = nt__gemm_params, .param_count = NT__GEMM_PARAMS, .constraints = of_constraints,      \
        .constraint_count = sizeof of_constraints / sizeof of_constraints[0], .refuses = gemm_refuses, \
        .options = gemm_options, .plan = gemm_plan

const nt_kernel nt_kernel_conv_bn_relu_cuda_gemm_chain = {
    GEMM(constraints),
    .name = "gemm_chain",
    .summary = "the convolution of 'gemm', then batch norm, then activation, each a pass over memory",
    .precisions = NT__GEMM_FLOATS,
};

const nt_kernel nt_kernel_conv_bn_relu_cuda_gemm3_chain = {
    GEMM(exact_constraints),
    .name = "gemm_3xtf32_chain",
    .summary = "the convolution of 'gemm_3xtf32', then batch norm, then activation, each a pass over memory",
    .precisions = NT_BIT(NT_FP32),
};

const nt_kernel nt_kernel_conv_bn_relu_cuda_shift_chain = {
    COMMON,
    .name = "shift_chain",
    .summary = "the convolution of 'shift', then batch norm, then activation, each a pass over memory",
    .precisions = NT__GEMM_FLOATS,
    .source = {nt_embed_common_prelude_cuh, nt_embed_common_tensor_core_cuh, nt_embed_common_hopper_cuh,
               nt_embed_gemm_pipe_cuh, nt_embed_gemm_store_cuh, nt_embed_conv3x3_shift_cu,
               nt_embed_conv_bn_relu_chain_cu},
    .params = nt__shift_params,
    .param_count = NT__SHIFT_PARAMS,
    .constraints = nt__shift_constraints,
    .constraint_count = NT__SHIFT_CONSTRAINTS,
    .refuses = shift_refuses,
    .options = shift_options,
    .plan = shift_plan,
};
