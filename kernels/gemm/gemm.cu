/* gemm.cu: matrix products on Hopper's tensor cores (wgmma), tiles brought by its copy engine (TMA). Comes after
 * copy.cuh and stream.cuh. Serves fully connected layers, 1x1 convolutions and, without forming the matrix,
 * convolutions with wider filters: IMAGES says that rows of pixels are gathered from images.
 *
 * One warp copies, GROUPS groups of four warps multiply, STAGES tiles travel between them. A block computes tiles of
 * TILE_M rows x TILE_N columns until there are none left, so that copies for the next tile run while results are
 * stored. Rows are pixels and columns filters; TRANSPOSED exchanges them, for few pixels. PINGPONG: groups take whole tiles
 * in turn, so that one stores while the other multiplies; else they share the rows of each.
 *
 * Blocks of a cluster: CLUSTER_M x CLUSTER_N of them share tiles of operands, each copying its part to all that need it;
 * or SPLIT_K of them share one tile of the result, each summing a part of the reduction. STREAM_K: clusters have equal
 * shares of all steps of the last tiles; sums of a tile that several have meet in the workspace. fp32 is three
 * products of parts that are tf32: weights come in two parts, made before; pixels are divided on their way to registers.
 * Macros: those of gemm.c and store.cuh; IMAGES, STRIDE, BORDER, FILTER_WIDTH of the product. */

/* ---- the multiplying groups -------------------------------------------------------------------------------------------- */

/* This warp has read the stage: one arrival at every block that fills it. */
NT_INLINE void release(const nt_pipe *p, unsigned stage)
{
    if (threadIdx.x % 32 == 0) {
#if SHARED > 1
#pragma unroll
        for (unsigned rank = 0; rank < SHARED; rank++)
            nt_barrier_arrive_at(p->empty + 8 * stage, rank);
#else
        nt_barrier_arrive(p->empty + 8 * stage);
#endif
    }
}

#if EXACT_F32
/* x = high + low, both tf32, up to 2^-22 of x. */
NT_INLINE void split_f32(unsigned x, unsigned *high, unsigned *low)
{
    *high = nt_round_tf32(x);
    *low = nt_round_tf32(nt_f32_to_bits(nt_bits_to_f32(x) - nt_bits_to_f32(*high)));
}

/* One tile of A from registers, in two parts; a is this lane's row in shared memory, b the weights' tiles. */
NT_INLINE void multiply(nt_sum sum[M_TILES][N_TILES][4], unsigned tile, unsigned group_row, unsigned b, unsigned adds)
{
    int row = threadIdx.x / 32 % 4 * 16 + threadIdx.x % 16, unit = threadIdx.x % 32 / 16;
#pragma unroll
    for (int i = 0; i < M_TILES; i++) {
        unsigned word[K_STEPS][4], high[K_STEPS][4], low[K_STEPS][4];
#pragma unroll
        for (int step = 0; step < K_STEPS; step++) {
            unsigned at = tile + (group_row + i * 64 + row) * 128 + (((2 * step + unit) ^ (row & 7)) * 16);
            nt_load_matrices(word[step], at);
#pragma unroll
            for (int e = 0; e < 4; e++)
                split_f32(word[step][e], &high[step][e], &low[step][e]);
        }
        nt_wgmma_begin();
#pragma unroll
        for (int step = 0; step < K_STEPS; step++) {
            nt_wgmma_registers(sum[i], low[step], b + step * 32, adds || step > 0);
            nt_wgmma_registers(sum[i], high[step], b + B_BYTES + step * 32, 1u);
            nt_wgmma_registers(sum[i], high[step], b + step * 32, 1u);
        }
        nt_wgmma_commit();
        nt_wgmma_wait(0);
    }
}
#elif SPARSE
/* Row `word` x 4 warps + warp of a block's metadata has this lane's word; its rows are permuted like all that is copied. */
NT_INLINE void load_metadata(unsigned word[M_TILES][SPARSE_WORDS], unsigned metadata)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
#pragma unroll
    for (int i = 0; i < M_TILES; i++)
#pragma unroll
        for (int w = 0; w < SPARSE_WORDS; w++) {
            int row = w * 4 + warp;
            word[i][w] =
                nt_load_word(metadata + i * SPARSE_BYTES + row * 128 + ((lane / 4) ^ (row & 7)) * 16 + lane % 4 * 4);
        }
}

NT_INLINE void multiply(nt_sum sum[M_TILES][N_TILES][4], unsigned tile, unsigned group_row, unsigned b, unsigned adds)
{
    unsigned a = tile + group_row * 128, word[M_TILES][SPARSE_WORDS];
    load_metadata(word, b + 2 * B_BYTES + group_row / 64 * SPARSE_BYTES);
    nt_wgmma_begin();
#pragma unroll
    for (int step = 0; step < K_STEPS; step++)
#pragma unroll
        for (int i = 0; i < M_TILES; i++)
            nt_wgmma_sparse(sum[i], a + i * 64 * 128 + step * 32, b + step / 2 * B_BYTES + step % 2 * 64,
                            word[i][step / SPARSE_STEPS], step % SPARSE_STEPS, adds || step > 0);
    nt_wgmma_commit();
}
#else
NT_INLINE void multiply(nt_sum sum[M_TILES][N_TILES][4], unsigned tile, unsigned group_row, unsigned b, unsigned adds)
{
    unsigned a = tile + group_row * 128;
    nt_wgmma_begin();
#pragma unroll
    for (int step = 0; step < K_STEPS; step++)
#pragma unroll
        for (int i = 0; i < M_TILES; i++)
            nt_wgmma_into(sum[i], a + i * 64 * 128 + step * 32, b + step * 32, adds || step > 0);
    nt_wgmma_commit();
}
#endif

/* Sums over this block's part of the reduction. A stage is free once the product after it has begun and its own has
 * ended. */
NT_INLINE void sum_tile(nt_sum sum[M_TILES][N_TILES][4], nt_pipe *p, int count, int turn, unsigned group_row)
{
    unsigned before = 0;
    if (PINGPONG)
        nt_turn_await(ORDER(p), turn);
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        unsigned tile = p->tiles + p->stage * STAGE;
        if (SHARED > 1)
            nt_barrier_wait_cluster(nt_pipe_full(p), p->phase);
        else
            nt_barrier_wait(nt_pipe_full(p), p->phase);
        multiply(sum, tile, group_row, tile + A_BYTES, i > 0);
        nt_wgmma_wait(1);
        if (i > 0)
            release(p, before);
        before = p->stage;
        nt_pipe_next(p, STAGES);
    }
    if (PINGPONG)
        nt_turn_pass(ORDER(p), turn);
    nt_wgmma_wait(0);
    release(p, before);
#pragma unroll
    for (int i = 0; i < M_TILES * N_TILES * 4; i++)
        nt_wgmma_sum_ready(&sum[i / 4 / N_TILES][i / 4 % N_TILES][i % 4]);
}

NT_INLINE void store_tile(nt_sum sum[M_TILES][N_TILES][4], const task *t, void *out, const float *finish, int m0, int n0,
                          int group_row)
{
    int warp = threadIdx.x / 32 % 4;
#if TRANSPOSED
#pragma unroll
    for (int i = 0; i < M_TILES; i++)
        nt_store_sixteen((nt_out *)out, finish, sum[i], m0 + group_row + i * 64 + warp * 16, n0, t->filters, t->pixels);
#else
#pragma unroll
    for (int i = 0; i < M_TILES * 2; i++) {
        int row = m0 + group_row + i / 2 * 64 + warp * 16 + i % 2 * 8 + threadIdx.x % 32 / 4;
#if CHANNELS_FIRST
        nt_store_scattered((nt_out *)out, finish, sum[i / 2], i % 2, row, n0, t->filters, t->pixels);
#else
        nt_store_row((nt_out *)out, finish, sum[i / 2], i % 2, row < t->pixels, (long long)row * t->filters, n0,
                     t->filters);
#endif
    }
#endif
}

#if SPLIT_K > 1
NT_INLINE nt_sum sum_of(unsigned word)
{
#ifdef NT_PRECISION_INT8
    return (int)word;
#else
    return nt_bits_to_f32(word);
#endif
}

NT_INLINE unsigned word_of(nt_sum x)
{
#ifdef NT_PRECISION_INT8
    return (unsigned)x;
#else
    return nt_f32_to_bits(x);
#endif
}

/* Four sums of this thread, of all blocks of the cluster, always in the same order. */
NT_INLINE void add_parts(nt_sum sum[4], unsigned from)
{
    unsigned word[SPLIT_K][4];
#pragma unroll
    for (unsigned rank = 0; rank < SPLIT_K; rank++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            word[rank][e] = nt_load_from(from + e * (GROUPS * 512), rank);
#pragma unroll
    for (int e = 0; e < 4; e++) {
        sum[e] = sum_of(word[0][e]);
#pragma unroll
        for (unsigned rank = 1; rank < SPLIT_K; rank++)
            sum[e] += sum_of(word[rank][e]);
    }
}

/* Puts this block's sums into its shared memory, whose tiles everybody here has read; when all blocks of the cluster have,
 * adds up and stores this block's share of the columns. */
NT_INLINE void store_parts(nt_sum sum[M_TILES][N_TILES][4], const task *t, void *out, const float *finish, unsigned space,
                           int m0, int n0, int group_row, int part)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    unsigned mine = space + threadIdx.x * 4;
    nt_group_wait(1, GROUPS * 128);
#pragma unroll
    for (int i = 0; i < M_TILES * N_TILES * 4; i++)
        nt_store_shared(mine + i * (GROUPS * 512), word_of(sum[i / 4 / N_TILES][i / 4 % N_TILES][i % 4]));
    nt_cluster_wait();
#pragma unroll
    for (int i = 0; i < M_TILES; i++)
#pragma unroll 1
        for (int j = N_TILES * part / SPLIT_K; j < N_TILES * (part + 1) / SPLIT_K; j++) {
            nt_sum all[4];
            int row = m0 + group_row + i * 64 + warp * 16 + lane / 4;
            add_parts(all, mine + (i * N_TILES + j) * (4 * GROUPS * 512));
            nt_store_four((nt_out *)out, finish, all, row, n0 + 8 * j + 2 * (lane % 4), t->filters, t->pixels);
        }
}
#endif

#if EXACT_F32
/* Once for each set of weights: the high parts of all, then the low parts. */
NT_ENTRY void __launch_bounds__(256) nt_split_weights(const float *weight, unsigned *parts, long long count)
{
    long long i = (long long)blockIdx.x * 256 + threadIdx.x;
    if (i < count)
        split_f32(nt_f32_to_bits(weight[i]), &parts[i], &parts[count + i]);
}
#endif

#if CHANNELS_FIRST
/* [images][channels][area] to [images][area][channels], for inputs and weights alike: a block moves 32 x 32 elements. */
NT_ENTRY void __launch_bounds__(256) nt_channels_last(const nt_elem *from, nt_elem *to, int channels, int area)
{
    NT_SHARED(nt_elem, tile); /* [32][33] */
    int x = threadIdx.x % 32, y = threadIdx.x / 32, pixel = blockIdx.x * 32, channel = blockIdx.y * 32;
    long long image = (long long)blockIdx.z * channels * area;
    for (int i = y; i < 32; i += 8)
        if (channel + i < channels && pixel + x < area)
            tile[i * 33 + x] = from[image + (long long)(channel + i) * area + pixel + x];
    __syncthreads();
    for (int i = y; i < 32; i += 8)
        if (pixel + i < area && channel + x < channels)
            to[image + (long long)(pixel + i) * channels + channel + x] = tile[x * 33 + i];
}
#endif

/* ---- a block ------------------------------------------------------------------------------------------------------------ */

NT_INLINE void start_barriers(const nt_pipe *p)
{
    nt_pipe_start(p, STAGES, RELEASES);
    nt_turns_start(ORDER(p));
    nt_barrier_publish();
}

NT_INLINE void wait_for_all(void)
{
#if CLUSTER > 1
    nt_cluster_wait();
#else
    __syncthreads();
#endif
}

NT_ENTRY void __launch_bounds__(THREADS, MIN_BLOCKS)
    nt_gemm(NT_MAP(pixel_map), NT_MAP(filter_map), META_MAP void *out, const float *finish, STREAM_SPACE int pixels,
            int filters, int channels, int channel_blocks, int steps, int out_height, int out_width, int m_tiles,
            int n_tiles, int band)
{
    NT_SHARED_TILES(tiles);
    task t = {pixels, filters, channels, channel_blocks, steps, out_height, out_width, m_tiles, n_tiles, band};
    int warp = threadIdx.x / 32, group = warp / 4;
    unsigned base = nt_shared_address(tiles);
    nt_pipe p = {base, base + STAGES * STAGE, base + STAGES * (STAGE + 8), 0, 0};
    int rank = CLUSTER > 1 ? (int)nt_cluster_rank() : 0;
    int part = SPLIT_K > 1 ? rank : 0, row = SPLIT_K > 1 ? 0 : rank % CLUSTER_M, column = SPLIT_K > 1 ? 0 : rank / CLUSTER_M;
    int all = m_tiles * n_tiles, step = (int)gridDim.x / CLUSTER, turn = 0;

    if (threadIdx.x == 0)
        start_barriers(&p);
    wait_for_all();
#if STREAM_K
    nt_share share = nt_share_of((int)blockIdx.x / CLUSTER, step, all, steps);
    for (nt_piece piece; nt_share_next(&share, &piece); turn++) {
#else
    nt_piece piece = {(int)blockIdx.x / CLUSTER, first_step(&t, part), first_step(&t, part + 1) - first_step(&t, part)};
    for (; piece.tile < all; piece.tile += step, turn++) {
#endif
        int m, n;
        nt_tile_at(piece.tile, m_tiles, n_tiles, band, &m, &n);
        int m0 = (m * CLUSTER_M + row) * TILE_M, n0 = (n * CLUSTER_N + column) * TILE_N;
        if (group == GROUPS) {
            if (threadIdx.x % 32 == 0)
                copy_tile(&p, &t, NT_MAP_ADDRESS(pixel_map), NT_MAP_ADDRESS(filter_map), METADATA, m0, n0, row, column,
                          &piece);
            continue;
        }
        if (PINGPONG && turn % GROUPS != group) {
            nt_pipe_skip(&p, piece.count, STAGES);
            continue;
        }
        int group_row = PINGPONG ? 0 : group * GROUP_M;
        nt_sum sum[M_TILES][N_TILES][4];
        sum_tile(sum, &p, piece.count, turn, (unsigned)group_row);
#if SPLIT_K > 1
        store_parts(sum, &t, out, finish, base, m0, n0, group_row, part);
        break; /* a cluster of parts has one tile */
#elif STREAM_K
        if (nt_piece_ends(&piece, steps)) {
            if (piece.first > 0)
                add_pieces(sum, space, &share, &piece, all);
            store_tile(sum, &t, out, finish, m0, n0, group_row);
        } else
            put_piece(sum, space);
#else
        store_tile(sum, &t, out, finish, m0, n0, group_row);
#endif
    }
#if SPLIT_K > 1
    if (group == GROUPS)
        nt_cluster_wait(); /* the one in store_parts */
#endif
#if CLUSTER > 1
    nt_cluster_wait(); /* nobody leaves while others may still write to it or read from it */
#endif
}
