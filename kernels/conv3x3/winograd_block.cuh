/* winograd_block.cuh: what winograd_tiles.cuh is told of a block: of winograd.cu, or with TENSOR_CORES of winograd_mma.cu.
 * Macros: the parameters of cuda_winograd.c or cuda_winograd_mma.c. */

#if TENSOR_CORES
#define ELEM_BYTES ((int)sizeof(nt_elem))
#define STEP_BYTES (32 * K_STEPS)          /* of channels of a step, K_STEPS steps of an mma */
#define C_STEP     (STEP_BYTES / ELEM_BYTES)
#define THREADS    (32 * WARPS)
#define EACH       2 /* channels that are transformed together: one word of 16-bit elements */
typedef nt_elem packed_elem;
/* [block of BLOCK_K][step][place][channel][C_STEP]; rows are input channels of a block. */
#define PACKED_AT(row, place, lane) \
    ((((row) / C_STEP * PLACES + (place)) * BLOCK_K + (lane)) * C_STEP + (row) % C_STEP)
#ifdef NT_PRECISION_TF32
#define to_packed(x) nt_bits_to_f32(nt_round_tf32(nt_f32_to_bits(x)))
#else
#define to_packed nt_from_f32
#endif

#else
#define PLACE_THREADS (THREADS_P * THREADS_K)
#define THREADS       (PLACES * PLACE_THREADS)
#define BLOCK_TILES   (THREADS_P * TILE_P)
#define BLOCK_K       (THREADS_K * TILE_K)
#define EACH          1
typedef float packed_elem;
/* [block of BLOCK_K][channel, whole steps][place][BLOCK_K] */
#define PACKED_AT(row, place, lane) (((row) * PLACES + (place)) * BLOCK_K + (lane))
#define to_packed(x)                (x)
#endif
