/* Random numbers: the published SplitMix64 sequence, fills that do not depend on how they are cut, and their shape.
 * Numbers marked 'scipy' were computed with scipy 1.17's norm.ppf from integers made by a separate Python SplitMix64.
 */
#include "core/random.h"

#include "core_check.h"

static void the_sequence_is_splitmix64(void **state)
{
    (void)state;
    nt_random random = {0};
    assert_true(nt_random_u64(&random) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(nt_random_u64(&random) == UINT64_C(0x6e789e6aa1b965f4));
    assert_true(nt_random_u64(&random) == UINT64_C(0x06c45d188009454f));
    nt_random seeded = nt_random_seed(7, 0);
    assert_true(nt_random_u64(&seeded) == UINT64_C(0xf33dc6bd55ffa86b));
    assert_true(nt_random_u64(&seeded) == UINT64_C(0xe1332a7db412c5a9));
}

static void fills_have_their_recorded_values(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        double uniform, normal; /* scipy */
    } known[] = {
        {0, -0.48546600341796875, -0.6517940257441446},    {1, 0.4132500886917114, 0.5435519223311825},
        {2, -0.016054987907409668, -0.020123226663776934}, {511, -0.3659999370574951, -0.47610423146696695},
        {512, 0.9166537523269653, 1.731592244346102},      {1000003, -0.3895561695098877, -0.5094399352345279}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        float value;
        nt_random_fill(NT_FILL_UNIFORM, 1, 2, known[i].at, &value, 1);
        assert_true((double)value == known[i].uniform);
        nt_random_fill(NT_FILL_NORMAL, 1, 2, known[i].at, &value, 1);
        assert_close((double)value, known[i].normal, 2e-7);
    }
}

/* Both fills come from the same integers, so the normal distribution's own function leads from one back to the other.
 * The tolerance is what rounding z to fp32 does to the smaller tail probability. */
static void normal_values_invert_the_distribution(void **state)
{
    (void)state;
    enum { N = 1 << 18 };
    float *normal = malloc(N * sizeof *normal), *uniform = malloc(N * sizeof *uniform);
    nt_random_fill(NT_FILL_NORMAL, 8, 3, 0, normal, N);
    nt_random_fill(NT_FILL_UNIFORM, 8, 3, 0, uniform, N);
    for (int i = 0; i < N; i++) {
        double q = ((double)uniform[i] + 0x1p-24) / 2;
        assert_close(0.5 * erfc(fabs((double)normal[i]) / sqrt(2)), 0.5 - fabs(q), 3e-6);
        assert_true((q < 0) == (normal[i] < 0));
    }
    free(normal);
    free(uniform);
}

static void parts_make_the_whole(void **state)
{
    (void)state;
    enum { N = 2000 };
    static float whole[N], part[N];
    for (int fill = NT_FILL_NORMAL; fill <= NT_FILL_UNIFORM; fill++) {
        nt_random_fill((nt_fill)fill, 9, 1, 3, whole, N);
        for (size_t at = 0, step = 1; at < N; at += step, step = step * 2 % 701 + 1) {
            size_t n = step < N - at ? step : N - at;
            nt_random_fill((nt_fill)fill, 9, 1, 3 + at, part + at, n);
        }
        assert_memory_equal(whole, part, sizeof whole);
        nt_random_fill((nt_fill)fill, 9, 2, 3, part, N);
        assert_memory_not_equal(whole, part, sizeof whole);
        nt_random_fill((nt_fill)fill, 10, 1, 3, part, N);
        assert_memory_not_equal(whole, part, sizeof whole);
    }
}

/* Largest distance between the sample's distribution and the true one (Kolmogorov-Smirnov), by counting in bins. */
static double distance(nt_fill fill, const float *values, size_t n, double *mean, double *sd, double *largest)
{
    enum { BINS = 400 };
    size_t below[BINS + 2] = {0};
    double sum = 0, squares = 0;
    *largest = 0;
    for (size_t i = 0; i < n; i++) {
        double x = (double)values[i];
        sum += x;
        squares += x * x;
        *largest = fmax(*largest, fabs(x));
        double bin = floor((x + 4) / 8 * BINS) + 1;
        below[bin < 0 ? 0 : bin > BINS + 1 ? BINS + 1 : (size_t)bin]++;
    }
    double worst = 0, seen = 0;
    for (int b = 0; b <= BINS; b++) {
        seen += (double)below[b];
        double edge = (double)b / BINS * 8 - 4;
        double expected = fill == NT_FILL_NORMAL ? 0.5 * erfc(-edge / sqrt(2)) : fmin(1, fmax(0, (edge + 1) / 2));
        worst = fmax(worst, fabs(seen / (double)n - expected));
    }
    *mean = sum / (double)n;
    *sd = sqrt(squares / (double)n);
    return worst;
}

static void distributions_have_their_shape(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    float *values = malloc(N * sizeof *values);
    double mean, sd, largest;
    nt_random_fill(NT_FILL_NORMAL, 5, 0, 0, values, N);
    assert_true(distance(NT_FILL_NORMAL, values, N, &mean, &sd, &largest) < 1.95 / 1024); /* p = 0.001 */
    assert_true(fabs(mean) < 4.0 / 1024);
    assert_close(sd, 1, 0.004);
    assert_true(largest > 4.2 && largest < 5.5); /* the tails are there and finite */
    nt_random_fill(NT_FILL_UNIFORM, 5, 0, 0, values, N);
    assert_true(distance(NT_FILL_UNIFORM, values, N, &mean, &sd, &largest) < 1.95 / 1024);
    assert_true(fabs(mean) < 4.0 / 1024);
    assert_close(sd, sqrt(1.0 / 3), 0.004);
    assert_true(largest > 0.9999 && largest <= 1);
    free(values);
}

static void bounds_are_kept_and_even(void **state)
{
    (void)state;
    nt_random random = nt_random_seed(1, 1);
    int count[7] = {0};
    for (int i = 0; i < 70000; i++) {
        uint64_t below = nt_random_below(&random, 7);
        assert_true(below < 7);
        count[below]++;
        double unit = nt_random_unit(&random);
        assert_true(unit >= 0 && unit < 1);
    }
    for (int i = 0; i < 7; i++)
        assert_in_range(count[i], 9600, 10400);
    assert_true(nt_random_below(&random, 1) == 0);
    /* Three quarters of 2^64: with plain remainders the low third would come half of the time. */
    uint64_t bound = UINT64_C(3) << 62;
    int low = 0;
    for (int i = 0; i < 10000; i++)
        low += nt_random_below(&random, bound) < bound / 3;
    assert_in_range(low, 3100, 3570);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sequence_is_splitmix64),
        cmocka_unit_test(fills_have_their_recorded_values),
        cmocka_unit_test(normal_values_invert_the_distribution),
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(distributions_have_their_shape),
        cmocka_unit_test(bounds_are_kept_and_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
