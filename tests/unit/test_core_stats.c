/* Statistics against values from elsewhere. 'scipy' marks numbers computed with scipy 1.17.1 (wilcoxon, binom, gmean)
 * and numpy 2.4.6 (quantile); 'enumerated' ones went through all sign patterns in Python, since scipy has no exact test
 * with ties. */
#include "core/stats.h"

#include "core/random.h"

#include "core_check.h"

static const double eight[] = {1.2, -0.4, 0.9, 2.1, -0.3, 0.7, 1.5, -1.1};
static const double many[] = {0.31, -0.12, 0.45, 0.08, -0.27, 0.5,  0.61, -0.05, 0.19,  0.73, -0.34, 0.22, 0.4,
                              0.58, -0.16, 0.9,  0.03, -0.7,  0.64, 0.81, 0.11,  -0.02, 0.37, 0.29,  -0.48};
enum { EIGHT = sizeof eight / sizeof eight[0], MANY = sizeof many / sizeof many[0] };

static void quantiles_match_numpy(void **state)
{
    (void)state;
    static const double q[] = {0, 0.1, 0.25, 0.5, 0.9, 1}, expected[] = {-0.7, -0.312, -0.05, 0.22, 0.694, 0.9};
    for (size_t i = 0; i < 6; i++)
        assert_close(nt_quantile(many, MANY, q[i]), expected[i], 1e-12);
    assert_close(nt_median((double[]){4, 1, 3, 2}, 4), 2.5, 0);
    assert_close(nt_median((double[]){7}, 1), 7, 0);
    assert_true(isnan(nt_median(NULL, 0)));
    assert_true(isnan(nt_median((double[]){1, NAN, 3}, 3)));
    assert_true(isnan(nt_quantile(many, MANY, 1.5)));
}

static void geometric_means_match_scipy(void **state)
{
    (void)state;
    assert_close(nt_geomean((double[]){1.1, 2.3, 0.7, 9.4, 5.5}, 5), 2.467981050817796, 1e-14);
    assert_close(nt_geomean((double[]){1e300, 1e300, 1e-300, 1e-300}, 4), 1, 1e-12);
    assert_true(isnan(nt_geomean((double[]){1, 0}, 2)));
    assert_true(isnan(nt_geomean((double[]){1, -2}, 2)));
    assert_true(isnan(nt_geomean(NULL, 0)));
}

/* Values 1..n shuffled, so that the interval's ends are the ranks themselves. */
static nt_interval interval_of_ranks(size_t n, double confidence)
{
    double *values = malloc((n + 1) * sizeof *values);
    nt_random random = nt_random_seed(n, 0);
    for (size_t i = 0; i < n; i++) {
        size_t j = (size_t)nt_random_below(&random, i + 1);
        values[i] = values[j];
        values[j] = (double)(i + 1);
    }
    nt_interval interval = nt_median_interval(values, n, confidence);
    free(values);
    return interval;
}

static void intervals_match_the_binomial(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double confidence;
        double rank, coverage; /* scipy */
    } known[] = {{6, 0.95, 1, 0.96875},
                 {9, 0.95, 2, 0.9609375},
                 {10, 0.95, 2, 0.978515625},
                 {20, 0.95, 6, 0.9586105346679688},
                 {20, 0.9, 6, 0.9586105346679688},
                 {20, 0.99, 4, 0.9974231719970703},
                 {20, 0.999, 3, 0.9995975494384766},
                 {35, 0.95, 12, 0.959040408488363},
                 {100, 0.95, 40, 0.9647997997822951},
                 {1000, 0.95, 469, 0.9537088026395019},
                 {5000, 0.95, 2431, 0.9506841418958285}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        nt_interval interval = interval_of_ranks(known[i].n, known[i].confidence);
        assert_close(interval.lo, known[i].rank, 0);
        assert_close(interval.hi, (double)known[i].n + 1 - known[i].rank, 0);
        assert_close(interval.coverage, known[i].coverage, 1e-9);
        assert_close(interval.median, ((double)known[i].n + 1) / 2, 0);
    }
}

static void too_few_samples_have_no_interval(void **state)
{
    (void)state;
    for (size_t n = 1; n < 6; n++) {
        nt_interval interval = interval_of_ranks(n, 0.5);
        assert_false(isnan(interval.median));
        assert_true(isnan(interval.lo) && isnan(interval.hi) && isnan(interval.coverage));
        assert_true(isnan(nt_interval_rel(interval)));
    }
    assert_true(isnan(interval_of_ranks(6, 0.99).lo)); /* six reach 96.9 % only */
    assert_true(isnan(nt_median_interval(NULL, 0, 0.95).median));
    assert_close(nt_interval_rel((nt_interval){100, 99, 103, 0.95}), 0.03, 1e-12);
    assert_close(nt_interval_rel((nt_interval){100, 96, 101, 0.95}), 0.04, 1e-12);
}

/* How often the interval holds the true median of skewed data: at least what it says, within sampling error. */
static void intervals_hold_the_median_as_often_as_they_say(void **state)
{
    (void)state;
    nt_random random = nt_random_seed(11, 0);
    int held = 0;
    enum { ROUNDS = 4000, N = 15 };
    for (int round = 0; round < ROUNDS; round++) {
        double values[N];
        for (int i = 0; i < N; i++)
            values[i] = -log(1 - nt_random_unit(&random)); /* exponential: median log 2 */
        nt_interval interval = nt_median_interval(values, N, 0.95);
        held += interval.lo <= log(2) && log(2) <= interval.hi;
    }
    double coverage = interval_of_ranks(N, 0.95).coverage;
    assert_true(fabs((double)held / ROUNDS - coverage) < 4 * sqrt(coverage * (1 - coverage) / ROUNDS));
}

static void signed_ranks_match_scipy(void **state)
{
    (void)state;
    assert_close(nt_wilcoxon_p(eight, EIGHT), 0.1953125, 1e-14);          /* scipy, exact */
    assert_close(nt_wilcoxon_p(many, MANY), 0.023649930953979492, 1e-14); /* scipy, exact, n = 25 */
    assert_close(nt_wilcoxon_p((double[]){1, 2, 3, 4, 5}, 5), 0.0625, 0);
    assert_close(nt_wilcoxon_p((double[]){-1, -2, -3, -4, -5}, 5), 0.0625, 0);
    assert_close(nt_wilcoxon_p((double[]){3}, 1), 1, 0);
    double ties[] = {1, 1, -1, 2, 2, 3, -3, 4}, zeros[] = {0, 0, 1, 1, -1, 2, 2, 3, -3, 4, 0};
    assert_close(nt_wilcoxon_p(ties, 8), 0.2421875, 1e-14);   /* enumerated */
    assert_close(nt_wilcoxon_p(zeros, 11), 0.2421875, 1e-14); /* enumerated */
    assert_close(nt_wilcoxon_p(NULL, 0), 1, 0);
    assert_close(nt_wilcoxon_p((double[]){0, 0}, 2), 1, 0);
    assert_true(isnan(nt_wilcoxon_p((double[]){1, NAN}, 2)));
}

static void forty(double out[40])
{
    for (int i = 0; i < 40; i++)
        out[i] = (double)(i * 37 % 61 - 25) / 10;
}

static void many_pairs_use_the_normal_distribution(void **state)
{
    (void)state;
    double values[40];
    forty(values);                                                       /* one zero, many ties */
    assert_close(nt_wilcoxon_p(values, 40), 0.16073201313861973, 1e-12); /* scipy, approx with correction */
    for (int i = 0; i < 40; i++)
        values[i] = i % 2 ? 1 : -1;
    assert_close(nt_wilcoxon_p(values, 40), 1, 0);
}

static double slow_hodges_lehmann(const double *x, size_t n)
{
    double *all = malloc(n * (n + 1) / 2 * sizeof *all);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            all[count++] = (x[i] + x[j]) / 2;
    double median = nt_median(all, count);
    free(all);
    return median;
}

static void hodges_lehmann_is_the_median_of_averages(void **state)
{
    (void)state;
    double values[40];
    forty(values);
    assert_close(nt_hodges_lehmann(eight, EIGHT), 0.575, 1e-14); /* numpy */
    assert_close(nt_hodges_lehmann(many, MANY), 0.215, 1e-14);
    assert_close(nt_hodges_lehmann(values, 40), 0.4, 1e-14);
    assert_close(nt_hodges_lehmann((double[]){-3}, 1), -3, 0);
    assert_close(nt_hodges_lehmann((double[]){-3, 3}, 2), 0, 0);
    assert_true(isnan(nt_hodges_lehmann(NULL, 0)));
    nt_random random = nt_random_seed(2, 0);
    for (size_t n = 1; n < 60; n++) {
        double x[60];
        for (size_t i = 0; i < n; i++)
            x[i] = floor(nt_random_unit(&random) * 40) - 20;
        assert_close(nt_hodges_lehmann(x, n), slow_hodges_lehmann(x, n), 1e-15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_match_numpy),
        cmocka_unit_test(geometric_means_match_scipy),
        cmocka_unit_test(intervals_match_the_binomial),
        cmocka_unit_test(too_few_samples_have_no_interval),
        cmocka_unit_test(intervals_hold_the_median_as_often_as_they_say),
        cmocka_unit_test(signed_ranks_match_scipy),
        cmocka_unit_test(many_pairs_use_the_normal_distribution),
        cmocka_unit_test(hodges_lehmann_is_the_median_of_averages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
