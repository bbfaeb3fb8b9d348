/* The parts of the GPU check that need no GPU: verdicts, rates, and the sums that judge every kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/convert.h"
#include "core/random.h"

/* Their files as they are: their small functions are what is tested. */
#include "tests/gpu/figures.c"
#include "tests/gpu/oracle.c"

static const char *verdict_of(double value, bool upper, double limit)
{
    static char text[512];
    char *data = NULL;
    size_t bytes = 0;
    judge j = {.bar = "test", .figures = open_memstream(&data, &bytes)};
    if (upper)
        judge_most(&j, judge_number("x", "us", value), limit);
    else
        judge_least(&j, judge_number("x", "us", value), limit);
    fclose(j.figures);
    nt_copy(text, sizeof text, strstr(data, "\"verdict\":"));
    free(data);
    assert_int_equal(j.short_count, strstr(text, "short") != NULL);
    return text;
}

static void test_verdicts(void **state)
{
    (void)state;
    assert_string_equal(verdict_of(2, true, 2), "\"verdict\":\"holds\"}\n");
    assert_string_equal(verdict_of(2.01, true, 2), "\"verdict\":\"short\"}\n");
    assert_string_equal(verdict_of(2, false, 2), "\"verdict\":\"holds\"}\n");
    assert_string_equal(verdict_of(1.99, false, 2), "\"verdict\":\"short\"}\n");
    /* what could not be had never holds */
    assert_string_equal(verdict_of(NAN, true, 2), "\"verdict\":\"short\"}\n");
    assert_string_equal(verdict_of(-INFINITY, true, 2), "\"verdict\":\"short\"}\n");
    assert_string_equal(verdict_of(INFINITY, false, 2), "\"verdict\":\"short\"}\n");
}

static void test_rate(void **state)
{
    (void)state;
    double at[101];
    for (int i = 0; i <= 100; i++)
        at[i] = 5 + 0.1 * i;
    figure f = judge_rate("r", at, 101);
    assert_true(fabs(f.value - 10) < 1e-9 && fabs(f.lo - 10) < 1e-9 && fabs(f.hi - 10) < 1e-9);
    for (int i = 51; i <= 100; i++)
        at[i] = at[50] + 0.2 * (i - 50); /* half as fast from the middle on */
    f = judge_rate("r", at, 101);
    assert_true(fabs(f.value - 100 / 15.0) < 1e-9 && fabs(f.lo - 5) < 1e-6 && fabs(f.hi - 10) < 1e-6);
    assert_true(isnan(judge_rate("r", at, 1).value));
}

static void test_halves_are_read_as_written(void **state)
{
    (void)state;
    static const float values[] = {0, 1, -2.5f, 65504, 6.1035e-5f, 5.96e-8f, -3e-6f, 0.333f};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        uint16_t bits;
        float back;
        nt_pack(NT_F16, &values[i], 1, NULL, 0, 1, &bits);
        nt_unpack(NT_F16, &bits, 1, &back);
        assert_true(decode(NT_FP16, (const unsigned char *)&bits) == (double)back);
        nt_pack(NT_BFLOAT16, &values[i], 1, NULL, 0, 1, &bits);
        nt_unpack(NT_BFLOAT16, &bits, 1, &back);
        assert_true(decode(NT_BF16, (const unsigned char *)&bits) == (double)back);
    }
    assert_true(isnan(half(0x7e00)) && isinf(half(0xfc00)));
}

/* The judge's sums against the layer's reference, all outputs, both layouts. */
static void check_sums(nt_layout layout)
{
    nt_problem p = {.layer = "conv3x3", .batch = 2, .precision = NT_FP32, .layout = layout};
    nt_error err = {0};
    nt_extents e;
    assert_int_equal(nt_shape_parse("c=3,k=4,h=5,w=6", &p.shape, &err), NT_OK);
    const nt_layer *layer = nt_layer_find("conv3x3");
    assert_int_equal(layer->extents(&p, &e, &err), NT_OK);
    float *in = nt_alloc((size_t)e.in * sizeof *in), *weight = nt_alloc((size_t)e.weight * sizeof *weight);
    double *out = nt_alloc((size_t)e.out * sizeof *out), *abs = nt_alloc((size_t)e.out * sizeof *abs);
    nt_random_fill(NT_FILL_NORMAL, 3, 1, 0, in, (size_t)e.in);
    nt_random_fill(NT_FILL_NORMAL, 3, 2, 0, weight, (size_t)e.weight);
    layer->reference(&p, NT_BOUND_DIRECT, in, weight, out, abs, 0, layer->reference_rows(&p));
    oracle o = {.in = (unsigned char *)in, .weight = (unsigned char *)weight};
    geometry g = geometry_of(&p);
    for (int64_t n = 0; n < 2; n++)
        for (int64_t y = 0; y < 5; y++)
            for (int64_t x = 0; x < 6; x++)
                for (int64_t k = 0; k < 4; k++) {
                    int64_t at = layout == NT_NCHW ? ((n * 4 + k) * 5 + y) * 6 + x : ((n * 5 + y) * 6 + x) * 4 + k;
                    double sum, magnitude;
                    convolve(&o, &g, n, y, x, k, &sum, &magnitude);
                    assert_true(fabs(sum - out[at]) <= 1e-13 * magnitude);
                    assert_true(fabs(magnitude - abs[at]) <= 1e-12 * magnitude);
                }
    free(in);
    free(weight);
    free(out);
    free(abs);
}

static void test_sums(void **state)
{
    (void)state;
    check_sums(NT_NHWC);
    check_sums(NT_NCHW);
}

static void test_picks_reach_the_corners(void **state)
{
    (void)state;
    oracle o = {.state = 1};
    int corners = 0;
    for (int pick = 0; pick < 8; pick++) {
        int64_t y = pick_one(&o, pick, 0, 7), x = pick_one(&o, pick, 1, 9), k = pick_one(&o, pick, 2, 5);
        assert_true((y == 0 || y == 6) && (x == 0 || x == 8) && (k == 0 || k == 4));
        corners |= 1 << ((y > 0) + 2 * (x > 0) + 4 * (k > 0));
    }
    assert_int_equal(corners, 255);
    for (int i = 16; i < 200; i++)
        assert_in_range(pick_one(&o, i, 0, 7), 0, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_halves_are_read_as_written),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_picks_reach_the_corners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
