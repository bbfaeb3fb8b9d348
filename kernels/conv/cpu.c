/* cpu.c: launches that the table rows of the CPU convolutions share. */
#include "kernels/conv/cpu.h"

#include <inttypes.h>

nt_cpu_tile nt_cpu_tile_of(const nt_param *params, const nt_config *config)
{
    return (nt_cpu_tile){
        .positions = nt_config_int(params, config, "positions"),
        .channels = nt_config_int(params, config, "vectors") * nt_config_int(params, config, "vector_bytes") / 4,
    };
}

const char *nt_cpu_refuses(const nt_problem *problem)
{
    nt_conv d = nt_conv_of(problem);
    const int64_t most = INT64_C(1) << 40;
    if (d.c > INT32_MAX / 16 || d.k > INT32_MAX / 16)
        return "c and k must be below 134217728";
    if (d.c > most / (16 * d.taps * d.taps) / d.k)
        return "c * k is too large for packed weights";
    return NULL;
}

static void add_options(const nt_problem *problem, const char *finish, nt_str *options)
{
    nt_conv d = nt_conv_of(problem);
    nt_str_addf(options, " -DTAPS=%d -DSTRIDE=%d -DPAD=%d", (int)d.taps, (int)d.stride, (int)d.pad);
    if (d.batch_norm)
        nt_str_addf(options, " -D%s=1 -DACT=%d", finish, (int)d.act);
}

void nt_cpu_options(const nt_problem *problem, const nt_config *config, nt_str *options)
{
    (void)config;
    add_options(problem, "EPILOGUE", options);
}

void nt_cpu_chain_options(const nt_problem *problem, const nt_config *config, nt_str *options)
{
    (void)config;
    add_options(problem, "CHAIN", options);
}

/* A word of packed weights is one float, two bf16 at most, or four int8; more words an output channel are the bias and,
 * with batch norm, scale and shift. */
static void pack_weights(const nt_problem *problem, const nt_conv *d, nt_cpu_tile tile, int64_t c_block, nt_plan *plan)
{
    int64_t blocks = nt_ceil_div(d->k, tile.channels);
    int64_t words = problem->precision == NT_INT8 ? nt_ceil_div(d->c, 4) : d->c;
    size_t each = (size_t)(d->taps * d->taps * words) + 1 + (d->batch_norm ? 2 : 0);
    plan->packed_bytes = (size_t)(blocks * tile.channels) * each * 4;
    plan->prepare_count = 1;
    nt_stage *stage = &plan->prepare[0];
    nt_stage_kernel(stage, "pack_weights", (uint32_t)blocks, 1, 1, 1, 1, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_i64(stage, d->c);
    nt_stage_arg_i64(stage, d->k);
    nt_stage_arg_i64(stage, c_block);
}

nt_status nt_cpu_convolution(const nt_problem *problem, nt_cpu_tile tile, int64_t c_block, const int64_t items[3],
                             nt_plan *plan, nt_error *err)
{
    nt_conv d = nt_conv_of(problem);
    bool narrow = nt_dtype_bytes(nt_precisions[problem->precision].out) < 4;
    if (items[0] > UINT32_MAX || items[1] > UINT32_MAX || items[2] > UINT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED,
                       "%" PRId64 " x %" PRId64 " x %" PRId64 " work items are more than 4294967295 along one side",
                       items[0], items[1], items[2]);
    *plan = (nt_plan){.stage_count = 1};
    pack_weights(problem, &d, tile, c_block, plan);
    plan->workspace_bytes = narrow ? (size_t)(d.n * d.k * d.out_h * d.out_w) * 4 : 0;
    nt_stage *stage = &plan->stage[0];
    nt_stage_kernel(stage, "convolve", (uint32_t)items[0], (uint32_t)items[1], (uint32_t)items[2], 1, 1, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_buffer(stage, narrow ? NT_ROLE_WORKSPACE : NT_ROLE_OUT, 0);
    const int64_t sizes[] = {d.c, d.k, d.h, d.w, d.out_h, d.out_w};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        nt_stage_arg_i64(stage, sizes[i]);
    return NT_OK;
}

/* ---- a chain of passes ------------------------------------------------------------------------------------------------- */

enum { PASS_ELEMENTS = 16384, OUT_ARG = 2, SUMS_ARG = 3 };

/* A pass over `count` results from `at` of the workspace: to `to` of it, or to the output. */
static void pass(nt_stage *stage, const char *entry, int64_t count, size_t at, nt_role role, size_t to)
{
    nt_stage_kernel(stage, entry, (uint32_t)nt_ceil_div(count, PASS_ELEMENTS), 1, 1, 1, 1, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_WORKSPACE, at);
    nt_stage_arg_buffer(stage, role, to);
    nt_stage_arg_i64(stage, count);
    nt_stage_arg_i64(stage, PASS_ELEMENTS);
}

void nt_cpu_chain(const nt_problem *problem, nt_plan *plan)
{
    nt_conv d = nt_conv_of(problem);
    int64_t count = d.n * d.k * d.out_h * d.out_w;
    size_t bytes = ((size_t)count * nt_dtype_bytes(nt_precisions[problem->precision].out) + 255) / 256 * 256;
    size_t first = (plan->workspace_bytes + 255) / 256 * 256, second = first + bytes; /* behind sums that are wider */
    nt_stage *stage = plan->stage;
    if (stage[0].arg[SUMS_ARG].role == NT_ROLE_OUT) {
        stage[0].arg[SUMS_ARG].role = NT_ROLE_WORKSPACE;
        stage[0].arg[SUMS_ARG].value = (int64_t)first;
    }
    stage[0].arg[OUT_ARG].role = NT_ROLE_WORKSPACE;
    stage[0].arg[OUT_ARG].value = (int64_t)first;
    plan->workspace_bytes = second + bytes;
    plan->stage_count = 3;
    pass(&stage[1], "batch_norm", count, first, NT_ROLE_WORKSPACE, second);
    nt_stage_arg_buffer(&stage[1], NT_ROLE_PACKED, 0);
    nt_stage_arg_i64(&stage[1], d.c);
    nt_stage_arg_i64(&stage[1], d.k);
    nt_stage_arg_i64(&stage[1], problem->layout == NT_NHWC ? 1 : d.out_h * d.out_w);
    pass(&stage[2], "activation", count, second, NT_ROLE_OUT, 0);
}
