/* copy.cuh: the sizes of a block's tiles in shared memory, and the warp that has the copy engine fill them. Comes after
 * hopper.cuh, pipe.cuh and place.cuh; gemm.cu says what the macros mean. */

#ifdef NT_PRECISION_FP32
#define EXACT_F32 1
#else
#define EXACT_F32 0
#endif
#ifndef SPARSE
#define SPARSE 0
#endif
#if SPARSE
#define TILE_K     SPARSE_DENSE_K
#define META_BYTES (TILE_M / 64 * SPARSE_BYTES)
#define META_MAP   NT_MAP(metadata_map),
#define METADATA   NT_MAP_ADDRESS(metadata_map)
#else
#define TILE_K     (128 / (int)sizeof(nt_elem))
#define META_BYTES 0
#define META_MAP
#define METADATA   NT_MAP_ADDRESS(filter_map) /* not read */
#endif
#define K_STEPS  4 /* wgmma steps of a tile: 32 bytes of each row of A */
#define A_BYTES  (TILE_M * 128)
#define B_PARTS  (EXACT_F32 || SPARSE ? 2 : 1) /* high and low parts of weights; halves of 256 bytes of pixels */
#define B_BYTES  (TILE_N * 128)
#define STAGE    (A_BYTES + B_PARTS * B_BYTES + META_BYTES)
#define SHARED   (CLUSTER_M * CLUSTER_N) /* blocks that share operands */
#define CLUSTER  (SHARED * SPLIT_K)
#define GROUP_M  (PINGPONG ? TILE_M : TILE_M / GROUPS)
#define M_TILES  (GROUP_M / 64)
#define THREADS  (GROUPS * 128 + 32)
#define ORDER(p) ((p)->empty + 8 * STAGES) /* the barriers of turns come after those of stages */
#define RELEASES (4 * (PINGPONG ? 1 : GROUPS) * SHARED) /* arrivals that free a stage: one of each warp that reads it */

typedef struct task {
    int pixels, filters, channels, channel_blocks, steps; /* steps of the whole reduction */
    int out_height, out_width;
    int m_tiles, n_tiles, band; /* tiles of rows and columns in whole clusters */
} task;

/* This block's part of the reduction. */
NT_INLINE int first_step(const task *t, int part)
{
    return (int)((long long)t->steps * part / SPLIT_K);
}

/* ---- the copying warp ------------------------------------------------------------------------------------------------ */

#if SPARSE
/* Stored elements of TILE_K channels, two of four, and where they were. */
NT_INLINE void copy_sparse_filters(unsigned to, unsigned to_metadata, nt_map_address map, nt_map_address metadata,
                                   const nt_walk *w, int filter, unsigned barrier, unsigned blocks)
{
    if (SHARED > 1) {
        nt_copy_box_to(to, map, w->channel / 2, 0, filter, 0, barrier, blocks);
        nt_copy_box_to(to_metadata, metadata, 0, 0, filter / 64, w->channel / TILE_K, barrier, blocks);
    } else {
        nt_copy_box(to, map, w->channel / 2, 0, filter, 0, barrier);
        nt_copy_box(to_metadata, metadata, 0, 0, filter / 64, w->channel / TILE_K, barrier);
    }
}

NT_INLINE void copy_wide_pixels(unsigned to, nt_map_address map, const nt_walk *w, int pixel, unsigned barrier,
                                unsigned blocks)
{
#pragma unroll
    for (int half = 0; half < 2; half++)
        if (SHARED > 1)
            nt_copy_box_to(to + half * B_BYTES, map, w->channel + half * (TILE_K / 2), 0, pixel, 0, barrier, blocks);
        else
            nt_copy_box(to + half * B_BYTES, map, w->channel + half * (TILE_K / 2), 0, pixel, 0, barrier);
}
#else
NT_INLINE void copy_filters(unsigned to, nt_map_address map, const nt_walk *w, int filter, unsigned barrier,
                            unsigned blocks)
{
#pragma unroll
    for (int part = 0; part < B_PARTS; part++)
        if (SHARED > 1)
            nt_copy_box_to(to + part * B_BYTES, map, w->channel, w->tap, filter, part, barrier, blocks);
        else
            nt_copy_box(to + part * B_BYTES, map, w->channel, w->tap, filter, part, barrier);
}

NT_INLINE void copy_pixels(unsigned to, nt_map_address map, const nt_walk *w, int pixel, const nt_pixel *at,
                           unsigned barrier, unsigned blocks)
{
#if IMAGES
    if (SHARED > 1)
        nt_copy_pixels_to(to, map, w->channel, at->x, at->y, at->image, w->s, w->r, barrier, blocks);
    else
        nt_copy_pixels(to, map, w->channel, at->x, at->y, at->image, w->s, w->r, barrier);
#else
    (void)at;
    if (SHARED > 1)
        nt_copy_box_to(to, map, w->channel, 0, pixel, 0, barrier, blocks);
    else
        nt_copy_box(to, map, w->channel, 0, pixel, 0, barrier);
#endif
}

#endif

/* Fills stages with the operands of a piece of a tile of the result. A block copies the part of A that is its column's in the
 * cluster to the blocks of its row, and the part of B that is its row's to the blocks of its column. */
NT_INLINE void copy_tile(nt_pipe *p, const task *t, nt_map_address pixels, nt_map_address filters,
                         nt_map_address metadata, int m0, int n0, int row, int column, const nt_piece *piece)
{
    int a = m0 + column * (TILE_M / CLUSTER_N), b = n0 + row * (TILE_N / CLUSTER_M);
    unsigned to_a = p->tiles + column * (A_BYTES / CLUSTER_N), to_b = p->tiles + A_BYTES + row * (B_BYTES / CLUSTER_M);
#if SPARSE
    unsigned to_metadata = p->tiles + A_BYTES + B_PARTS * B_BYTES + column * (META_BYTES / CLUSTER_N);
#else
    (void)metadata;
#endif
    unsigned row_blocks = 0, column_blocks = 0;
#pragma unroll
    for (int i = 0; i < CLUSTER_N; i++)
        row_blocks |= 1u << (row + i * CLUSTER_M);
#pragma unroll
    for (int i = 0; i < CLUSTER_M; i++)
        column_blocks |= 1u << (i + column * CLUSTER_M);
    nt_pixel at = nt_pixel_at(TRANSPOSED ? b : a, t->out_height, t->out_width, STRIDE, BORDER);
    nt_walk w = nt_walk_from(piece->first, t->channel_blocks, TILE_K, FILTER_WIDTH);
    for (int left = piece->count; left > 0; left--) {
        unsigned barrier = nt_pipe_full(p), offset = p->stage * STAGE;
        if (SHARED > 1)
            nt_barrier_wait_cluster(nt_pipe_empty(p), p->phase ^ 1u);
        else
            nt_barrier_wait(nt_pipe_empty(p), p->phase ^ 1u);
        nt_barrier_expect(barrier, STAGE);
#if SPARSE
        copy_sparse_filters(to_a + offset, to_metadata + offset, filters, metadata, &w, a, barrier, row_blocks);
        copy_wide_pixels(to_b + offset, pixels, &w, b, barrier, column_blocks);
#elif TRANSPOSED
        copy_filters(to_a + offset, filters, &w, a, barrier, row_blocks);
        copy_pixels(to_b + offset, pixels, &w, b, &at, barrier, column_blocks);
#else
        copy_pixels(to_a + offset, pixels, &w, a, &at, barrier, row_blocks);
        copy_filters(to_b + offset, filters, &w, b, barrier, column_blocks);
#endif
        nt_walk_on(&w, t->channels, TILE_K, FILTER_WIDTH);
        nt_pipe_next(p, STAGES);
    }
}
