/* reference_cuda.c: the launches of reference.cu, and the limits that the layer's CUDA kernels share. */
#include "kernels/conv3x3/conv3x3.h"

/* As in reference.cu: 16 x 16 threads; direct outputs are blocked 4 x 4 a thread, Winograd tiles one a thread. */
enum { SIDE = 16, BLOCKED = 4, MAX_GRID_Y = 65535 };

/* Pixel indices are 32 bits and tiles run past the end by less than this. */
#define PIXEL_LIMIT (((int64_t)1 << 31) - ((int64_t)1 << 16))
#define CHANNEL_LIMIT ((int64_t)1 << 26)

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static bool exceeds(int64_t a, int64_t b, int64_t limit)
{
    return a > limit / b;
}

const char *nt__conv3x3_cuda_refuses(const nt_problem *problem)
{
    nt_conv3x3 q = nt_conv3x3_of(problem);
    if (exceeds(q.h, q.w, PIXEL_LIMIT) || exceeds(q.h * q.w, q.n, PIXEL_LIMIT))
        return "batch x height x width must be below 2^31 - 65536";
    if (q.c > CHANNEL_LIMIT || q.k > CHANNEL_LIMIT)
        return "channels must be at most 2^26";
    return NULL;
}

nt_status nt__conv3x3_reference_cuda_plan(const nt_problem *problem, nt_bound bound, nt_plan *out, nt_error *err)
{
    nt_conv3x3 q = nt_conv3x3_of(problem);
    bool winograd = bound == NT_BOUND_WINOGRAD_F2;
    int64_t per_block = winograd ? SIDE : SIDE * BLOCKED;
    const char *refusal = nt__conv3x3_cuda_refuses(problem);
    if (refusal == NULL && ceil_div(q.k, per_block) > MAX_GRID_Y)
        refusal = "output channels must be at most 1048560";
    if (refusal != NULL)
        return nt_fail(err, NT_USAGE, "the reference of this problem cannot be computed on a CUDA device: %s", refusal);
    int64_t count = q.n * (winograd ? ceil_div(q.h, 2) * ceil_div(q.w, 2) : q.h * q.w);
    *out = (nt_plan){.stage_count = 1};
    nt_stage *stage = &out->stage[0];
    nt_stage_kernel(stage, winograd ? "nt_conv3x3_reference_winograd" : "nt_conv3x3_reference",
                    (uint32_t)ceil_div(count, per_block), (uint32_t)ceil_div(q.k, per_block), 1, SIDE, SIDE, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_REF, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_ABS, 0);
    nt_stage_arg_i32(stage, count);
    nt_stage_arg_i32(stage, q.c);
    nt_stage_arg_i32(stage, q.k);
    nt_stage_arg_i32(stage, q.h);
    nt_stage_arg_i32(stage, q.w);
    nt_stage_arg_i32(stage, problem->layout == NT_NCHW);
    return NT_OK;
}
