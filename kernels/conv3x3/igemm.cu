/* igemm.cu: conv3x3 (stride 1, pad 1, NHWC) as a matrix product on tensor cores (mma.sync). Comes after tiles.cuh.
 *
 * A block computes TILE_M pixels x TILE_N output channels in WARPS_M x WARPS_N warps; STAGES tiles travel through
 * shared memory, all but one under way. Macros: the parameters of cuda_igemm.c and those of tiles.cuh. */

#define K_STEPS         (ROW_BYTES / 32) /* mma steps of a tile */
#define COPIES_PER_STEP ((COPIES + K_STEPS - 2) / (K_STEPS - 1))
#define M_TILES         (TILE_M / WARPS_M / 16)

typedef struct fragments {
    unsigned a[M_TILES][4];
    unsigned b[N_TILES / 2][4]; /* two tiles of columns, two words each */
} fragments;

/* The operands of mma step `step`, 32 bytes further on; a and b are this lane's shared addresses at step 0. */
NT_INLINE void load_fragments(fragments *f, unsigned a, unsigned b, int step)
{
    unsigned a_step = SWIZZLE ? a ^ (step * 32) : a + step * 32;
    unsigned b_step = SWIZZLE ? b ^ (step * 32) : b + step * 32;
#pragma unroll
    for (int i = 0; i < M_TILES; i++)
        nt_load_matrices(f->a[i], a_step + i * 16 * PITCH);
#pragma unroll
    for (int j = 0; j < N_TILES / 2; j++)
        nt_load_matrices(f->b[j], b_step + j * 16 * PITCH);
}

NT_INLINE void multiply(float sum[M_TILES][N_TILES][4], fragments *f)
{
#if ROUND_INPUTS
#pragma unroll
    for (int i = 0; i < M_TILES * 4; i++)
        f->a[i / 4][i % 4] = nt_round_tf32(f->a[i / 4][i % 4]);
#pragma unroll
    for (int j = 0; j < N_TILES * 2; j++)
        f->b[j / 4][j % 4] = nt_round_tf32(f->b[j / 4][j % 4]);
#endif
#pragma unroll
    for (int i = 0; i < M_TILES; i++)
#pragma unroll
        for (int jj = 0; jj < N_TILES; jj++) {
            int j = i % 2 ? N_TILES - 1 - jj : jj; /* back and forth, so that an operand is used again at once */
            nt_mma(sum[i][j], f->a[i], &f->b[j / 2][j % 2 * 2]);
        }
}

/* Starts the copies of the first STAGES - 1 tiles. */
NT_INLINE void fill_stages(loader *q, int count)
{
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < count) {
            copy_rows(q, s * STAGE_BYTES, 0, COPIES);
            next_step(q);
        }
        nt_copy_commit();
    }
    nt_copy_wait(STAGES - 2);
    __syncthreads();
}

/* Sums over `count` tiles. While a tile is multiplied, operands of the next mma step and the tile STAGES - 1 further on
 * are under way; the latter goes where the previous tile was, which all threads have read at the barrier. */
NT_INLINE void run_stages(float sum[M_TILES][N_TILES][4], loader *q, unsigned a, unsigned b, int count)
{
    fragments f[2];
    load_fragments(&f[0], a, b, 0);
    unsigned read = 0, write = (STAGES - 1) * STAGE_BYTES;
#pragma unroll 1
    for (int left = count - (STAGES - 1); left > 1 - STAGES; left--) { /* tiles still to be copied */
#pragma unroll
        for (int step = 0; step < K_STEPS; step++) {
            if (step == K_STEPS - 1) {
                nt_copy_commit();
                nt_copy_wait(STAGES - 2);
                __syncthreads();
                write = read;
                read = read == (STAGES - 1) * STAGE_BYTES ? 0 : read + STAGE_BYTES;
            }
            load_fragments(&f[(step + 1) % 2], a + read, b + read, (step + 1) % K_STEPS);
            if (step < K_STEPS - 1 && left > 0)
                copy_rows(q, write, step * COPIES_PER_STEP, (step + 1) * COPIES_PER_STEP);
            multiply(sum, &f[step % 2]);
        }
        if (left > 0)
            next_step(q);
    }
    nt_copy_wait(0);
}

/* The reduction has `steps` tiles. When SPLIT, blocks of one z do a share of them, and `out` is the workspace. */
NT_ENTRY void __launch_bounds__(THREADS, MIN_BLOCKS)
    nt_conv3x3_igemm(const nt_elem *in, const nt_elem *weight, void *out, int pixels, int height, int width,
                     int channels, int filters, int n_blocks, int steps)
{
    extern __shared__ __align__(1024) unsigned char tiles[];
    int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    int m0 = blockIdx.x / n_blocks * TILE_M, n0 = blockIdx.x % n_blocks * TILE_N;
    int row = thread / ROW_UNITS, unit = thread % ROW_UNITS;
    int begin = 0, count = steps;
#if SPLIT
    begin = (int)((long long)steps * blockIdx.z / gridDim.z);
    count = (int)((long long)steps * (blockIdx.z + 1) / gridDim.z) - begin;
    out = (float *)out + (long long)blockIdx.z * pixels * filters;
#endif

    loader q;
    q.in = in;
    q.weight = weight;
    q.channels = channels;
    q.width = width;
    q.to = nt_shared_address(tiles) + row * PITCH + swizzled(row, unit) * 16;
    start_rows(&q, m0, n0, row, pixels, height, filters);
    start_at(&q, begin, unit);
    fill_stages(&q, count);

    float sum[M_TILES][N_TILES][4];
#pragma unroll
    for (int i = 0; i < M_TILES * N_TILES * 4; i++)
        sum[i / 4 / N_TILES][i / 4 % N_TILES][i % 4] = 0.0f;
    int warp_m = warp % WARPS_M * (TILE_M / WARPS_M), warp_n = warp / WARPS_M * (TILE_N / WARPS_N);
    int a_row = lane % 16, b_row = lane % 8 + lane / 16 * 8;
    unsigned a = nt_shared_address(tiles) + (warp_m + a_row) * PITCH + swizzled(a_row, lane / 16) * 16;
    unsigned b = nt_shared_address(tiles) + A_BYTES + (warp_n + b_row) * PITCH + swizzled(b_row, lane / 8 % 2) * 16;
    run_stages(sum, &q, a, b, count);

#pragma unroll
    for (int i = 0; i < M_TILES * 2; i++) {
        int m = m0 + warp_m + i * 8 + lane / 4;
        store_row(out, sum[i / 2], i % 2, m < pixels, (long long)m * filters, n0 + warp_n, filters);
    }
}
