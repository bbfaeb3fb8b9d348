/* igemm.h: what the implicit-GEMM kernels share on the host: the sizes that a configuration gives a block, and from
 * them compiler options and launches. tiles.cuh is their common device text. */
#ifndef NT_CONV3X3_IGEMM_H
#define NT_CONV3X3_IGEMM_H

#include "kernels/conv/conv.h"
#include "kernels/kernel.h"

enum { NT__IGEMM_MAX_SPLIT = 16 };

typedef struct nt__igemm_tiling {
    const char *entry;
    int64_t tile_m, tile_n, tile_k, stages, threads, split;
    int64_t row_padding_bytes;
    int64_t warp_columns; /* output channels of a warp */
} nt__igemm_tiling;

/* Additions that make one output: its products and the partial sums of its slices. */
double nt__igemm_additions(const nt_problem *problem);

/* The macros that tiles.cuh asks for beyond the row's parameters. */
void nt__igemm_options(const nt_problem *problem, const nt__igemm_tiling *tiling, nt_str *out);

/* The product, and the adding of slices when the reduction is split. */
nt_status nt__igemm_plan(const nt_problem *problem, const nt__igemm_tiling *tiling, const nt_device_info *device,
                         nt_plan *out, nt_error *err);

extern const char nt_embed_common_prelude_cuh[];
extern const char nt_embed_common_tensor_core_cuh[];
extern const char nt_embed_conv3x3_tiles_cuh[];

#endif
