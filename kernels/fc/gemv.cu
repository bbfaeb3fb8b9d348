/* gemv.cu: fc for a small batch: a few dot products a weight, as fast as weights come from memory. Comes after
 * prelude.cuh and tensor_core.cuh (nt_exchange, nt_dot4).
 *
 * A warp sums ROWS outputs of BATCH examples; its lanes read 16 bytes each, side by side, UNROLL times ahead. PARTS warps
 * of a block share the inputs of the same outputs. Macros: the parameters of cuda_gemv.c, BATCH. */

#define VECTOR  (16 / (int)sizeof(nt_elem))
#define THREADS (WARPS * 32)
#define SUMS    (ROWS * BATCH)

#ifdef NT_PRECISION_INT8
typedef int nt_out;
#define nt_rounded(x) (x)
#else
typedef nt_elem nt_out;
#define nt_rounded(x) nt_from_f32(x)
#endif

/* 16 bytes as they are. */
typedef struct __align__(16) vector {
    unsigned word[4];
} vector;

/* Adds the products of two vectors' elements. */
NT_INLINE void add_products(nt_sum *sum, const vector *a, const vector *b)
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
#if defined(NT_PRECISION_INT8)
        *sum = nt_dot4(*sum, a->word[i], b->word[i]);
#elif defined(NT_PRECISION_FP16) || defined(NT_PRECISION_BF16)
        float x[2], y[2];
        nt_unpack2(a->word[i], x);
        nt_unpack2(b->word[i], y);
        *sum += x[0] * y[0];
        *sum += x[1] * y[1];
#else
        *sum += nt_bits_to_f32(a->word[i]) * nt_bits_to_f32(b->word[i]);
#endif
    }
}

NT_INLINE vector load_vector(const nt_elem *from)
{
    return *(const vector *)from;
}

/* Products of UNROLL vectors, `step` elements apart; those past the end are left out. */
NT_INLINE void add_vectors(nt_sum sum[ROWS][BATCH], const nt_elem *in, const nt_elem *const row[ROWS], int at, int step,
                           int channels)
{
    vector w[UNROLL][ROWS];
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (at + u * step < channels)
                w[u][r] = load_vector(row[r] + at + u * step);
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
        if (at + u * step < channels)
#pragma unroll
            for (int n = 0; n < BATCH; n++) {
                vector x = load_vector(in + (long long)n * channels + at + u * step);
#pragma unroll
                for (int r = 0; r < ROWS; r++)
                    add_products(&sum[r][n], &x, &w[u][r]);
            }
}

NT_INLINE nt_sum add_lanes(nt_sum x)
{
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) {
#ifdef NT_PRECISION_INT8
        x += (int)nt_exchange((unsigned)x, mask);
#else
        x += nt_bits_to_f32(nt_exchange(nt_f32_to_bits(x), mask));
#endif
    }
    return x;
}

NT_ENTRY void __launch_bounds__(THREADS)
    nt_fc_gemv(const nt_elem *in, const nt_elem *weight, nt_out *out, int channels, int filters)
{
    NT_SHARED(nt_sum, partial); /* [WARPS][SUMS] */
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, part = warp % PARTS;
    int first = (blockIdx.x * (WARPS / PARTS) + warp / PARTS) * ROWS, step = PARTS * 32 * VECTOR;
    nt_sum sum[ROWS][BATCH];
    const nt_elem *row[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        /* Rows past the last one repeat it and are not stored. */
        row[r] = weight + (long long)(first + r < filters ? first + r : filters - 1) * channels;
#pragma unroll
        for (int n = 0; n < BATCH; n++)
            sum[r][n] = 0;
    }
#pragma unroll 1
    for (int at = (part * 32 + lane) * VECTOR; at < channels; at += UNROLL * step)
        add_vectors(sum, in, row, at, step, channels);
#pragma unroll
    for (int i = 0; i < SUMS; i++) {
        nt_sum all = add_lanes(sum[i / BATCH][i % BATCH]);
        if (lane == 0)
            partial[warp * SUMS + i] = all;
    }
    __syncthreads();
    if (part > 0)
        return;
    for (int i = lane; i < SUMS; i += 32) {
        nt_sum all = 0;
        for (int p = 0; p < PARTS; p++)
            all += partial[(warp + p) * SUMS + i];
        if (first + i / BATCH < filters)
            out[(long long)(i % BATCH) * filters + first + i / BATCH] = nt_rounded(all);
    }
}
