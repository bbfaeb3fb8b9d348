/* prelude.cuh: what CUDA kernel sources share: element types by precision, loads, stores and conversions.
 *
 * It stands in front of each kernel's text and includes nothing, so that kernels compile at a user's site without the
 * toolkit's headers. One of NT_PRECISION_FP32, _TF32, _FP16, _BF16, _INT8, _FP8 says what memory holds: nt_elem.
 * Arithmetic is in f32, of int8 in 32-bit integers. Kernels stay in the part of the language that C shares, so that
 * tests can run them on the host: there NT_HOST_EMULATION is defined and the few words that need a GPU come from the
 * test. */

#define NT_CAT_(a, b) a##b
#define NT_CAT(a, b) NT_CAT_(a, b)

#ifndef NT_HOST_EMULATION
#define NT_ENTRY extern "C" __global__
#define NT_INLINE __device__ __forceinline__
#define NT_SHARED(type, name) extern __shared__ __align__(16) type name[]

NT_INLINE float nt_bits_to_f32(unsigned bits)
{
    return __uint_as_float(bits);
}

NT_INLINE unsigned nt_f32_to_bits(float x)
{
    return __float_as_uint(x);
}

NT_INLINE float nt_f16_to_f32(unsigned short bits)
{
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
}

NT_INLINE unsigned short nt_f32_to_f16(float x)
{
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}
#endif

NT_INLINE float nt_bf16_to_f32(unsigned short bits)
{
    return nt_bits_to_f32((unsigned)bits << 16);
}

/* Round to nearest even; NaN stays a NaN. */
NT_INLINE unsigned short nt_f32_to_bf16(float x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned short bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
#else
    unsigned bits = nt_f32_to_bits(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (unsigned short)(bits >> 16 | 0x40u);
    return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#endif
}

/* What memory holds: inputs and weights, and sums before they are stored. */
#ifdef NT_PRECISION_INT8
typedef int nt_sum;
#else
typedef float nt_sum;
#endif

#if defined(NT_PRECISION_INT8)
typedef signed char nt_elem;
#elif defined(NT_PRECISION_FP8)
typedef unsigned char nt_elem;
#elif defined(NT_PRECISION_FP16) || defined(NT_PRECISION_BF16)
typedef unsigned short nt_elem;
#ifdef NT_PRECISION_FP16
#define nt_to_f32 nt_f16_to_f32
#define nt_from_f32 nt_f32_to_f16
#else
#define nt_to_f32 nt_bf16_to_f32
#define nt_from_f32 nt_f32_to_bf16
#endif
#else
typedef float nt_elem;
#define nt_to_f32(x) (x)
#define nt_from_f32(x) (x)
#endif

/* f32 in shared memory, 1, 2 or 4 at an address aligned to their size. */
NT_INLINE void nt_get1(const float *from, float *to)
{
    to[0] = from[0];
}

NT_INLINE void nt_get2(const float *from, float *to)
{
    float2 q = *(const float2 *)from;
    to[0] = q.x;
    to[1] = q.y;
}

NT_INLINE void nt_get4(const float *from, float *to)
{
    float4 q = *(const float4 *)from;
    to[0] = q.x;
    to[1] = q.y;
    to[2] = q.z;
    to[3] = q.w;
}

NT_INLINE void nt_put1(float *to, const float *from)
{
    to[0] = from[0];
}

NT_INLINE void nt_put2(float *to, const float *from)
{
    float2 q;
    q.x = from[0];
    q.y = from[1];
    *(float2 *)to = q;
}

NT_INLINE void nt_put4(float *to, const float *from)
{
    float4 q;
    q.x = from[0];
    q.y = from[1];
    q.z = from[2];
    q.w = from[3];
    *(float4 *)to = q;
}

#if !defined(NT_PRECISION_INT8) && !defined(NT_PRECISION_FP8)
/* 1, 2 or 4 elements from global memory as f32, in one instruction. */
NT_INLINE void nt_load1(const nt_elem *from, float *to)
{
    to[0] = nt_to_f32(from[0]);
}

#if defined(NT_PRECISION_FP16) || defined(NT_PRECISION_BF16)
NT_INLINE void nt_unpack2(unsigned pair, float *to)
{
    to[0] = nt_to_f32((unsigned short)(pair & 0xffffu));
    to[1] = nt_to_f32((unsigned short)(pair >> 16));
}

NT_INLINE void nt_load2(const nt_elem *from, float *to)
{
    nt_unpack2(*(const unsigned *)from, to);
}

NT_INLINE void nt_load4(const nt_elem *from, float *to)
{
    uint2 q = *(const uint2 *)from;
    nt_unpack2(q.x, to);
    nt_unpack2(q.y, to + 2);
}
#else
#define nt_load2 nt_get2
#define nt_load4 nt_get4
#endif
#endif
