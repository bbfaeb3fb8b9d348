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
    NT_SHARED(float, memory);
    float *mine = memory + threadIdx.y * NT_WARPS;
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

/* With STAGED the block's rows, which lie in one piece, pass through shared memory in vectors of 16 bytes: rows of odd
 * length are then moved as fast as even ones. What nt_row_reduce needs lies in front. */
#ifndef STAGED
#define STAGED 0
#endif
#define NT_STAGE_OFFSET ((NT_WARPS * ROWS_PER_BLOCK * 4 + 15) / 16 * 16)

NT_INLINE void nt_move_rows(const nt_in *from, nt_in *to, int count)
{
    enum { STEP = 16 / NT_IN_BYTES };
    int thread = (int)(threadIdx.y * THREADS + threadIdx.x);
    for (int i = thread * STEP; i < count; i += THREADS * ROWS_PER_BLOCK * STEP) {
        if (i + STEP <= count) {
            *(uint4 *)(to + i) = *(const uint4 *)(from + i);
        } else {
            for (int j = i; j < count; j++)
                to[j] = from[j];
        }
    }
}

/* The rows of this block and their elements. */
typedef struct nt_block_rows {
    long long first; /* element */
    int count;
    nt_in *staged;
} nt_block_rows;

NT_INLINE nt_block_rows nt_block_begin(const nt_in *in, long long rows, int c)
{
    NT_SHARED(float, memory);
    nt_block_rows b;
    long long first = (long long)blockIdx.x * ROWS_PER_BLOCK, left = rows - first;
    b.first = first * c;
    b.count = (int)(left < ROWS_PER_BLOCK ? left : ROWS_PER_BLOCK) * c;
    b.staged = (nt_in *)((char *)memory + NT_STAGE_OFFSET);
    if (STAGED) {
        nt_move_rows(in + b.first, b.staged, b.count);
        __syncthreads();
    }
    return b;
}

/* Where a thread's row is read, and where it is written. */
NT_INLINE const nt_in *nt_row_from(const nt_block_rows *b, const nt_in *in, int c)
{
    return (STAGED ? b->staged : in + b->first) + (long long)threadIdx.y * c;
}

NT_INLINE nt_res *nt_row_to(const nt_block_rows *b, nt_res *out, int c)
{
    return (STAGED ? (nt_res *)b->staged : out + b->first) + (long long)threadIdx.y * c;
}

NT_INLINE void nt_block_end(const nt_block_rows *b, nt_res *out)
{
    if (STAGED) {
        __syncthreads();
        nt_move_rows(b->staged, (nt_in *)out + b->first, b->count);
    }
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
