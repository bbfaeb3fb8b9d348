/* simt.cu: attention on the CUDA cores. A warp has QUERIES queries of one head; a block of WARPS warps walks the keys,
 * KEYS at a time, which it stages in shared memory as f32 with their values. For the scores a lane has KEYS / 32 keys
 * and the queries are read by all lanes at once; for the sums over the values a lane has HEAD_DIM / 32 of the head's
 * elements and reads the weights, which pass through shared memory, by fours. The running maximum is lifted block by
 * block. VEC is 4. */

#define ROW (HEAD_DIM + 4) /* an odd number of 16-byte units: rows of 32 lanes lie on different banks */
#define LANE_KEYS (KEYS / 32)
#define LANE_ELEMENTS ((HEAD_DIM + 31) / 32)
#define LOW (-1e30f)

typedef struct head {
    const nt_in *q, *k, *v; /* token 0 */
    long long stride;       /* elements from token to token */
    int tokens;
} head;

NT_INLINE void put_4(float *to, const float *from)
{
    nt_put4(to, from);
}

/* `rows` tokens from `first` as f32; those past the last are zero. */
NT_INLINE void stage(const nt_in *from, const head *h, int first, int rows, int row_length, float *to)
{
    for (int i = threadIdx.x; i < rows * (HEAD_DIM / 4); i += 32 * WARPS) {
        int row = i / (HEAD_DIM / 4), at = i % (HEAD_DIM / 4) * 4;
        float value[4];
        value[0] = value[1] = value[2] = value[3] = 0.0f;
        if (first + row < h->tokens)
            nt_load_vec(from + (first + row) * h->stride + at, value);
        put_4(to + row * row_length + at, value);
    }
}

NT_INLINE float warp_reduce(float value, int is_max)
{
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) {
        float other = nt_shuffle_xor(value, mask);
        value = is_max ? (value > other ? value : other) : value + other;
    }
    return value;
}

NT_INLINE void scores_of(const float *queries, const float *keys, int lane, float (*score)[LANE_KEYS])
{
#pragma unroll
    for (int q = 0; q < QUERIES; q++)
#pragma unroll
        for (int k = 0; k < LANE_KEYS; k++)
            score[q][k] = 0.0f;
#pragma unroll 4
    for (int t = 0; t < HEAD_DIM; t += 4) {
        float key[LANE_KEYS][4];
#pragma unroll
        for (int k = 0; k < LANE_KEYS; k++)
            nt_get4(keys + (k * 32 + lane) * ROW + t, key[k]);
#pragma unroll
        for (int q = 0; q < QUERIES; q++) {
            float query[4];
            nt_get4(queries + q * HEAD_DIM + t, query);
#pragma unroll
            for (int k = 0; k < LANE_KEYS; k++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    score[q][k] += query[i] * key[k][i];
        }
    }
}

/* Scores to weights, which go to shared memory; lifts the maximum and shrinks what was summed under the old one. */
NT_INLINE void weigh(float *score, int keys_left, int lane, float *most, float *sum, float *out, float *weights)
{
    float largest = *most, total = 0.0f;
#pragma unroll
    for (int k = 0; k < LANE_KEYS; k++) {
        score[k] = k * 32 + lane < keys_left ? score[k] * SCALE : LOW;
        largest = score[k] > largest ? score[k] : largest;
    }
    largest = warp_reduce(largest, 1);
#pragma unroll
    for (int k = 0; k < LANE_KEYS; k++) {
        float weight = k * 32 + lane < keys_left ? nt_exp2(score[k] - largest) : 0.0f;
        weights[k * 32 + lane] = weight;
        total += weight;
    }
    float shrink = nt_exp2(*most - largest);
    *sum = *sum * shrink + warp_reduce(total, 0);
    *most = largest;
#pragma unroll
    for (int e = 0; e < LANE_ELEMENTS; e++)
        out[e] *= shrink;
}

NT_INLINE void add_values(const float *weights, const float *values, int lane, float (*out)[LANE_ELEMENTS])
{
#pragma unroll 2
    for (int k = 0; k < KEYS; k += 4) {
        float value[4][LANE_ELEMENTS];
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int e = 0; e < LANE_ELEMENTS; e++)
                value[i][e] = e * 32 + lane < HEAD_DIM ? values[(k + i) * HEAD_DIM + e * 32 + lane] : 0.0f;
#pragma unroll
        for (int q = 0; q < QUERIES; q++) {
            float weight[4];
            nt_get4(weights + q * KEYS + k, weight);
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int e = 0; e < LANE_ELEMENTS; e++)
                    out[q][e] += weight[i] * value[i][e];
        }
    }
}

NT_ENTRY void __launch_bounds__(32 * WARPS)
    nt_attention_simt(const nt_in *__restrict__ in, nt_res *__restrict__ out, int heads, int tokens, int tiles)
{
    NT_SHARED(float, memory);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, first = (int)(blockIdx.x % tiles) * (WARPS * QUERIES);
    int index = (int)(blockIdx.x / tiles), image = index / heads, number = index % heads;
    long long width = (long long)heads * HEAD_DIM;
    head h;
    h.stride = 3 * width;
    h.tokens = tokens;
    h.q = in + (long long)image * tokens * h.stride + number * HEAD_DIM;
    h.k = h.q + width;
    h.v = h.k + width;
    float *keys = memory, *values = keys + KEYS * ROW, *queries = values + KEYS * HEAD_DIM;
    float *weights = queries + WARPS * QUERIES * HEAD_DIM + warp * QUERIES * KEYS;
    float most[QUERIES], sum[QUERIES], result[QUERIES][LANE_ELEMENTS], score[QUERIES][LANE_KEYS];
#pragma unroll
    for (int q = 0; q < QUERIES; q++) {
        most[q] = LOW;
        sum[q] = 0.0f;
#pragma unroll
        for (int e = 0; e < LANE_ELEMENTS; e++)
            result[q][e] = 0.0f;
    }
    stage(h.q, &h, first, WARPS * QUERIES, HEAD_DIM, queries);
    queries += warp * QUERIES * HEAD_DIM;
    for (int k = 0; k < tokens; k += KEYS) {
        __syncthreads();
        stage(h.k, &h, k, KEYS, ROW, keys);
        stage(h.v, &h, k, KEYS, HEAD_DIM, values);
        __syncthreads();
        scores_of(queries, keys, lane, score);
#pragma unroll
        for (int q = 0; q < QUERIES; q++)
            weigh(score[q], tokens - k, lane, &most[q], &sum[q], result[q], weights + q * KEYS);
        nt_warp_barrier();
        add_values(weights, values, lane, result);
    }
#pragma unroll
    for (int q = 0; q < QUERIES; q++) {
        int token = first + warp * QUERIES + q;
        float scale = 1.0f / sum[q];
        nt_res *to = out + ((long long)image * tokens + token) * width + number * HEAD_DIM;
#pragma unroll
        for (int e = 0; e < LANE_ELEMENTS; e++)
            if (token < tokens && e * 32 + lane < HEAD_DIM)
                nt_set(to + e * 32 + lane, result[q][e] * scale);
    }
}
