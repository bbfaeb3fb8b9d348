/* cpu.h: what the table rows of the CPU convolutions share: the register tile's constraints, weight packing, the
 * launch. */
#ifndef NT_CONV_CPU_H
#define NT_CONV_CPU_H

#include "kernels/conv/conv.h"
#include "kernels/kernel.h"

extern const char nt_embed_conv_tile_cpu_c[], nt_embed_conv_pack_cpu_c[];

/* Every kernel has the parameters vector_bytes, positions and vectors of tile.cpu.c. AVX-512 has 32 registers, also for
 * its 32-byte vectors; everything before has 16. Two multiply-adds a cycle with a latency of four want 8 sums. */
/* clang-format off */
#define NT_CPU_TILE_CONSTRAINTS                                                                                      \
    {"vector_bytes == simd_bytes or 2 * vector_bytes == simd_bytes",                                                 \
     "vectors are the processor's widest or half that"},                                                             \
    {"positions * vectors + vectors + (1 if elem_bytes < 4 else 0) <= (32 if simd_bytes >= 64 else 16)",             \
     "the sums, weights and (narrow types) input of a tile fit the vector registers"},                               \
    {"positions * vectors >= 8", "fewer than 8 sums leave the multipliers waiting for each other"}
#define NT_CPU_VECTOR_CONSTRAINTS                                                                                    \
    NT_CPU_TILE_CONSTRAINTS,                                                                                         \
    {"k_blocks == 1 or (k_blocks - 1) * vectors * vector_bytes < 4 * k",                                             \
     "a work item has no more channels than the layer"}
/* clang-format on */

/* Of the matrix product (gemm.cpu.c). */
enum { NT_CPU_GEMM_PARAMS = 8 };
extern const nt_param nt_cpu_gemm_params[NT_CPU_GEMM_PARAMS];
extern const char nt_embed_conv_gemm_cpu_c[];

typedef struct nt_cpu_tile {
    int64_t positions; /* output positions */
    int64_t channels;  /* output channels */
} nt_cpu_tile;

/* From the parameters positions, vectors and vector_bytes. */
nt_cpu_tile nt_cpu_tile_of(const nt_param *params, const nt_config *config);

static inline int64_t nt_ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* Limits that keep every index within 63 bits and the packed weights within reach; NULL when the problem is in them. */
const char *nt_cpu_refuses(const nt_problem *problem);

/* TAPS, STRIDE, PAD and the epilogue as macros: a kernel gains from them what a constant gains. */
void nt_cpu_options(const nt_problem *problem, const nt_config *config, nt_str *options);

/* A convolution as far as all have it: the preparation of pack.cpu.c, and stage 0, the entry `convolve` over x * y * z
 * work items with the arguments in, packed, out, sums, c, k, h, w, out_h, out_w; the caller appends its own. `sums` is
 * out, or a workspace where a sum is wider than a result. NT_LAUNCH_FAILED when a grid extent does not fit. */
nt_status nt_cpu_convolution(const nt_problem *problem, nt_cpu_tile tile, int64_t c_block, const int64_t items[3],
                             nt_plan *plan, nt_error *err);

/* ---- the same as a chain of three passes over memory (chain.cpu.c), which is what fusing is compared with ---- */

extern const char nt_embed_conv_chain_cpu_c[];
void nt_cpu_chain_options(const nt_problem *problem, const nt_config *config, nt_str *options);
/* Makes a plan of nt_cpu_convolution a chain: its output goes to the workspace, and two stages follow. */
void nt_cpu_chain(const nt_problem *problem, nt_plan *plan);

#endif
