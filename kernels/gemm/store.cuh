/* store.cuh: from a thread's sums to the output: bias, activation, rounding, and stores as wide as the output allows.
 * Comes after tensor_core.cuh.
 *
 * Macros: N_TILES, columns of a warp's tile over 8; OUT_VECTOR, output elements that may be stored at once (1, 2 or 8);
 * TRANSPOSED, rows of the tile are filters and columns are pixels; SCALED, each filter's results are multiplied by
 * finish[2 filter], and finish[2 filter + 1] is added; CHANNELS_FIRST, the output is [images][filters][OUT_AREA pixels];
 * ACTIVATION, 0 none, 1 relu, 2 relu6, 3 silu, 4 gelu. */

#if defined(NT_PRECISION_INT8)
typedef int nt_out;
#elif defined(NT_PRECISION_FP16) || defined(NT_PRECISION_BF16) || defined(NT_PRECISION_FP8)
typedef unsigned short nt_out;
#define OUT_16 1
#else
typedef float nt_out;
#endif

#ifndef OUT_16
#define OUT_16 0
#endif
#ifndef SCALED
#define SCALED 0
#endif
#ifndef CHANNELS_FIRST
#define CHANNELS_FIRST 0
#endif
#ifndef ACTIVATION
#define ACTIVATION 0
#endif

NT_INLINE nt_out nt_out_of(nt_sum x)
{
#if defined(NT_PRECISION_FP16)
    return nt_f32_to_f16(x);
#elif OUT_16
    return nt_f32_to_bf16(x);
#else
    return x;
#endif
}

#if ACTIVATION
/* gelu is x times the normal distribution's integral, by erff. */
NT_INLINE float nt_activated(float x)
{
#if ACTIVATION == 1
    return x > 0.0f ? x : 0.0f;
#elif ACTIVATION == 2
    return x > 0.0f ? (x < 6.0f ? x : 6.0f) : 0.0f;
#elif ACTIVATION == 3
    return x / (1.0f + expf(-x));
#else
    return 0.5f * x * (1.0f + erff(x * 0.70710678f));
#endif
}
#else
#define nt_activated(x) (x)
#endif

/* What becomes of one sum of filter `filter`, before it is rounded. */
NT_INLINE nt_sum nt_finished(nt_sum x, const float *finish, int filter)
{
#if SCALED
    x = x * finish[2 * filter] + finish[2 * filter + 1];
#else
    (void)finish;
    (void)filter;
#endif
    return nt_activated(x);
}

#if OUT_16 && OUT_VECTOR >= 8
#define QUAD_STORES (!TRANSPOSED)
#else
#define QUAD_STORES 0
#endif

#if OUT_16
NT_INLINE unsigned nt_pair(nt_sum x, nt_sum y)
{
#if defined(NT_PRECISION_FP8)
    return nt_out_of(x) | (unsigned)nt_out_of(y) << 16;
#else
    return nt_pack_2(x, y);
#endif
}
#endif

/* Two neighbouring columns of one row. */
NT_INLINE void nt_store_pair(nt_out *out, int column, int columns, nt_sum x, nt_sum y)
{
#if OUT_VECTOR >= 2 && OUT_16
    if (column < columns)
        *(unsigned *)(out + column) = nt_pair(x, y);
#elif OUT_VECTOR >= 2
    if (column < columns) {
        struct __align__(8) two {
            nt_out x, y;
        } pair = {x, y};
        *(struct two *)(out + column) = pair;
    }
#else
    if (column < columns)
        out[column] = nt_out_of(x);
    if (column + 1 < columns)
        out[column + 1] = nt_out_of(y);
#endif
}

#if SCALED
/* Once for each set of weights, whose filters are followed by gamma, beta, mean and variance of each: what batch norm
 * makes of a sum, in f32. */
NT_ENTRY void __launch_bounds__(128) nt_prepare_finish(const nt_elem *weight, float *finish, long long taps, int filters)
{
    int filter = blockIdx.x * 128 + threadIdx.x;
    if (filter >= filters)
        return;
    const nt_elem *row = weight + taps + filter;
    float scale = nt_to_f32(row[0]) / sqrtf(nt_to_f32(row[3ll * filters]) + 1e-5f);
    finish[2 * filter] = scale;
    finish[2 * filter + 1] = nt_to_f32(row[filters]) - nt_to_f32(row[2ll * filters]) * scale;
}
#endif

/* Where the result of a filter at a pixel is. */
NT_INLINE long long nt_place(int filter, int pixel, int filters)
{
#if CHANNELS_FIRST
    int image = pixel / OUT_AREA;
    return ((long long)image * filters + filter) * OUT_AREA + (pixel - image * OUT_AREA);
#else
    return (long long)pixel * filters + filter;
#endif
}

/* One result of filter `filter` at its place, if both exist. */
NT_INLINE void nt_store_one(nt_out *out, const float *finish, nt_sum x, int filter, int pixel, int filters, int pixels)
{
    if (filter < filters && pixel < pixels)
        out[nt_place(filter, pixel, filters)] = nt_out_of(nt_finished(x, finish, filter));
}

/* Results of one filter at an even pixel and the next. */
NT_INLINE void nt_store_two(nt_out *out, const float *finish, nt_sum x, nt_sum y, int filter, int pixel, int filters,
                            int pixels)
{
#if CHANNELS_FIRST && OUT_AREA % 2 == 0 /* then they are neighbours of one image */
    if (filter < filters && pixel < pixels) {
        struct __align__(2 * sizeof(nt_out)) two {
            nt_out x, y;
        } pair = {nt_out_of(nt_finished(x, finish, filter)), nt_out_of(nt_finished(y, finish, filter))};
        *(struct two *)(out + nt_place(filter, pixel, filters)) = pair;
    }
#else
    nt_store_one(out, finish, x, filter, pixel, filters, pixels);
    nt_store_one(out, finish, y, filter, pixel + 1, filters, pixels);
#endif
}

#if OUT_16 && OUT_VECTOR >= 8 && TRANSPOSED && !CHANNELS_FIRST
/* Two tiles of 8 columns of 16 filters: lanes exchange, so that each stores 8 filters of one pixel. */
NT_INLINE void nt_store_columns(nt_out *out, const float *finish, nt_sum sum[2][4], int filter, int pixel, int filters,
                                int pixels)
{
    int lane = threadIdx.x % 32, t = lane % 4;
    unsigned word[4];
#pragma unroll
    for (int i = 0; i < 4; i++) { /* tile i / 2, rows 8 (i % 2) and on */
        int own = filter + i % 2 * 8 + lane / 4;
        nt_sum x = sum[i / 2][i % 2 * 2], y = sum[i / 2][i % 2 * 2 + 1];
        if (SCALED == 0 || own < filters) {
            x = nt_finished(x, finish, own);
            y = nt_finished(y, finish, own);
        }
        word[i] = nt_transpose_matrix(nt_pair(x, y));
    }
    nt_transpose_quad(word, t);
    filter += t % 2 * 8;
    pixel += t / 2 * 8 + lane / 4;
    if (filter < filters && pixel < pixels)
        *(uint4 *)(out + (long long)pixel * filters + filter) = make_uint4(word[0], word[1], word[2], word[3]);
}
#define NT_PAIRED_COLUMNS (N_TILES / 2 * 2)
#else
#define NT_PAIRED_COLUMNS 0
#endif

/* The 16 filters from `filter` on that this warp has as rows, and its columns, which are pixels. All lanes take part. */
NT_INLINE void nt_store_sixteen(nt_out *out, const float *finish, nt_sum sum[N_TILES][4], int filter, int pixel,
                                int filters, int pixels)
{
#if NT_PAIRED_COLUMNS
#pragma unroll
    for (int j = 0; j + 1 < N_TILES; j += 2)
        nt_store_columns(out, finish, &sum[j], filter, pixel + 8 * j, filters, pixels);
#endif
    filter += threadIdx.x % 32 / 4;
    pixel += 8 * NT_PAIRED_COLUMNS + 2 * (threadIdx.x % 4);
#if CHANNELS_FIRST
#pragma unroll
    for (int j = NT_PAIRED_COLUMNS; j < N_TILES; j++, pixel += 8)
#pragma unroll
        for (int half = 0; half < 2; half++)
            nt_store_two(out, finish, sum[j][2 * half], sum[j][2 * half + 1], filter + half * 8, pixel, filters, pixels);
#else
    nt_out *to = out + ((long long)pixel * filters + filter);
#pragma unroll
    for (int j = NT_PAIRED_COLUMNS; j < N_TILES; j++, pixel += 8, to += 8ll * filters)
#pragma unroll
        for (int e = 0; e < 4; e++) /* filter + 8 (e / 2), pixel + e % 2 */
            if (filter + e / 2 * 8 < filters && pixel + e % 2 < pixels)
                to[e % 2 * (long long)filters + e / 2 * 8] = nt_out_of(nt_finished(sum[j][e], finish, filter + e / 2 * 8));
#endif
}

/* Row `pixel` and this lane's columns, which are filters, one by one. */
NT_INLINE void nt_store_scattered(nt_out *out, const float *finish, nt_sum sum[N_TILES][4], int half, int pixel,
                                  int filter, int filters, int pixels)
{
    int t = threadIdx.x % 4;
#pragma unroll
    for (int j = 0; j < N_TILES; j++)
#pragma unroll
        for (int e = 0; e < 2; e++)
            nt_store_one(out, finish, sum[j][2 * half + e], filter + 8 * j + 2 * t + e, pixel, filters, pixels);
}

/* This lane's four sums of one tile of 8 columns: rows `row` and row + 8, columns `column` and the next. */
NT_INLINE void nt_store_four(nt_out *out, const float *finish, nt_sum sum[4], int row, int column, int filters, int pixels)
{
#if TRANSPOSED
#pragma unroll
    for (int half = 0; half < 2; half++)
        nt_store_two(out, finish, sum[2 * half], sum[2 * half + 1], row + half * 8, column, filters, pixels);
#elif CHANNELS_FIRST
#pragma unroll
    for (int e = 0; e < 4; e++)
        nt_store_one(out, finish, sum[e], column + e % 2, row + e / 2 * 8, filters, pixels);
#else
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int pixel = row + half * 8;
#pragma unroll
        for (int e = 0; e < 2; e++)
            if (SCALED == 0 || column + e < filters)
                sum[2 * half + e] = nt_finished(sum[2 * half + e], finish, column + e);
        if (pixel < pixels)
            nt_store_pair(out + (long long)pixel * filters, column, filters, sum[2 * half], sum[2 * half + 1]);
    }
#endif
}

/* One pixel's results of this warp; `half` picks the upper or lower eight rows of an mma tile. All lanes take part. */
NT_INLINE void nt_store_row(nt_out *out, const float *finish, nt_sum sum[N_TILES][4], int half, bool exists, long long at,
                            int column, int columns)
{
    int t = threadIdx.x % 4;
#pragma unroll
    for (int j = 0; j < N_TILES; j++)
#pragma unroll
        for (int e = 0; e < 2; e++) {
            int filter = column + 8 * j + 2 * t + e;
            if (SCALED == 0 || filter < columns)
                sum[j][2 * half + e] = nt_finished(sum[j][2 * half + e], finish, filter);
        }
#if QUAD_STORES
#pragma unroll
    for (int j = 0; j + 3 < N_TILES; j += 4) {
        unsigned word[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            word[i] = nt_pair(sum[j + i][2 * half], sum[j + i][2 * half + 1]);
        nt_transpose_quad(word, t);
        int to = column + 8 * j + 8 * t;
        if (exists && to < columns)
            *(uint4 *)(out + at + to) = make_uint4(word[0], word[1], word[2], word[3]);
    }
    const int rest = N_TILES / 4 * 4;
#else
    const int rest = 0;
#endif
#pragma unroll
    for (int j = rest; j < N_TILES; j++)
        if (exists)
            nt_store_pair(out + at, column + 8 * j + 2 * t, columns, sum[j][2 * half], sum[j][2 * half + 1]);
}
