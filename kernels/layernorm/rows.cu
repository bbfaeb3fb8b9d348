/* rows.cu: layernorm of rows that stay in registers: read once, written once; the mean first, then the variance of the
 * differences. Sums are in f32; with HALF_SUMS every partial sum is rounded to fp16, which is what code does that
 * accumulates in the type of its data. */

#ifndef HALF_SUMS
#define HALF_SUMS 0
#endif

NT_INLINE float add_rounded(float sum, float x)
{
    sum += x;
    return HALF_SUMS ? nt_f16_to_f32(nt_f32_to_f16(sum)) : sum;
}

/* Mean of the row; elements past its end are zero. */
NT_INLINE float mean_of(float (*x)[VEC], float scale)
{
    float sum = 0.0f;
    EACH_VECTOR(i)
    EACH_VALUE(v)
    sum = add_rounded(sum, x[i][v]);
    return nt_row_reduce(sum, 0, HALF_SUMS) * scale;
}

/* Subtracts the mean and returns the mean of the squares. */
NT_INLINE float variance_of(float (*x)[VEC], int c, float mean, float scale)
{
    float sum = 0.0f;
    EACH_VECTOR(i)
    if (nt_row_at(i) < c) {
        EACH_VALUE(v)
        {
            x[i][v] -= mean;
            sum = add_rounded(sum, x[i][v] * x[i][v]);
        }
    }
    return nt_row_reduce(sum, 0, HALF_SUMS) * scale;
}

NT_ENTRY void __launch_bounds__(THREADS *ROWS_PER_BLOCK)
    nt_layernorm(const nt_in *__restrict__ in, const nt_in *__restrict__ weight, nt_res *__restrict__ out,
                 long long rows, int c)
{
    long long row = (long long)blockIdx.x * ROWS_PER_BLOCK + threadIdx.y;
    int exists = row < rows;
    float x[ITEMS][VEC], scale = 1.0f / (float)c;
    nt_block_rows block = nt_block_begin(in, rows, c);
    nt_row_load(nt_row_from(&block, in, c), c, exists, 0.0f, x);
    float mean = mean_of(x, scale), variance = variance_of(x, c, mean, scale);
    float r = 1.0f / nt_sqrt(variance + 1e-5f);
    EACH_VECTOR(i)
    if (nt_row_at(i) < c) {
        float gamma[VEC], beta[VEC];
        nt_load_vec(weight + nt_row_at(i), gamma);
        nt_load_vec(weight + c + nt_row_at(i), beta);
        EACH_VALUE(v)
        x[i][v] = x[i][v] * r * gamma[v] + beta[v];
    }
    nt_row_store(nt_row_to(&block, out, c), c, exists, x);
    nt_block_end(&block, out);
}
