/* depthwise.cu: depthwise convolution behind prelude.cuh. A thread does PIXELS neighbouring outputs of a row for VEC
 * channels. In NHWC neighbouring threads have neighbouring channels; in NCHW, where VEC is 1, neighbouring outputs. The
 * inputs that neighbouring outputs share are read once a thread; weights are packed [tap][channel] beforehand. */

#ifndef VEC
#define VEC 1
#endif
#ifndef PIXELS
#define PIXELS 2
#endif
#ifndef THREADS
#define THREADS 128
#endif
#ifndef TAPS
#define TAPS   3
#define STRIDE 1
#define PAD    1
#endif
#define COLUMNS ((PIXELS - 1) * STRIDE + TAPS)

#ifdef NT_PRECISION_INT8
typedef int nt_result;
#define WIDE(x)   ((int)(x))
#define NARROW(x) (x)
#else
typedef nt_elem nt_result;
#define WIDE(x)   nt_to_f32(x)
#define NARROW(x) nt_from_f32(x)
#endif

typedef struct elements {
    nt_elem v[VEC];
} __attribute__((aligned(VEC * sizeof(nt_elem)))) elements;

typedef struct results {
    nt_result v[VEC];
} __attribute__((aligned(VEC * sizeof(nt_result) > 16 ? 16 : VEC * sizeof(nt_result)))) results;

/* weight [channel][tap] -> packed [tap][channel]; a thread an element. */
NT_ENTRY void pack_weights(const nt_elem *__restrict__ weight, nt_elem *__restrict__ packed, int c)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < c * TAPS * TAPS)
        packed[i % (TAPS * TAPS) * c + i / (TAPS * TAPS)] = weight[i];
}

/* Where a thread's outputs lie: row y, columns from x on, channels from k on. */
typedef struct place {
    long long image;
    int y, x, k;
} place;

NT_INLINE place locate(long long i, int c, int out_h, int tiles)
{
    place at;
#ifdef NT_LAYOUT_NCHW
    at.x = (int)(i % tiles) * PIXELS;
    at.y = (int)(i / tiles % out_h);
    at.k = (int)(i / tiles / out_h % c);
    at.image = i / tiles / out_h / c;
#else
    int groups = c / VEC;
    at.k = (int)(i % groups) * VEC;
    at.x = (int)(i / groups % tiles) * PIXELS;
    at.y = (int)(i / groups / tiles % out_h);
    at.image = i / groups / tiles / out_h;
#endif
    return at;
}

NT_INLINE long long element_at(const place *at, int c, int h, int w, int y, int x)
{
#ifdef NT_LAYOUT_NCHW
    return ((at->image * c + at->k) * h + y) * w + x;
#else
    return ((at->image * h + y) * w + x) * c + at->k;
#endif
}

/* `count` threads of all blocks have work. */
NT_ENTRY void __launch_bounds__(THREADS)
convolve(const nt_elem *__restrict__ in, const nt_elem *__restrict__ packed, nt_result *__restrict__ out,
         long long count, int c, int h, int w, int out_h, int out_w)
{
    long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    place at = locate(i, c, out_h, (out_w + PIXELS - 1) / PIXELS);
    nt_sum sum[PIXELS][VEC];
    if (i >= count)
        return;
#pragma unroll
    for (int p = 0; p < PIXELS; p++)
#pragma unroll
        for (int v = 0; v < VEC; v++)
            sum[p][v] = 0;
#pragma unroll
    for (int r = 0; r < TAPS; r++) {
        int y = at.y * STRIDE + r - PAD;
        elements row[COLUMNS];
        if (y < 0 || y >= h)
            continue;
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            int x = at.x * STRIDE + j - PAD;
            if (x >= 0 && x < w)
                row[j] = *(const elements *)(in + element_at(&at, c, h, w, y, x));
            else
#pragma unroll
                for (int v = 0; v < VEC; v++)
                    row[j].v[v] = 0;
        }
#pragma unroll
        for (int q = 0; q < TAPS; q++) {
            elements weights = *(const elements *)(packed + (long long)(r * TAPS + q) * c + at.k);
#pragma unroll
            for (int p = 0; p < PIXELS; p++)
#pragma unroll
                for (int v = 0; v < VEC; v++)
                    sum[p][v] += WIDE(row[p * STRIDE + q].v[v]) * WIDE(weights.v[v]);
        }
    }
#pragma unroll
    for (int p = 0; p < PIXELS; p++)
        if (at.x + p < out_w) {
            nt_result *to = out + element_at(&at, c, out_h, out_w, at.y, at.x + p);
            results values;
#pragma unroll
            for (int v = 0; v < VEC; v++)
                values.v[v] = NARROW(sum[p][v]);
            *(results *)to = values;
        }
}
