/* pool.cu: maximum (NT_POOL_MAX) or average over a WINDOW x WINDOW at steps of STRIDE, with a border of PAD.
 *
 * A thread computes TILE outputs next to each other in a row, for VEC channels at once in NHWC. It reads each input
 * column of its windows once, reduces it downwards, and adds it to every output whose window holds it. Consecutive
 * threads have consecutive channels (NHWC) or columns (NCHW). WINDOW, STRIDE and PAD are macros: loops unroll whole. */

#define COLUMNS ((TILE - 1) * STRIDE + WINDOW)

#ifdef NT_POOL_MAX
#define START (-3.402823466e38f)
NT_INLINE float pool_join(float a, float b)
{
    return a > b ? a : b;
}
#else
#define START 0.0f
NT_INLINE float pool_join(float a, float b)
{
    return a + b;
}
#endif

/* Distances in elements. */
#ifdef NT_LAYOUT_NCHW
#define PIXEL(c) 1
#else
#define PIXEL(c) (c)
#endif

/* Column x of the rows from y0, reduced downwards; `at` is column 0 of row 0. */
NT_INLINE void pool_column(const nt_in *at, int y0, int x, int h, int w, int c, float column[VEC])
{
#pragma unroll
    for (int v = 0; v < VEC; v++)
        column[v] = START;
    if (x < 0 || x >= w)
        return;
#pragma unroll
    for (int r = 0; r < WINDOW; r++) {
        int y = y0 + r;
        if (PAD > 0 && (y < 0 || y >= h))
            continue;
        float value[VEC];
        nt_load_vec(at + ((long long)y * w + x) * PIXEL(c), value);
#pragma unroll
        for (int v = 0; v < VEC; v++)
            column[v] = pool_join(column[v], value[v]);
    }
}

NT_INLINE void pool_store(nt_res *to, float sum[VEC])
{
#ifndef NT_POOL_MAX
#pragma unroll
    for (int v = 0; v < VEC; v++)
        sum[v] *= 1.0f / (WINDOW * WINDOW);
#endif
    nt_store_vec(to, sum);
}

NT_ENTRY void __launch_bounds__(BLOCK)
    nt_pool(const nt_in *__restrict__ in, nt_res *__restrict__ out, int n, int c, int h, int w, int out_h, int out_w)
{
    long long id = (long long)blockIdx.x * BLOCK + threadIdx.x;
    int tiles = (out_w + TILE - 1) / TILE, vectors = c / VEC;
    if (id >= (long long)n * vectors * out_h * tiles)
        return;
#ifdef NT_LAYOUT_NCHW
    int tile = (int)(id % tiles), oy = (int)(id / tiles % out_h);
    long long plane = id / tiles / out_h;
    const nt_in *at = in + plane * h * w;
    nt_res *to = out + plane * out_h * out_w;
#else
    int k = (int)(id % vectors) * VEC, tile = (int)(id / vectors % tiles), oy = (int)(id / vectors / tiles % out_h);
    long long image = id / vectors / tiles / out_h;
    const nt_in *at = in + image * h * w * c + k;
    nt_res *to = out + image * out_h * out_w * c + k;
#endif
    int ox = tile * TILE, y0 = oy * STRIDE - PAD, x0 = ox * STRIDE - PAD;
    float sum[TILE][VEC];
#pragma unroll
    for (int t = 0; t < TILE; t++)
#pragma unroll
        for (int v = 0; v < VEC; v++)
            sum[t][v] = START;
#pragma unroll
    for (int j = 0; j < COLUMNS; j++) {
        float column[VEC];
        pool_column(at, y0, x0 + j, h, w, c, column);
#pragma unroll
        for (int t = 0; t < TILE; t++)
            if (j >= t * STRIDE && j < t * STRIDE + WINDOW)
#pragma unroll
                for (int v = 0; v < VEC; v++)
                    sum[t][v] = pool_join(sum[t][v], column[v]);
    }
#pragma unroll
    for (int t = 0; t < TILE; t++)
        if (ox + t < out_w)
            pool_store(to + ((long long)oy * out_w + ox + t) * PIXEL(c), sum[t]);
}
