/* rows.cpu.c: layernorm of rows: the mean, the variance of the differences, then the row again. A work item is
 * rows_per_item rows.
 *
 * args: in, weight (gamma, then beta), out, rows, c, rows_per_item */

void layernorm(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);

/* The sum of (x - less) or, for `squares`, of its squares. */
INLINE float sum_of(const element *row, int64_t c, float less, int squares)
{
    vec sum[UNROLL];
    int64_t i = 0;
    for (int u = 0; u < UNROLL; u++)
        sum[u] = vec_of(0);
    for (; i + UNROLL * LANES <= c; i += UNROLL * LANES)
        REPEAT(8) for (int u = 0; u < UNROLL; u++)
        {
            vec x = vec_load(row + i + u * LANES) - vec_of(less);
            if (squares)
                x *= x;
            sum[u] += x;
        }
    float total = 0;
    for (int u = 0; u < UNROLL; u++)
        total += vec_sum(sum[u]);
    for (; i < c; i++) {
        float x = value_of(row[i]) - less;
        total += squares ? x * x : x;
    }
    return total;
}

static void finish(const element *row, const element *weight, int64_t c, float mean, float r, result *out)
{
    int64_t i = 0;
    for (; i + LANES <= c; i += LANES) {
        vec x = (vec_load(row + i) - vec_of(mean)) * vec_of(r);
        vec_store(out + i, x * vec_load(weight + i) + vec_load(weight + c + i));
    }
    for (; i < c; i++)
        out[i] = result_of((value_of(row[i]) - mean) * r * value_of(weight[i]) + value_of(weight[c + i]));
}

void layernorm(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    const element *in = argument_pointer(args, 0), *weight = argument_pointer(args, 1);
    result *out = argument_pointer(args, 2);
    int64_t rows = argument_int(args, 3), c = argument_int(args, 4), each = argument_int(args, 5);
    float scale = 1.0f / (float)c;
    (void)thread, (void)threads;
    for (int64_t row = begin * each; row < end * each && row < rows; row++) {
        const element *at = in + row * c;
        float mean = sum_of(at, c, 0, 0) * scale, variance = sum_of(at, c, mean, 1) * scale;
        finish(at, weight, c, mean, 1.0f / __builtin_sqrtf(variance + 1e-5f), out + row * c);
    }
}
