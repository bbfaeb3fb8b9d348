/* convert.c: element types on the host, by integer arithmetic on the bits, so that results do not depend on the
 * processor's instructions. All narrow floats share one rounding: drop the low bits of the significand to nearest,
 * ties to even; a carry runs into the exponent, which is just what is wanted. */
#include "core/convert.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
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

float nt_f16_to_f32(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
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

/* To nearest even within [low, high]; an integer has no NaN, which becomes 0. */
static float to_integer(float x, float low, float high)
{
    if (isnan(x))
        return 0;
    float nearest = rintf(x);
    return nearest > high ? high : nearest < low ? low : nearest;
}

/* One pair of functions a type, and a table instead of a switch: adding a type is two lines. */
#define EACH(name, type, packed, unpacked)                            \
    static void pack_##name(const float *x, size_t n, void *to)       \
    {                                                                 \
        type *out = to;                                               \
        for (size_t i = 0; i < n; i++)                                \
            out[i] = (type)packed(x[i]);                              \
    }                                                                 \
    static void unpack_##name(const void *from, size_t n, float *out) \
    {                                                                 \
        const type *x = from;                                         \
        for (size_t i = 0; i < n; i++)                                \
            out[i] = (float)unpacked(x[i]);                           \
    }
/* Limits are the largest fp32 numbers below 2^31, 2^32, 2^63 and 2^64. */
#define TO_I32(x) to_integer(x, -0x1.fffffep30f, 0x1.fffffep30f)
#define TO_I8(x)  to_integer(x, -127, 127)
#define TO_U8(x)  to_integer(x, 0, UINT8_MAX)
#define TO_I16(x) to_integer(x, INT16_MIN, INT16_MAX)
#define TO_U16(x) to_integer(x, 0, UINT16_MAX)
#define TO_U32(x) to_integer(x, 0, 0x1.fffffep31f)
#define TO_I64(x) to_integer(x, -0x1.fffffep62f, 0x1.fffffep62f)
#define TO_U64(x) to_integer(x, 0, 0x1.fffffep63f)

EACH(f64, double, , )
EACH(f32, float, , )
EACH(f16, uint16_t, nt_f32_to_f16, nt_f16_to_f32)
EACH(bf16, uint16_t, nt_f32_to_bf16, nt_bf16_to_f32)
EACH(e4m3, uint8_t, nt_f32_to_e4m3, nt_e4m3_to_f32)
EACH(i32, int32_t, TO_I32, )
EACH(i8, int8_t, TO_I8, )
EACH(u8, uint8_t, TO_U8, )
EACH(i16, int16_t, TO_I16, )
EACH(u16, uint16_t, TO_U16, )
EACH(u32, uint32_t, TO_U32, )
EACH(i64, int64_t, TO_I64, )
EACH(u64, uint64_t, TO_U64, )

static const struct {
    void (*pack)(const float *x, size_t n, void *to);
    void (*unpack)(const void *from, size_t n, float *out);
} types[NT_DTYPE_COUNT] = {
    [NT_F64] = {pack_f64, unpack_f64},        [NT_F32] = {pack_f32, unpack_f32},      [NT_F16] = {pack_f16, unpack_f16},
    [NT_BFLOAT16] = {pack_bf16, unpack_bf16}, [NT_F8E4M3] = {pack_e4m3, unpack_e4m3}, [NT_I32] = {pack_i32, unpack_i32},
    [NT_I8] = {pack_i8, unpack_i8},           [NT_U8] = {pack_u8, unpack_u8},         [NT_I16] = {pack_i16, unpack_i16},
    [NT_U16] = {pack_u16, unpack_u16},        [NT_U32] = {pack_u32, unpack_u32},      [NT_I64] = {pack_i64, unpack_i64},
    [NT_U64] = {pack_u64, unpack_u64},
};

static void pack_scaled(const float *in, size_t n, const float *scale, size_t scales, size_t stride, int8_t *out)
{
    assert(scales > 0 && stride > 0);
    for (size_t i = 0; i < n; i++)
        out[i] = (int8_t)to_integer(in[i] / scale[i / stride % scales], -127, 127);
}

void nt_pack(nt_dtype type, const float *in, size_t n, const float *scale, size_t scales, size_t stride, void *out)
{
    assert((unsigned)type < NT_DTYPE_COUNT);
    if (type == NT_I8 && scale != NULL)
        pack_scaled(in, n, scale, scales, stride, out);
    else
        types[type].pack(in, n, out);
}

void nt_unpack(nt_dtype type, const void *in, size_t n, float *out)
{
    assert((unsigned)type < NT_DTYPE_COUNT);
    types[type].unpack(in, n, out);
}

/* Whether value i of a group gives way: two others are larger, or equal and before it. */
static bool gives_way(const float *group, size_t size, size_t i)
{
    int before = 0;
    for (size_t j = 0; j < size; j++)
        before += fabsf(group[j]) > fabsf(group[i]) || (j < i && fabsf(group[j]) == fabsf(group[i]));
    return before >= 2;
}

void nt_prune(float *values, size_t n, size_t length)
{
    for (size_t row = 0; row < n; row += length)
        for (size_t at = 0; at < length; at += 4) {
            size_t size = length - at < 4 ? length - at : 4;
            float group[4];
            memcpy(group, values + row + at, size * sizeof *group);
            for (size_t i = 0; i < size; i++)
                if (gives_way(group, size, i))
                    values[row + at + i] = 0;
        }
}
