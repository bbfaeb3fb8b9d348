/* rows.cpu.c: softmax of rows: the largest element, then exponentials into a line of f32 with their sum, then the
 * products with 1/sum. A work item is rows_per_item rows.
 *
 * args: in, out, rows, c, rows_per_item */

void softmax(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);

static float largest_of(const element *row, int64_t c)
{
    vec most[UNROLL];
    int64_t i = 0;
    for (int u = 0; u < UNROLL; u++)
        most[u] = vec_of(value_of(row[0]));
    for (; i + UNROLL * LANES <= c; i += UNROLL * LANES)
        REPEAT(8) for (int u = 0; u < UNROLL; u++) most[u] = vec_max(most[u], vec_load(row + i + u * LANES));
    for (int u = 1; u < UNROLL; u++)
        most[0] = vec_max(most[0], most[u]);
    float largest = vec_largest(most[0]);
    for (; i < c; i++)
        largest = value_of(row[i]) > largest ? value_of(row[i]) : largest;
    return largest;
}

/* Exponentials into the line; returns their sum. */
static float exponentials(const element *row, int64_t c, float largest, float *line)
{
    vec sum[UNROLL];
    int64_t i = 0;
    for (int u = 0; u < UNROLL; u++)
        sum[u] = vec_of(0);
    for (; i + UNROLL * LANES <= c; i += UNROLL * LANES)
        REPEAT(8) for (int u = 0; u < UNROLL; u++)
        {
            vec e = vec_exp(vec_load(row + i + u * LANES) - vec_of(largest));
            vec_store_f32(line + i + u * LANES, e);
            sum[u] += e;
        }
    float total = 0;
    for (int u = 0; u < UNROLL; u++)
        total += vec_sum(sum[u]);
    for (; i < c; i++)
        total += line[i] = exp_of(value_of(row[i]) - largest);
    return total;
}

static void scaled(const float *line, int64_t c, float scale, result *out)
{
    int64_t i = 0;
    for (; i + LANES <= c; i += LANES)
        vec_store(out + i, vec_load_f32(line + i) * vec_of(scale));
    for (; i < c; i++)
        out[i] = result_of(line[i] * scale);
}

void softmax(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    const element *in = argument_pointer(args, 0);
    result *out = argument_pointer(args, 1);
    int64_t rows = argument_int(args, 2), c = argument_int(args, 3), each = argument_int(args, 4);
    float line[c];
    (void)thread, (void)threads;
    for (int64_t row = begin * each; row < end * each && row < rows; row++) {
        float sum = exponentials(in + row * c, c, largest_of(in + row * c, c), line);
        scaled(line, c, 1 / sum, out + row * c);
    }
}
