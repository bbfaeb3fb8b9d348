/* map.cpu.c: one output from one element of each operand: relu, and add with NT_MAP_ADD. A work item is a chunk of the
 * tensor. STREAM stores past the caches, which saves reading what will be overwritten whole.
 *
 * args: a, b, out, count, chunk (a multiple of 64) */

void map(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);

INLINE vec map_vec(const element *a, const element *b)
{
    vec x = vec_load(a);
#ifdef NT_MAP_ADD
    return x + vec_load(b);
#else
    (void)b;
    return (vec)((ivec)x & (x > 0));
#endif
}

INLINE float map_value(element a, element b)
{
#ifdef NT_MAP_ADD
    return value_of(a) + value_of(b);
#else
    (void)b;
    return value_of(a) > 0 ? value_of(a) : 0;
#endif
}

void map(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    const element *a = argument_pointer(args, 0), *b = argument_pointer(args, 1);
    result *out = argument_pointer(args, 2);
    int64_t count = argument_int(args, 3), chunk = argument_int(args, 4);
    (void)thread, (void)threads;
    int64_t i = begin * chunk, stop = least(end * chunk, count);
    for (; i + UNROLL * LANES <= stop; i += UNROLL * LANES) {
        vec v[UNROLL];
        REPEAT(8) for (int u = 0; u < UNROLL; u++) v[u] = map_vec(a + i + u * LANES, b + i + u * LANES);
        REPEAT(8) for (int u = 0; u < UNROLL; u++) vec_store(out + i + u * LANES, v[u]);
    }
    for (; i < stop; i++)
        out[i] = result_of(map_value(a[i], b[i]));
    stream_done();
}
