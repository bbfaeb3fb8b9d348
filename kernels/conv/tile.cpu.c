/* tile.cpu.c: the register tile that every CPU convolution and matrix product is built from; it is put in front of
 * their sources.
 *
 * A tile is POSITIONS output positions times VECTORS vectors of output channels, held in registers while a reduction
 * runs. One step loads VECTORS vectors of packed weights, spreads 32-bit words of input per position and multiplies:
 *   fp32  a word of weights is one float, and so is a word of input
 *   int8  a word of weights is 4 channels. With it goes one word of 4 input bytes (VNNI; inputs are offset by 128 to
 *         unsigned, and a bias takes the offset out again), two of 2 shorts each (multiply-add of pairs), or four ints
 *         where the processor has neither. All three are exact.
 *   bf16  a word of weights is 2 channels, and so is a word of input, where the processor multiplies pairs of bf16;
 *         elsewhere a word is one of them as a float. Sums are floats until they are stored.
 * When its sums are whole, a tile may go through batch norm and an activation (EPILOGUE 1) or an activation alone (2)
 * on its way out; with CHAIN passes of their own do that (chain.cpu.c). Tensors of either layout are packed into words
 * first.
 *
 * Sources have no headers of vector intrinsics: including them takes longer than compiling the kernel. */
#include <stdint.h>
#include <string.h>

#ifndef VECTOR_BYTES
#define VECTOR_BYTES 32
#endif
#ifndef POSITIONS
#define POSITIONS 6
#endif
#ifndef VECTORS
#define VECTORS 2
#endif
#ifndef UNROLL
#define UNROLL 1
#endif
/* The convolution: taps along a side, step between outputs, border. */
#ifndef TAPS
#define TAPS   3
#define STRIDE 1
#define PAD    1
#endif
#define ALL_TAPS (TAPS * TAPS)
#ifndef EPILOGUE
#define EPILOGUE 0
#endif
#ifndef CHAIN
#define CHAIN 0
#endif
#ifndef ACT
#define ACT 5
#endif

/* NHWC, weight [k][r][s][c], unless told NCHW, weight [k][c][r][s]. A constant, so that ifs on it cost nothing. */
#ifdef NT_LAYOUT_NCHW
#define NHWC 0
#else
#define NHWC 1
#endif

#define LANES (VECTOR_BYTES / 4)
#define BLOCK (LANES * VECTORS) /* output channels of a tile */

#define PRAGMA(x) _Pragma(#x)
#ifdef __clang__
#define REPEAT(n) PRAGMA(unroll n)
#else
#define REPEAT(n) PRAGMA(GCC unroll n)
#endif
#define EACH_VECTOR(v) REPEAT(8) for (int v = 0; v < VECTORS; v++)
#define EACH_SUM(p, v) REPEAT(32) for (int p = 0; p < POSITIONS; p++) EACH_VECTOR(v)
#define INLINE         static inline __attribute__((always_inline, unused))
/* Code that takes no time worth speaking of: compiled for size, because compiling is what a short sweep waits for. */
#define COLD static __attribute__((cold, noinline, unused))

/* STEP channels make a word of packed weights, the same on every processor; PARTS words of input go with it. */
#if NT_PRECISION_INT8
typedef int8_t element, packed_weight; /* of the input and weight tensors */
typedef int32_t word;                  /* what a lane holds: a sum */
#define STEP 4
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
#define VNNI   1
#define PARTS  1
#define OFFSET 128
typedef uint8_t packed_input;
#elif defined(__AVX512BW__) || (defined(__AVX2__) && VECTOR_BYTES <= 32)
#define PAIRS  1
#define PARTS  2
#define OFFSET 0
typedef int16_t packed_input;
#else
#define PARTS  4
#define OFFSET 0
typedef int32_t packed_input;
#endif
typedef word result; /* of the output tensor */
#elif NT_PRECISION_BF16
typedef uint16_t element, result;
typedef float word;
#define PARTS  1
#define OFFSET 0
#if defined(__AVX512BF16__) && defined(__AVX512VL__)
#define BF16_PAIRS 1
typedef uint16_t packed_input, packed_weight;
#define STEP       2
#else
typedef float packed_input, packed_weight;
#define STEP 1
#endif
#else
typedef float element, word, result, packed_input, packed_weight;
#define STEP   1
#define PARTS  1
#define OFFSET 0
#endif
#define INPUT_WORDS(channels) (((channels) + STEP - 1) / STEP * PARTS)

typedef word vec __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef word vec_unaligned __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
typedef packed_input packed_input_alias __attribute__((may_alias));
typedef packed_weight packed_weight_alias __attribute__((may_alias));
typedef int32_t int32_alias __attribute__((may_alias));

INLINE int64_t round_up(int64_t x, int64_t step)
{
    return (x + step - 1) / step * step;
}

INLINE int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* An element as a number: for weights and batch norm. */
INLINE float number_of(element x)
{
#if NT_PRECISION_BF16
    union {
        uint32_t bits;
        float number;
    } u = {(uint32_t)x << 16};
    return u.number;
#else
    return (float)x;
#endif
}

/* An element as it is packed. */
INLINE packed_input packed_of(element x)
{
#if NT_PRECISION_BF16 && !BF16_PAIRS
    return number_of(x);
#else
    return (packed_input)(x + OFFSET);
#endif
}

INLINE packed_weight weight_of(element x)
{
#if NT_PRECISION_BF16 && !BF16_PAIRS
    return number_of(x);
#else
    return (packed_weight)x;
#endif
}

/* The weights that part `i` of a word multiplies, and sum + those weights * input. */
#if VNNI
INLINE vec part_of(vec weights, int i)
{
    (void)i;
    return weights;
}
INLINE vec multiply_add(vec sum, vec weights, word input)
{
    vec spread = input - (vec){0};
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(spread), "v"(weights));
    return sum;
}
#elif PAIRS
/* Bytes 0 and 2, or 1 and 3, as two shorts. */
INLINE vec part_of(vec weights, int i)
{
    typedef int16_t shorts __attribute__((vector_size(VECTOR_BYTES)));
    shorts both = (shorts)weights;
    return (vec)((i == 0 ? both << 8 : both) >> 8);
}
INLINE vec multiply_add(vec sum, vec weights, word input)
{
    vec spread = input - (vec){0}, products;
    __asm__("vpmaddwd %2, %1, %0" : "=v"(products) : "v"(spread), "v"(weights));
    return sum + products;
}
#elif NT_PRECISION_INT8
INLINE vec part_of(vec weights, int i)
{
    return (weights << (24 - 8 * i)) >> 24;
}
INLINE vec multiply_add(vec sum, vec weights, word input)
{
    return sum + weights * input;
}
#elif BF16_PAIRS
INLINE vec part_of(vec weights, int i)
{
    (void)i;
    return weights;
}
INLINE vec multiply_add(vec sum, vec weights, word input)
{
    vec spread;
    typedef int32_t ints __attribute__((vector_size(VECTOR_BYTES)));
    int32_t bits;
    memcpy(&bits, &input, sizeof bits); /* two bf16, which a subtraction of floats would change */
    spread = (vec)(bits - (ints){0});
    __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(spread), "v"(weights));
    return sum;
}
#else
INLINE vec part_of(vec weights, int i)
{
    (void)i;
    return weights;
}
INLINE vec multiply_add(vec sum, vec weights, word input)
{
    return sum + weights * input;
}
#endif

/* Where channel c of a pixel lies among its packed inputs: pairs take channels 0 and 2, then 1 and 3 of each four. */
INLINE int64_t input_at(int64_t c)
{
#if PAIRS
    return (c & ~(int64_t)3) | (c & 1) << 1 | (c >> 1 & 1);
#else
    return c;
#endif
}

/* Adds `steps` words of weights to the sums. Position p reads its input from input + p * stride; callers give a
 * constant stride, so that one register reaches all positions. Returns the weights behind those used. */
INLINE const vec *tile_steps(vec sum[POSITIONS][VECTORS], const word *input, int64_t stride, const vec *weights,
                             int64_t steps)
{
    REPEAT(UNROLL)
    for (int64_t i = 0; i < steps; i++, weights += VECTORS) {
        REPEAT(4)
        for (int part = 0; part < PARTS; part++) {
            vec w[VECTORS];
            EACH_VECTOR(v) w[v] = part_of(weights[v], part);
            EACH_SUM(p, v) sum[p][v] = multiply_add(sum[p][v], w[v], input[p * stride + i * PARTS + part]);
        }
    }
    return weights;
}

/* Where a tile lies: output position p, channel k at at[p] + k * channel_step, in `out` when its sums are whole and in
 * `sums` before: the same memory where a sum has the type of a result. Positions and channels are those that exist; the
 * rest of the tile is computed and dropped. `norm` is where the tile's channels lie in the packed scales and shifts. */
typedef struct place {
    result *out;
    word *sums;
    const int64_t *at;
    int64_t positions, channels, channel_step;
    const float *norm;
    int64_t norm_step; /* from scales to shifts */
} place;

INLINE int place_is_whole(const place *to)
{
    return NHWC && to->positions == POSITIONS && to->channels == BLOCK;
}

INLINE void tile_clear(vec sum[POSITIONS][VECTORS], const word *bias)
{
    EACH_VECTOR(v)
    {
        vec start = {0};
        if (OFFSET)
            start = *(const vec_unaligned *)(bias + v * LANES);
        REPEAT(32) for (int p = 0; p < POSITIONS; p++) sum[p][v] = start;
    }
}

/* What hangs over an edge in NHWC, but every tile in NCHW. */
#if NHWC
#define PART COLD
#else
#define PART static __attribute__((noinline))
#endif

PART void part_load(word *part, const place *from)
{
    memset(part, 0, POSITIONS * BLOCK * sizeof *part);
    for (int64_t p = 0; p < from->positions; p++)
        for (int64_t k = 0; k < from->channels; k++)
            part[p * BLOCK + k] = from->sums[from->at[p] + k * from->channel_step];
}

INLINE void tile_load(vec sum[POSITIONS][VECTORS], const place *from)
{
    if (place_is_whole(from)) {
        EACH_SUM(p, v) sum[p][v] = *(const vec_unaligned *)(from->sums + from->at[p] + v * LANES);
        return;
    }
    vec part[POSITIONS][VECTORS];
    part_load((word *)part, from);
    EACH_SUM(p, v) sum[p][v] = part[p][v];
}

PART void part_store(const word *part, const place *to)
{
    for (int64_t k = 0; k < to->channels; k++)
        for (int64_t p = 0; p < to->positions; p++)
            to->sums[to->at[p] + k * to->channel_step] = part[p * BLOCK + k];
}

INLINE void sums_store(vec sum[POSITIONS][VECTORS], const place *to)
{
    if (place_is_whole(to)) {
        EACH_SUM(p, v)
        {
            vec_unaligned *out = (vec_unaligned *)(to->sums + to->at[p]);
            out[v] = sum[p][v];
        }
        return;
    }
    vec part[POSITIONS][VECTORS];
    EACH_SUM(p, v) part[p][v] = sum[p][v];
    part_store((const word *)part, to);
}

#if EPILOGUE || CHAIN
float expf(float);
float erff(float);

/* ACT: 1 relu, 2 relu6, 3 silu, 4 gelu, 5 none */
INLINE vec activate(vec x)
{
    typedef int32_t ints __attribute__((vector_size(VECTOR_BYTES)));
    if (ACT == 1 || ACT == 2)
        x = (vec)((ints)x & (ints)(x > 0));
    if (ACT == 2) {
        ints above = (ints)(x > 6);
        x = (vec)(((ints)x & ~above) | ((ints)((vec){0} + 6) & above));
    }
    for (int i = 0; ACT == 3 && i < LANES; i++)
        x[i] = x[i] / (1 + expf(-x[i]));
    for (int i = 0; ACT == 4 && i < LANES; i++)
        x[i] = 0.5f * x[i] * (1 + erff(x[i] * 0.70710678f));
    return x;
}
#endif

#if EPILOGUE == 2
INLINE vec finish(vec sum, const place *to, int v)
{
    (void)to, (void)v;
    return activate(sum);
}
#elif EPILOGUE
INLINE vec finish(vec sum, const place *to, int v)
{
    const vec_unaligned *scale = (const vec_unaligned *)(to->norm + v * LANES);
    const vec_unaligned *shift = (const vec_unaligned *)(to->norm + to->norm_step + v * LANES);
    return activate(sum * *scale + *shift);
}
#else
INLINE vec finish(vec sum, const place *to, int v)
{
    (void)to, (void)v;
    return sum;
}
#endif

#if NT_PRECISION_BF16
typedef result half_vec __attribute__((vector_size(VECTOR_BYTES / 2), may_alias));

/* To nearest, ties to even; a NaN stays one. */
INLINE half_vec rounded(vec x)
{
    typedef uint32_t bits __attribute__((vector_size(VECTOR_BYTES)));
    bits b = (bits)x, up = (b + 0x7fff + ((b >> 16) & 1)) >> 16, number = (bits)(x == x);
    return __builtin_convertvector((up & number) | (0x7fff & ~number), half_vec);
}

PART void part_result(const result *part, const place *to)
{
    for (int64_t k = 0; k < to->channels; k++)
        for (int64_t p = 0; p < to->positions; p++)
            to->out[to->at[p] + k * to->channel_step] = part[p * BLOCK + k];
}

INLINE void result_store(vec sum[POSITIONS][VECTORS], const place *to)
{
    if (place_is_whole(to)) {
        EACH_SUM(p, v)
        {
            half_vec narrow = rounded(finish(sum[p][v], to, v));
            memcpy(to->out + to->at[p] + v * LANES, &narrow, sizeof narrow);
        }
        return;
    }
    half_vec part[POSITIONS][VECTORS];
    EACH_SUM(p, v) part[p][v] = rounded(finish(sum[p][v], to, v));
    part_result((const result *)part, to);
}
#else
INLINE void result_store(vec sum[POSITIONS][VECTORS], const place *to)
{
    if (EPILOGUE)
        EACH_SUM(p, v) sum[p][v] = finish(sum[p][v], to, v);
    sums_store(sum, to); /* sums lie where results do */
}
#endif

INLINE void tile_store(vec sum[POSITIONS][VECTORS], const place *to, int is_last)
{
    if (is_last)
        result_store(sum, to);
    else
        sums_store(sum, to);
}

/* Packs `pixels` positions of `channels` channels into words: position x goes to `to + x * stride`. */
INLINE void pack_pixels(word *to, int64_t stride, const element *from, int64_t pixels, int64_t pixel_step,
                        int64_t channels, int64_t channel_step)
{
    const int64_t per_word = sizeof(word) / sizeof(packed_input);
    packed_input_alias *lane = (packed_input_alias *)to;
    if (NHWC) {
        for (int64_t x = 0; x < pixels; x++)
            for (int64_t c = 0; c < channels; c++)
                lane[x * stride * per_word + input_at(c)] = packed_of(from[x * pixel_step + c]);
    } else {
        for (int64_t c = 0; c < channels; c++)
            for (int64_t x = 0; x < pixels; x++)
                lane[x * stride * per_word + input_at(c)] = packed_of(from[x * pixel_step + c * channel_step]);
    }
    for (int64_t c = channels; c < round_up(channels, STEP); c++)
        for (int64_t x = 0; x < pixels; x++)
            lane[x * stride * per_word + input_at(c)] = OFFSET;
}

/* What pack_pixels makes of zeros. */
INLINE void pack_zeros(word *to, int64_t words)
{
    memset(to, OFFSET, (size_t)words * sizeof *to);
}

INLINE void *argument_pointer(void *const *args, int i)
{
    return *(void *const *)args[i];
}

INLINE int64_t argument_int(void *const *args, int i)
{
    return *(const int64_t *)args[i];
}

/* A scratch buffer on the stack: every thread has its own, warm in its cache from one work item to the next. */
#define SCRATCH(name, words)          \
    word name##_memory[(words) + 16]; \
    word *name = (word *)(((uintptr_t)name##_memory + 63) & ~(uintptr_t)63)
