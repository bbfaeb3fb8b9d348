/* simt.cu: any convolution on the CUDA cores, behind prelude.cuh, with batch norm and activation on the way out or as
 * kernels of their own. A thread does PIXELS outputs of CHANNELS output channels: neighbouring threads of a row of the
 * block have neighbouring channels, so weights, packed [tap][input channel][output channel], are read side by side and an
 * input is read once for all of them. For layers of few input channels, where matrix products have little to work on. */

#ifndef PIXELS
#define PIXELS 4
#endif
#ifndef CHANNELS
#define CHANNELS 2
#endif
#ifndef BLOCK_X
#define BLOCK_X 16
#define BLOCK_Y 16
#endif
#ifndef TAPS
#define TAPS   3
#define STRIDE 1
#define PAD    1
#endif
/* FUSED: batch norm and activation in convolve. ACT: 1 relu, 2 relu6, 3 silu, 4 gelu, 5 none. */
#ifndef FUSED
#define FUSED 0
#endif
#ifndef ACT
#define ACT 5
#endif

#ifdef NT_PRECISION_INT8
typedef int nt_result;
#define WIDE(x)   ((int)(x))
#define NARROW(x) (x)
#else
typedef nt_elem nt_result;
#define WIDE(x)   nt_to_f32(x)
#define NARROW(x) nt_from_f32(x)
#endif

/* weight -> packed; a thread an element of packed. */
NT_ENTRY void pack_weights(const nt_elem *__restrict__ weight, nt_elem *__restrict__ packed, int c, int k)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x, all = (long long)c * k * TAPS * TAPS;
    int channel = (int)(i % k), from = (int)(i / k % c), tap = (int)(i / k / c);
    if (i >= all)
        return;
#ifdef NT_LAYOUT_NCHW
    packed[i] = weight[((long long)channel * c + from) * TAPS * TAPS + tap];
#else
    packed[i] = weight[((long long)channel * TAPS * TAPS + tap) * c + from];
#endif
}

#ifndef NT_PRECISION_INT8
NT_INLINE float activate(float x)
{
#if ACT == 1
    return x > 0.0f ? x : 0.0f;
#elif ACT == 2
    return x <= 0.0f ? 0.0f : x < 6.0f ? x : 6.0f;
#elif ACT == 3
    return x / (1.0f + expf(-x));
#elif ACT == 4
    return 0.5f * x * (1.0f + erff(x * 0.70710678f));
#else
    return x;
#endif
}

/* norm -> scale[k], shift[k]; a thread a channel. norm is gamma, beta, mean, variance of k each. */
NT_ENTRY void fold_norm(const nt_elem *__restrict__ norm, float *__restrict__ folded, int k)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= k)
        return;
    float scale = WIDE(norm[i]) / sqrtf(WIDE(norm[3 * k + i]) + 1e-5f);
    folded[i] = scale;
    folded[k + i] = WIDE(norm[k + i]) - WIDE(norm[2 * k + i]) * scale;
}

/* Batch norm and activation as a chain has them: each a pass over memory. `step` elements lie from one channel to the
 * next. */
NT_ENTRY void batch_norm(const float *__restrict__ from, const float *__restrict__ folded, float *__restrict__ to,
                         long long count, int k, int step)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int channel = (int)(i / step % k);
    if (i < count)
        to[i] = from[i] * folded[channel] + folded[k + channel];
}

NT_ENTRY void activation(const float *__restrict__ from, nt_result *__restrict__ to, long long count)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = NARROW(activate(from[i]));
}
#endif

/* What a thread stores: a result, or in a chain the sum as it is. */
#ifdef CHAIN
typedef float stored;
#define STORE(sum, k) (sum)
#elif FUSED
typedef nt_result stored;
#define STORE(sum, k) NARROW(activate((sum) * folded[k] + folded[count_k + (k)]))
#else
typedef nt_result stored;
#define STORE(sum, k) NARROW(sum)
#endif

/* pixels = batch x out_h x out_w. `folded` is read when FUSED. */
NT_ENTRY void __launch_bounds__(BLOCK_X *BLOCK_Y)
convolve(const nt_elem *__restrict__ in, const nt_elem *__restrict__ packed, const float *__restrict__ folded,
         stored *__restrict__ out, int pixels, int c, int count_k, int h, int w, int out_h, int out_w)
{
    int p0 = ((int)blockIdx.x * BLOCK_Y + (int)threadIdx.y) * PIXELS, image = out_h * out_w;
    int k0 = (int)blockIdx.y * BLOCK_X * CHANNELS + (int)threadIdx.x;
    int row[PIXELS], column[PIXELS];
    long long base[PIXELS];
    nt_sum sum[PIXELS][CHANNELS];
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        int p = p0 + i < pixels ? p0 + i : pixels - 1, inside = p % image;
        row[i] = inside / out_w * STRIDE - PAD;
        column[i] = inside % out_w * STRIDE - PAD;
        base[i] = (long long)(p / image) * c * h * w;
#pragma unroll
        for (int m = 0; m < CHANNELS; m++)
            sum[i][m] = 0;
    }
    for (int tap = 0; tap < TAPS * TAPS; tap++)
        for (int j = 0; j < c; j++) {
            nt_sum a[PIXELS];
#pragma unroll
            for (int i = 0; i < PIXELS; i++) {
                int y = row[i] + tap / TAPS, x = column[i] + tap % TAPS;
#ifdef NT_LAYOUT_NCHW
                long long at = base[i] + ((long long)j * h + y) * w + x;
#else
                long long at = base[i] + ((long long)y * w + x) * c + j;
#endif
                a[i] = 0;
                if (y >= 0 && y < h && x >= 0 && x < w)
                    a[i] = WIDE(in[at]);
            }
#pragma unroll
            for (int m = 0; m < CHANNELS; m++) {
                int k = k0 + m * BLOCK_X < count_k ? k0 + m * BLOCK_X : count_k - 1;
                nt_sum b = WIDE(packed[((long long)tap * c + j) * count_k + k]);
#pragma unroll
                for (int i = 0; i < PIXELS; i++)
                    sum[i][m] += a[i] * b;
            }
        }
#pragma unroll
    for (int i = 0; i < PIXELS; i++)
#pragma unroll
        for (int m = 0; m < CHANNELS; m++) {
            int p = p0 + i, k = k0 + m * BLOCK_X;
            if (p >= pixels || k >= count_k)
                continue;
#ifdef NT_LAYOUT_NCHW
            out[((long long)(p / image) * count_k + k) * image + p % image] = STORE(sum[i][m], k);
#else
            out[(long long)p * count_k + k] = STORE(sum[i][m], k);
#endif
        }
}
