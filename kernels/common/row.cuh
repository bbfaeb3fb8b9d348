/* row.cuh: a row of a matrix in the registers of THREADS threads, ITEMS vectors of VEC elements each, and sums and
 * maxima over it. Comes after vector.cuh; a block is THREADS x ROWS_PER_BLOCK threads, one y a row.
 *
 * Vector i of thread t begins at element (i * THREADS + t) * VEC, so that neighbours load neighbours. Up to 32 threads
 * meet by shuffles; more meet by shuffles and then in shared memory, one f32 a warp: all threads of the block must
 * come, those of rows that do not exist as well. */

#define NT_LANES (THREADS < 32 ? THREADS : 32)
#define NT_WARPS (THREADS / 32) /* of a row; 0 for parts of a warp */

NT_INLINE float nt_row_join(float a, float b, int is_max)
{
    return is_max ? (a > b ? a : b) : a + b;
}

/* The sum or the maximum over the row's threads, in each of them. `rounded` says that every sum is rounded to fp16. */
NT_INLINE float nt_row_reduce(float value, int is_max, int rounded)
{
#pragma unroll
    for (int mask = NT_LANES / 2; mask > 0; mask /= 2) {
        value = nt_row_join(value, nt_shuffle_xor(value, mask), is_max);
        if (rounded)
            value = nt_f16_to_f32(nt_f32_to_f16(value));
    }
#if THREADS > 32
    NT_SHARED(float, warps);
    float *mine = warps + threadIdx.y * NT_WARPS;
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        mine[threadIdx.x / 32] = value;
    __syncthreads();
    value = mine[0];
    for (int i = 1; i < NT_WARPS; i++) {
        value = nt_row_join(value, mine[i], is_max);
        if (rounded)
            value = nt_f16_to_f32(nt_f32_to_f16(value));
    }
#endif
    return value;
}

#define EACH_VECTOR(i) _Pragma("unroll") for (int i = 0; i < ITEMS; i++)
#define EACH_VALUE(v) _Pragma("unroll") for (int v = 0; v < VEC; v++)

/* First element of vector i. */
NT_INLINE int nt_row_at(int i)
{
    return (i * THREADS + (int)threadIdx.x) * VEC;
}

/* Elements past the end are `otherwise`; `exists` is false for a row that is not there. */
NT_INLINE void nt_row_load(const nt_in *row, int c, int exists, float otherwise, float (*x)[VEC])
{
    EACH_VECTOR(i)
    {
        if (exists && nt_row_at(i) < c) {
            nt_load_vec(row + nt_row_at(i), x[i]);
        } else {
            EACH_VALUE(v)
            x[i][v] = otherwise;
        }
    }
}

NT_INLINE void nt_row_store(nt_res *row, int c, int exists, float (*x)[VEC])
{
    EACH_VECTOR(i)
    if (exists && nt_row_at(i) < c)
        nt_store_vec(row + nt_row_at(i), x[i]);
}
