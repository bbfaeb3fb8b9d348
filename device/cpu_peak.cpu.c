/* cpu_peak.cpu.c: loops that keep the arithmetic units or the memory of a cpu as busy as they can be. Compiled and run
 * as any kernel is; one work item is one pass, and each item leaves its operations in work[item]. */
#include <stddef.h>
#include <stdint.h>

#if defined(__AVX512F__)
#define SIMD_BYTES 64
#elif defined(__AVX__)
#define SIMD_BYTES 32
#else
#define SIMD_BYTES 16
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Twelve chains: more than latency times issue width of any fused multiply-add unit, few enough for 16 registers. */
#define CHAINS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
enum { CHAIN_COUNT = 12 };

typedef float vector_f32 __attribute__((vector_size(SIMD_BYTES)));

/* args: sink (one cache line an item), work (double an item), rounds */
void peak_fp32(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    char *sink = *(char **)args[0];
    double *work = *(double **)args[1];
    int64_t rounds = *(int64_t *)args[2];
    (void)thread;
    (void)threads;
    for (int64_t item = begin; item < end; item++) {
        vector_f32 *line = (vector_f32 *)(sink + 64 * item);
        /* Read from memory, so that the compiler cannot know them. They converge to 1 and never become denormal. */
        vector_f32 a = *line * 0.0f + 0.5f, b = *line * 0.0f + 0.5f;
#define SET(i) vector_f32 x##i = a + (float)i;
        CHAINS(SET)
        for (int64_t round = 0; round < rounds; round++) {
#define STEP(i) x##i = x##i * a + b;
            CHAINS(STEP)
        }
        vector_f32 sum = b;
#define ADD(i) sum += x##i;
        CHAINS(ADD)
        *line = sum * 0.0f;
        work[item] = 2.0 * (SIMD_BYTES / 4) * CHAIN_COUNT * (double)rounds;
    }
}

/* Products of bytes summed into 32 bits, by the widest instruction there is for it; without one there is no figure. */
#if defined(__AVX512VNNI__)
typedef __m512i vector_i32;
#define DOT(sum, a, b) _mm512_dpbusd_epi32(sum, a, b)
#define SPREAD(v) _mm512_set1_epi8((char)(v))
#elif defined(__AVXVNNI__)
typedef __m256i vector_i32;
#define DOT(sum, a, b) _mm256_dpbusd_avx_epi32(sum, a, b)
#define SPREAD(v) _mm256_set1_epi8((char)(v))
#elif defined(__AVX2__)
typedef __m256i vector_i32;
#define DOT(sum, a, b) \
    _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), _mm256_set1_epi16(1)))
#define SPREAD(v) _mm256_set1_epi8((char)(v))
#elif defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>
typedef int32x4_t vector_i32;
#define DOT(sum, a, b) vdotq_s32(sum, vreinterpretq_s8_s32(a), vreinterpretq_s8_s32(b))
#define SPREAD(v) vreinterpretq_s32_s8(vdupq_n_s8((int8_t)(v)))
#endif

void peak_int8(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    char *sink = *(char **)args[0];
    double *work = *(double **)args[1];
    int64_t rounds = *(int64_t *)args[2];
    (void)thread;
    (void)threads;
    for (int64_t item = begin; item < end; item++) {
#if defined(DOT)
        volatile char *one = sink + 64 * item;
        vector_i32 a = SPREAD(*one + 1), b = SPREAD(*one + 1);
#define SET_I(i) vector_i32 x##i = SPREAD(*one + i);
        CHAINS(SET_I)
        for (int64_t round = 0; round < rounds; round++) {
#define STEP_I(i) x##i = DOT(x##i, a, b);
            CHAINS(STEP_I)
            /* Opaque, or the loop would be replaced by one multiplication. */
            __asm__ volatile("" : "+m"(*(char *)one));
        }
        vector_i32 keep[CHAIN_COUNT];
#define KEEP(i) keep[i] = x##i;
        CHAINS(KEEP)
        __asm__ volatile("" : : "r"(keep) : "memory");
        work[item] = 2.0 * sizeof(vector_i32) * CHAIN_COUNT * (double)rounds;
#else
        (void)sink;
        (void)rounds;
        work[item] = 0;
#endif
    }
}

/* Items are blocks of 4096 floats in three arrays: a = b + c * 3, and the sum of a, b and c. */
enum { BLOCK = 4096 };

void stream_triad(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    float *restrict a = *(float **)args[0];
    const float *restrict b = *(float **)args[1], *restrict c = *(float **)args[2];
    (void)thread;
    (void)threads;
    for (int64_t i = begin * BLOCK; i < end * BLOCK; i++)
        a[i] = b[i] + c[i] * 3.0f;
}

void stream_read(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    float *sink = *(float **)args[0];
    const vector_f32 *from = *(const vector_f32 **)args[1];
    int64_t each = BLOCK * 4 / SIMD_BYTES;
    vector_f32 x0 = {0}, x1 = {0}, x2 = {0}, x3 = {0};
    (void)threads;
    for (int64_t i = begin * each; i < end * each; i += 4) {
        x0 += from[i];
        x1 += from[i + 1];
        x2 += from[i + 2];
        x3 += from[i + 3];
    }
    *(vector_f32 *)(sink + 16 * thread) = x0 + x1 + x2 + x3;
}
