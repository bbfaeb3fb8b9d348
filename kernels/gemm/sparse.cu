/* sparse.cu: the product of 2:4 sparse weights and pixels on the tensor cores of compute capability 8.0 and later (mma.sp).
 * Comes after sparse.cuh and store.cuh. Weights are the sparse operand, so rows of the result are filters and columns
 * are pixels (TRANSPOSED). Pixels are rows of a matrix: fully connected layers, 1x1 convolutions with stride 1.
 *
 * A block computes TILE_M filters x TILE_N pixels in WARPS_M x WARPS_N warps. A tile of the reduction is two steps: 64
 * stored bytes of each filter, 128 bytes of each pixel, half a block of metadata; STAGES tiles travel through shared
 * memory, all but one under way. Rows are permuted by 16-byte units, so that ldmatrix meets no bank twice. */

#define THREADS      (WARPS_M * WARPS_N * 32)
#define A_PITCH      64
#define B_PITCH      128
#define A_BYTES      (TILE_M * A_PITCH)
#define B_BYTES      (TILE_N * B_PITCH)
#define HALF_WORDS   (SPARSE_WORDS / 2)                      /* words of a lane and tile */
#define META_BYTES   (TILE_M / 64 * HALF_WORDS * 512)
#define STAGE        (A_BYTES + B_BYTES + META_BYTES)
#define M_TILES      (TILE_M / WARPS_M / 16)
#define A_PASS       (THREADS / 4) /* rows that all threads together copy at once */
#define B_PASS       (THREADS / 8)

typedef struct task {
    const unsigned char *stored, *metadata, *in;
    int filters, pixels, pixel_bytes, stored_bytes; /* bytes of a row */
    int filter_blocks, m0, n0;
} task;

/* ---- copies ---- */

NT_INLINE int a_unit(int row, int unit)
{
    return unit ^ (row >> 1 & 3);
}

NT_INLINE void copy_filters(const task *t, unsigned to, int step)
{
    int row = threadIdx.x / 4, unit = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < (TILE_M + A_PASS - 1) / A_PASS; i++) {
        int r = row + i * A_PASS, filter = t->m0 + r;
        if (TILE_M % A_PASS == 0 || r < TILE_M)
            nt_copy_16(to + r * A_PITCH + a_unit(r, unit) * 16,
                       t->stored + ((long long)filter * t->stored_bytes + step * 64 + unit * 16), filter < t->filters);
    }
}

NT_INLINE void copy_pixels(const task *t, unsigned to, int step)
{
    int row = threadIdx.x / 8, unit = threadIdx.x % 8, at = step * 128 + unit * 16;
#pragma unroll
    for (int i = 0; i < (TILE_N + B_PASS - 1) / B_PASS; i++) {
        int r = row + i * B_PASS, pixel = t->n0 + r;
        if (TILE_N % B_PASS == 0 || r < TILE_N)
            nt_copy_16(to + r * B_PITCH + (unit ^ (r & 7)) * 16, t->in + ((long long)pixel * t->pixel_bytes + at),
                       pixel < t->pixels && at < t->pixel_bytes);
    }
}

/* Tile `step` has the words of steps 2 (step % 2) and the next of its block. */
NT_INLINE void copy_metadata(const task *t, unsigned to, int step)
{
    const int units = META_BYTES / 16, block_units = HALF_WORDS * 32;
#pragma unroll
    for (int i = 0; i < (units + THREADS - 1) / THREADS; i++) {
        int unit = threadIdx.x + i * THREADS, block = t->m0 / 64 + unit / block_units;
        if (units % THREADS == 0 || unit < units)
            nt_copy_16(to + unit * 16,
                       t->metadata + (((long long)(step / 2) * t->filter_blocks + block) * SPARSE_BYTES +
                                      (step % 2 * block_units + unit % block_units) * 16),
                       block < t->filter_blocks);
    }
}

NT_INLINE void copy_tile(const task *t, unsigned stage, int step)
{
    copy_filters(t, stage, step);
    copy_pixels(t, stage + A_BYTES, step);
    copy_metadata(t, stage + A_BYTES + B_BYTES, step);
}

/* ---- products ---- */

/* One tile: two steps. warp_m and warp_n are the warp's first row and column. */
NT_INLINE void multiply(nt_sum sum[M_TILES][N_TILES][4], unsigned stage, int warp_m, int warp_n)
{
    int lane = threadIdx.x % 32, a_row = warp_m + lane % 16, b_row = warp_n + lane % 8;
#pragma unroll
    for (int step = 0; step < 2; step++) {
        unsigned a[M_TILES][4], metadata[M_TILES];
#pragma unroll
        for (int i = 0; i < M_TILES; i++) {
            int tile = warp_m / 16 + i, word = step / SPARSE_STEPS;
            nt_load_matrices(a[i], stage + (a_row + i * 16) * A_PITCH + a_unit(a_row, 2 * step + lane / 16) * 16);
            metadata[i] = nt_load_word(stage + A_BYTES + B_BYTES +
                                       (((tile / 4 * HALF_WORDS + word) * 4 + tile % 4) * 32 + lane) * 4);
        }
#pragma unroll
        for (int j = 0; j < N_TILES; j++) {
            unsigned b[4];
            nt_load_matrices(b, stage + A_BYTES + (b_row + j * 8) * B_PITCH +
                                    ((4 * step + lane / 8) ^ (b_row & 7)) * 16);
#pragma unroll
            for (int i = 0; i < M_TILES; i++)
                nt_mma_sparse(sum[i][j], a[i], b, metadata[i], step % SPARSE_STEPS);
        }
    }
}

NT_INLINE void sum_tiles(nt_sum sum[M_TILES][N_TILES][4], const task *t, unsigned base, int count, int warp_m, int warp_n)
{
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < count)
            copy_tile(t, base + s * STAGE, s);
        nt_copy_commit();
    }
#pragma unroll 1
    for (int step = 0, read = 0; step < count; step++) {
        int write = read == 0 ? STAGES - 1 : read - 1; /* where the tile before was, which all have read */
        nt_copy_wait(STAGES - 2);
        __syncthreads();
        if (step + STAGES - 1 < count)
            copy_tile(t, base + write * STAGE, step + STAGES - 1);
        nt_copy_commit();
        multiply(sum, base + read * STAGE, warp_m, warp_n);
        read = read == STAGES - 1 ? 0 : read + 1;
    }
    nt_copy_wait(0);
}

/* The reduction has `steps` tiles. Blocks that run at the same time share pixels. */
NT_ENTRY void __launch_bounds__(THREADS, MIN_BLOCKS)
    nt_sparse_mma(const void *stored, const void *metadata, const void *in, void *out, int filters, int pixels,
                  int pixel_bytes, int stored_bytes, int filter_blocks, int m_tiles, int steps)
{
    extern __shared__ __align__(1024) unsigned char tiles[];
    task t = {(const unsigned char *)stored, (const unsigned char *)metadata, (const unsigned char *)in, filters, pixels,
              pixel_bytes, stored_bytes, filter_blocks, (int)blockIdx.x % m_tiles * TILE_M,
              (int)blockIdx.x / m_tiles * TILE_N};
    int warp = threadIdx.x / 32, warp_m = warp % WARPS_M * (TILE_M / WARPS_M), warp_n = warp / WARPS_M * (N_TILES * 8);
    nt_sum sum[M_TILES][N_TILES][4];
#pragma unroll
    for (int i = 0; i < M_TILES * N_TILES * 4; i++)
        sum[i / 4 / N_TILES][i / 4 % N_TILES][i % 4] = 0;
    sum_tiles(sum, &t, nt_shared_address(tiles), steps, warp_m, warp_n);
#pragma unroll
    for (int i = 0; i < M_TILES; i++)
        nt_store_sixteen((nt_out *)out, (const float *)0, sum[i], t.m0 + warp_m + i * 16, t.n0 + warp_n, filters, pixels);
}
