/* convert.c: element types on the host, by integer arithmetic on the bits, so that results do not depend on the
 * processor's instructions. All narrow floats share one rounding: drop the low bits of the significand to nearest,
 * ties to even; a carry runs into the exponent, which is just what is wanted. */
#include "core/convert.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* bits / 2^drop, to nearest even; 1 <= drop <= 31 */
static uint32_t round_shift(uint32_t bits, unsigned drop)
{
    uint32_t half = 1u << (drop - 1), odd = (bits >> drop) & 1;
    return (bits + (half - 1) + odd) >> drop;
}

/* Magnitude bits (sign cleared, finite) of an fp32 number to a format with `fraction` stored bits whose smallest normal
 * exponent is `lowest` (-14 for fp16). The result may overflow past the format's largest: the caller looks. */
static uint32_t narrow(uint32_t magnitude, unsigned fraction, int lowest)
{
    unsigned drop = 23 - fraction;
    int exponent = (int)(magnitude >> 23) - 127;
    if (exponent >= lowest)
        return round_shift(magnitude - ((uint32_t)(127 + lowest - 1) << 23), drop);
    /* Subnormal there: the significand, hidden bit included, moves down by what the exponent lacks. */
    unsigned extra = (unsigned)(lowest - exponent);
    if (magnitude < 1u << 23 || drop + extra > 25)
        return 0;
    return round_shift((magnitude & 0x7fffff) | 0x800000, drop + extra);
}

uint16_t nt_f32_to_f16(float x)
{
    uint32_t bits = bits_of(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return (uint16_t)(sign | 0x7e00);
    uint32_t half = magnitude == 0x7f800000 ? 0x7c00 : narrow(magnitude, 10, -14);
    return (uint16_t)(sign | (half > 0x7c00 ? 0x7c00 : half));
}

float nt_f16_to_f32(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 0x3ff;
    if (exponent == 31)
        return float_of(sign | 0x7f800000 | fraction << 13);
    if (exponent == 0) {
        float value = (float)fraction * 0x1p-24f;
        return sign ? -value : value;
    }
    return float_of(sign | (exponent + 112) << 23 | fraction << 13);
}

uint16_t nt_f32_to_bf16(float x)
{
    uint32_t bits = bits_of(x);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40); /* a quiet NaN even when its low bits held the payload */
    /* Same exponent range as fp32: subnormals and Inf round by the same shift. */
    return (uint16_t)((bits >> 16 & 0x8000) | round_shift(bits & 0x7fffffff, 16));
}

float nt_bf16_to_f32(uint16_t bits)
{
    return float_of((uint32_t)bits << 16);
}

/* e4m3 has no Inf: 0x7f is NaN and 0x7e, 448, the largest. Above it saturates, Inf included. */
uint8_t nt_f32_to_e4m3(float x)
{
    uint32_t bits = bits_of(x), sign = bits >> 24 & 0x80, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return (uint8_t)(sign | 0x7f);
    if (magnitude >= bits_of(448.0f))
        return (uint8_t)(sign | 0x7e);
    return (uint8_t)(sign | narrow(magnitude, 3, -6));
}

float nt_e4m3_to_f32(uint8_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x80) << 24, exponent = bits >> 3 & 15, fraction = bits & 7;
    if ((bits & 0x7f) == 0x7f)
        return float_of(sign | 0x7fc00000);
    if (exponent == 0) {
        float value = (float)fraction * 0x1p-9f;
        return sign ? -value : value;
    }
    return float_of(sign | (exponent + 120) << 23 | fraction << 20);
}

/* ---- arrays ----------------------------------------------------------------------------------------------------- */

/* To nearest even within [-limit, limit]; an integer has no NaN, which becomes 0. */
static float to_integer(float x, float limit)
{
    if (isnan(x))
        return 0;
    float nearest = rintf(x);
    return nearest > limit ? limit : nearest < -limit ? -limit : nearest;
}

static void pack_i8(const float *in, size_t n, const float *scale, size_t scales, size_t stride, int8_t *out)
{
    assert(scale == NULL || (scales > 0 && stride > 0));
    for (size_t i = 0; i < n; i++) {
        float by = scale != NULL ? scale[i / stride % scales] : 1.0f;
        out[i] = (int8_t)to_integer(in[i] / by, 127);
    }
}

#define EACH(type, expression)                    \
    do {                                          \
        type *to = out;                           \
        for (size_t i = 0; i < n; i++)            \
            to[i] = (type)(expression);           \
    } while (0)

void nt_pack(nt_dtype type, const float *in, size_t n, const float *scale, size_t scales, size_t stride, void *out)
{
    switch (type) {
    case NT_F64: EACH(double, in[i]); break;
    case NT_F32: memcpy(out, in, n * sizeof *in); break;
    case NT_F16: EACH(uint16_t, nt_f32_to_f16(in[i])); break;
    case NT_BFLOAT16: EACH(uint16_t, nt_f32_to_bf16(in[i])); break;
    case NT_F8E4M3: EACH(uint8_t, nt_f32_to_e4m3(in[i])); break;
    case NT_I32: EACH(int32_t, to_integer(in[i], 0x1.fffffep30f)); break;
    case NT_I8: pack_i8(in, n, scale, scales, stride, out); break;
    case NT_DTYPE_COUNT: assert(false && "a type");
    }
}

#undef EACH
#define EACH(type, expression)                    \
    do {                                          \
        const type *from = in;                    \
        for (size_t i = 0; i < n; i++)            \
            out[i] = (float)(expression);         \
    } while (0)

void nt_unpack(nt_dtype type, const void *in, size_t n, float *out)
{
    switch (type) {
    case NT_F64: EACH(double, from[i]); break;
    case NT_F32: memcpy(out, in, n * sizeof *out); break;
    case NT_F16: EACH(uint16_t, nt_f16_to_f32(from[i])); break;
    case NT_BFLOAT16: EACH(uint16_t, nt_bf16_to_f32(from[i])); break;
    case NT_F8E4M3: EACH(uint8_t, nt_e4m3_to_f32(from[i])); break;
    case NT_I32: EACH(int32_t, from[i]); break;
    case NT_I8: EACH(int8_t, from[i]); break;
    case NT_DTYPE_COUNT: assert(false && "a type");
    }
}
#undef EACH
