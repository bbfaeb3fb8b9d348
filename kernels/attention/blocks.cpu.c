/* blocks.cpu.c: attention on a cpu. A work item is `rows` queries of one head. It walks the keys, KEYS at a time: keys
 * are laid out by element and values by key, both as f32, in scratch; then QUERIES queries at a time get their scores
 * and their sums over the values by register tiles of QUERIES x VECTORS vectors. The running maximum is lifted block by
 * block.
 *
 * args: in, out, batch, heads, tokens, d, rows */

#define TILE (VECTORS * LANES)
#define LOW  (-1e30f)

void attention(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);

typedef struct item {
    const element *q, *k, *v; /* of the image's token 0 and this head */
    int64_t stride;           /* elements from token to token */
    int64_t tokens, d, width; /* width: d rounded up to tiles */
    int64_t rows;             /* queries in scratch, rounded up to QUERIES */
    float *keys, *values;     /* [d][KEYS], [KEYS][width] */
    float *queries, *out;     /* [rows][d], [rows][width] */
    float *most, *sum;        /* [rows] */
} item;

static void load_queries(const item *o, int64_t first)
{
    float scale = 1.0f / __builtin_sqrtf((float)o->d);
    for (int64_t r = 0; r < o->rows; r++) {
        for (int64_t t = 0; t < o->d; t++)
            o->queries[r * o->d + t] = first + r < o->tokens ? value_of(o->q[(first + r) * o->stride + t]) * scale : 0;
        for (int64_t t = 0; t < o->width; t++)
            o->out[r * o->width + t] = 0;
        o->most[r] = LOW;
        o->sum[r] = 0;
    }
}

static void load_keys(const item *o, int64_t first)
{
    for (int64_t j = 0; j < KEYS; j++) {
        int64_t token = first + j;
        int exists = token < o->tokens;
        for (int64_t t = 0; t < o->d; t++)
            o->keys[t * KEYS + j] = exists ? value_of(o->k[token * o->stride + t]) : 0;
        for (int64_t t = 0; t < o->width; t++)
            o->values[j * o->width + t] = exists && t < o->d ? value_of(o->v[token * o->stride + t]) : 0;
    }
}

/* to[QUERIES][TILE] (rows `to_step` apart) += a[QUERIES][depth] (rows `a_step` apart) x b[depth][TILE] (`b_step`). */
INLINE void multiply(const float *a, int64_t a_step, const float *b, int64_t b_step, int64_t depth, float *to,
                     int64_t to_step)
{
    vec sum[QUERIES][VECTORS];
    REPEAT(8)
    for (int q = 0; q < QUERIES; q++)
        REPEAT(4) for (int v = 0; v < VECTORS; v++) sum[q][v] = vec_load_f32(to + q * to_step + v * LANES);
    for (int64_t i = 0; i < depth; i++) {
        vec x[VECTORS];
        REPEAT(4) for (int v = 0; v < VECTORS; v++) x[v] = vec_load_f32(b + i * b_step + v * LANES);
        REPEAT(8) for (int q = 0; q < QUERIES; q++)
        {
            vec y = vec_of(a[q * a_step + i]);
            REPEAT(4) for (int v = 0; v < VECTORS; v++) sum[q][v] += y * x[v];
        }
    }
    REPEAT(8)
    for (int q = 0; q < QUERIES; q++)
        REPEAT(4) for (int v = 0; v < VECTORS; v++) vec_store_f32(to + q * to_step + v * LANES, sum[q][v]);
}

/* Scores of one query to weights; keys from `valid` on do not exist. */
static void weigh(const item *o, int64_t row, int64_t valid, float *score)
{
    for (int64_t j = valid; j < KEYS; j++)
        score[j] = LOW;
    vec largest = vec_of(o->most[row]), total = vec_of(0);
    for (int64_t j = 0; j < KEYS; j += LANES)
        largest = vec_max(largest, vec_load_f32(score + j));
    float most = vec_largest(largest), shrink = exp_of(o->most[row] - most);
    for (int64_t j = 0; j < KEYS; j += LANES) {
        vec e = vec_exp(vec_load_f32(score + j) - vec_of(most));
        vec_store_f32(score + j, e);
        total += e;
    }
    o->most[row] = most;
    o->sum[row] = o->sum[row] * shrink + vec_sum(total);
    for (int64_t t = 0; t < o->width; t += LANES)
        vec_store_f32(o->out + row * o->width + t, vec_load_f32(o->out + row * o->width + t) * vec_of(shrink));
}

static void walk(const item *o, int64_t first)
{
    float score[QUERIES * KEYS];
    int64_t valid = least(KEYS, o->tokens - first);
    load_keys(o, first);
    for (int64_t row = 0; row < o->rows; row += QUERIES) {
        memset(score, 0, sizeof score);
        for (int64_t j = 0; j < KEYS; j += TILE)
            multiply(o->queries + row * o->d, o->d, o->keys + j, KEYS, o->d, score + j, KEYS);
        for (int64_t q = 0; q < QUERIES; q++)
            weigh(o, row + q, valid, score + q * KEYS);
        for (int64_t t = 0; t < o->width; t += TILE)
            multiply(score, KEYS, o->values + t, o->width, valid, o->out + row * o->width + t, o->width);
    }
}

void attention(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    const element *in = argument_pointer(args, 0);
    result *out = argument_pointer(args, 1);
    int64_t batch = argument_int(args, 2), heads = argument_int(args, 3), tokens = argument_int(args, 4);
    int64_t d = argument_int(args, 5), rows = argument_int(args, 6), blocks = (tokens + rows - 1) / rows;
    int64_t width = (d + TILE - 1) / TILE * TILE, padded = (rows + QUERIES - 1) / QUERIES * QUERIES;
    float keys[d * KEYS] __attribute__((aligned(64))), values[KEYS * width] __attribute__((aligned(64)));
    float queries[padded * d], sums[padded * width], most[padded], sum[padded];
    (void)thread, (void)threads;
    for (int64_t number = begin; number < end && number < batch * heads * blocks; number++) {
        int64_t first = number % blocks * rows, head = number / blocks % heads, image = number / blocks / heads;
        const element *at = in + image * tokens * 3 * heads * d + head * d;
        item o = {at,
                  at + heads * d,
                  at + 2 * heads * d,
                  3 * heads * d,
                  tokens,
                  d,
                  width,
                  padded,
                  keys,
                  values,
                  queries,
                  sums,
                  most,
                  sum};
        load_queries(&o, first);
        for (int64_t k = 0; k < tokens; k += KEYS)
            walk(&o, k);
        for (int64_t r = 0; r < rows && first + r < tokens; r++)
            for (int64_t t = 0; t < d; t++)
                out[((image * tokens + first + r) * heads + head) * d + t] = result_of(sums[r * width + t] / sum[r]);
    }
}
