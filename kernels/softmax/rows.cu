/* rows.cu: softmax of rows that stay in registers: read once, written once. Sums are in f32; with HALF_SUMS every
 * partial sum is rounded to fp16, which is what code does that accumulates in the type of its data. */

#ifndef HALF_SUMS
#define HALF_SUMS 0
#endif

NT_ENTRY void __launch_bounds__(THREADS *ROWS_PER_BLOCK)
    nt_softmax(const nt_in *__restrict__ in, nt_res *__restrict__ out, long long rows, int c)
{
    long long row = (long long)blockIdx.x * ROWS_PER_BLOCK + threadIdx.y;
    int exists = row < rows;
    float x[ITEMS][VEC], largest = -3.402823466e38f, sum = 0.0f;
    nt_block_rows block = nt_block_begin(in, rows, c);
    nt_row_load(nt_row_from(&block, in, c), c, exists, -3.402823466e38f, x);
    EACH_VECTOR(i)
    EACH_VALUE(v)
    largest = x[i][v] > largest ? x[i][v] : largest;
    largest = nt_row_reduce(largest, 1, 0);
    EACH_VECTOR(i)
    EACH_VALUE(v)
    {
        x[i][v] = nt_exp2((x[i][v] - largest) * 1.4426950408889634f);
        sum += x[i][v];
        if (HALF_SUMS)
            sum = nt_f16_to_f32(nt_f32_to_f16(sum));
    }
    if (!exists || nt_row_at(0) >= c)
        sum = 0.0f;
    sum = nt_row_reduce(sum, 0, HALF_SUMS);
    float scale = 1.0f / sum;
    EACH_VECTOR(i)
    EACH_VALUE(v)
    x[i][v] *= scale;
    nt_row_store(nt_row_to(&block, out, c), c, exists, x);
    nt_block_end(&block, out);
}
