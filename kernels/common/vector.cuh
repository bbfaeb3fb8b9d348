/* vector.cuh: loads and stores of VEC elements at once for memory-bound kernels, whatever the precision. Comes after
 * prelude.cuh.
 *
 * nt_in is what the input holds, nt_res what the output holds (int8 in, int32 out); values in between are f32, which
 * holds every int8 exactly. A vector has 16 bytes at most; addresses are aligned to their vector.
 * STREAM 1 marks data as used once, so that it leaves the caches first. */

#ifdef NT_PRECISION_INT8
typedef signed char nt_in;
typedef int nt_res;
#define NT_IN_BYTES 1
#elif defined(NT_PRECISION_FP16) || defined(NT_PRECISION_BF16)
typedef nt_elem nt_in, nt_res;
#define NT_IN_BYTES 2
#else
typedef nt_elem nt_in, nt_res;
#define NT_IN_BYTES 4
#endif

#ifndef VEC
#define VEC 1
#endif
#ifndef STREAM
#define STREAM 0
#endif
#define VEC_BYTES (VEC * NT_IN_BYTES)
#define NT_WORDS ((VEC_BYTES + 3) / 4)

/* ---- words ------------------------------------------------------------------------------------------------------ */

NT_INLINE void nt_read_16(const void *from, unsigned *word)
{
    uint4 q;
#if STREAM && !defined(NT_HOST_EMULATION)
    asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(q.x), "=r"(q.y), "=r"(q.z), "=r"(q.w)
                 : "l"(from));
#else
    q = *(const uint4 *)from;
#endif
    word[0] = q.x;
    word[1] = q.y;
    word[2] = q.z;
    word[3] = q.w;
}

NT_INLINE void nt_write_16(void *to, const unsigned *word)
{
    uint4 q;
    q.x = word[0];
    q.y = word[1];
    q.z = word[2];
    q.w = word[3];
#if STREAM && !defined(NT_HOST_EMULATION)
    asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(q.x), "r"(q.y), "r"(q.z), "r"(q.w)
                 : "memory");
#else
    *(uint4 *)to = q;
#endif
}

NT_INLINE void nt_read_words(const void *from, unsigned *word)
{
#if VEC_BYTES == 16
    nt_read_16(from, word);
#elif VEC_BYTES == 8
    uint2 q = *(const uint2 *)from;
    word[0] = q.x;
    word[1] = q.y;
#elif VEC_BYTES == 4
    word[0] = *(const unsigned *)from;
#elif VEC_BYTES == 2
    word[0] = *(const unsigned short *)from;
#else
    word[0] = *(const unsigned char *)from;
#endif
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

NT_INLINE float nt_value(const nt_in *from)
{
#ifdef NT_PRECISION_INT8
    return (float)*from;
#else
    return nt_to_f32(*from);
#endif
}

NT_INLINE void nt_set(nt_res *to, float value)
{
#ifdef NT_PRECISION_INT8
    *to = (int)value;
#else
    *to = nt_from_f32(value);
#endif
}

NT_INLINE void nt_unpack(const unsigned *word, float *to)
{
#pragma unroll
    for (int i = 0; i < VEC; i++) {
#if NT_IN_BYTES == 1
        to[i] = (float)(signed char)(word[i / 4] >> 8 * (i % 4) & 0xffu);
#elif NT_IN_BYTES == 2
        to[i] = nt_to_f32((unsigned short)(word[i / 2] >> 16 * (i % 2) & 0xffffu));
#else
        to[i] = nt_bits_to_f32(word[i]);
#endif
    }
}

/* VEC values of the input from an address aligned to VEC_BYTES. */
NT_INLINE void nt_load_vec(const nt_in *from, float *to)
{
    unsigned word[NT_WORDS];
    nt_read_words(from, word);
    nt_unpack(word, to);
}

/* Word i of the results: one f32 or i32, or two halves. */
NT_INLINE unsigned nt_result_word(const float *value, int i)
{
#if NT_IN_BYTES == 1
    return (unsigned)(int)value[i];
#elif NT_IN_BYTES == 2
    return (unsigned)nt_from_f32(value[2 * i]) | (unsigned)nt_from_f32(value[2 * i + 1]) << 16;
#else
    return nt_f32_to_bits(value[i]);
#endif
}

/* VEC results to an address aligned to as many results, 16 bytes at most. */
NT_INLINE void nt_store_vec(nt_res *to, const float *value)
{
#if VEC == 1
    nt_set(to, value[0]);
#else
#if NT_IN_BYTES == 1
    enum { RESULT_WORDS = VEC };
#else
    enum { RESULT_WORDS = VEC_BYTES / 4 };
#endif
    unsigned word[RESULT_WORDS];
#pragma unroll
    for (int i = 0; i < RESULT_WORDS; i++)
        word[i] = nt_result_word(value, i);
#pragma unroll
    for (int i = 0; i < RESULT_WORDS; i += 4) {
        unsigned *at = (unsigned *)to + i;
        if (RESULT_WORDS - i >= 4) {
            nt_write_16(at, word + i);
        } else if (RESULT_WORDS - i == 2) {
            uint2 q;
            q.x = word[i];
            q.y = word[i + 1];
            *(uint2 *)at = q;
        } else {
            at[0] = word[i];
        }
    }
#endif
}

/* ---- lanes of a warp ------------------------------------------------------------------------------------------- */

#ifndef NT_HOST_EMULATION
NT_INLINE float nt_shuffle_xor(float value, int mask)
{
    return __shfl_xor_sync(0xffffffffu, value, mask);
}

/* 2^x, at most 2 units in the last place off (PTX ISA: ex2.approx.f32). */
NT_INLINE float nt_exp2(float x)
{
    float y;
    asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

NT_INLINE float nt_sqrt(float x)
{
    return sqrtf(x);
}

NT_INLINE void nt_warp_barrier(void)
{
    __syncwarp();
}
#endif
