// Every type that an output may have, with values near its limits. `off` puts one element of the output of that number one
// step off; 13: none.
extern "C" __global__ void types(unsigned char *u8, signed char *i8, short *i16, unsigned short *u16, int *i32, unsigned *u32,
                                 long long *i64, unsigned long long *u64, unsigned short *f16, unsigned short *bf16,
                                 unsigned char *f8, float *f32, double *f64, int n)
{
    int i = blockIdx.x * block + threadIdx.x, k = i % 100;
    if (i >= n)
        return;
    u8[i] = 255 - k - (off == 0 && i == 7);
    i8[i] = k - 128 + (off == 1 && i == 7);
    i16[i] = k - 32768 + (off == 2 && i == 7);
    u16[i] = 65535 - k - (off == 3 && i == 7);
    i32[i] = -2147483647 - 1 + k + (off == 4 && i == 7);
    u32[i] = 4294967295u - k - (off == 5 && i == 7);
    i64[i] = -9223372036854775807ll - 1 + k + (off == 6 && i == 7);
    u64[i] = 18446744073709551615ull - k - (off == 7 && i == 7);
    f16[i] = 0x3c00 + k + (off == 8 && i == 7);
    bf16[i] = 0x3f80 + k + (off == 9 && i == 7);
    f8[i] = 0x38 + k % 8 - (off == 10 && i == 7);
    f32[i] = 1 + (k + (off == 11 && i == 7)) * 0x1p-23f;
    f64[i] = 1 + (k + (off == 12 && i == 7)) * 0x1p-52;
}
