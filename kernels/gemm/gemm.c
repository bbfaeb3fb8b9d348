/* gemm.c: from a product and a configuration to what gemm.cu needs: parameters, options, tensor maps, launches. */
#include "kernels/gemm/gemm.h"

#include "kernels/gemm/sparse.h"

enum { ROW_BYTES = 128, SPACE_ALIGNMENT = 256 };

/* The parameters of dense and sparse weights, which differ in a default. */
#define PARAMS(TRANSPOSED)                                                                                        \
    {                                                                                                             \
        {.name = "tile_m", .help = "rows of a block's tile", .NT_INTS(64, 128, 192, 256), .dflt = 0},             \
            {.name = "tile_n",                                                                                    \
             .help = "columns of a block's tile",                                                                 \
             .NT_INTS(8, 16, 32, 64, 96, 128, 192, 256),                                                          \
             .dflt = 3},                                                                                          \
            {.name = "groups", .help = "groups of four warps that multiply", .NT_INTS(1, 2, 3), .dflt = 0},       \
            {.name = "pingpong",                                                                                  \
             .help = "groups take whole tiles in turn, one storing while the other multiplies",                   \
             .NT_INTS(0, 1),                                                                                      \
             .dflt = 0,                                                                                           \
             .is_bool = true},                                                                                    \
            {.name = "transposed",                                                                                \
             .help = "filters are rows and pixels columns, for few pixels",                                       \
             .NT_INTS(0, 1),                                                                                      \
             .dflt = (TRANSPOSED),                                                                                \
             .is_bool = true},                                                                                    \
            {.name = "stages", .help = "tiles in shared memory", .NT_INTS(2, 3, 4, 5, 6, 8, 10, 12), .dflt = 2},  \
            {.name = "cluster_m", .help = "blocks along rows that share weights", .NT_INTS(1, 2), .dflt = 0},     \
            {.name = "cluster_n", .help = "blocks along columns that share pixels", .NT_INTS(1, 2), .dflt = 0},   \
            {.name = "split_k",                                                                                   \
             .help = "blocks of a cluster that share a tile's reduction",                                         \
             .NT_INTS(1, 2, 4, 8, NT__GEMM_MAX_SPLIT),                                                            \
             .dflt = 0},                                                                                          \
            {.name = "min_blocks", .help = "blocks per SM that registers must allow", .NT_INTS(1, 2), .dflt = 0}, \
            {.name = "persistent",                                                                                \
             .help = "as many blocks as run at once, each computing several tiles",                               \
             .NT_INTS(0, 1),                                                                                      \
             .dflt = 0,                                                                                           \
             .is_bool = true,                                                                                     \
             .use = NT_PARAM_LAUNCH},                                                                             \
            {.name = "band",                                                                                      \
             .help = "rows of tiles that are computed together, for operands shared in L2",                       \
             .NT_INTS(1, 8),                                                                                      \
             .dflt = 0,                                                                                           \
             .use = NT_PARAM_LAUNCH},                                                                             \
            {.name = "stream_k",                                                                                  \
             .help = "equal shares of all steps of the last tiles, for a last wave that would be half empty",     \
             .NT_INTS(0, 1),                                                                                      \
             .dflt = 0,                                                                                           \
             .is_bool = true},                                                                                    \
    }

const nt_param nt__gemm_params[NT__GEMM_PARAMS] = PARAMS(0);
const nt_param nt__gemm_sparse_params[NT__GEMM_PARAMS] = PARAMS(1);

/* Large batches, whose pixels come twice as wide as the weights: two blocks share them. */
const nt_rule nt__gemm_sparse_rules[NT__GEMM_SPARSE_RULES] = {
    {"256x128 tile, cluster of two", "tile_m=256 tile_n=128 groups=2 transposed=true stages=3 cluster_m=2 band=8"},
    {"128x64 tile", "tile_m=128 tile_n=64 groups=2 transposed=true stages=4"},
};

static int64_t value(const nt_config *config, const char *name)
{
    return nt_config_int(nt__gemm_params, config, name);
}

static int64_t elem_bytes(const nt_problem *problem)
{
    return (int64_t)nt_dtype_bytes(nt_precisions[problem->precision].in);
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static bool is_sparse(const nt_problem *problem)
{
    return nt_precision_is_pruned(problem->precision);
}

/* Elements of the reduction that a stage has. */
static int64_t tile_k_of(const nt_problem *problem)
{
    return (is_sparse(problem) ? 2 : 1) * ROW_BYTES / elem_bytes(problem);
}

/* Weights of fp32 come in two parts. */
static int64_t parts(const nt_problem *problem)
{
    return problem->precision == NT_FP32 ? 2 : 1;
}

/* Layouts of one pixel are the same. */
static bool channels_first(const nt_problem *problem, const nt_product_shape *p)
{
    return problem->layout == NT_NCHW && p->height * p->width > 1;
}

const char *nt__gemm_refuses(const nt_problem *problem)
{
    nt_product_shape p = nt__product_of(problem);
    if (channels_first(problem, &p) && p.images > 65535)
        return "channels first are moved image by image, up to 65535";
    if (channels_first(problem, &p) && (p.filters > 65535 || p.channels > 32 * 65535))
        return "channels first are moved filter by filter, up to 65535";
    if (p.channels * elem_bytes(problem) % 16 != 0)
        return "the bytes of all channels of a pixel must be a multiple of 16";
    if (p.pixels > INT32_MAX - 1024 || p.filters > INT32_MAX - 1024 || p.channels * p.taps > INT32_MAX - 1024)
        return "pixels, filters and the reduction must each be below 2^31";
    if (p.gathered && (p.height > INT32_MAX / 2 || p.width > INT32_MAX / 2 || p.stride > 8))
        return "strides above 8 are beyond the copy engine";
    return NULL;
}

/* ---- options ------------------------------------------------------------------------------------------------------------- */

int nt__gemm_out_vector(const nt_problem *problem, int64_t filters)
{
    if (nt_dtype_bytes(nt_precisions[problem->precision].out) == 2 && filters % 8 == 0)
        return 8;
    return filters % 2 == 0 ? 2 : 1;
}

void nt__gemm_options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    nt_product_shape p = nt__product_of(problem);
    long long columns = value(config, "tile_n");
    nt_str_addf(out, " -DWGMMA_N=%lld -DN_TILES=%lld -DOUT_VECTOR=%d -DIMAGES=%d", columns, columns / 8,
                nt__gemm_out_vector(problem, p.filters), p.gathered);
    nt__gemm_finish_options(&p, out);
    if (is_sparse(problem))
        nt_str_add(out, " -DSPARSE=1");
    if (channels_first(problem, &p))
        nt_str_addf(out, " -DCHANNELS_FIRST=1 -DOUT_AREA=%lld", (long long)(p.out_height * p.out_width));
    nt_str_addf(out, " -DSTRIDE=%lld -DBORDER=%lld -DFILTER_WIDTH=%lld", (long long)p.stride, (long long)p.border,
                (long long)p.filter_size);
}

void nt__gemm_finish_options(const nt_product_shape *product, nt_str *out)
{
    if (product->batch_norm)
        nt_str_addf(out, " -DSCALED=1 -DACTIVATION=%d", product->activation == NT_ACT_NONE ? 0 : product->activation);
}

/* Weights in two parts, with channels last, or sparse. */
static size_t packed_bytes_of(const nt_problem *problem, const nt_product_shape *p)
{
    if (is_sparse(problem))
        return nt__sparse_packing_of(problem, p).bytes;
    bool packed = parts(problem) > 1 || channels_first(problem, p);
    return packed ? (size_t)(p->filters * p->taps * p->channels * elem_bytes(problem) * parts(problem)) : 0;
}

/* ---- tensor maps ------------------------------------------------------------------------------------------------------- */

/* [pixels][channels] as a matrix, or [images][height][width][channels] to gather from; moved ones lie at `moved_at`. */
static nt_tensor_map pixel_map(const nt_problem *problem, const nt_product_shape *p, int64_t rows, int64_t moved_at)
{
    int64_t bytes = elem_bytes(problem), pixel = p->channels * bytes;
    nt_tensor_map map = {
        .role = channels_first(problem, p) ? NT_ROLE_WORKSPACE : NT_ROLE_IN, .elem_bytes = bytes, .step = {1, 1}};
    map.offset_bytes = map.role == NT_ROLE_WORKSPACE ? moved_at : 0;
    map.box[0] = (uint32_t)(ROW_BYTES / bytes);
    map.size[0] = p->channels;
    if (!p->gathered) {
        map.size[1] = map.size[3] = 1;
        map.size[2] = p->pixels;
        map.stride_bytes[1] = map.stride_bytes[2] = pixel;
        map.stride_bytes[3] = p->pixels * pixel;
        map.box[1] = map.box[3] = 1;
        map.box[2] = (uint32_t)rows;
        return map;
    }
    const int64_t sizes[2] = {p->width, p->height};
    map.images = true;
    map.box[1] = (uint32_t)rows;
    map.stride_bytes[1] = pixel;
    for (int i = 0; i < 2; i++) {
        map.size[1 + i] = sizes[i];
        map.stride_bytes[2 + i] = map.stride_bytes[1 + i] * sizes[i];
        map.lower[i] = (int32_t)-p->border;
        map.upper[i] = (int32_t)(p->border - (p->filter_size - 1));
        map.step[i] = (uint32_t)p->stride;
    }
    map.size[3] = p->images;
    return map;
}

nt_tensor_map nt__gemm_filter_map(const nt_problem *problem, const nt_product_shape *p, int64_t rows)
{
    int64_t bytes = elem_bytes(problem);
    nt_tensor_map map = {
        .role = packed_bytes_of(problem, p) > 0 ? NT_ROLE_PACKED : NT_ROLE_WEIGHT, .elem_bytes = bytes, .step = {1, 1}};
    int64_t row = is_sparse(problem) ? nt__sparse_packing_of(problem, p).stored_row_bytes / bytes : p->channels;
    const int64_t sizes[NT_MAP_RANK] = {row, p->taps, p->filters, parts(problem)};
    const uint32_t box[NT_MAP_RANK] = {(uint32_t)(ROW_BYTES / bytes), 1, (uint32_t)rows, 1};
    int64_t stride = bytes;
    for (int i = 0; i < NT_MAP_RANK; i++) {
        map.size[i] = sizes[i];
        map.box[i] = box[i];
        map.stride_bytes[i] = stride;
        stride *= sizes[i];
    }
    return map;
}

/* Of `rows` filters, a multiple of 64. */
static nt_tensor_map metadata_map(const nt_problem *problem, const nt_product_shape *p, int64_t rows)
{
    nt_sparse_packing packing = nt__sparse_packing_of(problem, p);
    int64_t block = packing.metadata_block_bytes;
    return (nt_tensor_map){.role = NT_ROLE_PACKED,
                           .offset_bytes = (int64_t)packing.metadata_at,
                           .elem_bytes = 4,
                           .size = {ROW_BYTES / 4, block / ROW_BYTES, packing.filter_blocks, packing.channel_blocks},
                           .stride_bytes = {4, ROW_BYTES, block, block * packing.filter_blocks},
                           .box = {ROW_BYTES / 4, (uint32_t)(block / ROW_BYTES), (uint32_t)(rows / 64), 1},
                           .step = {1, 1}};
}

/* ---- launches ------------------------------------------------------------------------------------------------------------ */

void nt__gemm_finish_argument(const nt_product_shape *product, size_t packed_bytes, nt_stage *stage)
{
    if (product->batch_norm)
        nt_stage_arg_buffer(stage, NT_ROLE_PACKED, packed_bytes);
    else
        nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0); /* not read */
}

void nt__gemm_finish_prepare(const nt_product_shape *product, size_t packed_bytes, nt_plan *plan)
{
    enum { FINISH_THREADS = 128 };
    if (!product->batch_norm)
        return;
    nt_stage *stage = &plan->prepare[plan->prepare_count++];
    nt_stage_kernel(stage, "nt_prepare_finish", (uint32_t)ceil_div(product->filters, FINISH_THREADS), 1, 1,
                    FINISH_THREADS, 1, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, packed_bytes);
    nt_stage_arg_i64(stage, product->filters * product->taps * product->channels);
    nt_stage_arg_i32(stage, product->filters);
    plan->packed_bytes = packed_bytes + (size_t)product->filters * 2 * sizeof(float);
}

typedef struct launch {
    int64_t m_tiles, n_tiles; /* in whole clusters */
    int64_t cluster, blocks, smem_bytes;
    int64_t steps;                  /* of a tile */
    int64_t flag_bytes, sums_bytes; /* of stream-K, first in the workspace (stream.cuh) */
} launch;

/* `blocks` run at once and share steps, however few tiles there are. */
static void share_steps(const nt_config *config, int64_t blocks, launch *l)
{
    l->blocks = blocks;
    l->flag_bytes = ceil_div(l->blocks * value(config, "groups") * 4 * 4, SPACE_ALIGNMENT) * SPACE_ALIGNMENT;
    l->sums_bytes = l->blocks * value(config, "tile_m") * value(config, "tile_n") * 4;
}

/* NULL, or why steps cannot be shared: they are counted in 32 bits, and the error bound knows so many sums a tile. */
static const char *sharing_refuses(const launch *l)
{
    int64_t clusters = l->blocks / l->cluster, tiles = l->m_tiles * l->n_tiles;
    int64_t shared = (tiles < 2 * clusters ? tiles : 2 * clusters) * l->steps;
    if (shared > INT32_MAX)
        return "more than 2147483647 steps to share";
    int64_t least = tiles * l->steps / clusters;
    return least == 0 || (l->steps - 1) / least + 2 > NT__GEMM_MAX_SPLIT ? "too many blocks would share a tile" : NULL;
}

static launch launch_of(const nt_problem *problem, const nt_product_shape *p, const nt_config *config,
                        const nt_device_info *device)
{
    bool transposed = value(config, "transposed") != 0;
    int64_t tile_m = value(config, "tile_m"), tile_n = value(config, "tile_n"), stages = value(config, "stages");
    int64_t rows = transposed ? p->filters : p->pixels, columns = transposed ? p->pixels : p->filters;
    launch l = {.steps = p->taps * ceil_div(p->channels, tile_k_of(problem)),
                .m_tiles = ceil_div(ceil_div(rows, tile_m), value(config, "cluster_m")),
                .n_tiles = ceil_div(ceil_div(columns, tile_n), value(config, "cluster_n")),
                .cluster = value(config, "cluster_m") * value(config, "cluster_n") * value(config, "split_k"),
                .smem_bytes = stages * ((tile_m + parts(problem) * tile_n) * ROW_BYTES + 16) + 16};
    if (is_sparse(problem)) /* pixels are twice as wide, and there is metadata */
        l.smem_bytes += stages * (tile_n * ROW_BYTES + tile_m * 32 / elem_bytes(problem));
    l.blocks = l.m_tiles * l.n_tiles * l.cluster;
    int64_t together = l.blocks;
    if (value(config, "persistent") && device->sm_count != NT_UNKNOWN)
        together = device->sm_count * value(config, "min_blocks") / l.cluster * l.cluster;
    if (value(config, "stream_k"))
        share_steps(config, together, &l);
    else
        l.blocks = l.blocks < together ? l.blocks : together;
    return l;
}

static void product_stage(const nt_problem *problem, const nt_product_shape *p, const nt_config *config,
                          const launch *l, size_t moved_bytes, nt_stage *stage)
{
    bool transposed = value(config, "transposed") != 0;
    int64_t a_rows = value(config, "tile_m") / value(config, "cluster_n");
    int64_t b_rows = value(config, "tile_n") / value(config, "cluster_m");
    nt_tensor_map pixels = pixel_map(problem, p, transposed ? b_rows : a_rows, l->flag_bytes + l->sums_bytes);
    nt_tensor_map filters = nt__gemm_filter_map(problem, p, transposed ? a_rows : b_rows);
    int64_t channel_blocks = ceil_div(p->channels, tile_k_of(problem));
    nt_stage_kernel(stage, "nt_gemm", (uint32_t)l->blocks, 1, 1, (uint32_t)(value(config, "groups") * 128 + 32), 1, 1);
    stage->cluster[0] = (uint32_t)l->cluster;
    stage->smem_dynamic_bytes = (uint32_t)l->smem_bytes;
    nt_stage_arg_map(stage, &pixels);
    nt_stage_arg_map(stage, &filters);
    if (is_sparse(problem)) {
        nt_tensor_map metadata = metadata_map(problem, p, a_rows);
        nt_stage_arg_map(stage, &metadata);
    }
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt__gemm_finish_argument(p, moved_bytes, stage);
    if (l->flag_bytes > 0)
        nt_stage_arg_buffer(stage, NT_ROLE_WORKSPACE, 0);
    const int64_t sizes[] = {p->pixels,     p->filters,   p->channels, channel_blocks, l->steps,
                             p->out_height, p->out_width, l->m_tiles,  l->n_tiles,     value(config, "band")};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        nt_stage_arg_i32(stage, sizes[i]);
}

static void split_stage(int64_t count, nt_role from, size_t offset_bytes, nt_stage *stage)
{
    enum { SPLIT_THREADS = 256 };
    nt_stage_kernel(stage, "nt_split_weights", (uint32_t)ceil_div(count, SPLIT_THREADS), 1, 1, SPLIT_THREADS, 1, 1);
    nt_stage_arg_buffer(stage, from, offset_bytes);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_i64(stage, count);
}

/* [outer][channels][area] to [outer][area][channels]. */
static void channels_last_stage(const nt_problem *problem, nt_role from, nt_role to, size_t to_bytes, int64_t outer,
                                int64_t channels, int64_t area, nt_stage *stage)
{
    enum { SIDE = 32, MOVE_THREADS = 256 };
    nt_stage_kernel(stage, "nt_channels_last", (uint32_t)ceil_div(area, SIDE), (uint32_t)ceil_div(channels, SIDE),
                    (uint32_t)outer, MOVE_THREADS, 1, 1);
    stage->smem_dynamic_bytes = (uint32_t)(SIDE * (SIDE + 1) * elem_bytes(problem));
    nt_stage_arg_buffer(stage, from, 0);
    nt_stage_arg_buffer(stage, to, to_bytes);
    nt_stage_arg_i32(stage, channels);
    nt_stage_arg_i32(stage, area);
}

/* Everything before the product: inputs and weights moved to channels last, weights of fp32 divided into two parts
 * (they wait behind those where both is done). */
static void add_moves(const nt_problem *problem, const nt_product_shape *p, nt_plan *plan)
{
    int64_t count = p->filters * p->taps * p->channels;
    bool first = channels_first(problem, p), split = parts(problem) > 1;
    size_t packed_bytes = plan->packed_bytes, moved_bytes = split ? packed_bytes : 0;
    if (first) {
        channels_last_stage(problem, NT_ROLE_IN, NT_ROLE_WORKSPACE, plan->workspace_bytes, p->images, p->channels,
                            p->height * p->width, &plan->stage[plan->stage_count++]);
        plan->workspace_bytes += (size_t)(p->images * p->channels * p->height * p->width * elem_bytes(problem));
        channels_last_stage(problem, NT_ROLE_WEIGHT, NT_ROLE_PACKED, moved_bytes, p->filters, p->channels, p->taps,
                            &plan->prepare[plan->prepare_count++]);
    }
    if (split)
        split_stage(count, first ? NT_ROLE_PACKED : NT_ROLE_WEIGHT, first ? moved_bytes : 0,
                    &plan->prepare[plan->prepare_count++]);
    if (first && split)
        plan->packed_bytes += (size_t)(count * elem_bytes(problem));
}

nt_status nt__gemm_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                        nt_error *err)
{
    nt_product_shape p = nt__product_of(problem);
    launch l = launch_of(problem, &p, config, device);
    if (l.blocks > INT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld blocks, a grid holds 2147483647: larger tiles are needed",
                       (long long)l.blocks);
    if (device->smem_per_block_bytes != NT_UNKNOWN && l.smem_bytes > device->smem_per_block_bytes)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld bytes of shared memory, a block may have %lld",
                       (long long)l.smem_bytes, (long long)device->smem_per_block_bytes);
    if (value(config, "persistent") && l.blocks < l.cluster)
        return nt_fail(err, NT_LAUNCH_FAILED, "a cluster of %lld blocks does not fit the device", (long long)l.cluster);
    const char *refusal = value(config, "stream_k") ? sharing_refuses(&l) : NULL;
    if (refusal != NULL)
        return nt_fail(err, NT_LAUNCH_FAILED, "%s: stream_k=false is needed", refusal);
    *out = (nt_plan){.packed_bytes = packed_bytes_of(problem, &p),
                     .workspace_bytes = (size_t)(l.flag_bytes + l.sums_bytes)};
    if (l.flag_bytes > 0)
        nt_stage_zero(&out->stage[out->stage_count++], NT_ROLE_WORKSPACE, (size_t)l.flag_bytes);
    if (is_sparse(problem))
        nt__sparse_pack_stage(problem, &p, &out->prepare[out->prepare_count++]);
    add_moves(problem, &p, out);
    size_t moved_bytes = out->packed_bytes;
    product_stage(problem, &p, config, &l, moved_bytes, &out->stage[out->stage_count++]);
    nt__gemm_finish_prepare(&p, moved_bytes, out);
    return NT_OK;
}
