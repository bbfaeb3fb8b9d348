/* winograd.cu: conv3x3 (stride 1, pad 1) by Winograd's transforms on the CUDA cores, all of it in one kernel. Comes after
 * winograd.cuh, whose OUT_TILE says which F, winograd_block.cuh and winograd_tiles.cuh.
 *
 * A block computes BLOCK_TILES tiles of OUT_TILE x OUT_TILE outputs, counted through rows and images alike, in BLOCK_K
 * output channels. A step brings C_STEP input channels: each thread reads its patches into registers while the step
 * before is multiplied, transforms them and puts them into shared memory by place; weights, transformed and laid out
 * beforehand, are copied behind them. Each place is a small matrix product of its own, of THREADS_P x THREADS_K threads
 * with TILE_P x TILE_K sums each. At the end sums of all places meet in shared memory, TILE_P / 4 times one after
 * another, and are transformed to outputs.
 *
 * shared memory of a buffer: [place][channel][INPUT_ROW tiles], then [channel][place][BLOCK_K] */

/* Rows are 4 floats longer than their tiles: eight channels of four tiles lie in different banks. */
#define INPUT_ROW     (BLOCK_TILES + 4)
#define INPUT_FLOATS  (PLACES * C_STEP * INPUT_ROW)
#define WEIGHT_FLOATS (C_STEP * PLACES * BLOCK_K)
#define BUFFER        (INPUT_FLOATS + WEIGHT_FLOATS)
#define PART_TILES    (4 * THREADS_P) /* tiles that are transformed back at once */

#ifndef NT_HOST_EMULATION
/* Copies 16 bytes to shared memory without waiting, where the device can. */
NT_INLINE void nt_fetch_16(float *to, const float *from)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from)
                 : "memory");
#else
    *(float4 *)to = *(const float4 *)from;
#endif
}

/* Waits for this thread's copies. */
NT_INLINE void nt_fetch_wait(void)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
#endif

NT_INLINE void put_patches(const patch *p, int thread, float (*d)[EACH][PLACES], float *inputs)
{
#pragma unroll
    for (int i = 0; i < PATCHES; i++) {
        if (!PATCH_IS_THERE(thread + i * THREADS))
            continue;
        transform_input(d[i][0]);
#pragma unroll
        for (int place = 0; place < PLACES; place++)
            inputs[(place * C_STEP + p[i].channel) * INPUT_ROW + p[i].tile] = d[i][0][place];
    }
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

NT_INLINE void fetch_weights(const float *from, int thread, float *weights)
{
#pragma unroll
    for (int unit = thread; unit < WEIGHT_FLOATS / 4; unit += THREADS)
        nt_fetch_16(weights + unit * 4, from + unit * 4);
}

/* One step's products; a and b are where this thread's tiles and channels of its place begin. */
NT_INLINE void multiply(const float *a, const float *b, float (*sum)[TILE_K])
{
#pragma unroll UNROLL
    for (int c = 0; c < C_STEP; c++) {
        float v[TILE_P], u[TILE_K];
#pragma unroll
        for (int i = 0; i < TILE_P; i += 4)
            nt_get4(a + c * INPUT_ROW + i * THREADS_P, v + i);
#pragma unroll
        for (int j = 0; j < TILE_K; j += 4)
            nt_get4(b + c * PLACES * BLOCK_K + j * THREADS_K, u + j);
#pragma unroll
        for (int i = 0; i < TILE_P; i++)
#pragma unroll
            for (int j = 0; j < TILE_K; j++)
                sum[i][j] += v[i] * u[j];
    }
}

/* Sums over steps [begin, end). With two buffers one barrier a step suffices: what is written now was last read before
 * the barrier that all threads have passed. */
NT_INLINE void accumulate(const problem *q, int first_tile, const float *packed, int begin, int end, float *shared,
                          float (*sum)[TILE_K])
{
    int thread = threadIdx.x, place = thread / PLACE_THREADS, inside = thread % PLACE_THREADS;
    int a = place * C_STEP * INPUT_ROW + inside / THREADS_K * 4;
    int b = INPUT_FLOATS + place * BLOCK_K + inside % THREADS_K * 4;
    patch p[PATCHES];
    float d[PATCHES][EACH][PLACES];
    find_patches(q, first_tile, thread, p);
    packed += (long long)begin * WEIGHT_FLOATS;
    fetch_weights(packed, thread, shared + INPUT_FLOATS);
    load_patches(q, p, begin * C_STEP, d);
    int buffer = 0;
#pragma unroll 1
    for (int step = begin; step < end; step++) {
        put_patches(p, thread, d, shared + buffer);
        nt_fetch_wait();
        __syncthreads();
        packed += WEIGHT_FLOATS;
        if (step + 1 < end) {
#if BUFFERS == 2
            fetch_weights(packed, thread, shared + (BUFFER - buffer) + INPUT_FLOATS);
#endif
            load_patches(q, p, (step + 1) * C_STEP, d);
        }
        multiply(shared + buffer + a, shared + buffer + b, sum);
#if BUFFERS == 2
        buffer = BUFFER - buffer;
#else
        __syncthreads();
        if (step + 1 < end)
            fetch_weights(packed, thread, shared + INPUT_FLOATS);
#endif
    }
}

/* ---- outputs ----------------------------------------------------------------------------------------------------- */

/* Sums of a part: [place][tile][channel] where channels are neighbours in memory, else [place][channel][tile]. */
#ifdef NT_LAYOUT_NCHW
#define SUM_ROW            (PART_TILES + 4)
#define SUM_FLOATS         (BLOCK_K * SUM_ROW) /* of a place */
#define SUM_AT(tile, k)    ((k) * SUM_ROW + (tile))
#define RESULT_TILE(item)  ((item) % PART_TILES)
#define RESULT_K(item)     ((item) / PART_TILES)
#else
#define SUM_ROW            (BLOCK_K + 4)
#define SUM_FLOATS         (PART_TILES * SUM_ROW)
#define SUM_AT(tile, k)    ((tile) * SUM_ROW + (k))
#define RESULT_TILE(item)  ((item) / BLOCK_K)
#define RESULT_K(item)     ((item) % BLOCK_K)
#endif

/* Four rows of this thread's sums, as vectors along the memory. */
NT_INLINE void put_sums(float *sums, int inside, float (*sum)[TILE_K])
{
    int tile = inside / THREADS_K * 4, k = inside % THREADS_K * 4;
#pragma unroll
    for (int j = 0; j < TILE_K; j += 4)
#pragma unroll
        for (int e = 0; e < 4; e++) {
#ifdef NT_LAYOUT_NCHW
            float four[4] = {sum[0][j + e], sum[1][j + e], sum[2][j + e], sum[3][j + e]};
            nt_put4(sums + SUM_AT(tile, k + j * THREADS_K + e), four);
#else
            nt_put4(sums + SUM_AT(tile + e, k + j * THREADS_K), &sum[e][j]);
#endif
        }
}

NT_INLINE void store_part(result *out, const problem *q, const float *sums, int first_tile, int first_k, int thread)
{
#pragma unroll 1
    for (int item = thread; item < PART_TILES * BLOCK_K; item += THREADS) {
        int tile = RESULT_TILE(item), k = RESULT_K(item);
        float m[PLACES], y[OUT_TILE * OUT_TILE];
        if (first_tile + tile >= q->all_tiles || first_k + k >= q->k)
            continue;
#pragma unroll
        for (int place = 0; place < PLACES; place++)
            m[place] = sums[place * SUM_FLOATS + SUM_AT(tile, k)];
        transform_output(m, y);
        store_tile(out, q, first_tile + tile, first_k + k, y);
    }
}

NT_ENTRY void __launch_bounds__(THREADS, MIN_BLOCKS)
    nt_winograd(const nt_elem *__restrict__ in, const float *__restrict__ packed, result *__restrict__ out,
                int all_tiles, int tiles_y, int tiles_x, int c, int k, int h, int w, int k_blocks, long long outputs)
{
    NT_SHARED(float, shared);
    problem q = {in, all_tiles, tiles_y, tiles_x, c, k, h, w};
    int first_tile = (int)blockIdx.x / k_blocks * BLOCK_TILES, k_block = (int)blockIdx.x % k_blocks;
    int steps = (c + C_STEP - 1) / C_STEP, begin = 0, end = steps, thread = threadIdx.x;
#if SPLIT
    begin = (int)((long long)steps * blockIdx.z / gridDim.z);
    end = (int)((long long)steps * (blockIdx.z + 1) / gridDim.z);
    out += blockIdx.z * outputs;
#endif
    float sum[TILE_P][TILE_K];
#pragma unroll
    for (int i = 0; i < TILE_P; i++)
#pragma unroll
        for (int j = 0; j < TILE_K; j++)
            sum[i][j] = 0.0f;
    accumulate(&q, first_tile, packed + (long long)k_block * steps * WEIGHT_FLOATS, begin, end, shared, sum);
#pragma unroll
    for (int i = 0; i < TILE_P; i += 4) {
        __syncthreads();
        put_sums(shared + thread / PLACE_THREADS * SUM_FLOATS, thread % PLACE_THREADS, sum + i);
        __syncthreads();
        store_part(out, &q, shared, first_tile + i * THREADS_P, k_block * BLOCK_K, thread);
    }
}
