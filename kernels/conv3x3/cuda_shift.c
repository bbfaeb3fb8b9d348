/* cuda_shift.c: the row of shift.cu: parameters, what makes a configuration legal, and its launches.
 *
 * Where channels are few, copying each pixel nine times costs more than multiplying it: this kernel copies it once and
 * pays with positions computed in vain (a column a row, and the tail of a tile). Tiles are rows of one image. */
#include "kernels/conv3x3/shift.h"
#include "kernels/gemm/gemm.h"

const nt_param nt__shift_params[NT__SHIFT_PARAMS] = {
    {.name = "rows",
     .help = "rows of an image that a block computes at once",
     .NT_INTS(1, 2, 3, 4, 7, 8, 14),
     .dflt = 1},
    {.name = "m_tiles", .help = "times 64 positions, computed by a group", .NT_INTS(1, 2, 3, 4), .dflt = 1},
    {.name = "tile_n", .help = "output channels of a block's tile", .NT_INTS(64, 96, 128, 192, 256), .dflt = 0},
    {.name = "groups", .help = "groups of four warps that multiply", .NT_INTS(1, 2, 3), .dflt = 0},
    {.name = "pingpong",
     .help = "groups take whole tiles in turn, one storing while the other multiplies",
     .NT_INTS(0, 1),
     .dflt = 0,
     .is_bool = true},
    {.name = "resident",
     .help = "weights stay in shared memory for all tiles of a block",
     .NT_INTS(0, 1),
     .dflt = 0,
     .is_bool = true},
    {.name = "pixel_stages", .help = "blocks of channels of pixels in shared memory", .NT_INTS(1, 2, 3, 4), .dflt = 1},
    {.name = "stages", .help = "tiles of weights in shared memory", .NT_INTS(2, 3, 4, 6), .dflt = 2},
    {.name = "min_blocks", .help = "blocks per SM that registers must allow", .NT_INTS(1, 2), .dflt = 0},
};

enum { ROW_BYTES = 128, GUARD_BYTES = 1024, COPY_THREADS = 64 };

#define TILE_K        "(128 // elem_bytes)"
#define BLOCKS        "((c + " TILE_K " - 1) // " TILE_K ")"
#define THREADS       "(groups * 128 + 64)"
#define ACCUMULATORS  "(m_tiles * tile_n // 2)"
#define POSITIONS     "(m_tiles * 64 * (1 if pingpong else groups))"
#define PIXEL_BYTES   "((1024 + max(" POSITIONS " + 2 * (w + 1) + 1, (rows + 2) * (w + 1)) * 128 + 1023) // 1024 * 1024)"
#define FILTER_STAGES "((9 * " BLOCKS ") if resident else stages)"
#define SMEM                                                                                                          \
    "(pixel_stages * " PIXEL_BYTES " + " FILTER_STAGES " * tile_n * 128 + 16 * (pixel_stages + " FILTER_STAGES ") + " \
    "16)"

const nt_constraint nt__shift_constraints[NT__SHIFT_CONSTRAINTS] = {
    {"cc == 90", "only compute capability 9.0 has the instructions"},
    {"w + 1 <= 256", "a row of the image and a column of zeros make one copy"},
    {"rows <= h", "a tile lies in one image"},
    {"groups == 2 if pingpong else True", "two groups take turns"},
    {POSITIONS " - 64 < rows * (w + 1) <= " POSITIONS, "positions hold the rows, and no 64 of them are empty"},
    {"16 <= " ACCUMULATORS " <= 192", "a thread has 16 to 192 accumulators"},
    {SMEM " <= smem_per_block", "pixels and weights fit in shared memory"},
    {"min_blocks * (" SMEM " + 1024) <= smem_per_block + 1024",
     "pixels and weights of min_blocks blocks fit in shared memory"},
    {"min_blocks * (" ACCUMULATORS " + 72) * " THREADS " <= regs_per_sm",
     "accumulators and addresses of min_blocks blocks fit in the registers"},
    {"min_blocks == 1 or min_blocks * (" ACCUMULATORS " + 104) * " THREADS " > regs_per_sm",
     "min_blocks is asked for only where registers would otherwise not allow it"},
    {"9 * " BLOCKS " <= 36 if resident else True", "weights that stay are at most 36 tiles"},
    {"stages == 2 if resident else True", "weights that stay have no stages"},
    {"tile_n == 64 or tile_n < 2 * k", "smaller tiles hold all channels"},
    {"pixel_stages > 1 or " BLOCKS " == 1", "a block of channels is copied while the last one is multiplied"},
    {"pixel_stages == 1 or " BLOCKS " > 1 or n * ((h + rows - 1) // rows) > sm_count", "there is more to copy ahead"},
};

static int64_t value(const nt_config *config, const char *name)
{
    return nt_config_int(nt__shift_params, config, name);
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t tile_k(const nt_problem *problem)
{
    return ROW_BYTES / (int64_t)nt_dtype_bytes(nt_precisions[problem->precision].in);
}

static int64_t channel_blocks(const nt_problem *problem)
{
    return ceil_div(nt_shape_get(&problem->shape, "c"), tile_k(problem));
}

static const char *refuses(const nt_problem *problem)
{
    nt_product_shape p = nt__product_of(problem);
    if (p.stride != 1)
        return "taps are shifts of one copy of the pixels only where the stride is 1";
    return nt__gemm_refuses(problem);
}

static void options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    nt_product_shape p = nt__product_of(problem);
    long long columns = value(config, "tile_n");
    nt_str_addf(out, " -DWGMMA_N=%lld -DN_TILES=%lld -DOUT_VECTOR=%d -DTRANSPOSED=0", columns, columns / 8,
                nt__gemm_out_vector(problem, p.filters));
    nt__gemm_finish_options(&p, out);
    nt_str_addf(out, " -DWIDTH=%lld -DRESIDENT_TILES=%lld", (long long)p.width,
                value(config, "resident") ? 9 * (long long)channel_blocks(problem) : 0);
}

/* The same sums as the constraints and the kernel's macros. */
static int64_t smem_bytes(const nt_problem *problem, const nt_product_shape *p, const nt_config *config)
{
    int64_t pitch = p->width + 1, rows = value(config, "rows");
    int64_t positions = value(config, "m_tiles") * 64 * (value(config, "pingpong") ? 1 : value(config, "groups"));
    int64_t read = positions + 2 * pitch + 1, box = (rows + 2) * pitch;
    int64_t pixel = ceil_div(GUARD_BYTES + (read > box ? read : box) * ROW_BYTES, 1024) * 1024;
    int64_t tiles = value(config, "resident") ? 9 * channel_blocks(problem) : value(config, "stages");
    int64_t stages = value(config, "pixel_stages");
    return stages * pixel + tiles * value(config, "tile_n") * ROW_BYTES + 16 * (stages + tiles) + 16;
}

static nt_tensor_map pixel_map(const nt_problem *problem, const nt_product_shape *p, int64_t rows)
{
    int64_t bytes = ROW_BYTES / tile_k(problem);
    const int64_t sizes[NT_MAP_RANK] = {p->channels, p->width, p->height, p->images};
    const uint32_t box[NT_MAP_RANK] = {(uint32_t)tile_k(problem), (uint32_t)(p->width + 1), (uint32_t)(rows + 2), 1};
    nt_tensor_map map = {.role = NT_ROLE_IN, .elem_bytes = bytes, .step = {1, 1}};
    int64_t stride = bytes;
    for (int i = 0; i < NT_MAP_RANK; i++) {
        map.size[i] = sizes[i];
        map.box[i] = box[i];
        map.stride_bytes[i] = stride;
        stride *= sizes[i];
    }
    return map;
}

/* Blocks that run at once, all with the same filters in each of their tiles when weights stay. */
static int64_t blocks_of(const nt_config *config, const nt_device_info *device, int64_t tiles, int64_t n_tiles)
{
    int64_t together = device->sm_count != NT_UNKNOWN ? device->sm_count * value(config, "min_blocks") : tiles;
    int64_t blocks = tiles < together ? tiles : together;
    if (value(config, "resident"))
        blocks = blocks < n_tiles ? n_tiles : blocks / n_tiles * n_tiles;
    return blocks;
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    nt_product_shape p = nt__product_of(problem);
    int64_t rows = value(config, "rows"), row_tiles = ceil_div(p.height, rows);
    int64_t n_tiles = ceil_div(p.filters, value(config, "tile_n")), tiles = p.images * row_tiles * n_tiles;
    int64_t smem = smem_bytes(problem, &p, config);
    if (tiles > INT32_MAX - 1024)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld tiles, the kernel counts to 2147482623", (long long)tiles);
    if (device->smem_per_block_bytes != NT_UNKNOWN && smem > device->smem_per_block_bytes)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld bytes of shared memory, a block may have %lld", (long long)smem,
                       (long long)device->smem_per_block_bytes);
    *out = (nt_plan){.stage_count = 1};
    nt_stage *stage = &out->stage[0];
    nt_tensor_map pixels = pixel_map(problem, &p, rows),
                  filters = nt__gemm_filter_map(problem, &p, value(config, "tile_n"));
    nt_stage_kernel(stage, "nt_conv3x3_shift", (uint32_t)blocks_of(config, device, tiles, n_tiles), 1, 1,
                    (uint32_t)(value(config, "groups") * 128 + COPY_THREADS), 1, 1);
    stage->smem_dynamic_bytes = (uint32_t)smem;
    nt_stage_arg_map(stage, &pixels);
    nt_stage_arg_map(stage, &filters);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt__gemm_finish_argument(&p, 0, stage);
    const int64_t sizes[] = {p.images, p.height, channel_blocks(problem), p.channels, p.filters, row_tiles,
                             n_tiles,  tiles};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        nt_stage_arg_i32(stage, sizes[i]);
    nt__gemm_finish_prepare(&p, 0, out);
    return NT_OK;
}

#define ROW(NAME, LAYER, PRECISIONS)                                                                             \
    const nt_kernel NAME = {                                                                                     \
        .name = "shift",                                                                                         \
        .summary = "nine taps as shifts of one copy of the pixels, multiplied by Hopper's tensor cores (wgmma)", \
        .layer = (LAYER),                                                                                        \
        .device = NT_DEVICE_CUDA,                                                                                \
        .source = {nt_embed_common_prelude_cuh, nt_embed_common_tensor_core_cuh, nt_embed_common_hopper_cuh,     \
                   nt_embed_gemm_pipe_cuh, nt_embed_gemm_store_cuh, nt_embed_conv3x3_shift_cu},                  \
        .precisions = (PRECISIONS),                                                                              \
        .layouts = NT_BIT(NT_NHWC),                                                                              \
        .min_compute_capability = 90,                                                                            \
        .arch_specific = true,                                                                                   \
        .params = nt__shift_params,                                                                              \
        .param_count = NT__SHIFT_PARAMS,                                                                         \
        .constraints = nt__shift_constraints,                                                                    \
        .constraint_count = NT__SHIFT_CONSTRAINTS,                                                               \
        .bound = NT_BOUND_DIRECT,                                                                                \
        .additions = nt__product_additions,                                                                      \
        .refuses = refuses,                                                                                      \
        .options = options,                                                                                      \
        .plan = plan}

ROW(nt_kernel_conv3x3_cuda_shift, "conv3x3", NT__GEMM_ALL);
ROW(nt_kernel_conv_bn_relu_cuda_shift, "conv_bn_relu", NT__GEMM_FLOATS);
