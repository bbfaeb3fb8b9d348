/* winograd.cu: conv3x3 (stride 1, pad 1) by Winograd's transforms on the CUDA cores, all of it in one kernel. Comes after
 * winograd.cuh, whose OUT_TILE says which F.
 *
 * A block computes BLOCK_TILES tiles of OUT_TILE x OUT_TILE outputs, counted through rows and images alike, in BLOCK_K
 * output channels. A step brings C_STEP input channels: each thread reads its patches into registers while the step
 * before is multiplied, transforms them and puts them into shared memory by place; weights, transformed and laid out
 * beforehand, are copied behind them. Each place is a small matrix product of its own, of THREADS_P x THREADS_K threads
 * with TILE_P x TILE_K sums each. At the end sums of all places meet in shared memory, TILE_P / 4 times one after
 * another, and are transformed to outputs.
 *
 * shared memory of a buffer: [place][channel][INPUT_ROW tiles], then [channel][place][BLOCK_K]
 * packed weights:            [block of BLOCK_K][channel, whole steps][place][BLOCK_K]
 *
 * Macros: the parameters of cuda_winograd.c. SPLIT: blocks of one z do a share of the channels, and the output is a
 * workspace of partial outputs in f32, to be added after. WHOLE_ROWS: rows of tiles are whole, and stored as vectors. */

#define PLACE_THREADS (THREADS_P * THREADS_K)
#define THREADS       (PLACES * PLACE_THREADS)
#define BLOCK_TILES   (THREADS_P * TILE_P)
#define BLOCK_K       (THREADS_K * TILE_K)
/* Rows are 4 floats longer than their tiles: eight channels of four tiles lie in different banks. */
#define INPUT_ROW     (BLOCK_TILES + 4)
#define INPUT_FLOATS  (PLACES * C_STEP * INPUT_ROW)
#define WEIGHT_FLOATS (C_STEP * PLACES * BLOCK_K)
#define BUFFER        (INPUT_FLOATS + WEIGHT_FLOATS)
#define PATCHES       ((BLOCK_TILES * C_STEP + THREADS - 1) / THREADS) /* of a thread */
#define PART_TILES    (4 * THREADS_P)                                  /* tiles that are transformed back at once */

#if SPLIT
typedef float result;
#define to_result(x) (x)
#else
typedef nt_elem result;
#define to_result nt_from_f32
#endif

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

typedef struct problem {
    const nt_elem *in;
    const float *packed;
    int tiles, tiles_y, tiles_x, c, k, h, w;
} problem;

/* Where a tile of outputs begins. */
typedef struct tile_place {
    int image, y, x;
} tile_place;

NT_INLINE tile_place place_of_tile(const problem *q, int tile)
{
    tile_place t;
    int row = tile / q->tiles_x;
    t.x = (tile - row * q->tiles_x) * OUT_TILE;
    t.image = row / q->tiles_y;
    t.y = (row - t.image * q->tiles_y) * OUT_TILE;
    return t;
}

/* ---- patches ----------------------------------------------------------------------------------------------------- */

/* Patch i of this thread: one channel of a step and one tile. Neighbouring threads take neighbours in memory. */
typedef struct patch {
    long long at;           /* of its first pixel, which may lie outside, in channel 0 of a step */
    unsigned rows, columns; /* bit i: row or column i lies inside the image */
    int channel, tile;      /* of the step, of the block */
} patch;

#ifdef NT_LAYOUT_NCHW
#define PATCH_CHANNEL(item)  ((item) / BLOCK_TILES)
#define PATCH_TILE(item)     ((item) % BLOCK_TILES)
#define PIXEL_STEP(q)        1
#define CHANNEL_STEP(q)      ((q)->h * (q)->w)
#define PATCH_IS_THERE(item) ((item) / BLOCK_TILES < C_STEP)
#else
#define PATCH_CHANNEL(item)  ((item) % C_STEP)
#define PATCH_TILE(item)     ((item) / C_STEP)
#define PIXEL_STEP(q)        ((q)->c)
#define CHANNEL_STEP(q)      1
#define PATCH_IS_THERE(item) ((item) / C_STEP < BLOCK_TILES)
#endif

/* Bits of the PATCH rows or columns from `first` on that lie in [0, size). */
NT_INLINE unsigned inside_bits(int first, int size)
{
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < PATCH; i++)
        bits |= first + i >= 0 && first + i < size ? 1u << i : 0u;
    return bits;
}

NT_INLINE patch find_patch(const problem *q, int first_tile, int item)
{
    patch p;
    p.channel = PATCH_CHANNEL(item);
    p.tile = PATCH_TILE(item);
    tile_place t = place_of_tile(q, first_tile + p.tile);
    bool exists = PATCH_IS_THERE(item) && first_tile + p.tile < q->tiles;
    p.rows = exists ? inside_bits(t.y - 1, q->h) : 0;
    p.columns = inside_bits(t.x - 1, q->w);
    p.at = (long long)t.image * q->c * q->h * q->w + ((long long)(t.y - 1) * q->w + t.x - 1) * PIXEL_STEP(q) +
           (long long)p.channel * CHANNEL_STEP(q);
    return p;
}

/* Zeros outside the image and past the last channel. */
NT_INLINE void load_patch(const problem *q, const patch *p, int first_channel, float d[PLACES])
{
    unsigned rows = first_channel + p->channel < q->c ? p->rows : 0;
    const nt_elem *row = q->in + (p->at + (long long)first_channel * CHANNEL_STEP(q));
#pragma unroll
    for (int y = 0; y < PATCH; y++) {
#pragma unroll
        for (int x = 0; x < PATCH; x++)
            d[PATCH * y + x] = (rows >> y & p->columns >> x & 1u) ? nt_to_f32(row[x * PIXEL_STEP(q)]) : 0.0f;
        row += (long long)q->w * PIXEL_STEP(q);
    }
}

NT_INLINE void load_patches(const problem *q, const patch *p, int first_channel, float (*d)[PLACES])
{
#pragma unroll
    for (int i = 0; i < PATCHES; i++)
        load_patch(q, &p[i], first_channel, d[i]);
}

NT_INLINE void put_patches(const patch *p, int thread, float (*d)[PLACES], float *inputs)
{
#pragma unroll
    for (int i = 0; i < PATCHES; i++) {
        if (!PATCH_IS_THERE(thread + i * THREADS))
            continue;
        transform_input(d[i]);
#pragma unroll
        for (int place = 0; place < PLACES; place++)
            inputs[(place * C_STEP + p[i].channel) * INPUT_ROW + p[i].tile] = d[i][place];
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
    float d[PATCHES][PLACES];
#pragma unroll
    for (int i = 0; i < PATCHES; i++)
        p[i] = find_patch(q, first_tile, thread + i * THREADS);
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

/* The outputs of one tile in one channel that exist. */
NT_INLINE void store_tile(result *out, const problem *q, int tile, int k, const float y[OUT_TILE * OUT_TILE])
{
    tile_place t = place_of_tile(q, tile);
#ifdef NT_LAYOUT_NCHW
    result *to = out + (((long long)t.image * q->k + k) * q->h + t.y) * q->w + t.x;
    int step = 1;
#else
    result *to = out + (((long long)t.image * q->h + t.y) * q->w + t.x) * q->k + k;
    int step = q->k;
#endif
#pragma unroll
    for (int i = 0; i < OUT_TILE; i++) {
        if (t.y + i >= q->h)
            return;
#if WHOLE_ROWS
        NT_CAT(nt_put, OUT_TILE)(to, y + OUT_TILE * i);
#else
#pragma unroll
        for (int j = 0; j < OUT_TILE; j++)
            if (t.x + j < q->w)
                to[j * step] = to_result(y[OUT_TILE * i + j]);
#endif
        to += (long long)q->w * step;
    }
}

NT_INLINE void store_part(result *out, const problem *q, const float *sums, int first_tile, int first_k, int thread)
{
#pragma unroll 1
    for (int item = thread; item < PART_TILES * BLOCK_K; item += THREADS) {
        int tile = RESULT_TILE(item), k = RESULT_K(item);
        float m[PLACES], y[OUT_TILE * OUT_TILE];
        if (first_tile + tile >= q->tiles || first_k + k >= q->k)
            continue;
#pragma unroll
        for (int place = 0; place < PLACES; place++)
            m[place] = sums[place * SUM_FLOATS + SUM_AT(tile, k)];
        transform_output(m, y);
        store_tile(out, q, first_tile + tile, first_k + k, y);
    }
}

NT_ENTRY void __launch_bounds__(THREADS, MIN_BLOCKS)
    nt_winograd(const nt_elem *__restrict__ in, const float *__restrict__ packed, result *__restrict__ out, int tiles,
                int tiles_y, int tiles_x, int c, int k, int h, int w, int steps, int k_blocks, long long outputs)
{
    NT_SHARED(float, shared);
    problem q = {in, packed, tiles, tiles_y, tiles_x, c, k, h, w};
    int first_tile = (int)blockIdx.x / k_blocks * BLOCK_TILES, k_block = (int)blockIdx.x % k_blocks;
    int begin = 0, end = steps, thread = threadIdx.x;
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

/* Transforms filters, once: a thread does all places of one channel pair. Zeros fill blocks and steps. */
NT_ENTRY void nt_winograd_weights(const nt_elem *weight, float *packed, int c, int k, int steps, long long pairs)
{
    long long pair = (long long)blockIdx.x * 256 + threadIdx.x, row = pair / BLOCK_K;
    int lane = (int)(pair % BLOCK_K), channel = (int)(row % (steps * C_STEP));
    long long filter = row / (steps * C_STEP) * BLOCK_K + lane;
    if (pair >= pairs)
        return;
#ifdef NT_LAYOUT_NCHW
    const nt_elem *from = weight + (filter * c + channel) * 9;
    int step = 1;
#else
    const nt_elem *from = weight + filter * 9 * c + channel;
    int step = c;
#endif
    bool exists = filter < k && channel < c;
    for (int place = 0; place < PLACES; place++)
        packed[(row * PLACES + place) * BLOCK_K + lane] = exists ? (float)transformed_weight(from, step, place) : 0.0f;
}

#if SPLIT
/* Adds the partial outputs of all shares. */
NT_ENTRY void nt_winograd_add(const float *partial, nt_elem *out, long long count, int shares)
{
    long long i = (long long)blockIdx.x * 256 + threadIdx.x;
    if (i >= count)
        return;
    float sum = 0.0f;
    for (int s = 0; s < shares; s++)
        sum += partial[s * count + i];
    out[i] = nt_from_f32(sum);
}
#endif
