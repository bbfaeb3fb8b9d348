/* chain.cu: batch norm and activation as passes over memory, behind a convolution on tensor cores that stores its sums
 * as they are: what fusing them is compared with. Comes after that convolution's text. Results between passes have the
 * output's type, as a framework stores them, in [pixels][filters]. A thread has VECTOR neighbouring filters, 16 bytes
 * where filters allow it, of ITEMS pixels, all loaded before the first is stored. */

#ifndef VECTOR
#define VECTOR 1
#endif
#ifndef ACT
#define ACT 1 /* 1 relu, 2 relu6, 3 silu, 4 gelu, 5 none */
#endif
#define ITEMS        4
#define PASS_THREADS 256

NT_INLINE void pass_get(const nt_elem *from, float *x)
{
#if VECTOR == 8
    uint4 q = *(const uint4 *)from;
    nt_unpack2(q.x, x);
    nt_unpack2(q.y, x + 2);
    nt_unpack2(q.z, x + 4);
    nt_unpack2(q.w, x + 6);
#elif VECTOR == 4
    nt_get4(from, x);
#else
    x[0] = nt_to_f32(from[0]);
#endif
}

NT_INLINE void pass_put(nt_elem *to, const float *x)
{
#if VECTOR == 8
    uint4 q;
    q.x = nt_pack_2(x[0], x[1]);
    q.y = nt_pack_2(x[2], x[3]);
    q.z = nt_pack_2(x[4], x[5]);
    q.w = nt_pack_2(x[6], x[7]);
    *(uint4 *)to = q;
#elif VECTOR == 4
    nt_put4(to, x);
#else
    to[0] = nt_from_f32(x[0]);
#endif
}

NT_INLINE float pass_activated(float x)
{
#if ACT == 1
    return x > 0.0f ? x : 0.0f;
#elif ACT == 2
    return x > 0.0f ? (x < 6.0f ? x : 6.0f) : 0.0f;
#elif ACT == 3
    return x / (1.0f + expf(-x));
#elif ACT == 4
    return 0.5f * x * (1.0f + erff(x * 0.70710678f));
#else
    return x;
#endif
}

/* norm -> scale[filters], offset[filters]; a thread a filter. norm is gamma, beta, mean, variance of each. */
NT_ENTRY void __launch_bounds__(PASS_THREADS)
    nt_pass_fold(const nt_elem *__restrict__ norm, float *__restrict__ folded, int filters)
{
    int i = (int)(blockIdx.x * PASS_THREADS + threadIdx.x);
    if (i >= filters)
        return;
    float scale = nt_to_f32(norm[i]) / sqrtf(nt_to_f32(norm[3 * filters + i]) + 1e-5f);
    folded[i] = scale;
    folded[filters + i] = nt_to_f32(norm[filters + i]) - nt_to_f32(norm[2 * filters + i]) * scale;
}

/* The pixels of a thread follow each other, so that it reads its filters' scales once. */
NT_ENTRY void __launch_bounds__(PASS_THREADS)
    nt_pass_norm(const nt_elem *__restrict__ from, const float *__restrict__ folded, nt_elem *__restrict__ to,
                 int pixels, int filters)
{
    int columns = filters / VECTOR;
    long long i = (long long)blockIdx.x * PASS_THREADS + threadIdx.x, first = i / columns * ITEMS;
    int filter = (int)(i % columns) * VECTOR;
    float x[ITEMS][VECTOR];
#pragma unroll
    for (int p = 0; p < ITEMS; p++)
        if (first + p < pixels)
            pass_get(from + (first + p) * filters + filter, x[p]);
#pragma unroll
    for (int p = 0; p < ITEMS; p++) {
        if (first + p >= pixels)
            break;
#pragma unroll
        for (int v = 0; v < VECTOR; v++)
            x[p][v] = x[p][v] * folded[filter + v] + folded[filters + filter + v];
        pass_put(to + (first + p) * filters + filter, x[p]);
    }
}

NT_ENTRY void __launch_bounds__(PASS_THREADS)
    nt_pass_activation(const nt_elem *__restrict__ from, nt_elem *__restrict__ to, long long count)
{
    long long first = ((long long)blockIdx.x * PASS_THREADS * ITEMS + threadIdx.x) * VECTOR;
    float x[ITEMS][VECTOR];
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (first + i * PASS_THREADS * VECTOR < count)
            pass_get(from + first + i * PASS_THREADS * VECTOR, x[i]);
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        if (first + i * PASS_THREADS * VECTOR >= count)
            break;
#pragma unroll
        for (int v = 0; v < VECTOR; v++)
            x[i][v] = pass_activated(x[i][v]);
        pass_put(to + first + i * PASS_THREADS * VECTOR, x[i]);
    }
}
