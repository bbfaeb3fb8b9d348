/* global.cu: the average of whole images. BLOCK_X x BLOCK_Y threads add up their share in f32 and meet in shared memory.
 * NHWC: x runs along the channels, VEC of them a thread, and y shares the pixels. NCHW: a plane lies in one piece; x
 * shares its pixels and y runs along the planes. */

#define load_pixels(at, sum)                       \
    do {                                           \
        float value[VEC];                          \
        nt_load_vec(at, value);                    \
        _Pragma("unroll") for (int v = 0; v < VEC; v++) sum[v] += value[v]; \
    } while (0)

NT_ENTRY void __launch_bounds__(BLOCK_X *BLOCK_Y)
    nt_avgpool_global(const nt_in *__restrict__ in, nt_res *__restrict__ out, int n, int c, int pixels)
{
    NT_SHARED(float, partial);
    int x = threadIdx.x, y = threadIdx.y;
    float sum[VEC];
#pragma unroll
    for (int v = 0; v < VEC; v++)
        sum[v] = 0.0f;
#ifdef NT_LAYOUT_NCHW
    long long plane = (long long)blockIdx.x * BLOCK_Y + y;
    int exists = plane < (long long)n * c;
    const nt_in *at = in + plane * pixels;
    if (exists)
#pragma unroll UNROLL
        for (int p = x; p < pixels; p += BLOCK_X)
            load_pixels(at + p, sum);
#else
    int groups = (c / VEC + BLOCK_X - 1) / BLOCK_X, image = (int)(blockIdx.x / groups);
    int k = ((int)(blockIdx.x % groups) * BLOCK_X + x) * VEC;
    int exists = k < c;
    const nt_in *at = in + (long long)image * pixels * c + k;
    if (exists)
#pragma unroll UNROLL
        for (int p = y; p < pixels; p += BLOCK_Y)
            load_pixels(at + (long long)p * c, sum);
#endif
#pragma unroll
    for (int v = 0; v < VEC; v++)
        partial[(v * BLOCK_Y + y) * BLOCK_X + x] = sum[v];
    __syncthreads();
    float scale = 1.0f / (float)pixels;
#ifdef NT_LAYOUT_NCHW
    if (x > 0 || !exists)
        return;
    for (int i = 1; i < BLOCK_X; i++)
        sum[0] += partial[y * BLOCK_X + i];
    nt_set(out + plane, sum[0] * scale);
#else
    if (y > 0 || !exists)
        return;
#pragma unroll
    for (int v = 0; v < VEC; v++) {
        for (int i = 1; i < BLOCK_Y; i++)
            sum[v] += partial[(v * BLOCK_Y + i) * BLOCK_X + x];
        sum[v] *= scale;
    }
    nt_store_vec(out + (long long)image * c + k, sum);
#endif
}
