/* cuda_fault.c: the row of fault.cu, hidden: tests of the process model ask for it by name.
 *
 * `filler` changes nothing: with it most configurations of the space are right, and a sweep meets the faults among
 * them. */
#include "kernels/conv3x3/conv3x3.h"
#include "kernels/kernel.h"

extern const char nt_embed_common_prelude_cuh[];
extern const char nt_embed_conv3x3_fault_cu[];

enum { THREADS = 128 };

/* The order is the source's: it receives the index. */
static const nt_param params[] = {
    {.name = "fault",
     .help = "what goes wrong in the launch",
     .use = NT_PARAM_LAUNCH,
     .NT_STRINGS("none", "illegal_address", "endless_loop", "trap", "wrong_result", "launch_failure")},
    {.name = "filler",
     .help = "has no effect: as many right configurations",
     .use = NT_PARAM_LAUNCH,
     .NT_INTS(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
              29, 30, 31)},
};
enum { FAULT_LAUNCH = 5 };

static const nt_constraint constraints[] = {
    {"fault == 'none' or filler == 0", "each fault is there once"},
};

static double additions(const nt_problem *problem)
{
    return 9.0 * (double)nt_shape_get(&problem->shape, "c");
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    (void)device;
    (void)err;
    nt_conv q = nt_conv_of(problem);
    int64_t count = q.n * q.h * q.w * q.k;
    *out = (nt_plan){.stage_count = 1};
    nt_stage *stage = &out->stage[0];
    if (config->index[0] == FAULT_LAUNCH) {
        nt_stage_kernel(stage, "nt_conv3x3_fault_narrow", 1, 1, 1, THREADS, 1, 1);
        nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
        return NT_OK;
    }
    nt_stage_kernel(stage, "nt_conv3x3_fault", (uint32_t)((count + THREADS - 1) / THREADS), 1, 1, THREADS, 1, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i64(stage, count);
    nt_stage_arg_i32(stage, q.c);
    nt_stage_arg_i32(stage, q.k);
    nt_stage_arg_i32(stage, q.h);
    nt_stage_arg_i32(stage, q.w);
    nt_stage_arg_i32(stage, config->index[0]);
    return NT_OK;
}

static const char *refuses(const nt_problem *problem)
{
    const char *refusal = nt__conv3x3_cuda_refuses(problem);
    nt_conv q = nt_conv_of(problem);
    if (refusal == NULL && q.n * q.h * q.w > ((int64_t)1 << 37) / q.k)
        refusal = "outputs must be at most 2^37";
    return refusal;
}

const nt_kernel nt_kernel_conv3x3_cuda_fault = {
    .name = "fault",
    .summary = "naive convolution that misbehaves on request, for tests",
    .layer = "conv3x3",
    .device = NT_DEVICE_CUDA,
    .hidden = true,
    .source = {nt_embed_common_prelude_cuh, nt_embed_conv3x3_fault_cu},
    .precisions = NT_BIT(NT_FP32) | NT_BIT(NT_FP16) | NT_BIT(NT_BF16),
    .layouts = NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW),
    .min_compute_capability = 75,
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .constraints = constraints,
    .constraint_count = sizeof constraints / sizeof constraints[0],
    .bound = NT_BOUND_DIRECT,
    .additions = additions,
    .refuses = refuses,
    .plan = plan,
};
