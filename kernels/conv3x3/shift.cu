/* shift.cu: conv3x3 (stride 1, NHWC) on Hopper's tensor cores where the nine taps read one copy of the pixels. Comes
 * after pipe.cuh and store.cuh.
 *
 * A tile is ROWS rows of one image, with a row above, a row below and a column of zeros on the right, PITCH = width + 1
 * positions a row, one after another in shared memory. Output position m (row m / PITCH, column m % PITCH) needs input
 * position m + r PITCH + s - 1 for tap (r, s): for each tap the same matrix, begun a few rows further on. The zero left of
 * a row is the one right of the row before; before the first row lie zeros that nobody overwrites. Positions in the
 * column of zeros and past the last row are computed in vain and not stored.
 *
 * So pixels come from L2 once a channel block instead of nine times, and with RESIDENT the weights of TILE_N filters come
 * once a block. One warp copies pixels, one weights, GROUPS groups multiply. PINGPONG: groups take tiles in turn, else
 * they share the positions of each. Macros: those of cuda_shift.c and store.cuh; WIDTH of the image. */

#define TILE_K      (128 / (int)sizeof(nt_elem))
#define K_STEPS     4 /* wgmma steps of a tap: 32 bytes each */
#define PITCH       (WIDTH + 1)
#define POSITIONS   (M_TILES * 64 * (PINGPONG ? 1 : GROUPS)) /* of a tile, computed */
#define BOX_BYTES   ((ROWS + 2) * PITCH * 128)
#define GUARD_BYTES 1024 /* zeros before the first row; one row of them is read */
#define READ_BYTES  ((POSITIONS + 2 * PITCH + 1) * 128)
#define PIXEL_BYTES ((GUARD_BYTES + (READ_BYTES > BOX_BYTES ? READ_BYTES : BOX_BYTES) + 1023) / 1024 * 1024)
#define FILTER_BYTES   (TILE_N * 128)
#define FILTER_STAGES  (RESIDENT ? RESIDENT_TILES : STAGES)
#define ALL_BYTES      (PIXEL_STAGES * PIXEL_BYTES + FILTER_STAGES * FILTER_BYTES)
#define THREADS        (GROUPS * 128 + 64)
#define RELEASES       (4 * (PINGPONG ? 1 : GROUPS)) /* a warp that reads a stage frees it with one arrival */

typedef struct task {
    int images, height, channel_blocks, channels, filters;
    int row_tiles, n_tiles, tiles; /* of an image, of filters, in all */
} task;

typedef struct pipes {
    nt_pipe pixels, filters;
    unsigned order;
} pipes;

/* ---- copying ------------------------------------------------------------------------------------------------------------ */

NT_INLINE void copy_pixels(pipes *p, const task *t, nt_map_address map)
{
    for (int tile = blockIdx.x; tile < t->tiles; tile += gridDim.x) {
        int m = tile / t->n_tiles, image = m / t->row_tiles, y = (m - image * t->row_tiles) * ROWS - 1;
        for (int block = 0; block < t->channel_blocks; block++) {
            unsigned barrier = nt_pipe_full(&p->pixels);
            nt_barrier_wait(nt_pipe_empty(&p->pixels), p->pixels.phase ^ 1u);
            nt_barrier_expect(barrier, BOX_BYTES);
            nt_copy_box(p->pixels.tiles + p->pixels.stage * PIXEL_BYTES + GUARD_BYTES, map, block * TILE_K, 0, y, image,
                        barrier);
            nt_pipe_next(&p->pixels, PIXEL_STAGES);
        }
    }
}

/* Every tile's weights, or, when they stay, those of the first: a block has the same filters in all its tiles then. */
NT_INLINE void copy_filters(pipes *p, const task *t, nt_map_address map)
{
    for (int tile = blockIdx.x; tile < t->tiles; tile += gridDim.x) {
        int n0 = tile % t->n_tiles * TILE_N;
        for (int block = 0; block < t->channel_blocks; block++)
            for (int tap = 0; tap < 9; tap++) {
                unsigned barrier = nt_pipe_full(&p->filters);
                nt_barrier_wait(nt_pipe_empty(&p->filters), p->filters.phase ^ 1u);
                nt_barrier_expect(barrier, FILTER_BYTES);
                nt_copy_box(p->filters.tiles + p->filters.stage * FILTER_BYTES, map, block * TILE_K, tap, n0, 0, barrier);
                nt_pipe_next(&p->filters, FILTER_STAGES);
            }
        if (RESIDENT)
            return;
    }
}

/* ---- multiplying -------------------------------------------------------------------------------------------------------- */

NT_INLINE void release(unsigned barrier)
{
    if (threadIdx.x % 32 == 0)
        nt_barrier_arrive(barrier);
}

NT_INLINE void multiply(nt_sum sum[M_TILES][N_TILES][4], unsigned a, unsigned b, unsigned adds)
{
    nt_wgmma_begin();
#pragma unroll
    for (int step = 0; step < K_STEPS; step++)
#pragma unroll
        for (int i = 0; i < M_TILES; i++)
            nt_wgmma_into(sum[i], a + i * 64 * 128 + step * 32, b + step * 32, adds || step > 0);
    nt_wgmma_commit();
}

/* What the last product read: barriers to arrive at when it has ended, 0 for none. Weights that stay are never free. */
typedef struct reading {
    unsigned pixels, filters;
} reading;

NT_INLINE void release_last(reading *last)
{
    if (last->filters)
        release(last->filters);
    if (last->pixels)
        release(last->pixels);
    last->pixels = last->filters = 0;
}

/* The nine taps of one channel block. The next product begins before the last one is waited for. */
NT_INLINE void sum_taps(nt_sum sum[M_TILES][N_TILES][4], pipes *p, unsigned a, int block, reading *last)
{
#pragma unroll
    for (int tap = 0; tap < 9; tap++) {
        /* In the order of the copies, so that weights that stay are found where they were put. */
        unsigned stage = RESIDENT ? (unsigned)(block * 9 + tap) : p->filters.stage;
        nt_barrier_wait(p->filters.full + 8 * stage, RESIDENT ? 0u : p->filters.phase);
        multiply(sum, a + ((tap / 3) * PITCH + tap % 3 - 1) * 128, p->filters.tiles + stage * FILTER_BYTES,
                 block > 0 || tap > 0);
        nt_wgmma_wait(1);
        release_last(last);
        if (!RESIDENT) {
            last->filters = nt_pipe_empty(&p->filters);
            nt_pipe_next(&p->filters, STAGES);
        }
    }
}

NT_INLINE void sum_tile(nt_sum sum[M_TILES][N_TILES][4], pipes *p, const task *t, int turn, int group_row)
{
    reading last = {0, 0};
    if (PINGPONG)
        nt_turn_await(p->order, turn);
#pragma unroll 1
    for (int block = 0; block < t->channel_blocks; block++) {
        unsigned tile = p->pixels.tiles + p->pixels.stage * PIXEL_BYTES, empty = nt_pipe_empty(&p->pixels);
        nt_barrier_wait(nt_pipe_full(&p->pixels), p->pixels.phase);
        nt_pipe_next(&p->pixels, PIXEL_STAGES);
        sum_taps(sum, p, tile + GUARD_BYTES + group_row * 128, block, &last);
        last.pixels = empty;
    }
    if (PINGPONG)
        nt_turn_pass(p->order, turn);
    nt_wgmma_wait(0);
    release_last(&last);
#pragma unroll
    for (int i = 0; i < M_TILES * N_TILES * 4; i++)
        nt_wgmma_sum_ready(&sum[i / 4 / N_TILES][i / 4 % N_TILES][i % 4]);
}

NT_INLINE void store_tile(nt_sum sum[M_TILES][N_TILES][4], const task *t, void *out, const float *finish, int tile,
                          int group_row)
{
    int m = tile / t->n_tiles, image = m / t->row_tiles, y0 = (m - image * t->row_tiles) * ROWS;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
#pragma unroll
    for (int i = 0; i < M_TILES * 2; i++) {
        int position = group_row + i / 2 * 64 + warp * 16 + i % 2 * 8 + lane / 4;
        int row = position / PITCH, x = position - row * PITCH, y = y0 + row;
        bool exists = row < ROWS && x < WIDTH && y < t->height;
        nt_store_row((nt_out *)out, finish, sum[i / 2], i % 2, exists,
                     ((long long)(image * t->height + y) * WIDTH + x) * t->filters, tile % t->n_tiles * TILE_N, t->filters);
    }
}

/* ---- a block --------------------------------------------------------------------------------------------------------------- */

/* Zeros before the first row of each stage, seen by the tensor cores. */
NT_INLINE void clear_guards(const pipes *p)
{
    for (int i = threadIdx.x; i < PIXEL_STAGES * GUARD_BYTES / 4; i += THREADS)
        nt_store_shared(p->pixels.tiles + i / (GUARD_BYTES / 4) * PIXEL_BYTES + i % (GUARD_BYTES / 4) * 4, 0u);
    nt_publish_shared();
}

NT_ENTRY void __launch_bounds__(THREADS, MIN_BLOCKS)
    nt_conv3x3_shift(NT_MAP(pixel_map), NT_MAP(filter_map), void *out, const float *finish, int images, int height,
                     int channel_blocks, int channels, int filters, int row_tiles, int n_tiles, int tiles)
{
    NT_SHARED_TILES(shared);
    task t = {images, height, channel_blocks, channels, filters, row_tiles, n_tiles, tiles};
    unsigned base = nt_shared_address(shared), barriers = base + ALL_BYTES;
    pipes p = {{base, barriers, barriers + 8 * PIXEL_STAGES, 0, 0},
               {base + PIXEL_STAGES * PIXEL_BYTES, barriers + 16 * PIXEL_STAGES,
                barriers + 16 * PIXEL_STAGES + 8 * FILTER_STAGES, 0, 0},
               barriers + 16 * (PIXEL_STAGES + FILTER_STAGES)};
    int warp = threadIdx.x / 32, group = warp / 4, turn = 0;

    if (threadIdx.x == 0) {
        nt_pipe_start(&p.pixels, PIXEL_STAGES, RELEASES);
        nt_pipe_start(&p.filters, FILTER_STAGES, RELEASES);
        nt_turns_start(p.order);
        nt_barrier_publish();
    }
    clear_guards(&p);
    __syncthreads();
    if (group == GROUPS) {
        if (threadIdx.x % 32 == 0 && warp == GROUPS * 4)
            copy_pixels(&p, &t, NT_MAP_ADDRESS(pixel_map));
        else if (threadIdx.x % 32 == 0)
            copy_filters(&p, &t, NT_MAP_ADDRESS(filter_map));
        return;
    }
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, turn++) {
        if (PINGPONG && turn % GROUPS != group) {
            nt_pipe_skip(&p.pixels, channel_blocks, PIXEL_STAGES);
            if (!RESIDENT)
                nt_pipe_skip(&p.filters, channel_blocks * 9, STAGES);
            continue;
        }
        int group_row = PINGPONG ? 0 : group * (M_TILES * 64);
        nt_sum sum[M_TILES][N_TILES][4];
        sum_tile(sum, &p, &t, turn, group_row);
        store_tile(sum, &t, out, finish, tile, group_row);
    }
}
