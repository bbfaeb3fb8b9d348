/* map.cu: one output from one element of each operand: relu, and add with NT_MAP_ADD. Memory-bound: a thread has ITEMS
 * vectors of VEC elements, one BLOCK of vectors apart, all loaded before the first is stored, so that many bytes are
 * on their way at once. The last vector may be cut by the end of the tensor. */

NT_INLINE float map_value(float a, float b)
{
#ifdef NT_MAP_ADD
    return a + b;
#else
    return a > 0.0f ? a : 0.0f;
#endif
}

/* Elements of a vector that lies across the end. */
NT_INLINE void map_tail(const nt_in *a, const nt_in *b, nt_res *out, long long at, long long count)
{
    for (; at < count; at++)
#ifdef NT_MAP_ADD
        nt_set(out + at, map_value(nt_value(a + at), nt_value(b + at)));
#else
        nt_set(out + at, map_value(nt_value(a + at), 0.0f));
#endif
}

NT_ENTRY void __launch_bounds__(BLOCK)
    nt_map(const nt_in *__restrict__ a, const nt_in *__restrict__ b, nt_res *__restrict__ out, long long count)
{
    unsigned word[ITEMS][NT_WORDS];
#ifdef NT_MAP_ADD
    unsigned other[ITEMS][NT_WORDS];
#endif
    long long first = ((long long)blockIdx.x * (BLOCK * ITEMS) + threadIdx.x) * VEC;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        long long at = first + (long long)i * (BLOCK * VEC);
        if (at + VEC <= count) {
            nt_read_words(a + at, word[i]);
#ifdef NT_MAP_ADD
            nt_read_words(b + at, other[i]);
#endif
        }
    }
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        long long at = first + (long long)i * (BLOCK * VEC);
        if (at + VEC > count) {
            map_tail(a, b, out, at, count);
            continue;
        }
        float x[VEC], y[VEC];
        nt_unpack(word[i], x);
#ifdef NT_MAP_ADD
        nt_unpack(other[i], y);
#endif
#pragma unroll
        for (int v = 0; v < VEC; v++)
#ifdef NT_MAP_ADD
            x[v] = map_value(x[v], y[v]);
#else
            x[v] = map_value(x[v], 0.0f);
#endif
        nt_store_vec(out + at, x);
    }
}
