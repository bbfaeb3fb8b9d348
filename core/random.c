/* random.c: SplitMix64 (Steele, Lea, Flood 2014): a counter times the golden ratio, mixed. The n-th number is a
 * function of n, so any part of a fill can be made alone.
 *
 * A fill takes 24 bits an element, two elements from one 64-bit number, and uses nothing but IEEE additions,
 * multiplications, divisions and square roots: no libm, so the values are the same on every machine. Work goes in
 * blocks: integers first, then the vectorised middle of the distribution, then the few elements of the tails. */
#include "core/random.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

nt_random nt_random_seed(uint64_t seed, uint64_t stream)
{
    return (nt_random){mix(mix(seed + GOLDEN) + stream * UINT64_C(0xd1342543de82ef95))};
}

uint64_t nt_random_u64(nt_random *random)
{
    random->state += GOLDEN;
    return mix(random->state);
}

uint64_t nt_random_below(nt_random *random, uint64_t bound)
{
    assert(bound > 0);
    /* The lowest 2^64 mod bound numbers are thrown away: what is left divides evenly. */
    uint64_t unfair = (0 - bound) % bound, number;
    do
        number = nt_random_u64(random);
    while (number < unfair);
    return number % bound;
}

double nt_random_unit(nt_random *random)
{
    return (double)(nt_random_u64(random) >> 11) * 0x1p-53;
}

/* ---- fills ------------------------------------------------------------------------------------------------------ */

enum { BLOCK = 512 };

/* Signed 24-bit integers of elements [first, first + n), first even, n even, n <= BLOCK. */
static void draw_block(uint64_t base, size_t first, int32_t *out, size_t n)
{
    uint64_t counter = base + (uint64_t)(first / 2 + 1) * GOLDEN;
    for (size_t j = 0; j < n / 2; j++) {
        uint64_t bits = mix(counter + (uint64_t)j * GOLDEN);
        out[2 * j] = (int32_t)(uint32_t)bits >> 8;
        out[2 * j + 1] = (int32_t)(uint32_t)(bits >> 32) >> 8;
    }
}

/* Natural logarithm of a positive normal double: exponent and 2 atanh((m - 1) / (m + 1)), off by less than 1e-14. */
static double plain_log(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    /* m in [sqrt(1/2), sqrt(2)): the offset moves the border of the exponent there */
    int64_t exponent = ((int64_t)bits - INT64_C(0x3fe6a09e667f3bcd)) >> 52;
    bits -= (uint64_t)exponent << 52;
    double m;
    memcpy(&m, &bits, sizeof m);
    double s = (m - 1) / (m + 1), t = s * s;
    double series = 1.0 / 15;
    for (int k = 13; k >= 1; k -= 2)
        series = series * t + 1.0 / k;
    return (double)exponent * 0.69314718055994530942 + 2 * s * series;
}

/* Acklam's approximation of the inverse normal distribution. q = p - 1/2; below 0.02425 from either end the tail. In
 * doubles: the polynomials cancel, and fp32 would leave four digits of the answer. */
#define TAIL 0.47575f

static inline double middle(double q)
{
    double r = q * q;
    double above = ((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
                     1.383577518672690e+02) *
                        r -
                    3.066479806614716e+01) *
                       r +
                   2.506628277459239e+00;
    double below = ((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
                     6.680131188771972e+01) *
                        r -
                    1.328068155288572e+01) *
                       r +
                   1.0;
    return q * above / below;
}

static float tail(float q)
{
    double r = sqrt(-2 * plain_log(0.5 - (q < 0 ? -(double)q : (double)q)));
    double above = ((((-7.784894002430293e-03 * r - 3.223964580411365e-01) * r - 2.400758277161838e+00) * r -
                     2.549732539343734e+00) *
                        r +
                    4.374664141464968e+00) *
                       r +
                   2.938163982698783e+00;
    double below = (((7.784695709041462e-03 * r + 3.224671290700398e-01) * r + 2.445134137142996e+00) * r +
                    3.754408661907416e+00) *
                       r +
                   1;
    double z = above / below; /* negative: the lower tail */
    return (float)(q < 0 ? z : -z);
}

static void shape_uniform(const int32_t *drawn, float *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (float)drawn[i] * 0x1p-23f;
}

/* q = (drawn + 1/2) / 2^24 is exact in fp32 and never 0 or 1/2 in size, so both tails are finite. */
static void shape_normal(const int32_t *drawn, float *out, size_t n)
{
    float q[BLOCK];
    for (size_t i = 0; i < n; i++) {
        q[i] = ((float)drawn[i] + 0.5f) * 0x1p-24f;
        out[i] = (float)middle((double)q[i]);
    }
    for (size_t i = 0; i < n; i++)
        if (q[i] > TAIL || q[i] < -TAIL)
            out[i] = tail(q[i]);
}

void nt_random_fill(nt_fill fill, uint64_t seed, uint64_t stream, size_t first, float *out, size_t n)
{
    assert(fill == NT_FILL_NORMAL || fill == NT_FILL_UNIFORM); /* a file is read by who opened it */
    void (*shape)(const int32_t *, float *, size_t) = fill == NT_FILL_NORMAL ? shape_normal : shape_uniform;
    uint64_t base = nt_random_seed(seed, stream).state;
    int32_t drawn[BLOCK];
    while (n > 0) {
        size_t odd = first & 1; /* blocks start at a pair; its first half may be unwanted */
        size_t take = n < BLOCK - odd ? n : BLOCK - odd;
        draw_block(base, first - odd, drawn, (take + odd + 1) & ~(size_t)1);
        shape(drawn + odd, out, take);
        first += take;
        out += take;
        n -= take;
    }
}
