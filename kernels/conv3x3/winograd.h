/* winograd.h: what the CUDA kernels of Winograd's algorithms share on the host: the sizes that a configuration gives a
 * block, and from them compiler options, launches and the additions of the error bound. winograd_tiles.cuh is their
 * common device text. */
#ifndef NT_CONV3X3_WINOGRAD_H
#define NT_CONV3X3_WINOGRAD_H

#include "kernels/conv3x3/conv3x3.h"
#include "kernels/kernel.h"

enum { NT__WINOGRAD_MOST_SHARES = 16 };

typedef struct nt__winograd_block {
    int64_t out_tile; /* outputs along the side of a tile: 2 or 4 */
    int64_t threads, tiles, channels, c_step;
    int64_t packed_elem_bytes, smem_bytes;
    int64_t split; /* shares of the input channels that are asked for */
    bool tensor_cores;
} nt__winograd_block;

/* Additions that make one output: those of the transforms, the channels and the shares. */
double nt__winograd_additions_2(const nt_problem *problem);
double nt__winograd_additions_4(const nt_problem *problem);

/* The macros that winograd_block.cuh and winograd_tiles.cuh ask for beyond the row's parameters. */
void nt__winograd_options(const nt_problem *problem, const nt__winograd_block *block, nt_str *out);

/* Preparation of weights, the product, and the adding of shares where channels are shared. */
nt_status nt__winograd_plan(const nt_problem *problem, const nt__winograd_block *block, const nt_device_info *device,
                            nt_plan *out, nt_error *err);

/* Constraints: tiles of m x m outputs, and blocks of `tiles` of them by `channels`, as expressions. */
#define NT__WINOGRAD_TILES(m) "(n * ((h + " m " - 1) // " m ") * ((w + " m " - 1) // " m "))"
#define NT__WINOGRAD_BLOCKS(m, tiles, channels) \
    "((" NT__WINOGRAD_TILES(m) " + " tiles " - 1) // " tiles " * ((k + " channels " - 1) // " channels "))"

/* Options and plan of a row, from its block_of(problem, config, M). */
#define NT__WINOGRAD_FUNCTIONS(M)                                                                               \
    static void options_##M(const nt_problem *problem, const nt_config *config, nt_str *out)                    \
    {                                                                                                           \
        nt__winograd_block block = block_of(problem, config, M);                                                \
        nt__winograd_options(problem, &block, out);                                                             \
    }                                                                                                           \
    static nt_status plan_##M(const nt_problem *problem, const nt_config *config, const nt_device_info *device, \
                              nt_plan *out, nt_error *err)                                                      \
    {                                                                                                           \
        nt__winograd_block block = block_of(problem, config, M);                                                \
        return nt__winograd_plan(problem, &block, device, out, err);                                            \
    }

extern const char nt_embed_common_prelude_cuh[];
extern const char nt_embed_common_tensor_core_cuh[];
extern const char nt_embed_conv3x3_winograd_cuh[];
extern const char nt_embed_conv3x3_winograd_block_cuh[];
extern const char nt_embed_conv3x3_winograd_tiles_cuh[];

#endif
