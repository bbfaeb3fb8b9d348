/* gemm.h: what the matrix-product kernels share on the host: the product that a problem is, and from it and a
 * configuration the tensor maps, compiler options and launches of gemm.cu.
 *
 * A product multiplies pixels x (taps, channels) by filters x (taps, channels). A fully connected layer has one pixel
 * an example and one tap; a convolution's pixels are its output's, gathered from images at each tap. */
#ifndef NT_GEMM_H
#define NT_GEMM_H

#include "kernels/conv/conv.h"
#include "kernels/kernel.h"

typedef struct nt_product_shape {
    int64_t images, height, width, channels, filters;
    int64_t filter_size, stride, border; /* the same in both directions */
    int64_t out_height, out_width, pixels, taps;
    bool batch_norm; /* weights are followed by gamma, beta, mean and variance of each filter */
    nt_activation activation;
    bool gathered; /* taps, strides or borders: pixels come from images; else they are rows of a matrix */
} nt_product_shape;

/* The product of a convolution (conv/conv.h) without groups. */
nt_product_shape nt__product_of(const nt_problem *problem);

/* Products summed into one output, and the partial sums that split_k or stream_k adds, at most NT__GEMM_MAX_SPLIT. */
double nt__product_additions(const nt_problem *problem);

/* NULL, or why tensor maps cannot describe the problem. */
const char *nt__gemm_refuses(const nt_problem *problem);

void nt__gemm_options(const nt_problem *problem, const nt_config *config, nt_str *out);
nt_status nt__gemm_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                        nt_error *err);

/* The weights [parts][filters][taps][channels], `rows` filters a copy. */
nt_tensor_map nt__gemm_filter_map(const nt_problem *problem, const nt_product_shape *product, int64_t rows);
/* Output elements that a lane may store at once: 8 of 16 bits make 16 bytes. */
int nt__gemm_out_vector(const nt_problem *problem, int64_t filters);
/* What becomes of sums (store.cuh): macros, the argument after the output, and the preparation that computes what it
 * points at; `packed_bytes` of other packed weights come before. No preparation without batch norm. */
void nt__gemm_finish_options(const nt_product_shape *product, nt_str *out);
void nt__gemm_finish_argument(const nt_product_shape *product, size_t packed_bytes, nt_stage *stage);
void nt__gemm_finish_prepare(const nt_product_shape *product, size_t packed_bytes, nt_plan *plan);

enum { NT__GEMM_MAX_SPLIT = 16, NT__GEMM_PARAMS = 13 };
extern const nt_param nt__gemm_params[NT__GEMM_PARAMS];

/* ---- constraints, whose sizes differ from layer to layer: PIXELS and TAPS are expressions; MOST pixels
 * may be columns; PARTS is "1", or
 * "2" for weights in two parts (fp32) ---- */

#define NT__GEMM_TILE_K      "(128 // elem_bytes)"
#define NT__GEMM_SMEM(PARTS) "(stages * ((tile_m + " PARTS " * tile_n) * 128 + 16) + 16)"
/* Rows and columns of the product, exchanged when transposed. */
#define NT__GEMM_ROWS(PIXELS)    "(k if transposed else " PIXELS ")"
#define NT__GEMM_COLUMNS(PIXELS) "(" PIXELS " if transposed else k)"
#define NT__GEMM_ACCUMULATORS    "(tile_m * tile_n // (128 if pingpong else 128 * groups))"
#define NT__GEMM_THREADS         "(groups * 128 + 32)"
#define NT__GEMM_BLOCKS(PIXELS) \
    "((" NT__GEMM_ROWS(PIXELS) " + tile_m - 1) // tile_m * ((" NT__GEMM_COLUMNS(PIXELS) " + tile_n - 1) // tile_n))"

/* What holds for dense and sparse weights alike: SMEM bytes of shared memory, TILE_K channels a step. */
#define NT__GEMM_TILE_CONSTRAINTS(PIXELS, TAPS, SMEM, TILE_K)                                                       \
    {"cc == 90", "only compute capability 9.0 has the instructions"},                                               \
        {"groups == 2 if pingpong else tile_m % (64 * groups) == 0", "a group computes whole tiles of 64 rows"},    \
        {"4 <= " NT__GEMM_ACCUMULATORS " <= 192", "a thread has 4 to 192 accumulators"},                            \
        {SMEM " <= smem_per_block", "the stages fit in shared memory"},                                             \
        {"min_blocks * (" SMEM " + 1024) <= smem_per_block + 1024",                                                 \
         "the stages of min_blocks blocks fit in shared memory"},                                                   \
        {"min_blocks * (" NT__GEMM_ACCUMULATORS " + 48) * " NT__GEMM_THREADS " <= regs_per_sm",                     \
         "accumulators and addresses of min_blocks blocks fit in the registers"},                                   \
        {"min_blocks == 1 or min_blocks * (" NT__GEMM_ACCUMULATORS " + 72) * " NT__GEMM_THREADS " > regs_per_sm",   \
         "min_blocks is asked for only where registers would otherwise not allow it"},                              \
        {"persistent or not pingpong", "groups that take turns need more than one tile"},                           \
        {"not persistent or stream_k or " NT__GEMM_BLOCKS(PIXELS) " > sm_count", "each SM has more than one tile"}, \
        {"not stream_k or (persistent and not pingpong)",                                                           \
         "steps are shared among blocks that run at once, whose groups share tiles"},                               \
        {"not stream_k or 4 * " NT__GEMM_BLOCKS(PIXELS) " >= sm_count * min_blocks",                                \
         "so few tiles are for split_k: few blocks add to one tile"},                                               \
        {"not stream_k or 20 * " NT__GEMM_BLOCKS(PIXELS) " <= 19 * sm_count * min_blocks * ((" NT__GEMM_BLOCKS(     \
             PIXELS) " - 1) // (sm_count * min_blocks) + 1)",                                                       \
         "the last wave of tiles leaves blocks without work"},                                                      \
        {"not stream_k or " TAPS " * ((c + " TILE_K " - 1) // " TILE_K ") >= 8", "a tile has steps to share"},      \
        {"tile_m == 64 or tile_m < 2 * " NT__GEMM_ROWS(PIXELS), "smaller tiles hold all rows"},                     \
        {"tile_n == 8 or tile_n < 2 * " NT__GEMM_COLUMNS(PIXELS), "smaller tiles hold all columns"},                \
        {"band == 1 or " NT__GEMM_ROWS(PIXELS) " > band * tile_m", "a band has all its rows"},                      \
        {"cluster_m == 1 or " NT__GEMM_ROWS(PIXELS) " > tile_m", "a cluster of two has two tiles"},                 \
        {"cluster_n == 1 or " NT__GEMM_COLUMNS(PIXELS) " > tile_n", "a cluster of two has two tiles"},              \
        {"tile_n // cluster_m >= 8", "each block of a cluster copies whole groups of 8 rows"},                      \
        {"split_k == 1 or (cluster_m * cluster_n == 1 and not persistent)",                                         \
         "a cluster shares operands or the reduction, and has one tile then"},                                      \
        {"split_k <= tile_n // 8", "each block of a cluster stores columns"},                                       \
        {"split_k == 1 or tile_m * tile_n * 4 <= " SMEM, "partial sums fit where the stages were"},                 \
        {"split_k == 1 or " NT__GEMM_BLOCKS(PIXELS) " * split_k <= 3 * sm_count",                                   \
         "the reduction is split where blocks are few"},                                                            \
    {                                                                                                               \
        "split_k == 1 or " TAPS " * ((c + " TILE_K " - 1) // " TILE_K ") >= 2 * split_k",                           \
            "each part has two tiles or more"                                                                       \
    }

#define NT__GEMM_CONSTRAINTS(PIXELS, TAPS, PARTS, MOST)                                                                \
    NT__GEMM_TILE_CONSTRAINTS(PIXELS, TAPS, NT__GEMM_SMEM(PARTS), NT__GEMM_TILE_K),                                    \
        {"not transposed or (" PIXELS " <= " MOST " and " PARTS " == 1)", "filters become rows where pixels are few"}, \
        {"transposed or tile_n >= 32", "only few pixels need narrower tiles"},                                         \
    {                                                                                                                  \
        "cluster_m * cluster_n <= 2", "a cluster shares one operand"                                                   \
    }

/* ---- rows, one of each for a layer ---- */

extern const char nt_embed_common_prelude_cuh[], nt_embed_common_tensor_core_cuh[], nt_embed_common_hopper_cuh[];
extern const char nt_embed_gemm_pipe_cuh[], nt_embed_gemm_place_cuh[], nt_embed_gemm_copy_cuh[],
    nt_embed_gemm_store_cuh[], nt_embed_gemm_stream_cuh[], nt_embed_gemm_gemm_cu[];

#define NT__GEMM_TEXTS                                                                                   \
    nt_embed_common_hopper_cuh, nt_embed_gemm_pipe_cuh, nt_embed_gemm_place_cuh, nt_embed_gemm_copy_cuh, \
        nt_embed_gemm_store_cuh, nt_embed_gemm_stream_cuh, nt_embed_gemm_gemm_cu
#define NT__GEMM_LAUNCHED(LAYER, CONSTRAINTS, LAYOUT)                                                    \
    .layer = (LAYER), .device = NT_DEVICE_CUDA, .layouts = NT_BIT(LAYOUT), .min_compute_capability = 90, \
    .arch_specific = true, .param_count = NT__GEMM_PARAMS, .constraints = (CONSTRAINTS),                 \
    .constraint_count = sizeof(CONSTRAINTS) / sizeof(CONSTRAINTS)[0], .bound = NT_BOUND_DIRECT,          \
    .additions = nt__product_additions, .options = nt__gemm_options, .plan = nt__gemm_plan
#define NT__GEMM_COMMON(LAYER, CONSTRAINTS, LAYOUT)                                           \
    .source = {nt_embed_common_prelude_cuh, nt_embed_common_tensor_core_cuh, NT__GEMM_TEXTS}, \
    .params = nt__gemm_params, .refuses = nt__gemm_refuses, NT__GEMM_LAUNCHED(LAYER, CONSTRAINTS, LAYOUT)

#define NT__GEMM_FLOATS (NT_BIT(NT_TF32) | NT_BIT(NT_FP16) | NT_BIT(NT_BF16))
#define NT__GEMM_ALL    (NT__GEMM_FLOATS | NT_BIT(NT_INT8) | NT_BIT(NT_FP8))

#define NT__GEMM_ROW(NAME, LAYER, PRECISIONS, CONSTRAINTS)                                                    \
    const nt_kernel NAME = {                                                                                  \
        .name = "gemm",                                                                                       \
        .summary = "matrix product on Hopper's tensor cores (wgmma), tiles brought by its copy engine (TMA)", \
        .precisions = (PRECISIONS),                                                                           \
        NT__GEMM_COMMON(LAYER, CONSTRAINTS, NT_NHWC)}

#define NT__GEMM_EXACT_ROW(NAME, LAYER, CONSTRAINTS)                                                    \
    const nt_kernel NAME = {.name = "gemm_3xtf32",                                                      \
                            .summary = "fp32 as three products of tf32 parts on Hopper's tensor cores", \
                            .precisions = NT_BIT(NT_FP32),                                              \
                            NT__GEMM_COMMON(LAYER, CONSTRAINTS, NT_NHWC)}

/* The same for channels first: inputs are moved to channels last before the product, which stores channels first. */
#define NT__GEMM_FIRST_ROW(NAME, LAYER, PRECISIONS, CONSTRAINTS)                                    \
    const nt_kernel NAME = {.name = "gemm_nchw",                                                    \
                            .summary = "inputs moved to channels last, then the product of 'gemm'", \
                            .precisions = (PRECISIONS),                                             \
                            NT__GEMM_COMMON(LAYER, CONSTRAINTS, NT_NCHW)}

#define NT__GEMM_EXACT_FIRST_ROW(NAME, LAYER, CONSTRAINTS)                                                 \
    const nt_kernel NAME = {.name = "gemm_3xtf32_nchw",                                                    \
                            .summary = "inputs moved to channels last, then the product of 'gemm_3xtf32'", \
                            .precisions = NT_BIT(NT_FP32),                                                 \
                            NT__GEMM_COMMON(LAYER, CONSTRAINTS, NT_NCHW)}

#endif
