#include "kernels/common/map.h"

#include "kernels/common/launch.h"

#include <math.h>

enum { CHUNK = 4096 };

const nt_shape_key nt__map_keys[NT_MAP_KEYS] = {
    {.key = "c", .meaning = "channels"},
    {.key = "h", .meaning = "height"},
    {.key = "w", .meaning = "width"},
};

/* ---- the layer -------------------------------------------------------------------------------------------------- */

static int64_t count_of(const nt_problem *problem)
{
    return problem->batch * nt_shape_get(&problem->shape, "c") * nt_shape_get(&problem->shape, "h") *
           nt_shape_get(&problem->shape, "w");
}

nt_status nt__map_extents(const nt_problem *problem, bool is_add, nt_extents *out, nt_error *err)
{
    nt_status status = nt_problem_batch_check(problem, err);
    if (status != NT_OK)
        return status;
    *out = (nt_extents){.out_channels = 1, .out_channel_stride = 1, .reduction = 1};
    if (!NT_PRODUCT(&out->in, problem->batch, nt_shape_get(&problem->shape, "c"), nt_shape_get(&problem->shape, "h"),
                    nt_shape_get(&problem->shape, "w")))
        return nt_problem_too_large(problem, err);
    out->out = out->in;
    out->weight = is_add ? out->in : 0;
    out->flop = (double)out->out;
    out->bytes = nt_extents_tensor_bytes(problem, out);
    return NT_OK;
}

int64_t nt__map_reference_rows(const nt_problem *problem)
{
    return nt_div_up(count_of(problem), CHUNK);
}

void nt__map_reference(const nt_problem *problem, const float *a, const float *b, double *out, double *abs,
                       int64_t begin, int64_t end)
{
    int64_t count = count_of(problem);
    for (int64_t i = begin * CHUNK; i < end * CHUNK && i < count; i++) {
        out[i] = b != NULL ? (double)a[i] + (double)b[i] : a[i] > 0 ? (double)a[i] : 0;
        if (abs != NULL)
            abs[i] = fabs(out[i]);
    }
}

nt_status nt__map_reference_cuda_plan(const nt_problem *problem, bool is_add, nt_plan *out, nt_error *err)
{
    nt_status status = nt_launch_reference(out, "nt_map_reference", count_of(problem), err);
    nt_stage *stage = &out->stage[0];
    if (status != NT_OK)
        return status;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, is_add ? NT_ROLE_WEIGHT : NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_REF, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_ABS, 0);
    nt_stage_arg_i64(stage, count_of(problem));
    nt_stage_arg_i32(stage, is_add);
    return NT_OK;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

const nt_param nt__map_cuda_params[NT_MAP_CUDA_PARAMS] = {
    {.name = "block", .help = "threads of a block", .NT_INTS(64, 128, 256, 512, 1024), .dflt = 2},
    {.name = "vec", .help = "elements a thread loads at once", .NT_INTS(1, 2, 4, 8, 16), .dflt = 2},
    {.name = "items", .help = "vectors of a thread, all under way at once", .NT_INTS(1, 2, 4, 8), .dflt = 0},
    {.name = "stream", .help = "data leaves the caches first", .NT_INTS(0, 1), .dflt = 0, .is_bool = true},
};

const nt_constraint nt__map_cuda_constraints[NT_MAP_CUDA_CONSTRAINTS] = {
    {"vec * elem_bytes <= 16", "a vector has at most 16 bytes"},
    {"items == 1 or block * items * vec < 2 * n * c * h * w", "smaller blocks hold the whole tensor"},
    {"not stream or vec * elem_bytes == 16", "data is streamed in vectors of 16 bytes"},
};

const nt_rule nt__map_cuda_rule = {"an element a thread", "block=256 vec=1 items=1 stream=false"};

nt_status nt__map_cuda_plan(const nt_problem *problem, const nt_config *config, bool is_add, nt_plan *out,
                            nt_error *err)
{
    const nt_param *params = nt__map_cuda_params;
    int64_t count = count_of(problem), block = nt_config_int(params, config, "block");
    int64_t a_block = block * nt_config_int(params, config, "items") * nt_config_int(params, config, "vec");
    nt_status status = nt_launch_blocks(out, "nt_map", nt_div_up(count, a_block), block, 1, "block or vec", err);
    nt_stage *stage = &out->stage[0];
    if (status != NT_OK)
        return status;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, is_add ? NT_ROLE_WEIGHT : NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i64(stage, count);
    return NT_OK;
}

const nt_param nt__map_cpu_params[NT_MAP_CPU_PARAMS] = {
    {.name = "vector_bytes", .help = "bytes of a vector of f32", .NT_INTS(16, 32, 64), .dflt = 1},
    {.name = "unroll", .help = "vectors loaded before the first is stored", .NT_INTS(1, 2, 4, 8), .dflt = 2},
    {.name = "stream", .help = "store past the caches", .NT_INTS(0, 1), .dflt = 0, .is_bool = true},
    {.name = "chunk",
     .help = "elements of a work item",
     .NT_INTS(1024, 4096, 16384, 65536, 262144),
     .dflt = 2,
     .use = NT_PARAM_LAUNCH},
};

const nt_constraint nt__map_cpu_constraints[NT_MAP_CPU_CONSTRAINTS] = {
    {"vector_bytes <= simd_bytes", "the processor has vectors as wide"},
    {"chunk == 1024 or chunk <= n * c * h * w", "a smaller chunk holds the whole tensor"},
};

const nt_rule nt__map_cpu_rule = {"a plain loop", "vector_bytes=32 unroll=1 stream=false chunk=65536"};

nt_status nt__map_cpu_plan(const nt_problem *problem, const nt_config *config, bool is_add, nt_plan *out, nt_error *err)
{
    int64_t count = count_of(problem), chunk = nt_config_int(nt__map_cpu_params, config, "chunk");
    nt_status status = nt_launch_items(out, "map", nt_div_up(count, chunk), err);
    nt_stage *stage = &out->stage[0];
    if (status != NT_OK)
        return status;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, is_add ? NT_ROLE_WEIGHT : NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i64(stage, count);
    nt_stage_arg_i64(stage, chunk);
    return NT_OK;
}
