/* winograd_mma.cu: conv3x3 (stride 1, pad 1, NHWC) by Winograd's transforms, its products on tensor cores (mma.sync), all of it
 * in one kernel. Comes after winograd.cuh, winograd_block.cuh, tensor_core.cuh and winograd_tiles.cuh.
 *
 * A block computes BLOCK_TILES tiles in BLOCK_K output channels, C_STEP input channels a step. Threads transform patches
 * of two channels in f32, round them once and put them into shared memory by place; weights, transformed and laid out
 * beforehand, are copied behind that. WARPS warps share the places; a warp's sums of all of its PLACES / WARPS places stay
 * in registers. At the end sums of all places meet in shared memory, eight tiles at a time, and are transformed to outputs.
 *
 * shared memory of a buffer: [place][tile][PITCH bytes of channels], then [place][output channel][PITCH] */

#define PITCH        (STEP_BYTES + 16) /* eight rows of 16 bytes lie in different banks */
#define INPUT_BYTES  (PLACES * BLOCK_TILES * PITCH)
#define WEIGHT_BYTES (PLACES * BLOCK_K * STEP_BYTES) /* as prepared */
#define BUFFER       (INPUT_BYTES + PLACES * BLOCK_K * PITCH)
#define PLACES_EACH  (PLACES / WARPS)
#define M_TILES      (BLOCK_TILES / 16)
#define N_TILES      (BLOCK_K / 8)
#define PART_TILES   8
#define SUM_ROW      (BLOCK_K + 8) /* floats: pairs of four rows lie in different banks */

/* Two channels of one tile at one place. */
NT_INLINE void put_pair(unsigned char *to, float x, float y)
{
#ifdef NT_PRECISION_TF32
    float two[2] = {to_packed(x), to_packed(y)};
    nt_put2((float *)to, two);
#else
    *(unsigned *)to = nt_pack_2(x, y);
#endif
}

NT_INLINE void put_patches(const patch *p, int thread, float (*d)[EACH][PLACES], unsigned char *inputs)
{
#pragma unroll
    for (int i = 0; i < PATCHES; i++) {
        if (!PATCH_IS_THERE(thread + i * THREADS))
            continue;
        transform_input(d[i][0]);
        transform_input(d[i][1]);
#pragma unroll
        for (int place = 0; place < PLACES; place++)
            put_pair(inputs + (place * BLOCK_TILES + p[i].tile) * PITCH + p[i].channel * ELEM_BYTES, d[i][0][place],
                     d[i][1][place]);
    }
}

NT_INLINE void fetch_weights(const unsigned char *from, int thread, unsigned to)
{
#pragma unroll
    for (int unit = thread; unit < WEIGHT_BYTES / 16; unit += THREADS)
        nt_copy_16(to + unit / (STEP_BYTES / 16) * PITCH + unit % (STEP_BYTES / 16) * 16, from + unit * 16, true);
    nt_copy_commit();
}

/* One step's products; a and b are this lane's addresses of the warp's first place. */
NT_INLINE void multiply(float (*sum)[M_TILES][N_TILES][4], unsigned a, unsigned b)
{
#pragma unroll
    for (int i = 0; i < PLACES_EACH; i++)
#pragma unroll
        for (int step = 0; step < K_STEPS; step++) {
            unsigned v[M_TILES][4], u[N_TILES / 2][4];
#pragma unroll
            for (int m = 0; m < M_TILES; m++)
                nt_load_matrices(v[m], a + (i * BLOCK_TILES + m * 16) * PITCH + step * 32);
#pragma unroll
            for (int n = 0; n < N_TILES / 2; n++)
                nt_load_matrices(u[n], b + (i * BLOCK_K + n * 16) * PITCH + step * 32);
#pragma unroll
            for (int m = 0; m < M_TILES; m++)
#pragma unroll
                for (int n = 0; n < N_TILES; n++)
                    nt_mma(sum[i][m][n], v[m], &u[n / 2][n % 2 * 2]);
        }
}

/* Sums over steps [begin, end), as in winograd.cu. */
NT_INLINE void accumulate(const problem *q, int first_tile, const unsigned char *packed, int begin, int end,
                          unsigned char *memory, float (*sum)[M_TILES][N_TILES][4])
{
    int thread = threadIdx.x, lane = thread % 32, first_place = thread / 32 * PLACES_EACH;
    unsigned shared = nt_shared_address(memory), buffer = 0;
    unsigned a = shared + (first_place * BLOCK_TILES + lane % 16) * PITCH + lane / 16 * 16;
    unsigned b = shared + INPUT_BYTES + (first_place * BLOCK_K + lane % 8 + lane / 16 * 8) * PITCH + lane / 8 % 2 * 16;
    patch p[PATCHES];
    float d[PATCHES][EACH][PLACES];
    find_patches(q, first_tile, thread, p);
    packed += (long long)begin * WEIGHT_BYTES;
    fetch_weights(packed, thread, shared + INPUT_BYTES);
    load_patches(q, p, begin * C_STEP, d);
#pragma unroll 1
    for (int step = begin; step < end; step++) {
        put_patches(p, thread, d, memory + buffer);
        nt_copy_wait(0);
        __syncthreads();
        packed += WEIGHT_BYTES;
        if (step + 1 < end) {
#if BUFFERS == 2
            fetch_weights(packed, thread, shared + (BUFFER - buffer) + INPUT_BYTES);
#endif
            load_patches(q, p, (step + 1) * C_STEP, d);
        }
        multiply(sum, a + buffer, b + buffer);
#if BUFFERS == 2
        buffer = BUFFER - buffer;
#else
        __syncthreads();
        if (step + 1 < end)
            fetch_weights(packed, thread, shared + INPUT_BYTES);
#endif
    }
}

/* Rows 8 half to 8 half + 7 of an m tile of all places: [place][row][SUM_ROW]. */
NT_INLINE void put_sums(float *sums, float (*sum)[M_TILES][N_TILES][4], int m, int half)
{
    int lane = threadIdx.x % 32, first_place = threadIdx.x / 32 * PLACES_EACH;
#pragma unroll
    for (int i = 0; i < PLACES_EACH; i++)
#pragma unroll
        for (int n = 0; n < N_TILES; n++)
            nt_put2(sums + ((first_place + i) * PART_TILES + lane / 4) * SUM_ROW + n * 8 + lane % 4 * 2,
                    &sum[i][m][n][2 * half]);
}

/* Outputs of one tile in two channels, which are neighbours in memory. */
NT_INLINE void store_pairs(result *out, const problem *q, int tile, int k, const float *x, const float *y)
{
    tile_place t = place_of_tile(q, tile);
    result *to = out + (((long long)t.image * q->h + t.y) * q->w + t.x) * q->k + k;
#pragma unroll
    for (int i = 0; i < OUT_TILE * OUT_TILE; i++) {
        int row = i / OUT_TILE, column = i % OUT_TILE;
        if (t.y + row >= q->h || t.x + column >= q->w)
            continue;
        result *at = to + ((long long)row * q->w + column) * q->k;
#if SPLIT || defined(NT_PRECISION_TF32)
        float two[2] = {x[i], y[i]};
        nt_put2(at, two);
#else
        *(unsigned *)at = nt_pack_2(x[i], y[i]);
#endif
    }
}

NT_INLINE void store_part(result *out, const problem *q, const float *sums, int first_tile, int first_k, int thread)
{
#pragma unroll 1
    for (int item = thread; item < PART_TILES * BLOCK_K / 2; item += THREADS) {
        int tile = item / (BLOCK_K / 2), k = item % (BLOCK_K / 2) * 2;
        float m[2][PLACES], y[2][OUT_TILE * OUT_TILE];
        if (first_tile + tile >= q->all_tiles || first_k + k >= q->k)
            continue;
#pragma unroll
        for (int place = 0; place < PLACES; place++) {
            float two[2];
            nt_get2(sums + (place * PART_TILES + tile) * SUM_ROW + k, two);
            m[0][place] = two[0];
            m[1][place] = two[1];
        }
        transform_output(m[0], y[0]);
        transform_output(m[1], y[1]);
#if OUT_PAIRS
        store_pairs(out, q, first_tile + tile, first_k + k, y[0], y[1]);
#else
        store_tile(out, q, first_tile + tile, first_k + k, y[0]);
        if (first_k + k + 1 < q->k)
            store_tile(out, q, first_tile + tile, first_k + k + 1, y[1]);
#endif
    }
}

NT_ENTRY void __launch_bounds__(THREADS, MIN_BLOCKS)
    nt_winograd(const nt_elem *in, const unsigned char *packed, result *out, int all_tiles, int tiles_y, int tiles_x,
                int c, int k, int h, int w, int k_blocks, long long outputs)
{
    extern __shared__ __align__(1024) unsigned char tiles[];
    problem q = {in, all_tiles, tiles_y, tiles_x, c, k, h, w};
    int first_tile = (int)blockIdx.x / k_blocks * BLOCK_TILES, k_block = (int)blockIdx.x % k_blocks;
    int steps = (c + C_STEP - 1) / C_STEP, begin = 0, end = steps;
#if SPLIT
    begin = (int)((long long)steps * blockIdx.z / gridDim.z);
    end = (int)((long long)steps * (blockIdx.z + 1) / gridDim.z);
    out += blockIdx.z * outputs;
#endif
    float sum[PLACES_EACH][M_TILES][N_TILES][4];
#pragma unroll
    for (int i = 0; i < PLACES_EACH * M_TILES * N_TILES * 4; i++)
        sum[i / 4 / N_TILES / M_TILES][i / 4 / N_TILES % M_TILES][i / 4 % N_TILES][i % 4] = 0.0f;
    accumulate(&q, first_tile, packed + (long long)k_block * steps * WEIGHT_BYTES, begin, end, tiles, sum);
#pragma unroll
    for (int part = 0; part < 2 * M_TILES; part++) {
        __syncthreads();
        put_sums((float *)tiles, sum, part / 2, part % 2);
        __syncthreads();
        store_part(out, &q, (const float *)tiles, first_tile + part * PART_TILES, k_block * BLOCK_K, threadIdx.x);
    }
}
