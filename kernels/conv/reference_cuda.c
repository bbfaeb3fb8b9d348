/* reference_cuda.c: the launch of reference.cu, and the limits that CUDA kernels of convolutions share. */
#include "kernels/conv/conv.h"

/* As in reference.cu: 16 x 16 threads, 4 x 4 outputs each. */
enum { SIDE = 16, BLOCKED = 4, MAX_GRID_Y = 65535 };

/* Pixel indices are 32 bits and tiles run past the end by less than this. */
#define PIXEL_LIMIT   (((int64_t)1 << 31) - ((int64_t)1 << 16))
#define CHANNEL_LIMIT ((int64_t)1 << 26)

static bool exceeds(int64_t a, int64_t b, int64_t limit)
{
    return b != 0 && a > limit / b;
}

const char *nt_conv_cuda_refuses(const nt_problem *problem)
{
    nt_conv d = nt_conv_of(problem);
    if (exceeds(d.h + 2 * d.pad, d.w + 2 * d.pad, PIXEL_LIMIT) || exceeds(d.h * d.w, d.n, PIXEL_LIMIT))
        return "batch x height x width must be below 2^31 - 65536";
    if (d.c > CHANNEL_LIMIT || d.k > CHANNEL_LIMIT)
        return "channels must be at most 2^26";
    return NULL;
}

static uint32_t blocks_of(int64_t count, int64_t each)
{
    return (uint32_t)((count + each - 1) / each);
}

static void direct(const nt_problem *problem, const nt_conv *d, nt_stage *stage)
{
    int64_t pixels = d->n * d->out_h * d->out_w, each = (int64_t)SIDE * BLOCKED;
    const int64_t sizes[] = {pixels,
                             d->c,
                             d->k,
                             d->h,
                             d->w,
                             d->out_h,
                             d->out_w,
                             d->taps,
                             d->stride,
                             d->pad,
                             d->groups,
                             problem->layout == NT_NCHW,
                             d->batch_norm ? (int64_t)d->act : -1};
    nt_stage_kernel(stage, "conv_reference", blocks_of(pixels, each), blocks_of(d->k, each), 1, SIDE, SIDE, 1);
    for (nt_role role = NT_ROLE_IN; role <= NT_ROLE_WEIGHT; role++)
        nt_stage_arg_buffer(stage, role, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_REF, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_ABS, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        nt_stage_arg_i32(stage, sizes[i]);
}

nt_status nt_conv_reference_cuda_plan(const nt_problem *problem, nt_bound bound, nt_plan *out, nt_error *err)
{
    nt_conv d = nt_conv_of(problem);
    (void)bound; /* none of these has transforms */
    const char *refusal = nt_conv_cuda_refuses(problem);
    if (refusal == NULL && blocks_of(d.k, (int64_t)SIDE * BLOCKED) > MAX_GRID_Y)
        refusal = "output channels must be at most 4194240";
    if (refusal != NULL)
        return nt_fail(err, NT_USAGE, "the reference of this problem cannot be computed on a CUDA device: %s", refusal);
    *out = (nt_plan){.stage_count = 1};
    direct(problem, &d, &out->stage[0]);
    return NT_OK;
}
