/* test_device_cpu_check.c: the comparison on the cpu against hand-made outputs: what passes, what never may. Three
 * threads share one core here, so ranges meet inside the data and threads do wait for each other. */
#include "device/cpu_check.h"

#include "core/convert.h"
#include "device/cpu_host.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static nt_cpu_pool *pool;

static int open_pool(void **state)
{
    int cpus[NT_MAX_CORES];
    (void)state;
    nt_cpu_cores(cpus);
    return nt_cpu_pool_open((const int[]){cpus[0], cpus[0], cpus[0]}, 3, &pool, NULL);
}

static int close_pool(void **state)
{
    (void)state;
    nt_cpu_pool_close(pool);
    return 0;
}

enum { COUNT = 10007 };
static float out_f32[COUNT];
static double ref[COUNT], magnitude[COUNT], original[COUNT];

static nt_compare_request comparison(void)
{
    for (int i = 0; i < COUNT; i++) {
        ref[i] = sin(i);
        out_f32[i] = (float)ref[i];
        magnitude[i] = 1 + fabs(ref[i]);
        original[i] = ref[i];
    }
    return (nt_compare_request){
        .out = (nt_mem)(uintptr_t)out_f32,
        .out_type = NT_F32,
        .count = COUNT,
        .ref = (nt_mem)(uintptr_t)ref,
        .abs = (nt_mem)(uintptr_t)magnitude,
        .original = (nt_mem)(uintptr_t)original,
        .gamma = 1e-6,
        .tiny = 1e-30,
    };
}

static void test_clean(void **state)
{
    (void)state;
    nt_compare_request request = comparison();
    nt_compare_result result;
    assert_int_equal(nt_cpu_compare(pool, &request, &result, NULL), NT_OK);
    assert_int_equal(result.violations, 0);
    assert_int_equal(result.first_bad, COUNT);
    assert_true(result.max_ratio > 0 && result.max_ratio < 0.1);
    assert_true(result.sum_sq_ref > COUNT * 0.49 && result.sum_sq_ref < COUNT * 0.51);
    assert_true(result.sum_sq_diff > 0 && sqrt(result.sum_sq_diff / result.sum_sq_ref) < 1e-7);
    request.original = 0;
    assert_int_equal(nt_cpu_compare(pool, &request, &result, NULL), NT_OK);
    assert_true(isnan(result.sum_sq_diff) && isnan(result.sum_sq_ref));
}

static void test_finds_one_wrong_element(void **state)
{
    (void)state;
    static const int places[] = {0, 1, 4999, 5003, 5004, COUNT - 1};
    nt_compare_result result;
    for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
        nt_compare_request request = comparison();
        out_f32[places[p]] += 1e-5f;
        assert_int_equal(nt_cpu_compare(pool, &request, &result, NULL), NT_OK);
        assert_int_equal(result.violations, 1);
        assert_int_equal(result.first_bad, places[p]);
        assert_float_equal(result.first_ref, ref[places[p]], 0);
        assert_float_equal(result.first_out, out_f32[places[p]], 0);
        assert_true(result.max_ratio > 1);
    }
    /* The bound itself passes, just above does not. */
    nt_compare_request request = comparison();
    request.gamma = 0;
    request.tiny = 0.25;
    for (int i = 0; i < COUNT; i++)
        ref[i] = out_f32[i];
    out_f32[10] = 4;
    ref[10] = 4.25;
    assert_int_equal(nt_cpu_compare(pool, &request, &result, NULL), NT_OK);
    assert_int_equal(result.violations, 0);
    assert_float_equal(result.max_ratio, 1, 0);
    ref[10] = 4.2500001;
    nt_cpu_compare(pool, &request, &result, NULL);
    assert_int_equal(result.violations, 1);
}

static void test_never_passes_nan(void **state)
{
    (void)state;
    const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    nt_compare_result result;
    for (int b = 0; b < 4; b++) {
        nt_compare_request request = comparison();
        request.gamma = INFINITY; /* even where the bound allows everything */
        out_f32[9000] = bad[b];
        out_f32[3000] = bad[b];
        assert_int_equal(nt_cpu_compare(pool, &request, &result, NULL), NT_OK);
        assert_true(isinf(result.max_ratio) && result.max_ratio > 0);
        assert_int_equal(result.violations, 2);
        assert_int_equal(result.first_bad, 3000);
    }
    nt_compare_request request = comparison();
    ref[3] = NAN; /* a broken reference proves nothing */
    nt_cpu_compare(pool, &request, &result, NULL);
    assert_int_equal(result.first_bad, 3);
}

static void test_integers_exactly(void **state)
{
    (void)state;
    static int32_t out[COUNT];
    nt_compare_request request = comparison();
    nt_compare_result result;
    double scale[3] = {1, 2, 4};
    for (int i = 0; i < COUNT; i++) {
        out[i] = i * 214000 - 1000000000; /* beyond the 24 bits of a float */
        ref[i] = out[i];
        original[i] = out[i] * scale[i / 5 % 3];
    }
    request.out = (nt_mem)(uintptr_t)out;
    request.out_type = NT_I32;
    request.gamma = request.tiny = 0;
    request.channel_scale = (nt_mem)(uintptr_t)scale;
    request.channels = 3;
    request.channel_stride = 5;
    assert_int_equal(nt_cpu_compare(pool, &request, &result, NULL), NT_OK);
    assert_int_equal(result.violations, 0);
    assert_float_equal(result.max_ratio, 0, 0);
    assert_float_equal(result.sum_sq_diff, 0, 0);
    out[1234]++;
    nt_cpu_compare(pool, &request, &result, NULL);
    assert_int_equal(result.violations, 1);
    assert_int_equal(result.first_bad, 1234);
    assert_true(isinf(result.max_ratio));
}

static void test_small_types(void **state)
{
    (void)state;
    static const nt_dtype types[] = {NT_F16, NT_BFLOAT16, NT_F8E4M3};
    static uint16_t packed[COUNT];
    for (int t = 0; t < 3; t++) {
        nt_compare_request request = comparison();
        nt_compare_result result;
        nt_pack(types[t], out_f32, COUNT, NULL, 0, 1, packed);
        request.out = (nt_mem)(uintptr_t)packed;
        request.out_type = types[t];
        request.unit_out = (const double[]){0x1p-11, 0x1p-8, 0x1p-4}[t];
        request.tiny = 0x1p-10;
        assert_int_equal(nt_cpu_compare(pool, &request, &result, NULL), NT_OK);
        assert_int_equal(result.violations, 0);
        request.unit_out *= 0.1;
        request.tiny *= 0.01;
        nt_cpu_compare(pool, &request, &result, NULL);
        assert_true(result.violations > 0);
    }
}

/* Integers beyond the 53 bits of a double: off by one is off by one. */
static void test_wide_integers(void **state)
{
    (void)state;
    static uint64_t out[COUNT], wanted[COUNT];
    nt_compare_result result;
    for (int signs = 0; signs < 2; signs++) {
        nt_compare_request request = comparison();
        for (int i = 0; i < COUNT; i++)
            out[i] = wanted[i] = (signs ? UINT64_C(1) << 63 : UINT64_C(1) << 61) + (uint64_t)i; /* negative as I64 */
        request.out = (nt_mem)(uintptr_t)out;
        request.ref = request.original = (nt_mem)(uintptr_t)wanted;
        request.out_type = signs ? NT_I64 : NT_U64;
        request.gamma = request.tiny = request.unit_out = 0;
        assert_int_equal(nt_cpu_compare(pool, &request, &result, NULL), NT_OK);
        assert_int_equal(result.violations, 0);
        out[77]++;
        nt_cpu_compare(pool, &request, &result, NULL);
        assert_int_equal(result.violations, 1);
        assert_int_equal(result.first_bad, 77);
        assert_true(signs ? result.first_ref < 0 : result.first_ref > 0);
        request.tiny = 1;
        nt_cpu_compare(pool, &request, &result, NULL);
        assert_int_equal(result.violations, 0);
        assert_float_equal(result.max_ratio, 1, 0);
        out[77] = 0; /* far off, across the sign */
        nt_cpu_compare(pool, &request, &result, NULL);
        assert_int_equal(result.violations, 1);
        assert_true(result.max_ratio > 1e18);
    }
}

static void test_every_integer_type(void **state)
{
    (void)state;
    static const nt_dtype types[] = {NT_I8, NT_U8, NT_I16, NT_U16, NT_I32, NT_U32};
    static unsigned char packed[COUNT * 4];
    static float values[COUNT];
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        nt_compare_request request = comparison();
        nt_compare_result result;
        for (int i = 0; i < COUNT; i++)
            ref[i] = (double)(values[i] = (float)(i % 100));
        if (types[t] == NT_U8 || types[t] == NT_U16 || types[t] == NT_U32)
            ref[5] = (double)(values[5] = nt_dtype_bytes(types[t]) == 1 ? 255 : 65535); /* above the signed types */
        else
            ref[5] = (double)(values[5] = -127);
        nt_pack(types[t], values, COUNT, NULL, 0, 1, packed);
        request.out = (nt_mem)(uintptr_t)packed;
        request.out_type = types[t];
        request.gamma = request.tiny = 0;
        assert_int_equal(nt_cpu_compare(pool, &request, &result, NULL), NT_OK);
        assert_int_equal(result.violations, 0);
        packed[COUNT / 2 * nt_dtype_bytes(types[t])] ^= 1;
        nt_cpu_compare(pool, &request, &result, NULL);
        assert_int_equal(result.violations, 1);
        assert_int_equal(result.first_bad, COUNT / 2);
    }
}

static void test_fewer_elements_than_threads(void **state)
{
    (void)state;
    nt_compare_request request = comparison();
    nt_compare_result result;
    request.count = 1;
    out_f32[0] = 3;
    assert_int_equal(nt_cpu_compare(pool, &request, &result, NULL), NT_OK);
    assert_int_equal(result.violations, 1);
    assert_int_equal(result.first_bad, 0);
    request.ref = 0;
    assert_int_equal(nt_cpu_compare(pool, &request, &result, NULL), NT_FAILED);
}

static void test_count_changed(void **state)
{
    (void)state;
    unsigned char guard[64];
    for (int i = 0; i < 64; i++)
        guard[i] = 0x5a;
    assert_int_equal(nt_cpu_count_changed(guard, 0x5a, 64), 0);
    guard[0] = guard[63] = 0;
    assert_int_equal(nt_cpu_count_changed(guard, 0x5a, 64), 2);
    assert_int_equal(nt_cpu_count_changed(guard + 1, 0x5a, 62), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_finds_one_wrong_element),
        cmocka_unit_test(test_never_passes_nan),
        cmocka_unit_test(test_integers_exactly),
        cmocka_unit_test(test_small_types),
        cmocka_unit_test(test_wide_integers),
        cmocka_unit_test(test_every_integer_type),
        cmocka_unit_test(test_fewer_elements_than_threads),
        cmocka_unit_test(test_count_changed),
    };
    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
