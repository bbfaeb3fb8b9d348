#include "kernels/common/rows.h"

#include "kernels/common/launch.h"

/* A thread holds at most this many elements of a row in registers. */
enum { MOST_HELD = 64, MOST_THREADS = 1024, LONGEST_CPU_ROW = 65536 };

const nt_shape_key nt__rows_keys[NT_ROWS_KEYS] = {
    {.key = "rows", .meaning = "rows of each image"},
    {.key = "c", .meaning = "elements of a row"},
};

nt_status nt__rows_extents(const nt_problem *problem, int64_t weights, double flop, nt_extents *out, nt_error *err)
{
    int64_t c = nt_shape_get(&problem->shape, "c");
    nt_status status = nt_problem_batch_check(problem, err);
    if (status != NT_OK)
        return status;
    *out = (nt_extents){.weight = weights * c, .out_channels = 1, .out_channel_stride = 1, .reduction = c};
    if (!NT_PRODUCT(&out->in, problem->batch, nt_shape_get(&problem->shape, "rows"), c))
        return nt_problem_too_large(problem, err);
    out->out = out->in;
    out->flop = flop * (double)out->out;
    out->bytes = nt_extents_tensor_bytes(problem, out);
    return NT_OK;
}

int64_t nt__rows_reference_rows(const nt_problem *problem)
{
    return nt_rows_of(problem).rows;
}

nt_status nt__rows_reference_cuda_plan(const nt_problem *problem, const char *entry, bool has_weight, float charge,
                                       nt_plan *out, nt_error *err)
{
    nt_rows r = nt_rows_of(problem);
    nt_status status = nt_launch_reference(out, entry, r.rows, err);
    nt_stage *stage = &out->stage[0];
    if (status != NT_OK)
        return status;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    if (has_weight)
        nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_REF, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_ABS, 0);
    nt_stage_arg_i64(stage, r.rows);
    nt_stage_arg_i32(stage, r.c);
    nt_stage_arg_f32(stage, charge);
    return NT_OK;
}

/* ---- cuda -------------------------------------------------------------------------------------------------------- */

const nt_param nt__rows_cuda_params[NT_ROWS_CUDA_PARAMS] = {
    {.name = "threads", .help = "threads of a row", .NT_INTS(8, 16, 32, 64, 128, 256, 512, 1024), .dflt = 2},
    {.name = "rows_per_block", .help = "rows of a block", .NT_INTS(1, 2, 4, 8, 16), .dflt = 2},
    {.name = "vec", .help = "elements loaded at once", .NT_INTS(1, 2, 4, 8), .dflt = 0},
    {.name = "staged",
     .help = "a block's rows pass through shared memory in vectors of 16 bytes",
     .NT_INTS(0, 1),
     .dflt = 0,
     .is_bool = true},
};

const nt_constraint nt__rows_cuda_constraints[NT_ROWS_CUDA_CONSTRAINTS] = {
    {"32 <= threads * rows_per_block <= max_threads", "a block has whole warps, and no more threads than are allowed"},
    {"threads <= 32 or threads * rows_per_block <= 1024", "rows of several warps meet in shared memory"},
    {"vec * elem_bytes <= 16 and c % vec == 0", "vectors of at most 16 bytes divide the row"},
    {"threads * 64 >= c", "a thread holds at most 64 elements of a row in registers"},
    {"threads == 8 or (threads // 2) * vec < c", "fewer threads hold the whole row"},
    {"not staged or (rows_per_block * c * elem_bytes % 16 == 0 and rows_per_block * c * elem_bytes <= 40960)",
     "the rows of a block are whole vectors and fit in shared memory"},
};

const nt_rule nt__rows_cuda_rule = {"a block of 1024 threads a row", "threads=1024 rows_per_block=1 vec=1"};

const char *nt__rows_cuda_refuses(const nt_problem *problem)
{
    return nt_rows_of(problem).c > (int64_t)MOST_HELD * MOST_THREADS ? "a row must have at most 65536 elements" : NULL;
}

static int64_t items_of(const nt_problem *problem, const nt_config *config)
{
    int64_t threads = nt_config_int(nt__rows_cuda_params, config, "threads");
    return nt_div_up(nt_rows_of(problem).c, threads * nt_config_int(nt__rows_cuda_params, config, "vec"));
}

void nt__rows_cuda_options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    nt_str_addf(out, " -DITEMS=%d", (int)items_of(problem, config));
}

/* A thread adds its elements, a vector more than its share at most; up to 32 threads are a tree; their warps a row. */
double nt__rows_cuda_chain(const nt_problem *problem)
{
    const nt_param *threads = &nt__rows_cuda_params[0];
    int64_t c = nt_rows_of(problem).c, longest = 0;
    for (int i = 0; i < threads->count; i++) {
        int64_t t = threads->ints[i], tree = 0, warps = t > 32 ? t / 32 : 1;
        if (t * MOST_HELD < c)
            continue;
        while (((int64_t)1 << tree) < (t < 32 ? t : 32))
            tree++;
        int64_t chain = nt_div_up(c, t) + 8 + tree + warps;
        longest = chain > longest ? chain : longest;
    }
    return (double)longest;
}

/* What the warps of a row meet in, and the rows of a block where they are staged: row.cuh. */
static uint32_t smem_bytes(const nt_problem *problem, const nt_config *config)
{
    const nt_param *params = nt__rows_cuda_params;
    int64_t threads = nt_config_int(params, config, "threads"), rows = nt_config_int(params, config, "rows_per_block");
    int64_t elem = (int64_t)nt_dtype_bytes(nt_precisions[problem->precision].in);
    int64_t meet = nt_div_up(threads / 32 * rows * (int64_t)sizeof(float), 16) * 16;
    if (nt_config_int(params, config, "staged"))
        return (uint32_t)(meet + nt_div_up(rows * nt_rows_of(problem).c * elem, 16) * 16);
    return threads > 32 ? (uint32_t)meet : 0;
}

nt_status nt__rows_cuda_plan(const nt_problem *problem, const nt_config *config, const char *entry, bool has_weight,
                             nt_plan *out, nt_error *err)
{
    const nt_param *params = nt__rows_cuda_params;
    nt_rows r = nt_rows_of(problem);
    int64_t threads = nt_config_int(params, config, "threads"), vec = nt_config_int(params, config, "vec");
    int64_t rows_per_block = nt_config_int(params, config, "rows_per_block");
    if (r.c % vec != 0 || items_of(problem, config) * vec > MOST_HELD + 8)
        return nt_fail(err, NT_LAUNCH_FAILED,
                       "a row of %lld elements cannot be held by %lld threads in vectors of %lld", (long long)r.c,
                       (long long)threads, (long long)vec);
    nt_status status =
        nt_launch_blocks(out, entry, nt_div_up(r.rows, rows_per_block), threads, rows_per_block, "rows_per_block", err);
    nt_stage *stage = &out->stage[0];
    if (status != NT_OK)
        return status;
    stage->smem_dynamic_bytes = smem_bytes(problem, config);
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    if (has_weight)
        nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i64(stage, r.rows);
    nt_stage_arg_i32(stage, r.c);
    return NT_OK;
}

/* ---- cpu --------------------------------------------------------------------------------------------------------- */

const nt_param nt__rows_cpu_params[NT_ROWS_CPU_PARAMS] = {
    {.name = "vector_bytes", .help = "bytes of a vector of f32", .NT_INTS(16, 32, 64), .dflt = 1},
    {.name = "unroll", .help = "vectors under way at once", .NT_INTS(1, 2, 4, 8), .dflt = 1},
    {.name = "rows_per_item", .help = "rows of a work item", .NT_INTS(1, 4, 16, 64), .dflt = 1, .use = NT_PARAM_LAUNCH},
};

const nt_constraint nt__rows_cpu_constraints[NT_ROWS_CPU_CONSTRAINTS] = {
    {"vector_bytes <= simd_bytes", "the processor has vectors as wide"},
    {"rows_per_item == 1 or rows_per_item <= n * rows", "a work item has no more rows than there are"},
};

const nt_rule nt__rows_cpu_rule = {"a plain loop", "vector_bytes=32 unroll=1 rows_per_item=1"};

const char *nt__rows_cpu_refuses(const nt_problem *problem)
{
    return nt_rows_of(problem).c > LONGEST_CPU_ROW ? "a row must have at most 65536 elements" : NULL;
}

nt_status nt__rows_cpu_plan(const nt_problem *problem, const nt_config *config, const char *entry, bool has_weight,
                            nt_plan *out, nt_error *err)
{
    nt_rows r = nt_rows_of(problem);
    int64_t rows = nt_config_int(nt__rows_cpu_params, config, "rows_per_item");
    nt_status status = nt_launch_items(out, entry, nt_div_up(r.rows, rows), err);
    nt_stage *stage = &out->stage[0];
    if (status != NT_OK)
        return status;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    if (has_weight)
        nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i64(stage, r.rows);
    nt_stage_arg_i64(stage, r.c);
    nt_stage_arg_i64(stage, rows);
    return NT_OK;
}
