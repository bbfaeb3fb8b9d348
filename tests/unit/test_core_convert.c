/* Conversions: every number of each narrow type survives the round trip, and rounding picks the nearest of all of them,
 * found here by search and not by arithmetic on bits. */
#include "core/convert.h"

#include "core/random.h"

#include "core_check.h"

typedef struct narrow {
    const char *name;
    unsigned count; /* of bit patterns */
    float (*widen)(unsigned bits);
    unsigned (*round)(float x);
    float largest;
    unsigned over; /* what is beyond the largest becomes, without sign */
} narrow;

static float widen_f16(unsigned bits)
{
    return nt_f16_to_f32((uint16_t)bits);
}

static unsigned round_f16(float x)
{
    return nt_f32_to_f16(x);
}

static float widen_bf16(unsigned bits)
{
    return nt_bf16_to_f32((uint16_t)bits);
}

static unsigned round_bf16(float x)
{
    return nt_f32_to_bf16(x);
}

static float widen_e4m3(unsigned bits)
{
    return nt_e4m3_to_f32((uint8_t)bits);
}

static unsigned round_e4m3(float x)
{
    return nt_f32_to_e4m3(x);
}

static const narrow types[] = {
    {"f16", 1 << 16, widen_f16, round_f16, 65504.0f, 0x7c00},
    {"bf16", 1 << 16, widen_bf16, round_bf16, 0x1.fep127f, 0x7f80},
    {"e4m3", 1 << 8, widen_e4m3, round_e4m3, 448.0f, 0x7e},
};
enum { TYPES = sizeof types / sizeof types[0] };

static void every_number_survives(void **state)
{
    (void)state;
    for (int t = 0; t < TYPES; t++)
        for (unsigned bits = 0; bits < types[t].count; bits++) {
            float x = types[t].widen(bits);
            unsigned back = types[t].round(x);
            if (isnan(x))
                assert_true(isnan(types[t].widen(back)));
            else
                assert_int_equal(back, bits);
        }
}

/* The nearest pattern by bisection over the ordered positive numbers; a tie goes to the even pattern. */
static unsigned nearest(const narrow *type, float x)
{
    double size = fabs((double)x);
    unsigned lo = 0, hi = type->round(type->largest);
    if (size >= (double)type->largest)
        return hi;
    while (hi - lo > 1) {
        unsigned middle = (lo + hi) / 2;
        if ((double)type->widen(middle) <= size)
            lo = middle;
        else
            hi = middle;
    }
    double down = size - (double)type->widen(lo), up = (double)type->widen(hi) - size;
    return down < up || (down == up && lo % 2 == 0) ? lo : hi;
}

static void check_nearest(const narrow *type, float x)
{
    unsigned sign = signbit(x) ? type->count / 2 : 0, got = type->round(x), want = nearest(type, x) | sign;
    if (got != want)
        print_error("%s of %a is %x, not %x\n", type->name, (double)x, got, want);
    assert_int_equal(got, want);
}

static void rounding_takes_the_nearest_and_ties_to_even(void **state)
{
    (void)state;
    nt_random random = nt_random_seed(3, 0);
    for (int t = 0; t < TYPES; t++) {
        unsigned largest = types[t].round(types[t].largest);
        for (int i = 0; i < 200000; i++) {
            unsigned bits = (unsigned)nt_random_below(&random, largest);
            double a = (double)types[t].widen(bits), b = (double)types[t].widen(bits + 1);
            float between = (float)(a + (b - a) * nt_random_unit(&random)), middle = (float)(a + (b - a) / 2);
            check_nearest(&types[t], between);
            check_nearest(&types[t], -middle);
            check_nearest(&types[t], nextafterf(middle, 0));
            check_nearest(&types[t], nextafterf(middle, INFINITY));
        }
        check_nearest(&types[t], 1e-45f);
        check_nearest(&types[t], -0.0f);
    }
}

static void borders_follow_the_standard(void **state)
{
    (void)state;
    for (int t = 0; t < TYPES; t++) {
        unsigned sign = types[t].count / 2;
        assert_int_equal(types[t].round(INFINITY), types[t].over);
        assert_int_equal(types[t].round(-INFINITY), types[t].over | sign);
        assert_true(isnan(types[t].widen(types[t].round(NAN))));
        assert_true(isnan(types[t].widen(types[t].round(-NAN))));
    }
    assert_int_equal(nt_f32_to_f16(65519.996f), 0x7bff); /* halfway to 65536 is 65520 */
    assert_int_equal(nt_f32_to_f16(65520.0f), 0x7c00);
    assert_int_equal(nt_f32_to_bf16(0x1.fefffep127f), 0x7f7f);
    assert_int_equal(nt_f32_to_bf16(0x1.ffp127f), 0x7f80);
    assert_int_equal(nt_f32_to_e4m3(1e30f), 0x7e);
    assert_int_equal(nt_f32_to_e4m3(-500.0f), 0xfe);
    uint32_t quiet = 0x7f800001; /* a NaN whose payload lies in the bits that bf16 drops */
    float x;
    memcpy(&x, &quiet, sizeof x);
    assert_true(isnan(nt_bf16_to_f32(nt_f32_to_bf16(x))));
}

static void arrays_pack_with_scales_per_channel(void **state)
{
    (void)state;
    const float in[8] = {0.5f, -1.0f, 2.5f, 1000.0f, NAN, 3.0f, -1000.0f, 0.25f}, scale[2] = {0.5f, 1.0f};
    int8_t out[8];
    nt_pack(NT_I8, in, 8, scale, 2, 2, out); /* channels 0 0 1 1 0 0 1 1 */
    const int8_t expected[8] = {1, -2, 2, 127, 0, 6, -127, 0};
    assert_memory_equal(out, expected, 8);
    float back[8];
    nt_unpack(NT_I8, out, 8, back);
    assert_true(back[6] == -127.0f);
    int32_t whole[8];
    nt_pack(NT_I32, in, 8, NULL, 0, 0, whole);
    assert_int_equal(whole[3], 1000);
    assert_int_equal(whole[2], 2); /* 2.5 to even */
    nt_unpack(NT_I32, whole, 8, back);
    assert_true(back[6] == -1000.0f);
}

static void arrays_pack_every_type(void **state)
{
    (void)state;
    const float in[3] = {1.5f, -0.25f, 96.0f}; /* exact in every float type */
    for (int type = NT_F64; type <= NT_F8E4M3; type++) {
        unsigned char bytes[3 * 8];
        memset(bytes, 0x55, sizeof bytes);
        float back[3];
        nt_pack((nt_dtype)type, in, 3, NULL, 0, 0, bytes);
        nt_unpack((nt_dtype)type, bytes, 3, back);
        assert_memory_equal(in, back, sizeof in);
        for (size_t i = 3 * nt_dtype_bytes((nt_dtype)type); i < sizeof bytes; i++)
            assert_int_equal(bytes[i], 0x55);
    }
}

static void pruning_keeps_the_two_largest_of_four(void **state)
{
    (void)state;
    /* Two rows of 10: ties go to the earlier, groups begin anew with each row, the last group of a row is short. */
    float x[20] = {1, -3, 2, 0.5f, 1, 1, -1, 1, 5, 6, 0, 0, -4, 0, 7, 8, 9, 9, -2, 0};
    const float kept[20] = {0, -3, 2, 0, 1, 1, 0, 0, 5, 6, 0, 0, -4, 0, 0, 0, 9, 9, -2, 0};
    nt_prune(x, 20, 10);
    assert_memory_equal(x, kept, sizeof x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_survives),       cmocka_unit_test(rounding_takes_the_nearest_and_ties_to_even),
        cmocka_unit_test(borders_follow_the_standard), cmocka_unit_test(arrays_pack_with_scales_per_channel),
        cmocka_unit_test(arrays_pack_every_type),      cmocka_unit_test(pruning_keeps_the_two_largest_of_four),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
