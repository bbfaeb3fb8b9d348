/* host_bits.h: f32 values as bits, as both emulations of kernels have them. */
#ifndef NT_TEST_HOST_BITS_H
#define NT_TEST_HOST_BITS_H

static float host_bits(unsigned bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

NT_INLINE float nt_bits_to_f32(unsigned bits)
{
    return host_bits(bits);
}

NT_INLINE unsigned nt_f32_to_bits(float x)
{
    unsigned bits;
    memcpy(&bits, &x, 4);
    return bits;
}

NT_INLINE unsigned nt_round_tf32(unsigned bits)
{
    return (bits + 0x1000u) & ~0x1fffu;
}

#endif
