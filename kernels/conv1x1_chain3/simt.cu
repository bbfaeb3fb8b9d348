/* simt.cu: three 1x1 convolutions with relu on the CUDA cores, behind prelude.cuh. A block takes ROWS pixels through
 * all three; t1 and t2 stay in shared memory as f32. Entries nt_chain3_1 to _3 are one convolution each: the same as
 * three launches. A thread does PIXELS pixels of CHANNELS output channels; neighbours along x have neighbouring
 * channels, so weights, packed [input channel][output channel], are read side by side. Inputs are padded to 4 with
 * zeros. */

#ifndef BLOCK_X
#define BLOCK_X  16
#define BLOCK_Y  8
#define PIXELS   4
#define CHANNELS 4
#endif

#define ROWS  (BLOCK_Y * PIXELS)
#define UP(x) (((x) + 3) / 4 * 4)

#ifdef NT_LAYOUT_NCHW
#define NCHW 1
#else
#define NCHW 0
#endif

/* weight -> packed; a thread an element of packed, whose rows are UP(in). */
NT_ENTRY void nt_chain3_pack(const nt_elem *__restrict__ weight, nt_elem *__restrict__ packed, int in, int out)
{
    long long i = (long long)blockIdx.x * 256 + threadIdx.x;
    int channel = (int)(i % out), from = (int)(i / out);
    if (from < UP(in))
        packed[i] = from < in ? weight[(long long)channel * in + from] : (nt_elem)0;
}

NT_INLINE float relu(float x)
{
    return x > 0.0f ? x : 0.0f;
}

/* Element of a tensor of `channels`; `area` pixels are an image. */
NT_INLINE long long place(int channels, int pixel, int channel, int area)
{
    return NCHW ? ((long long)(pixel / area) * channels + channel) * area + pixel % area
                : (long long)pixel * channels + channel;
}

/* Where results go: to shared memory, rows of UP(channels), or to the output. */
typedef struct target {
    float *shared;
    nt_elem *out;
    int first, pixels, area;
} target;

NT_INLINE void load_pixels(const nt_elem *in, int channels, int first, int pixels, int area, float *to)
{
    int pitch = UP(channels);
    for (int i = threadIdx.y * BLOCK_X + threadIdx.x; i < ROWS * pitch; i += BLOCK_X * BLOCK_Y) {
        int row = NCHW ? i % ROWS : i / pitch, channel = NCHW ? i / ROWS : i % pitch;
        int exists = first + row < pixels && channel < channels;
        to[row * pitch + channel] = exists ? nt_to_f32(in[place(channels, first + row, channel, area)]) : 0.0f;
    }
}

NT_INLINE void put(const target *to, int out, int row, int channel, float value)
{
    if (to->shared)
        to->shared[row * UP(out) + channel] = channel < out ? value : 0.0f;
    else if (to->first + row < to->pixels && channel < out)
        to->out[place(out, to->first + row, channel, to->area)] = nt_from_f32(value);
}

/* Channels from `k0` on, BLOCK_X apart, of this thread's pixels. */
NT_INLINE void convolve_part(const float *from, const nt_elem *packed, int in, int out, int k0, const target *to)
{
    int row = (int)threadIdx.y * PIXELS, pitch = UP(in);
    float sum[PIXELS][CHANNELS];
#pragma unroll
    for (int p = 0; p < PIXELS; p++)
#pragma unroll
        for (int m = 0; m < CHANNELS; m++)
            sum[p][m] = 0.0f;
    for (int j = 0; j < pitch; j += 4) {
        float a[PIXELS][4];
#pragma unroll
        for (int p = 0; p < PIXELS; p++)
            nt_get4(from + (row + p) * pitch + j, a[p]);
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int m = 0; m < CHANNELS; m++) {
                int k = k0 + m * BLOCK_X < out ? k0 + m * BLOCK_X : out - 1;
                float b = nt_to_f32(packed[(long long)(j + i) * out + k]);
#pragma unroll
                for (int p = 0; p < PIXELS; p++)
                    sum[p][m] += a[p][i] * b;
            }
    }
#pragma unroll
    for (int m = 0; m < CHANNELS; m++)
#pragma unroll
        for (int p = 0; p < PIXELS; p++)
            if (k0 + m * BLOCK_X < UP(out))
                put(to, out, row + p, k0 + m * BLOCK_X, relu(sum[p][m]));
}

/* Part `part` of `parts` of the output channels. */
NT_INLINE void convolve(const float *from, const nt_elem *packed, int in, int out, const target *to, int part,
                        int parts)
{
    for (int k0 = part * BLOCK_X * CHANNELS; k0 < UP(out); k0 += parts * BLOCK_X * CHANNELS)
        convolve_part(from, packed, in, out, k0 + (int)threadIdx.x, to);
}

/* packed: the three convolutions' weights one after another. */
NT_ENTRY void __launch_bounds__(BLOCK_X *BLOCK_Y)
    nt_chain3(const nt_elem *__restrict__ in, const nt_elem *__restrict__ packed, nt_elem *__restrict__ out, int pixels,
              int area, int c, int k1, int k2, int k)
{
    NT_SHARED(float, tile);
    int first = (int)blockIdx.x * ROWS;
    float *a = tile, *b = tile + ROWS * (UP(c) > UP(k2) ? UP(c) : UP(k2));
    const nt_elem *second = packed + (long long)UP(c) * k1, *third = second + (long long)UP(k1) * k2;
    target to1 = {b, 0, 0, 0, 0}, to2 = {a, 0, 0, 0, 0}, to3 = {0, out, first, pixels, area};
    load_pixels(in, c, first, pixels, area, a);
    __syncthreads();
    convolve(a, packed, c, k1, &to1, 0, 1);
    __syncthreads();
    convolve(b, second, k1, k2, &to2, 0, 1);
    __syncthreads();
    convolve(a, third, k2, k, &to3, 0, 1);
}

/* One of three launches; the blocks along y share its channels. */
NT_ENTRY void __launch_bounds__(BLOCK_X *BLOCK_Y)
    nt_chain3_one(const nt_elem *__restrict__ in, const nt_elem *__restrict__ packed, nt_elem *__restrict__ out,
                  int pixels, int area, int c, int k, int parts)
{
    NT_SHARED(float, tile);
    int first = (int)blockIdx.x * ROWS;
    target to = {0, out, first, pixels, area};
    load_pixels(in, c, first, pixels, area, tile);
    __syncthreads();
    convolve(tile, packed, c, k, &to, (int)blockIdx.y, parts);
}
