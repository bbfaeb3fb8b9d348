/* pool_rows.c: what the kernel rows of maxpool and avgpool share: parameters, constraints, refusals, options, plans. */
#include "kernels/common/launch.h"
#include "kernels/common/pool.h"

enum { WIDEST_WINDOW = 16, WIDEST_LINE = 65536 };

/* k - 1 additions, 1/k and the product with it. */
double nt__pool_additions(const nt_problem *problem)
{
    nt_pool p = nt_pool_of(problem);
    return p.is_max ? 0 : (double)p.window_h * (double)p.window_w + 1;
}

static bool fits_32_bits(const nt_pool *p)
{
    return p->n <= INT32_MAX && p->c <= INT32_MAX && p->h * p->w <= INT32_MAX && p->h * p->w <= INT32_MAX / p->stride;
}

/* ---- cuda -------------------------------------------------------------------------------------------------------- */

const nt_param nt__pool_cuda_params[NT_POOL_CUDA_PARAMS] = {
    {.name = "block", .help = "threads of a block", .NT_INTS(64, 128, 256, 512), .dflt = 1},
    {.name = "vec", .help = "channels of a thread (nhwc)", .NT_INTS(1, 2, 4, 8, 16), .dflt = 2},
    {.name = "tile", .help = "outputs of a thread, next to each other in a row", .NT_INTS(1, 2, 4), .dflt = 0},
};

const nt_constraint nt__pool_cuda_constraints[NT_POOL_CUDA_CONSTRAINTS] = {
    {"vec * elem_bytes <= 16", "a vector has at most 16 bytes"},
    {"vec == 1 or (not nchw and c % vec == 0)", "vectors divide the channels, which are neighbours in nhwc alone"},
};

const nt_rule nt__pool_cuda_rule = {"an output a thread", "block=256 vec=1 tile=1"};

const char *nt__pool_cuda_refuses(const nt_problem *problem)
{
    nt_pool p = nt_pool_of(problem);
    if (p.is_global)
        return "it serves windows, not the whole image";
    if (p.window_h > WIDEST_WINDOW)
        return "the window must be at most 16";
    if (!fits_32_bits(&p))
        return "height x width x stride must be below 2^31";
    return NULL;
}

void nt__pool_cpu_options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    (void)config;
    if (nt_pool_of(problem).is_max)
        nt_str_add(out, " -DNT_POOL_MAX=1");
}

void nt__pool_options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    nt_pool p = nt_pool_of(problem);
    nt__pool_cpu_options(problem, config, out);
    nt_str_addf(out, " -DWINDOW=%d -DSTRIDE=%d -DPAD=%d", (int)p.window_h, (int)p.stride, (int)p.pad);
}

nt_status nt__pool_cuda_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device,
                             nt_plan *out, nt_error *err)
{
    const nt_param *params = nt__pool_cuda_params;
    nt_pool p = nt_pool_of(problem);
    int64_t block = nt_config_int(params, config, "block"), vec = nt_config_int(params, config, "vec");
    int64_t threads = p.n * (p.c / vec) * p.out_h * nt_div_up(p.out_w, nt_config_int(params, config, "tile"));
    (void)device;
    if (p.c % vec != 0)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld channels are not a multiple of vec=%lld", (long long)p.c,
                       (long long)vec);
    nt_status status = nt_launch_blocks(out, "nt_pool", nt_div_up(threads, block), block, 1, "block or vec", err);
    nt_stage *stage = &out->stage[0];
    if (status != NT_OK)
        return status;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    const int64_t sizes[] = {p.n, p.c, p.h, p.w, p.out_h, p.out_w};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        nt_stage_arg_i32(stage, sizes[i]);
    return NT_OK;
}

/* ---- cpu --------------------------------------------------------------------------------------------------------- */

const nt_param nt__pool_cpu_params[NT_POOL_CPU_PARAMS] = {
    {.name = "vector_bytes", .help = "bytes of a vector of f32", .NT_INTS(16, 32, 64), .dflt = 1},
    {.name = "unroll", .help = "vectors under way at once", .NT_INTS(1, 2, 4), .dflt = 1},
    {.name = "c_block",
     .help = "channels of a work item",
     .NT_INTS(16, 64, 256, 1024),
     .dflt = 1,
     .use = NT_PARAM_LAUNCH},
};

const nt_constraint nt__pool_cpu_constraints[NT_POOL_CPU_CONSTRAINTS] = {
    {"vector_bytes <= simd_bytes", "the processor has vectors as wide"},
    {"c_block == 16 or c_block < 2 * c", "a smaller block holds all channels"},
};

const nt_rule nt__pool_cpu_rule = {"a row at a time", "vector_bytes=32 unroll=1 c_block=1024"};

const char *nt__pool_cpu_refuses(const nt_problem *problem)
{
    nt_pool p = nt_pool_of(problem);
    return problem->layout == NT_NCHW && p.w > WIDEST_LINE ? "the width must be at most 65536 in nchw" : NULL;
}

nt_status nt__pool_cpu_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device,
                            nt_plan *out, nt_error *err)
{
    nt_pool p = nt_pool_of(problem);
    int64_t c_block = nt_config_int(nt__pool_cpu_params, config, "c_block");
    (void)device;
    nt_status status = nt_launch_items(out, "pool_rows", p.n * p.out_h * nt_div_up(p.c, c_block), err);
    nt_stage *stage = &out->stage[0];
    if (status != NT_OK)
        return status;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    const int64_t sizes[] = {p.n, p.c, p.h, p.w, p.out_h, p.out_w, p.window_h, p.window_w, p.stride, p.pad, c_block};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        nt_stage_arg_i64(stage, sizes[i]);
    return NT_OK;
}
