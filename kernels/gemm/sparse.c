/* sparse.c: packing of 2:4 sparse weights, and parameters, options and launches of sparse.cu. */
#include "kernels/gemm/sparse.h"

enum { BLOCK_FILTERS = 64, BLOCK_BYTES = 128, PACK_THREADS = 256 };

const nt_param nt__sparse_params[NT__SPARSE_PARAMS] = {
    {.name = "tile_m", .help = "filters of a block", .NT_INTS(64, 128, 256), .dflt = 1},
    {.name = "tile_n", .help = "pixels of a block", .NT_INTS(8, 16, 32, 64, 128, 256), .dflt = 4},
    {.name = "warps_m", .help = "warps of a block along filters", .NT_INTS(1, 2, 4), .dflt = 1},
    {.name = "warps_n", .help = "warps of a block along pixels", .NT_INTS(1, 2, 4), .dflt = 2},
    {.name = "stages", .help = "tiles in shared memory, all but one under way", .NT_INTS(2, 3, 4, 6, 8), .dflt = 1},
    {.name = "min_blocks", .help = "blocks per SM that registers must allow", .NT_INTS(1, 2, 3), .dflt = 0},
};

static int64_t value(const nt_config *config, const char *name)
{
    return nt_config_int(nt__sparse_params, config, name);
}

static int64_t elem_bytes(const nt_problem *problem)
{
    return (int64_t)nt_dtype_bytes(nt_precisions[problem->precision].in);
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* ---- packed weights ---- */

nt_sparse_packing nt__sparse_packing_of(const nt_problem *problem, const nt_product_shape *product)
{
    nt_sparse_packing p = {
        .filter_blocks = ceil_div(product->filters, BLOCK_FILTERS),
        .channel_blocks = ceil_div(product->channels * elem_bytes(problem), 2 * BLOCK_BYTES),
        .metadata_block_bytes = BLOCK_FILTERS * (BLOCK_BYTES / elem_bytes(problem)) / 4, /* 2 bits an element */
    };
    p.stored_row_bytes = p.channel_blocks * BLOCK_BYTES;
    p.metadata_at = (size_t)(product->filters * p.stored_row_bytes);
    p.bytes = p.metadata_at + (size_t)(p.filter_blocks * p.channel_blocks * p.metadata_block_bytes);
    return p;
}

void nt__sparse_pack_stage(const nt_problem *problem, const nt_product_shape *product, nt_stage *stage)
{
    nt_sparse_packing p = nt__sparse_packing_of(problem, product);
    int64_t words = p.filter_blocks * p.channel_blocks * p.metadata_block_bytes / 4;
    nt_stage_kernel(stage, "nt_pack_sparse", (uint32_t)ceil_div(words, PACK_THREADS), 1, 1, PACK_THREADS, 1, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, p.metadata_at);
    nt_stage_arg_i32(stage, product->filters);
    nt_stage_arg_i32(stage, product->channels);
    nt_stage_arg_i32(stage, p.filter_blocks);
    nt_stage_arg_i32(stage, p.channel_blocks);
}

const char *nt__sparse_refuses(const nt_problem *problem)
{
    nt_product_shape p = nt__product_of(problem);
    if (p.gathered)
        return "sparse weights have stride 1 alone: pixels are rows of a matrix";
    if (p.channels * elem_bytes(problem) % 16 != 0)
        return elem_bytes(problem) == 1 ? "int8 copies of 16 bytes need c to be a multiple of 16"
                                        : "copies of 16 bytes need c to be a multiple of 8";
    if (p.pixels > INT32_MAX - 1024 || p.filters > INT32_MAX - 1024 || p.channels > INT32_MAX / 4 ||
        p.filters * p.channels > (int64_t)INT32_MAX * 8)
        return "pixels and filters must each be below 2^31, weights below 2^34";
    return NULL;
}

/* ---- sparse.cu ---- */

void nt__sparse_options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    long long columns = value(config, "tile_n") / value(config, "warps_n");
    nt_str_addf(out, " -DTRANSPOSED=1 -DN_TILES=%lld -DOUT_VECTOR=%d", columns / 8,
                nt__gemm_out_vector(problem, nt__product_of(problem).filters));
}

nt_status nt__sparse_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device,
                          nt_plan *out, nt_error *err)
{
    nt_product_shape p = nt__product_of(problem);
    nt_sparse_packing packing = nt__sparse_packing_of(problem, &p);
    int64_t tile_m = value(config, "tile_m"), tile_n = value(config, "tile_n");
    int64_t m_tiles = ceil_div(p.filters, tile_m), blocks = m_tiles * ceil_div(p.pixels, tile_n);
    int64_t smem = value(config, "stages") * (tile_m * (64 + 16 / elem_bytes(problem)) + tile_n * 128);
    if (blocks > INT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld blocks, a grid holds 2147483647: larger tiles are needed",
                       (long long)blocks);
    if (device->smem_per_block_bytes != NT_UNKNOWN && smem > device->smem_per_block_bytes)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld bytes of shared memory, a block may have %lld", (long long)smem,
                       (long long)device->smem_per_block_bytes);
    *out = (nt_plan){.prepare_count = 1, .stage_count = 1, .packed_bytes = packing.bytes};
    nt__sparse_pack_stage(problem, &p, &out->prepare[0]);
    nt_stage *stage = &out->stage[0];
    nt_stage_kernel(stage, "nt_sparse_mma", (uint32_t)blocks, 1, 1,
                    (uint32_t)(value(config, "warps_m") * value(config, "warps_n") * 32), 1, 1);
    stage->smem_dynamic_bytes = (uint32_t)smem;
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, packing.metadata_at);
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    const int64_t sizes[] = {p.filters,
                             p.pixels,
                             p.channels * elem_bytes(problem),
                             packing.stored_row_bytes,
                             packing.filter_blocks,
                             m_tiles,
                             ceil_div(p.channels * elem_bytes(problem), BLOCK_BYTES)};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        nt_stage_arg_i32(stage, sizes[i]);
    return NT_OK;
}
