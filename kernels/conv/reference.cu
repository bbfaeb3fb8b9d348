/* reference.cu: the convolutions in fp64 on the device: the judge of every other kernel.
 *
 * Inputs are f32 holding the values as rounded in memory, so every product is exact and only sums round, at 2^-53.
 * `ref` gets the result; `abs`, where it is not null, what the error bound multiplies (conv.h). Plain loops, blocked
 * just enough in registers (4 pixels x 4 channels) that large layers take milliseconds. Sizes and layout are arguments:
 * one compile serves all. */

#ifndef NT_HOST_EMULATION
#define NT_ENTRY extern "C" __global__
#define NT_INLINE __device__ __forceinline__
#endif

#define THREADS_X 16
#define THREADS_Y 16
#define PIXELS 4
#define CHANNELS 4
#define CHANNEL_STEP 8 /* a sector of f32 */

/* A problem's sizes. groups is 1, or c: depthwise, with k = c. act is -1 without batch norm. */
typedef struct sizes {
    int pixels; /* batch x out_h x out_w */
    int c, k, h, w, out_h, out_w, taps, stride, pad, groups, nchw, act;
} sizes;

/* Distances in elements: between neighbouring pixels, channels and taps, by layout. `c` are the channels of a filter. */
typedef struct strides {
    long long in_pixel, in_channel, weight_tap, weight_channel, out_image, out_pixel, out_channel;
} strides;

NT_INLINE strides strides_of(int c, int k, int channels, int image, int out_image, int taps, int nchw)
{
    strides d;
    d.in_pixel = nchw ? 1 : c;
    d.in_channel = nchw ? image : 1;
    d.weight_tap = nchw ? 1 : channels;
    d.weight_channel = nchw ? taps * taps : 1;
    d.out_image = (long long)k * out_image;
    d.out_pixel = nchw ? 1 : k;
    d.out_channel = nchw ? out_image : 1;
    return d;
}

NT_INLINE double magnitude(double x)
{
    return x < 0.0 ? -x : x;
}

/* act: 1 relu, 2 relu6, 3 silu, 4 gelu, 5 none */
NT_INLINE double activate(double x, int act)
{
    if (act == 1)
        return x > 0.0 ? x : 0.0;
    if (act == 2)
        return x <= 0.0 ? 0.0 : x < 6.0 ? x : 6.0;
    if (act == 3)
        return x / (1.0 + exp(-x));
    if (act == 4)
        return 0.5 * x * (1.0 + erf(x * 0.70710678118654752440));
    return x;
}

/* Batch norm and activation of a sum and of its magnitude; `norm` is gamma, beta, mean, variance of k each. */
NT_INLINE void finish(const float *norm, int channel, int k, int act, double *sum, double *size)
{
    double scale = (double)norm[channel] / sqrt((double)norm[3 * (long long)k + channel] + 1e-5);
    double beta = (double)norm[(long long)k + channel], moved = (double)norm[2 * (long long)k + channel] * scale;
    double slope = act == 3 ? 1.1 : act == 4 ? 1.13 : 1.0;
    *sum = activate(scale * *sum + beta - moved, act);
    *size = slope * (magnitude(scale) * *size + magnitude(beta) + magnitude(moved));
}

/* Where a thread stands: its pixels' images and first rows and columns of input, and its first channel. */
typedef struct place {
    strides d;
    int p0, k0;
    int row[PIXELS], column[PIXELS]; /* of tap (0, 0); may be negative */
    long long image[PIXELS];         /* first element of the image */
} place;

NT_INLINE void locate(place *o, const sizes *q)
{
    int out_image = q->out_h * q->out_w;
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        int p = o->p0 + i * THREADS_Y, n = p / out_image, inside = p - n * out_image;
        o->row[i] = inside / q->out_w * q->stride - q->pad;
        o->column[i] = inside % q->out_w * q->stride - q->pad;
        o->image[i] = (long long)n * q->c * q->h * q->w;
        if (p >= q->pixels)
            o->row[i] = q->h; /* outside: reads zeros, is not stored */
    }
}

/* One reduction step: channel j of tap (r, s). Channels past the last read the last one's weights and are not stored. */
NT_INLINE void load_step(const place *o, const sizes *q, const float *in, const float *weight, int r, int s, int j,
                         double a[PIXELS], double b[CHANNELS])
{
    int channels = q->groups > 1 ? 1 : q->c;
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        int row = o->row[i] + r, column = o->column[i] + s;
        int inside = row >= 0 && row < q->h && column >= 0 && column < q->w;
        long long at = o->image[i] + ((long long)row * q->w + column) * o->d.in_pixel + j * o->d.in_channel;
        a[i] = inside ? (double)in[at] : 0.0;
    }
#pragma unroll
    for (int m = 0; m < CHANNELS; m++) {
        long long row = o->k0 + m * THREADS_X < q->k ? o->k0 + m * THREADS_X : q->k - 1;
        b[m] = (double)weight[row * channels * q->taps * q->taps + (r * q->taps + s) * o->d.weight_tap +
                              (q->groups > 1 ? 0 : j) * o->d.weight_channel];
    }
}

/* Sums of all steps, groups = 1. */
NT_INLINE void sum_all(const place *o, const sizes *q, const float *in, const float *weight,
                       double (*sum)[CHANNELS], double (*size)[CHANNELS])
{
    for (int c0 = 0; c0 < q->c; c0 += CHANNEL_STEP)
        for (int t = 0; t < q->taps * q->taps; t++)
            for (int j = c0; j < q->c && j < c0 + CHANNEL_STEP; j++) {
                double a[PIXELS], b[CHANNELS];
                load_step(o, q, in, weight, t / q->taps, t % q->taps, j, a, b);
#pragma unroll
                for (int i = 0; i < PIXELS; i++)
#pragma unroll
                    for (int m = 0; m < CHANNELS; m++) {
                        sum[i][m] += a[i] * b[m];
                        size[i][m] += magnitude(a[i]) * magnitude(b[m]);
                    }
            }
}

/* Depthwise: each output channel has its own input channel. */
NT_INLINE void sum_depthwise(const place *o, const sizes *q, const float *in, const float *weight,
                             double (*sum)[CHANNELS], double (*size)[CHANNELS])
{
    for (int t = 0; t < q->taps * q->taps; t++)
#pragma unroll
        for (int m = 0; m < CHANNELS; m++) {
            double a[PIXELS], b[CHANNELS];
            int channel = o->k0 + m * THREADS_X;
            load_step(o, q, in, weight, t / q->taps, t % q->taps, channel < q->k ? channel : q->k - 1, a, b);
#pragma unroll
            for (int i = 0; i < PIXELS; i++) {
                sum[i][m] += a[i] * b[m];
                size[i][m] += magnitude(a[i]) * magnitude(b[m]);
            }
        }
}

NT_INLINE void store(const place *o, const sizes *q, const float *norm, double *ref, double *abs,
                     double (*sum)[CHANNELS], double (*size)[CHANNELS])
{
    int image = q->out_h * q->out_w;
#pragma unroll
    for (int i = 0; i < PIXELS; i++)
#pragma unroll
        for (int m = 0; m < CHANNELS; m++) {
            int p = o->p0 + i * THREADS_Y, channel = o->k0 + m * THREADS_X, n = p / image;
            long long at = n * o->d.out_image + (p - n * image) * o->d.out_pixel + channel * o->d.out_channel;
            if (p >= q->pixels || channel >= q->k)
                continue;
            if (q->act >= 0)
                finish(norm, channel, q->k, q->act, &sum[i][m], &size[i][m]);
            ref[at] = sum[i][m];
            if (abs)
                abs[at] = size[i][m];
        }
}

NT_ENTRY void conv_reference(const float *__restrict__ in, const float *__restrict__ weight,
                                double *__restrict__ ref, double *__restrict__ abs, int pixels, int c, int k, int h,
                                int w, int out_h, int out_w, int taps, int stride, int pad, int groups, int nchw, int act)
{
    /* Neighbouring threads write neighbouring elements: channels in NHWC, pixels in NCHW. */
    sizes q = {pixels, c, k, h, w, out_h, out_w, taps, stride, pad, groups, nchw, act};
    int channels = groups > 1 ? 1 : c;
    double sum[PIXELS][CHANNELS], size[PIXELS][CHANNELS];
    place o;
    o.d = strides_of(c, k, channels, h * w, out_h * out_w, taps, nchw);
    o.p0 = (int)blockIdx.x * (THREADS_Y * PIXELS) + (int)(nchw ? threadIdx.x : threadIdx.y);
    o.k0 = (int)blockIdx.y * (THREADS_X * CHANNELS) + (int)(nchw ? threadIdx.y : threadIdx.x);
    locate(&o, &q);
#pragma unroll
    for (int i = 0; i < PIXELS; i++)
#pragma unroll
        for (int m = 0; m < CHANNELS; m++)
            sum[i][m] = size[i][m] = 0.0;
    if (groups > 1)
        sum_depthwise(&o, &q, in, weight, sum, size);
    else
        sum_all(&o, &q, in, weight, sum, size);
    store(&o, &q, weight + (long long)k * channels * taps * taps, ref, abs, sum, size);
}
