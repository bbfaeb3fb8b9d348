/* chain.cpu.c: batch norm and activation as passes over memory, behind a convolution that stores its sums (CHAIN): what
 * fusing them is compared with. Results between passes have the output's type, as a framework stores them.
 * A work item is a chunk of the tensor. */

void batch_norm(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);
void activation(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);

/* The first n results, LANES at most; n is a constant but at an end. */
INLINE vec results_load(const result *from, int64_t n)
{
#if NT_PRECISION_BF16
    typedef uint32_t bits __attribute__((vector_size(VECTOR_BYTES)));
    half_vec narrow = {0};
    memcpy(&narrow, from, (size_t)n * sizeof *from);
    return (vec)(__builtin_convertvector(narrow, bits) << 16);
#else
    vec x = {0};
    memcpy(&x, from, (size_t)n * sizeof *from);
    return x;
#endif
}

INLINE void results_store(result *to, vec x, int64_t n)
{
#if NT_PRECISION_BF16
    half_vec narrow = rounded(x);
    memcpy(to, &narrow, (size_t)n * sizeof *to);
#else
    memcpy(to, &x, (size_t)n * sizeof *to);
#endif
}

/* Of n channels (NHWC), or of one for all. */
INLINE vec norm_load(const float *from, int64_t n)
{
    vec x = {0};
    if (!NHWC)
        return *from - x;
    memcpy(&x, from, (size_t)n * sizeof *from);
    return x;
}

/* `n` results, LANES at most, whose channel, or the first of whose channels, has its scale at `norm`. */
INLINE void norm_part(const result *from, result *to, const float *norm, int64_t norm_step, int64_t n)
{
    results_store(to, results_load(from, n) * norm_load(norm, n) + norm_load(norm + norm_step, n), n);
}

/* args: from, to, count, chunk, packed (pack.cpu.c), c, k, area (of a channel's plane; NHWC: 1) */
void batch_norm(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    const result *from = argument_pointer(args, 0);
    result *to = argument_pointer(args, 1);
    int64_t count = argument_int(args, 2), chunk = argument_int(args, 3);
    int64_t c = argument_int(args, 5), k = argument_int(args, 6), area = argument_int(args, 7);
    int64_t padded = round_up(k, BLOCK), words = ALL_TAPS * (round_up(c, STEP) / STEP);
    const float *norm = (const float *)argument_pointer(args, 4) + padded * (words + 1); /* behind weights and bias */
    int64_t run = NHWC ? k : area, stop = least(end * chunk, count);
    (void)thread, (void)threads;
    for (int64_t i = begin * chunk; i < stop;) {
        int64_t after = least(stop, (i / run + 1) * run); /* a pixel's channels, or a channel's pixels */
        int64_t channel = NHWC ? i % k : i / area % k;
        for (; i + LANES <= after; i += LANES, channel += NHWC ? LANES : 0)
            norm_part(from + i, to + i, norm + channel, padded, LANES);
        if (i < after)
            norm_part(from + i, to + i, norm + channel, padded, after - i);
        i = after;
    }
}

/* args: from, to, count, chunk */
void activation(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    const result *from = argument_pointer(args, 0);
    result *to = argument_pointer(args, 1);
    int64_t count = argument_int(args, 2), chunk = argument_int(args, 3);
    int64_t i = begin * chunk, stop = least(end * chunk, count);
    (void)thread, (void)threads;
    for (; i + LANES <= stop; i += LANES)
        results_store(to + i, activate(results_load(from + i, LANES)), LANES);
    if (i < stop)
        results_store(to + i, activate(results_load(from + i, stop - i)), stop - i);
}
