/* flash.cu: attention on tensor cores. A warp has 16 queries of one head in registers; a block of WARPS warps walks the
 * keys, KEYS at a time, which it copies to shared memory with their values, STAGES blocks of keys under way. Scores are
 * sums of one mma, become weights of the element's type, and are at once the left operand of the next: they never leave
 * the registers. The running maximum of a query is lifted block by block (Milakov and Gimelshein, Online normalizer
 * calculation for softmax, 2018; Dao et al., FlashAttention, 2022).
 * Rows in shared memory have one 16-byte unit more than the head, an odd number, so that ldmatrix meets no bank twice. */

#define PITCH ((HEAD_DIM + 8) * 2)
#define QUERY_ROWS (16 * WARPS)
#define BLOCK_BYTES (KEYS * PITCH)
#define D_STEPS (HEAD_DIM / 16)
#define KEY_TILES (KEYS / 8)
#define OUT_TILES (HEAD_DIM / 8)
#define LOW (-1e30f)

#ifndef NT_HOST_EMULATION
/* As nt_load_matrices, each matrix transposed: lane l receives rows 2 (l % 4) and the next of column l / 4. */
NT_INLINE void nt_load_transposed(unsigned word[4], unsigned address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(address)
                 : "memory");
}

/* 2^x, at most 2 units in the last place off (PTX ISA: ex2.approx.f32). */
NT_INLINE float nt_exp2(float x)
{
    float y;
    asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#endif

typedef struct head {
    const nt_elem *q, *k, *v; /* token 0 */
    long long stride;         /* elements from token to token */
    int tokens;
} head;

/* What a thread has of its warp's 16 queries: rows lane / 4 and lane / 4 + 8. */
typedef struct state {
    float out[OUT_TILES][4];
    float most[2], sum[2]; /* the maximum is in units of log2; the sum is this thread's share */
} state;

/* `rows` tokens from `first`; those past the last are zero. */
NT_INLINE void copy_rows(const nt_elem *from, const head *h, int first, int rows, unsigned to)
{
    for (int i = threadIdx.x; i < rows * (HEAD_DIM / 8); i += 32 * WARPS) {
        int row = i / (HEAD_DIM / 8), unit = i % (HEAD_DIM / 8), exists = first + row < h->tokens;
        nt_copy_16(to + row * PITCH + unit * 16, from + (exists ? first + row : 0) * h->stride + unit * 8, exists);
    }
}

NT_INLINE void copy_keys(const head *h, int first, unsigned to)
{
    if (first < h->tokens) {
        copy_rows(h->k, h, first, KEYS, to);
        copy_rows(h->v, h, first, KEYS, to + BLOCK_BYTES);
    }
    nt_copy_commit();
}

NT_INLINE void load_queries(unsigned address, int warp, int lane, unsigned (*query)[4])
{
#pragma unroll
    for (int d = 0; d < D_STEPS; d++)
        nt_load_matrices(query[d], address + (warp * 16 + lane % 16) * PITCH + (d * 2 + lane / 16) * 16);
}

NT_INLINE void multiply_keys(unsigned keys, int lane, unsigned (*query)[4], float (*score)[4])
{
#pragma unroll
    for (int j = 0; j < KEY_TILES; j++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            score[j][i] = 0.0f;
#pragma unroll
    for (int d = 0; d < D_STEPS; d++)
#pragma unroll
        for (int j = 0; j < KEY_TILES; j += 2) {
            unsigned key[4];
            nt_load_matrices(key, keys + (j * 8 + lane % 8 + lane / 16 * 8) * PITCH + (d * 2 + lane / 8 % 2) * 16);
            nt_mma(score[j], query[d], key);
            nt_mma(score[j + 1], query[d], key + 2);
        }
}

/* Scores of keys that do not exist. */
NT_INLINE void mask_keys(int keys_left, int lane, float (*score)[4])
{
#pragma unroll
    for (int j = 0; j < KEY_TILES; j++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (j * 8 + lane % 4 * 2 + i % 2 >= keys_left)
                score[j][i] = LOW;
}

/* Over the four lanes that share a row. */
NT_INLINE float quad_join(float x, int is_max)
{
#pragma unroll
    for (int mask = 1; mask < 4; mask *= 2) {
        float other = nt_bits_to_f32(nt_exchange(nt_f32_to_bits(x), mask));
        x = is_max ? (x > other ? x : other) : x + other;
    }
    return x;
}

/* Scores of row `half` to weights; what was summed under the old maximum shrinks. */
NT_INLINE void weigh(state *s, int half, float (*score)[4])
{
    float largest = LOW, total = 0.0f;
#pragma unroll
    for (int j = 0; j < KEY_TILES; j++)
#pragma unroll
        for (int i = 2 * half; i < 2 * half + 2; i++)
            largest = score[j][i] > largest ? score[j][i] : largest;
    largest = quad_join(largest, 1) * SCALE;
    largest = s->most[half] > largest ? s->most[half] : largest;
    float shrink = nt_exp2(s->most[half] - largest);
    s->most[half] = largest;
#pragma unroll
    for (int j = 0; j < KEY_TILES; j++)
#pragma unroll
        for (int i = 2 * half; i < 2 * half + 2; i++) {
            score[j][i] = nt_exp2(score[j][i] * SCALE - largest);
            total += score[j][i];
        }
    s->sum[half] = s->sum[half] * shrink + total;
#pragma unroll
    for (int j = 0; j < OUT_TILES; j++)
#pragma unroll
        for (int i = 2 * half; i < 2 * half + 2; i++)
            s->out[j][i] *= shrink;
}

NT_INLINE void multiply_values(unsigned values, int lane, float (*weight)[4], state *s)
{
#pragma unroll
    for (int j = 0; j < KEY_TILES; j += 2) {
        unsigned left[4];
        left[0] = nt_pack_2(weight[j][0], weight[j][1]);
        left[1] = nt_pack_2(weight[j][2], weight[j][3]);
        left[2] = nt_pack_2(weight[j + 1][0], weight[j + 1][1]);
        left[3] = nt_pack_2(weight[j + 1][2], weight[j + 1][3]);
#pragma unroll
        for (int t = 0; t < OUT_TILES; t += 2) {
            unsigned value[4];
            nt_load_transposed(value, values + (j * 8 + lane % 16) * PITCH + (t + lane / 16) * 16);
            nt_mma(s->out[t], left, value);
            nt_mma(s->out[t + 1], left, value + 2);
        }
    }
}

NT_INLINE void store_rows(const state *s, nt_elem *out, long long width, int first, int tokens, int lane)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int token = first + lane / 4 + 8 * half;
        float scale = 1.0f / quad_join(s->sum[half], 0);
#pragma unroll
        for (int t = 0; t < OUT_TILES; t++)
            if (token < tokens)
                *(unsigned *)(out + token * width + t * 8 + lane % 4 * 2) =
                    nt_pack_2(s->out[t][2 * half] * scale, s->out[t][2 * half + 1] * scale);
    }
}

NT_ENTRY void __launch_bounds__(32 * WARPS)
    nt_attention_flash(const nt_elem *__restrict__ in, nt_elem *__restrict__ out, int heads, int tokens, int blocks)
{
    extern __shared__ __align__(16) unsigned char tiles[];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, first = (int)(blockIdx.x % blocks) * QUERY_ROWS;
    int image = (int)(blockIdx.x / blocks) / heads, number = (int)(blockIdx.x / blocks) % heads;
    unsigned queries = nt_shared_address(tiles), staged = queries + QUERY_ROWS * PITCH;
    long long width = (long long)heads * HEAD_DIM;
    head h;
    h.stride = 3 * width;
    h.tokens = tokens;
    h.q = in + (long long)image * tokens * h.stride + number * HEAD_DIM;
    h.k = h.q + width;
    h.v = h.k + width;
    state s;
#pragma unroll
    for (int t = 0; t < OUT_TILES; t++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            s.out[t][i] = 0.0f;
    s.most[0] = s.most[1] = LOW;
    s.sum[0] = s.sum[1] = 0.0f;
    copy_rows(h.q, &h, first, QUERY_ROWS, queries);
#pragma unroll
    for (int i = 0; i < STAGES - 1; i++)
        copy_keys(&h, i * KEYS, staged + i * 2 * BLOCK_BYTES);
    unsigned query[D_STEPS][4];
    for (int k = 0, turn = 0; k < tokens; k += KEYS, turn++) {
        copy_keys(&h, k + (STAGES - 1) * KEYS, staged + (turn + STAGES - 1) % STAGES * 2 * BLOCK_BYTES);
        nt_copy_wait(STAGES - 1);
        __syncthreads();
        unsigned keys = staged + turn % STAGES * 2 * BLOCK_BYTES;
        if (turn == 0)
            load_queries(queries, warp, lane, query);
        float score[KEY_TILES][4];
        multiply_keys(keys, lane, query, score);
        if (k + KEYS > tokens)
            mask_keys(tokens - k, lane, score);
        weigh(&s, 0, score);
        weigh(&s, 1, score);
        multiply_values(keys + BLOCK_BYTES, lane, score, &s);
        __syncthreads();
    }
    store_rows(&s, out + (long long)image * tokens * width + number * HEAD_DIM, width, first + warp * 16, tokens, lane);
}
