/* vector.cpu.c: vectors of f32 for memory-bound CPU kernels, whatever the precision of memory; it is put in front of
 * their sources. Values are f32, which holds every int8 exactly; int8 gives int32 results.
 * Sources have no headers of vector intrinsics: including them takes longer than compiling the kernel. */
#include <stdint.h>
#include <string.h>

#ifndef VECTOR_BYTES
#define VECTOR_BYTES 32
#endif
#ifndef UNROLL
#define UNROLL 1
#endif
#ifndef STREAM
#define STREAM 0
#endif
#ifdef NT_LAYOUT_NCHW
#define NHWC 0
#else
#define NHWC 1
#endif

#define LANES  (VECTOR_BYTES / 4)
#define INLINE static inline __attribute__((always_inline, unused))
#define PRAGMA(x) _Pragma(#x)
#ifdef __clang__
#define REPEAT(n) PRAGMA(unroll n)
#else
#define REPEAT(n) PRAGMA(GCC unroll n)
#endif

#if NT_PRECISION_INT8
typedef int8_t element;
typedef int32_t result;
#elif NT_PRECISION_FP16 || NT_PRECISION_BF16
typedef uint16_t element, result;
#else
typedef float element, result;
#endif

typedef float vec __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef int32_t ivec __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef uint32_t uvec __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef int8_t bytes __attribute__((vector_size(LANES)));
typedef uint16_t halves __attribute__((vector_size(2 * LANES)));

INLINE void *argument_pointer(void *const *args, int i)
{
    return *(void *const *)args[i];
}

INLINE int64_t argument_int(void *const *args, int i)
{
    return *(const int64_t *)args[i];
}

INLINE int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

INLINE vec vec_of(float x)
{
    return x - (vec){0};
}

INLINE vec vec_select(ivec mask, vec a, vec b)
{
    return (vec)((mask & (ivec)a) | (~mask & (ivec)b));
}

INLINE vec vec_max(vec a, vec b)
{
    return vec_select(a > b, a, b);
}

/* ---- one value -------------------------------------------------------------------------------------------------- */

INLINE float f32_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INLINE uint32_t bits_of_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* A shift, and a multiplication by 2^112 that puts subnormals right; Inf and NaN apart. */
INLINE float f32_of_f16(uint16_t h)
{
    uint32_t magnitude = (uint32_t)(h & 0x7fffu) << 13, sign = (uint32_t)(h & 0x8000u) << 16;
    if (magnitude >= 0x0f800000u)
        return f32_of_bits(magnitude | 0x7f800000u | sign);
    return f32_of_bits(bits_of_f32(f32_of_bits(magnitude) * 0x1p112f) | sign);
}

/* To nearest even. Below 2^-14 the sum with 0.5 rounds at the subnormals' spacing. */
INLINE uint16_t f16_of_f32(float x)
{
    uint32_t bits = bits_of_f32(x), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u)
        return (uint16_t)(sign | 0x7c00u);
    if (magnitude < 0x38800000u)
        return (uint16_t)(sign | (bits_of_f32(f32_of_bits(magnitude) + 0.5f) - 0x3f000000u));
    return (uint16_t)(sign | ((magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13));
}

INLINE float value_of(element x)
{
#if NT_PRECISION_FP16
    return f32_of_f16(x);
#elif NT_PRECISION_BF16
    return f32_of_bits((uint32_t)x << 16);
#else
    return (float)x;
#endif
}

INLINE result result_of(float x)
{
#if NT_PRECISION_FP16
    return f16_of_f32(x);
#elif NT_PRECISION_BF16
    uint32_t bits = bits_of_f32(x);
    return (uint16_t)(x != x ? bits >> 16 | 0x40u : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#else
    return (result)x;
#endif
}

/* ---- LANES values ----------------------------------------------------------------------------------------------- */

/* F16C converts whole vectors; other processors one value after another. */
#if NT_PRECISION_FP16
#if defined(__AVX512F__) && VECTOR_BYTES == 64
typedef short shorts __attribute__((vector_size(32)));
#define WIDEN(h)  ((vec)__builtin_ia32_vcvtph2ps512_mask((shorts)(h), (vec){0}, -1, 4))
#define NARROW(v) ((halves)__builtin_ia32_vcvtps2ph512_mask((v), 0, (shorts){0}, -1))
#elif defined(__F16C__) && VECTOR_BYTES == 32
typedef short shorts __attribute__((vector_size(16)));
#define WIDEN(h)  ((vec)__builtin_ia32_vcvtph2ps256((shorts)(h)))
#define NARROW(v) ((halves)__builtin_ia32_vcvtps2ph256((v), 0))
#endif
#endif

INLINE vec vec_load(const element *from)
{
#if NT_PRECISION_INT8
    bytes b;
    memcpy(&b, from, sizeof b);
    return __builtin_convertvector(__builtin_convertvector(b, ivec), vec);
#elif NT_PRECISION_BF16
    halves h;
    memcpy(&h, from, sizeof h);
    return (vec)(__builtin_convertvector(h, uvec) << 16);
#elif defined(WIDEN)
    halves h;
    memcpy(&h, from, sizeof h);
    return WIDEN(h);
#elif NT_PRECISION_FP16
    vec v;
    for (int i = 0; i < LANES; i++)
        v[i] = f32_of_f16(from[i]);
    return v;
#else
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
#endif
}

/* f32 of scratch memory. */
INLINE vec vec_load_f32(const float *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

INLINE void vec_store_f32(float *to, vec v)
{
    memcpy(to, &v, sizeof v);
}

/* Past the caches; the address is aligned to the vector. */
INLINE void store_past_caches(void *to, vec v)
{
#ifdef __clang__
    __builtin_nontemporal_store(v, (vec *)to);
#elif defined(__AVX512F__) && VECTOR_BYTES == 64
    __builtin_ia32_movntps512(to, v);
#elif defined(__AVX__) && VECTOR_BYTES == 32
    __builtin_ia32_movntps256(to, v);
#elif defined(__SSE__) && VECTOR_BYTES == 16
    __builtin_ia32_movntps(to, v);
#else
    memcpy(to, &v, sizeof v);
#endif
}

INLINE void vec_store(result *to, vec v)
{
#if NT_PRECISION_INT8
    ivec i = __builtin_convertvector(v, ivec);
#if STREAM
    store_past_caches(to, (vec)i);
#else
    memcpy(to, &i, sizeof i);
#endif
#elif NT_PRECISION_BF16
    uvec bits = (uvec)v, rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    rounded = ((uvec)(v == v) & rounded) | ((uvec)(v != v) & (bits >> 16 | 0x40u));
    halves h = __builtin_convertvector(rounded, halves);
    memcpy(to, &h, sizeof h);
#elif defined(NARROW)
    halves h = NARROW(v);
    memcpy(to, &h, sizeof h);
#elif NT_PRECISION_FP16
    for (int i = 0; i < LANES; i++)
        to[i] = f16_of_f32(v[i]);
#elif STREAM
    store_past_caches(to, v);
#else
    memcpy(to, &v, sizeof v);
#endif
}

/* What was stored past the caches is seen by other threads after this. */
INLINE void stream_done(void)
{
#if STREAM && defined(__SSE__)
    __builtin_ia32_sfence();
#endif
}

INLINE float vec_sum(vec v)
{
    float sum = 0;
    REPEAT(16) for (int i = 0; i < LANES; i++) sum += v[i];
    return sum;
}

INLINE float vec_largest(vec v)
{
    float largest = v[0];
    REPEAT(16) for (int i = 1; i < LANES; i++) largest = v[i] > largest ? v[i] : largest;
    return largest;
}
