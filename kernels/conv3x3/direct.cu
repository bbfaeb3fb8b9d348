/* direct.cu: conv3x3 (stride 1, pad 1) on the CUDA cores, blocked in registers and, if asked, through shared memory.
 *
 * A block computes TILE_P pixels x TILE_C output channels, a thread TILE_W x TILE_K of them. Pixels are counted through
 * the whole batch, n*h*w, so that small images fill tiles as well as large ones. The reduction walks C_STEP channels,
 * and inside them the nine taps, so that the taps find their input in L1. In shared memory both tiles have a row per
 * pixel or output channel and the reduction runs along the row: staging and reading are wide and free of conflicts.
 * Consecutive threads take consecutive channels (NHWC) or pixels (NCHW): block_x runs along memory.
 * Macros: the parameters of cuda_direct.c, and WHOLE_VECTORS where VEC channels can be loaded at once. */

#ifdef NT_LAYOUT_NCHW
#define THREADS_P BLOCK_X
#define THREADS_C BLOCK_Y
#define PIXEL_THREAD threadIdx.x
#define CHANNEL_THREAD threadIdx.y
#else
#define THREADS_P BLOCK_Y
#define THREADS_C BLOCK_X
#define PIXEL_THREAD threadIdx.y
#define CHANNEL_THREAD threadIdx.x
#endif

#define THREADS (BLOCK_X * BLOCK_Y)
#define TILE_P (THREADS_P * TILE_W)
#define TILE_C (THREADS_C * TILE_K)
/* Vectors of a staged row, and the row's length: an odd number of vectors puts 32 rows on different banks. */
#define ROW_VECTORS (C_STEP / VEC)
#define ROW ((ROW_VECTORS | 1) * VEC)
#define PIXEL_ITEMS ((TILE_P * ROW_VECTORS + THREADS - 1) / THREADS)
#define CHANNEL_ITEMS ((TILE_C * ROW_VECTORS + THREADS - 1) / THREADS)
#define BUFFER ((TILE_P + TILE_C) * ROW)

#define load_vec NT_CAT(nt_load, VEC)
#define get_vec NT_CAT(nt_get, VEC)
#define put_vec NT_CAT(nt_put, VEC)

#if LAUNCH_BOUNDS
#define BOUNDS __launch_bounds__(THREADS, MIN_BLOCKS)
#else
#define BOUNDS
#endif

typedef struct problem {
    const nt_elem *in, *weight;
    int pixels, c, k, h, w;
} problem;

/* One pixel of the input: where it lies, and which of its nine neighbours exist (bit r*3+s). */
typedef struct pixel {
    long long at; /* of channel 0 */
    unsigned taps;
} pixel;

NT_INLINE pixel pixel_of(const problem *q, int p)
{
    pixel x;
    x.at = 0;
    x.taps = 0;
    if (p >= q->pixels)
        return x;
    int image = q->h * q->w, n = p / image, inside = p - n * image;
    int row = inside / q->w, column = inside - row * q->w;
#ifdef NT_LAYOUT_NCHW
    x.at = (long long)n * q->c * image + inside;
#else
    x.at = (long long)p * q->c;
#endif
    unsigned rows = (row > 0 ? 1u : 0u) | 2u | (row + 1 < q->h ? 4u : 0u);
    unsigned columns = (column > 0 ? 1u : 0u) | 2u | (column + 1 < q->w ? 4u : 0u);
    x.taps = (rows & 1u ? columns : 0u) | columns << 3 | (rows & 4u ? columns << 6 : 0u);
    return x;
}

/* VEC channels from c of the neighbour `tap` of a pixel; zero outside the image and past the last channel. */
NT_INLINE void load_in(const problem *q, pixel x, int tap, int c, float *to)
{
#pragma unroll
    for (int v = 0; v < VEC; v++)
        to[v] = 0.0f;
    if (!(x.taps >> tap & 1u))
        return;
    int r = tap / 3 - 1, s = tap % 3 - 1;
#ifdef NT_LAYOUT_NCHW
    const nt_elem *from = q->in + x.at + (r * q->w + s);
#pragma unroll
    for (int v = 0; v < VEC; v++)
        if (c + v < q->c)
            to[v] = nt_to_f32(from[(long long)(c + v) * (q->h * q->w)]);
#elif WHOLE_VECTORS
    if (c < q->c)
        load_vec(q->in + x.at + ((long long)(r * q->w + s) * q->c + c), to);
#else
    const nt_elem *from = q->in + x.at + ((long long)(r * q->w + s) * q->c + c);
#pragma unroll
    for (int v = 0; v < VEC; v++)
        if (c + v < q->c)
            to[v] = nt_to_f32(from[v]);
#endif
}

/* The same of output channel k's weights. */
NT_INLINE void load_weight(const problem *q, int k, int tap, int c, float *to)
{
#pragma unroll
    for (int v = 0; v < VEC; v++)
        to[v] = 0.0f;
    if (k >= q->k)
        return;
#ifdef NT_LAYOUT_NCHW
    const nt_elem *from = q->weight + (long long)k * q->c * 9 + tap;
#pragma unroll
    for (int v = 0; v < VEC; v++)
        if (c + v < q->c)
            to[v] = nt_to_f32(from[(c + v) * 9]);
#elif WHOLE_VECTORS
    if (c < q->c)
        load_vec(q->weight + ((long long)k * 9 + tap) * q->c + c, to);
#else
    const nt_elem *from = q->weight + ((long long)k * 9 + tap) * q->c + c;
#pragma unroll
    for (int v = 0; v < VEC; v++)
        if (c + v < q->c)
            to[v] = nt_to_f32(from[v]);
#endif
}

/* acc += a x b for VEC reduction steps; b is read one channel at a time to keep registers few. */
#define MULTIPLY(a, b, m)                          \
    _Pragma("unroll") for (int v = 0; v < VEC; v++) \
        _Pragma("unroll") for (int i = 0; i < TILE_W; i++) acc[i][m] += (a)[i][v] * (b)[v]

NT_INLINE void store_tile(nt_elem *out, const problem *q, int p0, int k0, float (*acc)[TILE_K])
{
#pragma unroll
    for (int i = 0; i < TILE_W; i++) {
        int p = p0 + i * THREADS_P;
        if (p >= q->pixels)
            continue;
#ifdef NT_LAYOUT_NCHW
        int image = q->h * q->w, n = p / image;
        nt_elem *to = out + ((long long)n * q->k * image + (p - n * image));
        long long step = image;
#else
        nt_elem *to = out + (long long)p * q->k;
        long long step = 1;
#endif
#pragma unroll
        for (int m = 0; m < TILE_K; m++) {
            int k = k0 + m * THREADS_C;
            if (k < q->k)
                to[k * step] = nt_from_f32(acc[i][m]);
        }
    }
}

#if SMEM
/* A thread's share of staging is PIXEL_ITEMS + CHANNEL_ITEMS vectors. Item i of the tile is vector i % ROW_VECTORS of
 * row i / ROW_VECTORS in NHWC, where channels are neighbours in memory; in NCHW pixels are, so rows run fastest. */
#ifdef NT_LAYOUT_NCHW
#define ITEM_ROW(i, rows) ((i) % (rows))
#define ITEM_VECTOR(i, rows) ((i) / (rows))
#else
#define ITEM_ROW(i, rows) ((i) / ROW_VECTORS)
#define ITEM_VECTOR(i, rows) ((i) % ROW_VECTORS)
#endif

NT_INLINE void fetch(const problem *q, const pixel *pixels, int k0, int thread, int tap, int c,
                     float (*a)[VEC], float (*b)[VEC])
{
#pragma unroll
    for (int i = 0; i < PIXEL_ITEMS; i++)
        load_in(q, pixels[i], tap, c + ITEM_VECTOR(thread + i * THREADS, TILE_P) * VEC, a[i]);
#pragma unroll
    for (int i = 0; i < CHANNEL_ITEMS; i++) {
        int item = thread + i * THREADS;
        if (item < TILE_C * ROW_VECTORS)
            load_weight(q, k0 + ITEM_ROW(item, TILE_C), tap, c + ITEM_VECTOR(item, TILE_C) * VEC, b[i]);
    }
}

NT_INLINE void stage(float *buffer, int thread, float (*a)[VEC], float (*b)[VEC])
{
#pragma unroll
    for (int i = 0; i < PIXEL_ITEMS; i++) {
        int item = thread + i * THREADS;
        if (item < TILE_P * ROW_VECTORS)
            put_vec(buffer + ITEM_ROW(item, TILE_P) * ROW + ITEM_VECTOR(item, TILE_P) * VEC, a[i]);
    }
#pragma unroll
    for (int i = 0; i < CHANNEL_ITEMS; i++) {
        int item = thread + i * THREADS;
        if (item < TILE_C * ROW_VECTORS)
            put_vec(buffer + (TILE_P + ITEM_ROW(item, TILE_C)) * ROW + ITEM_VECTOR(item, TILE_C) * VEC, b[i]);
    }
}

NT_INLINE void multiply_staged(const float *buffer, float (*acc)[TILE_K])
{
    const float *pixel_rows = buffer + PIXEL_THREAD * ROW;
    const float *channel_rows = buffer + (TILE_P + CHANNEL_THREAD) * ROW;
#pragma unroll UNROLL
    for (int j = 0; j < C_STEP; j += VEC) {
        float a[TILE_W][VEC];
#pragma unroll
        for (int i = 0; i < TILE_W; i++)
            get_vec(pixel_rows + i * THREADS_P * ROW + j, a[i]);
#pragma unroll
        for (int m = 0; m < TILE_K; m++) {
            float b[VEC];
            get_vec(channel_rows + m * THREADS_C * ROW + j, b);
            MULTIPLY(a, b, m);
        }
    }
}

/* Registers hold the next step's share while this one is multiplied. With two buffers one barrier a step suffices:
 * the buffer written now was last read before the barrier that all threads have passed. */
NT_INLINE void accumulate(const problem *q, int p0, int k0, float (*acc)[TILE_K])
{
    NT_SHARED(float, shared);
    int thread = threadIdx.y * BLOCK_X + threadIdx.x;
    pixel pixels[PIXEL_ITEMS];
    float a[PIXEL_ITEMS][VEC], b[CHANNEL_ITEMS][VEC];
#pragma unroll
    for (int i = 0; i < PIXEL_ITEMS; i++) {
        int item = thread + i * THREADS;
        pixels[i] = pixel_of(q, item < TILE_P * ROW_VECTORS ? p0 + ITEM_ROW(item, TILE_P) : q->pixels);
    }
    float *buffer = shared, *other = shared + (BUFFERS - 1) * BUFFER;
    int tap = 0, c = 0;
    fetch(q, pixels, k0, thread, tap, c, a, b);
    while (c < q->c) {
        stage(buffer, thread, a, b);
        __syncthreads();
        if (++tap == 9) {
            tap = 0;
            c += C_STEP;
        }
        if (c < q->c)
            fetch(q, pixels, k0, thread, tap, c, a, b);
        multiply_staged(buffer, acc);
#if BUFFERS == 1
        __syncthreads();
#endif
        float *swap = buffer;
        buffer = other;
        other = swap;
    }
}
#else
/* Each thread loads what it needs; neighbours in the block share through L1. */
NT_INLINE void accumulate(const problem *q, int p0, int k0, float (*acc)[TILE_K])
{
    pixel pixels[TILE_W];
#pragma unroll
    for (int i = 0; i < TILE_W; i++)
        pixels[i] = pixel_of(q, p0 + PIXEL_THREAD + i * THREADS_P);
    for (int c0 = 0; c0 < q->c; c0 += C_STEP)
        for (int tap = 0; tap < 9; tap++)
#pragma unroll UNROLL
            for (int j = 0; j < C_STEP; j += VEC) {
                float a[TILE_W][VEC];
#pragma unroll
                for (int i = 0; i < TILE_W; i++)
                    load_in(q, pixels[i], tap, c0 + j, a[i]);
#pragma unroll
                for (int m = 0; m < TILE_K; m++) {
                    float b[VEC];
                    load_weight(q, k0 + CHANNEL_THREAD + m * THREADS_C, tap, c0 + j, b);
                    MULTIPLY(a, b, m);
                }
            }
}
#endif

/* Blocks walk `group` pixel tiles, then the next channel tile, then the next group: what is in L2 together is a
 * matter of the launch. The last group may be smaller. */
NT_ENTRY void BOUNDS nt_conv3x3_direct(const nt_elem *__restrict__ in, const nt_elem *__restrict__ weight,
                                       nt_elem *__restrict__ out, int pixels, int c, int k, int h, int w, int group)
{
    int pixel_tiles = (pixels - 1) / TILE_P + 1, channel_tiles = (k - 1) / TILE_C + 1;
    int first = (int)blockIdx.x / (group * channel_tiles) * group;
    int inside = (int)blockIdx.x - first * channel_tiles;
    int wide = pixel_tiles - first < group ? pixel_tiles - first : group;
    int p0 = (first + inside % wide) * TILE_P, k0 = inside / wide * TILE_C;
    problem q = {in, weight, pixels, c, k, h, w};
    float acc[TILE_W][TILE_K];
#pragma unroll
    for (int i = 0; i < TILE_W; i++)
#pragma unroll
        for (int m = 0; m < TILE_K; m++)
            acc[i][m] = 0.0f;
    accumulate(&q, p0, k0, acc);
    store_tile(out, &q, p0 + PIXEL_THREAD, k0 + CHANNEL_THREAD, acc);
}
