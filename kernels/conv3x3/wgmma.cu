/* wgmma.cu: conv3x3 (stride 1, pad 1, NHWC) as a matrix product by wgmma, compute capability 9.0 alone. Comes after
 * tiles.cuh.
 *
 * A block computes TILE_M pixels x TILE_N output channels in GROUPS_M x GROUPS_N groups of four warps. The tensor cores
 * read tiles from shared memory by themselves while the same warps start the copies of later tiles. At the barrier of a
 * tile everybody has seen the end of the tile before the last, so that one's stage is filled next. Macros: the
 * parameters of cuda_wgmma.c and those of tiles.cuh. */

#define K_STEPS (ROW_BYTES / 32)         /* wgmma steps of a tile */
#define M_TILES (TILE_M / GROUPS_M / 64) /* wgmma tiles of a group */

NT_INLINE void multiply(float sum[M_TILES][N_TILES][4], unsigned a, unsigned b)
{
    nt_wgmma_begin();
#pragma unroll
    for (int step = 0; step < K_STEPS; step++)
#pragma unroll
        for (int i = 0; i < M_TILES; i++)
            nt_wgmma(sum[i], a + i * 64 * PITCH + step * 32, b + step * 32);
    nt_wgmma_commit();
}

NT_INLINE unsigned next_stage(unsigned stage)
{
    return stage == (STAGES - 1) * STAGE_BYTES ? 0 : stage + STAGE_BYTES;
}

/* Sums over `count` tiles; a and b are where this group's rows of stage 0 are. */
NT_INLINE void run_stages(float sum[M_TILES][N_TILES][4], loader *q, unsigned a, unsigned b, int count)
{
    unsigned read = 0, write = (STAGES - 2) * STAGE_BYTES;
#pragma unroll
    for (int s = 0; s < STAGES - 2; s++) {
        if (s < count) {
            copy_rows(q, s * STAGE_BYTES, 0, COPIES);
            next_step(q);
        }
        nt_copy_commit();
    }
#pragma unroll 1
    for (int left = count - (STAGES - 2); left > 2 - STAGES; left--) { /* tiles still to be copied */
        nt_copy_wait(STAGES - 3);
        nt_publish_shared();
        __syncthreads();
        multiply(sum, a + read, b + read);
        if (left > 0) {
            copy_rows(q, write, 0, COPIES);
            next_step(q);
        }
        nt_copy_commit();
        nt_wgmma_wait(1);
        read = next_stage(read);
        write = next_stage(write);
    }
    nt_wgmma_wait(0);
    nt_copy_wait(0);
}

/* The reduction has `steps` tiles. When SPLIT, blocks of one z do a share of them, and `out` is the workspace. */
NT_ENTRY void __launch_bounds__(THREADS, MIN_BLOCKS)
    nt_conv3x3_wgmma(const nt_elem *in, const nt_elem *weight, void *out, int pixels, int height, int width,
                     int channels, int filters, int n_blocks, int steps)
{
    extern __shared__ __align__(1024) unsigned char tiles[];
    int thread = threadIdx.x, group = thread / 128;
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

    float sum[M_TILES][N_TILES][4];
#pragma unroll
    for (int i = 0; i < M_TILES * N_TILES * 4; i++)
        sum[i / 4 / N_TILES][i / 4 % N_TILES][i % 4] = 0.0f;
    int group_m = group % GROUPS_M * (TILE_M / GROUPS_M), group_n = group / GROUPS_M * (TILE_N / GROUPS_N);
    unsigned a = nt_shared_address(tiles) + group_m * PITCH;
    unsigned b = nt_shared_address(tiles) + A_BYTES + group_n * PITCH;
    run_stages(sum, &q, a, b, count);

#pragma unroll
    for (int i = 0; i < M_TILES * N_TILES * 4; i++)
        nt_wgmma_sum_ready(&sum[i / 4 / N_TILES][i / 4 % N_TILES][i % 4]);
#pragma unroll
    for (int i = 0; i < M_TILES * 2; i++) {
        int m = m0 + group_m + i / 2 * 64 + thread / 32 % 4 * 16 + i % 2 * 8 + thread % 32 / 4;
        store_row(out, sum[i / 2], i % 2, m < pixels, (long long)m * filters, n0 + group_n, filters);
    }
}
