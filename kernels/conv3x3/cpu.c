/* cpu.c: launches that the table rows of the CPU convolutions share. */
#include "kernels/conv3x3/cpu.h"

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
    if (d.stride != 1)
        return "it has stride 1 alone";
    if (d.c > INT32_MAX / 16 || d.k > INT32_MAX / 16)
        return "c and k must be below 134217728";
    if (d.c > most / 16 / d.k)
        return "c * k must be at most 68719476736";
    return NULL;
}

/* A word of packed weights is one float or four int8; one more word an output channel is the bias. */
void nt_cpu_pack_weights(const nt_problem *problem, nt_cpu_tile tile, int64_t c_block, nt_plan *plan)
{
    nt_conv d = nt_conv_of(problem);
    int64_t blocks = nt_ceil_div(d.k, tile.channels);
    int64_t words = problem->precision == NT_INT8 ? nt_ceil_div(d.c, 4) : d.c;
    plan->packed_bytes = (size_t)(blocks * tile.channels) * (9 * (size_t)words + 1) * 4;
    plan->prepare_count = 1;
    nt_stage *stage = &plan->prepare[0];
    nt_stage_kernel(stage, "pack_weights", (uint32_t)blocks, 1, 1, 1, 1, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_i64(stage, d.c);
    nt_stage_arg_i64(stage, d.k);
    nt_stage_arg_i64(stage, c_block);
}

nt_status nt_cpu_convolve(const nt_problem *problem, nt_plan *plan, int64_t x, int64_t y, int64_t z, nt_error *err)
{
    if (x > UINT32_MAX || y > UINT32_MAX || z > UINT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED,
                       "%" PRId64 " x %" PRId64 " x %" PRId64 " work items are more than 4294967295 along one side", x,
                       y, z);
    nt_conv d = nt_conv_of(problem);
    nt_stage *stage = &plan->stage[0];
    nt_stage_kernel(stage, "convolve", (uint32_t)x, (uint32_t)y, (uint32_t)z, 1, 1, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i64(stage, d.c);
    nt_stage_arg_i64(stage, d.k);
    nt_stage_arg_i64(stage, d.h);
    nt_stage_arg_i64(stage, d.w);
    return NT_OK;
}
