/* reference.cu: conv3x3 (stride 1, pad 1) in fp64 on the device, the judge of every other kernel.
 *
 * Inputs are f32 holding the values as rounded in memory, so every product is exact and only sums round, at 2^-53.
 * `ref` gets the convolution; `abs`, where it is not null, what the error bound multiplies: |in| conv |weight|, or for
 * Winograd F(2x2, 3x3) the same carried through the absolute transforms. Plain loops, blocked just enough in registers
 * (4 pixels x 4 channels) that large layers take milliseconds. The layout is an argument: one compile serves all. */

#ifndef NT_HOST_EMULATION
#define NT_ENTRY extern "C" __global__
#define NT_INLINE __device__ __forceinline__
#endif

#define THREADS_X 16
#define THREADS_Y 16
#define PIXELS 4
#define CHANNELS 4
#define CHANNEL_STEP 8 /* a sector of f32 */

/* Distances in elements: between neighbouring pixels, channels and taps, by layout. */
typedef struct strides {
    long long in_pixel, in_channel, weight_tap, weight_channel, out_image, out_pixel, out_channel;
} strides;

NT_INLINE strides strides_of(int c, int k, int image, int nchw)
{
    strides d;
    d.in_pixel = nchw ? 1 : c;
    d.in_channel = nchw ? image : 1;
    d.weight_tap = nchw ? 1 : c;
    d.weight_channel = nchw ? 9 : 1;
    d.out_image = (long long)k * image;
    d.out_pixel = nchw ? 1 : k;
    d.out_channel = nchw ? image : 1;
    return d;
}

/* First element of a pixel's channel 0; taps has bit r*3+s for each neighbour inside the image. */
NT_INLINE long long locate(int p, int pixels, int c, int h, int w, strides d, unsigned *taps)
{
    int image = h * w, n = p / image, inside = p - n * image, row = inside / w, column = inside - row * w;
    *taps = 0;
    for (int t = 0; t < 9; t++) {
        int y = row + t / 3 - 1, x = column + t % 3 - 1;
        if (p < pixels && y >= 0 && y < h && x >= 0 && x < w)
            *taps |= 1u << t;
    }
    return (long long)n * c * image + inside * d.in_pixel;
}

NT_INLINE double magnitude(double x)
{
    return x < 0.0 ? -x : x;
}

/* Where a thread stands: its pixels' first elements and neighbours, and its first channel. */
typedef struct place {
    strides d;
    int p0, k0;
    long long at[PIXELS];
    unsigned taps[PIXELS];
} place;

/* One reduction step: channel j of tap t. Channels past the last read the last one's weights and are not stored. */
NT_INLINE void load_step(const place *o, const float *in, const float *weight, int t, int j, int c, int k, int w,
                         double a[PIXELS], double b[CHANNELS])
{
    long long from = ((t / 3 - 1) * w + t % 3 - 1) * o->d.in_pixel + j * o->d.in_channel;
#pragma unroll
    for (int i = 0; i < PIXELS; i++)
        a[i] = o->taps[i] >> t & 1u ? (double)in[o->at[i] + from] : 0.0;
#pragma unroll
    for (int m = 0; m < CHANNELS; m++) {
        long long row = o->k0 + m * THREADS_X < k ? o->k0 + m * THREADS_X : k - 1;
        b[m] = (double)weight[row * c * 9 + t * o->d.weight_tap + j * o->d.weight_channel];
    }
}

NT_INLINE void store(const place *o, double *to, int pixels, int k, int image, double (*value)[CHANNELS])
{
#pragma unroll
    for (int i = 0; i < PIXELS; i++)
#pragma unroll
        for (int m = 0; m < CHANNELS; m++) {
            int p = o->p0 + i * THREADS_Y, channel = o->k0 + m * THREADS_X, n = p / image;
            if (p < pixels && channel < k)
                to[n * o->d.out_image + (p - n * image) * o->d.out_pixel + channel * o->d.out_channel] = value[i][m];
        }
}

NT_ENTRY void nt_conv3x3_reference(const float *__restrict__ in, const float *__restrict__ weight,
                                   double *__restrict__ ref, double *__restrict__ abs, int pixels, int c, int k, int h,
                                   int w, int nchw)
{
    /* Neighbouring threads write neighbouring elements: channels in NHWC, pixels in NCHW. */
    place o;
    o.d = strides_of(c, k, h * w, nchw);
    o.p0 = (int)blockIdx.x * (THREADS_Y * PIXELS) + (int)(nchw ? threadIdx.x : threadIdx.y);
    o.k0 = (int)blockIdx.y * (THREADS_X * CHANNELS) + (int)(nchw ? threadIdx.y : threadIdx.x);
    double sum[PIXELS][CHANNELS], size[PIXELS][CHANNELS];
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        o.at[i] = locate(o.p0 + i * THREADS_Y, pixels, c, h, w, o.d, &o.taps[i]);
#pragma unroll
        for (int m = 0; m < CHANNELS; m++)
            sum[i][m] = size[i][m] = 0.0;
    }
    for (int c0 = 0; c0 < c; c0 += CHANNEL_STEP)
        for (int t = 0; t < 9; t++)
            for (int j = c0; j < c && j < c0 + CHANNEL_STEP; j++) {
                double a[PIXELS], b[CHANNELS];
                load_step(&o, in, weight, t, j, c, k, w, a, b);
#pragma unroll
                for (int i = 0; i < PIXELS; i++)
#pragma unroll
                    for (int m = 0; m < CHANNELS; m++) {
                        sum[i][m] += a[i] * b[m];
                        size[i][m] += magnitude(a[i]) * magnitude(b[m]);
                    }
            }
    store(&o, ref, pixels, k, h * w, sum);
    if (abs)
        store(&o, abs, pixels, k, h * w, size);
}

/* |G| g |G^T| for a filter of magnitudes; |G| has the rows (1 0 0), (1/2 1/2 1/2) twice, (0 0 1). */
NT_INLINE void transform_weight(const double g[9], double out[16])
{
    double rows[12];
#pragma unroll
    for (int j = 0; j < 3; j++) {
        rows[j] = g[j];
        rows[3 + j] = rows[6 + j] = 0.5 * (g[j] + g[3 + j] + g[6 + j]);
        rows[9 + j] = g[6 + j];
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const double *v = rows + i * 3;
        out[i * 4] = v[0];
        out[i * 4 + 1] = out[i * 4 + 2] = 0.5 * (v[0] + v[1] + v[2]);
        out[i * 4 + 3] = v[2];
    }
}

/* |B^T| d |B| for a tile of magnitudes; |B^T| adds the pairs (0 2), (1 2), (1 2), (1 3). */
NT_INLINE void transform_input(const double tile[16], double out[16])
{
    double rows[16];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        rows[j] = tile[j] + tile[8 + j];
        rows[4 + j] = rows[8 + j] = tile[4 + j] + tile[8 + j];
        rows[12 + j] = tile[4 + j] + tile[12 + j];
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const double *v = rows + i * 4;
        out[i * 4] = v[0] + v[2];
        out[i * 4 + 1] = out[i * 4 + 2] = v[1] + v[2];
        out[i * 4 + 3] = v[1] + v[3];
    }
}

/* Adds one channel: the four outputs' products to sum, the transformed magnitudes to m. */
NT_INLINE void add_channel(const double tile[16], const double g[9], double sum[4], double m[16])
{
    double tile_size[16], g_size[9], tile_moved[16], g_moved[16];
#pragma unroll
    for (int o = 0; o < 4; o++)
#pragma unroll
        for (int t = 0; t < 9; t++)
            sum[o] += tile[(o / 2 + t / 3) * 4 + o % 2 + t % 3] * g[t];
#pragma unroll
    for (int i = 0; i < 16; i++)
        tile_size[i] = magnitude(tile[i]);
#pragma unroll
    for (int t = 0; t < 9; t++)
        g_size[t] = magnitude(g[t]);
    transform_input(tile_size, tile_moved);
    transform_weight(g_size, g_moved);
#pragma unroll
    for (int i = 0; i < 16; i++)
        m[i] += tile_moved[i] * g_moved[i];
}

/* A thread does one 2x2 output tile of one channel. |A^T| adds the rows (0 1 2) and (1 2 3). */
NT_ENTRY void nt_conv3x3_reference_winograd(const float *__restrict__ in, const float *__restrict__ weight,
                                            double *__restrict__ ref, double *__restrict__ abs, int tiles, int c, int k,
                                            int h, int w, int nchw)
{
    strides d = strides_of(c, k, h * w, nchw);
    int tile = (int)blockIdx.x * THREADS_Y + (int)(nchw ? threadIdx.x : threadIdx.y);
    int channel = (int)blockIdx.y * THREADS_X + (int)(nchw ? threadIdx.y : threadIdx.x);
    int across = (w + 1) / 2, down = (h + 1) / 2, n = tile / (across * down);
    int y0 = tile / across % down * 2, x0 = tile % across * 2;
    if (tile >= tiles || channel >= k)
        return;
    double sum[4] = {0.0, 0.0, 0.0, 0.0}, m[16];
#pragma unroll
    for (int i = 0; i < 16; i++)
        m[i] = 0.0;
    for (int j = 0; j < c; j++) {
        double pixels[16], g[9];
#pragma unroll
        for (int i = 0; i < 16; i++) {
            int y = y0 + i / 4 - 1, x = x0 + i % 4 - 1;
            long long at = (long long)n * c * h * w + ((long long)y * w + x) * d.in_pixel + j * d.in_channel;
            pixels[i] = y >= 0 && y < h && x >= 0 && x < w ? (double)in[at] : 0.0;
        }
#pragma unroll
        for (int t = 0; t < 9; t++)
            g[t] = (double)weight[(long long)channel * c * 9 + t * d.weight_tap + j * d.weight_channel];
        add_channel(pixels, g, sum, m);
    }
#pragma unroll
    for (int o = 0; o < 4; o++) {
        int y = y0 + o / 2, x = x0 + o % 2;
        double size = 0.0;
#pragma unroll
        for (int i = 0; i < 9; i++)
            size += m[(o / 2 + i / 3) * 4 + o % 2 + i % 3];
        long long to = n * d.out_image + ((long long)y * w + x) * d.out_pixel + channel * d.out_channel;
        if (y < h && x < w) {
            ref[to] = sum[o];
            if (abs)
                abs[to] = size;
        }
    }
}
