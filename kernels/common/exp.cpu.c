/* exp.cpu.c: exp of vectors of f32. Comes after vector.cpu.c.
 *
 * x = k ln 2 + r with |r| <= ln(2)/2: ln 2 in two parts, of which the first times k is exact (Cody and Waite); exp(r) by
 * its Taylor polynomial of degree 7, whose remainder is below 2^-27; times 2^k through the exponent. At most 2 units in
 * the last place off for -87 < x <= 0; 0 below. */

INLINE vec vec_exp(vec x)
{
    const vec shift = vec_of(0x1.8p23f);
    vec low = vec_of(-87.0f), clamped = vec_max(x, low);
    vec k = clamped * vec_of(1.4426950408889634f) + shift;
    ivec exponent = ((ivec)k - (ivec)shift + 127) << 23;
    k -= shift;
    vec r = clamped - k * vec_of(0x1.62e4p-1f);
    r -= k * vec_of(0x1.7f7d1cp-20f);
    vec p = vec_of(1.0f / 5040);
    p = p * r + vec_of(1.0f / 720);
    p = p * r + vec_of(1.0f / 120);
    p = p * r + vec_of(1.0f / 24);
    p = p * r + vec_of(1.0f / 6);
    p = p * r + vec_of(0.5f);
    p = p * r + vec_of(1.0f);
    p = p * r + vec_of(1.0f);
    return (vec)((ivec)(p * (vec)exponent) & (x > low));
}

INLINE float exp_of(float x)
{
    return vec_exp(vec_of(x))[0];
}
