/* sparse.h: products with 2:4 sparse weights: how weights are packed for kernels/common/sparse.cuh, which both kernels
 * for them read, and the rows that a layer's file makes of sparse.cu (mma.sp) and gemm.cu (wgmma.sp).
 *
 * The problem's weights are pruned already (core/convert.h, nt_prune), so packing leaves nothing out: the product is
 * the same function as with dense weights, judged by the same bound. What pruning itself costs is in error_prec alone.
 */
#ifndef NT_GEMM_SPARSE_H
#define NT_GEMM_SPARSE_H

#include "kernels/gemm/gemm.h"

/* Blocks of 64 filters x 128 stored bytes; stored elements first, then metadata. */
typedef struct nt_sparse_packing {
    int64_t filter_blocks, channel_blocks;
    int64_t stored_row_bytes;     /* of a filter, whole blocks */
    int64_t metadata_block_bytes; /* of one block */
    size_t metadata_at, bytes;    /* in the packed weights */
} nt_sparse_packing;

nt_sparse_packing nt__sparse_packing_of(const nt_problem *problem, const nt_product_shape *product);
void nt__sparse_pack_stage(const nt_problem *problem, const nt_product_shape *product, nt_stage *stage);

/* NULL, or why the weights or pixels do not fit what the kernels read. */
const char *nt__sparse_refuses(const nt_problem *problem);

enum { NT__SPARSE_PARAMS = 6 };
extern const nt_param nt__sparse_params[NT__SPARSE_PARAMS];
void nt__sparse_options(const nt_problem *problem, const nt_config *config, nt_str *out);
nt_status nt__sparse_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device,
                          nt_plan *out, nt_error *err);

#define NT__SPARSE_ALL (NT_BIT(NT_FP16_SPARSE) | NT_BIT(NT_BF16_SPARSE) | NT_BIT(NT_INT8_SPARSE))

#define NT__SPARSE_THREADS "(warps_m * warps_n * 32)"
#define NT__SPARSE_SMEM    "(stages * (tile_m * (64 + 16 // elem_bytes) + tile_n * 128))"
#define NT__SPARSE_SUMS    "(tile_m * tile_n // " NT__SPARSE_THREADS ")"
/* Accumulators and operands of a step; addresses and the like come on top. */
#define NT__SPARSE_REGISTERS "(" NT__SPARSE_SUMS " + tile_m // warps_m // 16 * 5 + 4)"

#define NT__SPARSE_CONSTRAINTS(PIXELS)                                                                             \
    {"64 <= " NT__SPARSE_THREADS " <= 256", "a block has 2 to 8 warps"},                                           \
        {"tile_n % (8 * warps_n) == 0", "a warp computes whole 16x8 tiles"},                                       \
        {"8 <= " NT__SPARSE_SUMS " <= 128", "a thread has 8 to 128 accumulators"},                                 \
        {NT__SPARSE_SMEM " <= smem_per_block", "the stages fit in shared memory"},                                 \
        {"min_blocks * (" NT__SPARSE_SMEM " + 1024) <= smem_per_block + 1024",                                     \
         "the stages of min_blocks blocks fit in shared memory"},                                                  \
        {"min_blocks * (" NT__SPARSE_REGISTERS " + 24) * " NT__SPARSE_THREADS " <= regs_per_sm",                   \
         "accumulators and operands of min_blocks blocks fit in the registers"},                                   \
        {"min_blocks == 1 or min_blocks * (" NT__SPARSE_REGISTERS " + 48) * " NT__SPARSE_THREADS " > regs_per_sm", \
         "min_blocks is asked for only where registers would otherwise not allow it"},                             \
        {"tile_m == 64 or tile_m < 2 * k", "smaller tiles hold all filters"},                                      \
    {                                                                                                              \
        "tile_n == 8 or tile_n < 2 * " PIXELS, "smaller tiles hold all pixels"                                     \
    }

extern const char nt_embed_common_sparse_cuh[], nt_embed_gemm_sparse_cu[];

#define NT__SPARSE_ROW(NAME, LAYER, CONSTRAINTS)                                                                       \
    const nt_kernel NAME = {.name = "mma_sparse",                                                                      \
                            .summary = "2:4 sparse weights on tensor cores (mma.sp), pipelined through shared memory", \
                            .layer = (LAYER),                                                                          \
                            .device = NT_DEVICE_CUDA,                                                                  \
                            .source = {nt_embed_common_prelude_cuh, nt_embed_common_tensor_core_cuh,                   \
                                       nt_embed_common_sparse_cuh, nt_embed_gemm_store_cuh, nt_embed_gemm_sparse_cu},  \
                            .precisions = NT__SPARSE_ALL,                                                              \
                            .layouts = NT_BIT(NT_NHWC),                                                                \
                            .min_compute_capability = 80,                                                              \
                            .params = nt__sparse_params,                                                               \
                            .param_count = NT__SPARSE_PARAMS,                                                          \
                            .constraints = (CONSTRAINTS),                                                              \
                            .constraint_count = sizeof(CONSTRAINTS) / sizeof(CONSTRAINTS)[0],                          \
                            .bound = NT_BOUND_DIRECT,                                                                  \
                            .additions = nt_conv_additions,                                                            \
                            .refuses = nt__sparse_refuses,                                                             \
                            .options = nt__sparse_options,                                                             \
                            .plan = nt__sparse_plan}

/* ---- the same product by wgmma.sp: gemm.cu ---- */

enum { NT__GEMM_SPARSE_RULES = 2 };
extern const nt_param nt__gemm_sparse_params[NT__GEMM_PARAMS];
extern const nt_rule nt__gemm_sparse_rules[NT__GEMM_SPARSE_RULES];

/* 2:4 sparse weights: 128 stored bytes of a filter and their metadata, 256 bytes of a pixel. */
#define NT__GEMM_SPARSE_SMEM   "(stages * (tile_m * (128 + 32 // elem_bytes) + tile_n * 256 + 16) + 16)"
#define NT__GEMM_SPARSE_TILE_K "(256 // elem_bytes)"
#define NT__GEMM_SPARSE_CONSTRAINTS(PIXELS)                                                    \
    NT__GEMM_TILE_CONSTRAINTS(PIXELS, "1", NT__GEMM_SPARSE_SMEM, NT__GEMM_SPARSE_TILE_K),      \
        {"transposed", "the sparse operand, which is the weights, has to be the rows"},        \
    {                                                                                          \
        "tile_m // cluster_n >= 64", "each block of a cluster copies whole blocks of metadata" \
    }

#define NT__GEMM_SPARSE_ROW(NAME, LAYER, CONSTRAINTS)                                                          \
    const nt_kernel NAME = {.name = "gemm_sparse",                                                             \
                            .summary = "2:4 sparse weights on Hopper's tensor cores (wgmma.sp), tiles by TMA", \
                            .source = {nt_embed_common_prelude_cuh, nt_embed_common_tensor_core_cuh,           \
                                       nt_embed_common_sparse_cuh, NT__GEMM_TEXTS},                            \
                            .precisions = NT__SPARSE_ALL,                                                      \
                            .params = nt__gemm_sparse_params,                                                  \
                            .rules = nt__gemm_sparse_rules,                                                    \
                            .rule_count = NT__GEMM_SPARSE_RULES,                                               \
                            .refuses = nt__sparse_refuses,                                                     \
                            NT__GEMM_LAUNCHED(LAYER, CONSTRAINTS, NT_NHWC)}

#endif
