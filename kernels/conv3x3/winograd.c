/* winograd.c: compiler options and launches of the CUDA kernels of Winograd's algorithms. */
#include "kernels/conv3x3/winograd.h"

enum { HELPER_THREADS = 256 };

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* What a problem is in blocks. */
typedef struct counts {
    int64_t tiles, tile_blocks, k_blocks, steps, shares;
    int64_t pairs; /* of input and output channels, blocks and steps filled up */
    int64_t outputs;
} counts;

static counts counts_of(const nt_problem *problem, const nt__winograd_block *block)
{
    nt_conv d = nt_conv_of(problem);
    counts n = {.steps = ceil_div(d.c, block->c_step), .outputs = d.n * d.k * d.h * d.w};
    n.tiles = d.n * ceil_div(d.h, block->out_tile) * ceil_div(d.w, block->out_tile);
    n.tile_blocks = ceil_div(n.tiles, block->tiles);
    n.k_blocks = ceil_div(d.k, block->channels);
    n.shares = block->split < n.steps ? block->split : n.steps;
    n.pairs = n.k_blocks * block->channels * n.steps * block->c_step;
    return n;
}

double nt__winograd_additions_2(const nt_problem *problem)
{
    return nt_winograd_additions(problem, 2) + NT__WINOGRAD_MOST_SHARES;
}

double nt__winograd_additions_4(const nt_problem *problem)
{
    return nt_winograd_additions(problem, 4) + NT__WINOGRAD_MOST_SHARES;
}

void nt__winograd_options(const nt_problem *problem, const nt__winograd_block *block, nt_str *out)
{
    nt_conv d = nt_conv_of(problem);
    bool split = counts_of(problem, block).shares > 1, nchw = problem->layout == NT_NCHW;
    bool f32_out = split || nt_precisions[problem->precision].out == NT_F32;
    nt_str_addf(out, " -DOUT_TILE=%d -DSPLIT=%d -DTENSOR_CORES=%d", (int)block->out_tile, split, block->tensor_cores);
    nt_str_addf(out, " -DWHOLE_ROWS=%d -DWHOLE_PAIRS=%d -DOUT_PAIRS=%d", nchw && f32_out && d.w % block->out_tile == 0,
                block->tensor_cores && d.c % 2 == 0, block->tensor_cores && d.k % 2 == 0);
}

static void weights_stage(const nt_conv *d, const counts *n, nt_stage *stage)
{
    nt_stage_kernel(stage, "nt_winograd_weights", (uint32_t)ceil_div(n->pairs, HELPER_THREADS), 1, 1, HELPER_THREADS, 1,
                    1);
    nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_i32(stage, d->c);
    nt_stage_arg_i32(stage, d->k);
    nt_stage_arg_i32(stage, n->steps);
    nt_stage_arg_i64(stage, n->pairs);
}

static void product_stage(const nt_conv *d, const nt__winograd_block *block, const counts *n, nt_stage *stage)
{
    nt_stage_kernel(stage, "nt_winograd", (uint32_t)(n->tile_blocks * n->k_blocks), 1, (uint32_t)n->shares,
                    (uint32_t)block->threads, 1, 1);
    stage->smem_dynamic_bytes = (uint32_t)block->smem_bytes;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_buffer(stage, n->shares > 1 ? NT_ROLE_WORKSPACE : NT_ROLE_OUT, 0);
    const int64_t numbers[] = {
        n->tiles,   ceil_div(d->h, block->out_tile), ceil_div(d->w, block->out_tile), d->c, d->k, d->h, d->w,
        n->k_blocks};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        nt_stage_arg_i32(stage, numbers[i]);
    nt_stage_arg_i64(stage, n->outputs);
}

static void add_stage(const counts *n, nt_stage *stage)
{
    nt_stage_kernel(stage, "nt_winograd_add", (uint32_t)ceil_div(n->outputs, HELPER_THREADS), 1, 1, HELPER_THREADS, 1,
                    1);
    nt_stage_arg_buffer(stage, NT_ROLE_WORKSPACE, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i64(stage, n->outputs);
    nt_stage_arg_i32(stage, n->shares);
}

static nt_status check(const nt__winograd_block *block, const counts *n, const nt_device_info *device, nt_error *err)
{
    long long blocks = n->tile_blocks * n->k_blocks;
    if (blocks > INT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld blocks, a grid holds 2147483647: larger tiles are needed", blocks);
    if (device->smem_per_block_bytes != NT_UNKNOWN && block->smem_bytes > device->smem_per_block_bytes)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld bytes of shared memory, a block may have %lld",
                       (long long)block->smem_bytes, (long long)device->smem_per_block_bytes);
    if (ceil_div(n->pairs, HELPER_THREADS) > INT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld pairs of channels are more than can be transformed",
                       (long long)n->pairs);
    if (n->shares > 1 && ceil_div(n->outputs, HELPER_THREADS) > INT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED, "the output is too large to add shares of it: split_c=1 is needed");
    return NT_OK;
}

nt_status nt__winograd_plan(const nt_problem *problem, const nt__winograd_block *block, const nt_device_info *device,
                            nt_plan *out, nt_error *err)
{
    nt_conv d = nt_conv_of(problem);
    counts n = counts_of(problem, block);
    nt_status status = check(block, &n, device, err);
    if (status != NT_OK)
        return status;
    int64_t places = (block->out_tile + 2) * (block->out_tile + 2);
    *out = (nt_plan){.prepare_count = 1, .stage_count = 1};
    out->packed_bytes = (size_t)(n.pairs * places * block->packed_elem_bytes);
    weights_stage(&d, &n, &out->prepare[0]);
    product_stage(&d, block, &n, &out->stage[0]);
    if (n.shares > 1) {
        out->workspace_bytes = (size_t)(n.shares * n.outputs) * sizeof(float);
        add_stage(&n, &out->stage[out->stage_count++]);
    }
    return NT_OK;
}
