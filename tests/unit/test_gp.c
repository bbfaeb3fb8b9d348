/* test_gp.c: the parts of the model: factors, features, the fit of lengths, and the posterior of many candidates
 * against the textbook formula. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "autotune/gp_pool.h"
#include "core/mem.h"
#include "core/random.h"

static bool close_to(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * (1 + fabs(b));
}

/* ---- factors ---------------------------------------------------------------------------------------------------- */

enum { SIDE = 23 };

/* B B^T + I: positive definite whatever B is. */
static void make_matrix(double a[SIDE][SIDE])
{
    double b[SIDE][SIDE];
    nt_random random = nt_random_seed(5, 5);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            b[i][j] = nt_random_unit(&random) - 0.5;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            a[i][j] = i == j;
            for (int k = 0; k < SIDE; k++)
                a[i][j] += b[i][k] * b[j][k];
        }
}

static void test_factor(void **state)
{
    (void)state;
    double a[SIDE][SIDE], x[SIDE], inverse[SIDE * SIDE], scratch[SIDE * SIDE];
    nt_cholesky factor = {0};
    make_matrix(a);
    for (size_t i = 0; i < SIDE; i++)
        assert_true(nt_cholesky_append(&factor, a[i], a[i][i]));
    for (size_t i = 0; i < SIDE; i++)
        for (size_t j = 0; j <= i; j++)
            assert_true(
                close_to(nt_dot(nt_cholesky_row(&factor, i), nt_cholesky_row(&factor, j), j + 1), a[i][j], 1e-12));
    for (int i = 0; i < SIDE; i++)
        x[i] = i - 3.0;
    nt_cholesky_solve_lower(&factor, x);
    nt_cholesky_solve_upper(&factor, x);
    for (int i = 0; i < SIDE; i++)
        assert_true(close_to(nt_dot(a[i], x, SIDE), i - 3.0, 1e-11));
    nt_cholesky_inverse(&factor, inverse, scratch);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            assert_true(close_to(nt_dot(a[i], inverse + j * SIDE, SIDE), i == j, 1e-11));
    double product = 1;
    for (size_t i = 0; i < SIDE; i++)
        product *= nt_cholesky_row(&factor, i)[i];
    assert_true(close_to(nt_cholesky_log_determinant(&factor), 2 * log(product), 1e-12));
    nt_cholesky_done(&factor);
}

static void test_factor_refuses(void **state)
{
    (void)state;
    nt_cholesky factor = {0};
    static const double twin[] = {1};
    assert_true(nt_cholesky_append(&factor, twin, 1));
    assert_false(nt_cholesky_append(&factor, twin, 1)); /* the same point twice */
    assert_int_equal(factor.count, 1);
    assert_false(nt_cholesky_append(&factor, twin, (double)NAN));
    assert_true(nt_cholesky_append(&factor, twin, 2));
    assert_int_equal(factor.count, 2);
    nt_cholesky_done(&factor);
}

/* ---- features --------------------------------------------------------------------------------------------------- */

static const int64_t sizes[] = {1, 2, 3, 4, 6, 8}, other_sizes[] = {16, 4, 5};
static const double shares[] = {0.5, 0.25};
static const char *const ways[] = {"tile", "row"}, *const other_ways[] = {"all", "row"};
static const nt_param first_params[] = {{.name = "size", .ints = sizes, .count = 6},
                                        {.name = "way", .strings = ways, .count = 2},
                                        {.name = "only", .reals = shares, .count = 2}};
static const nt_param second_params[] = {{.name = "way", .strings = other_ways, .count = 2},
                                         {.name = "size", .ints = other_sizes, .count = 3},
                                         {.name = "fixed", .ints = sizes, .count = 1}};
static const nt_kernel kernels[] = {{.name = "first", .params = first_params, .param_count = 3},
                                    {.name = "second", .params = second_params, .param_count = 3}};

static const nt_space *spaces[2];

static int build_spaces(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        if (nt_space_build(&kernels[i], NULL, NULL, NULL, 0, NULL, (nt_space **)&spaces[i], NULL) != NT_OK)
            return -1;
    return 0;
}

static int free_spaces(void **state)
{
    (void)state;
    nt_space_free((nt_space *)spaces[0]);
    nt_space_free((nt_space *)spaces[1]);
    return 0;
}

static nt_candidate candidate_of(int kernel, nt_config config)
{
    nt_candidate out = {kernel, 0};
    assert_true(nt_space_index(spaces[kernel], &config, &out.index));
    return out;
}

static void test_features_join_kernels(void **state)
{
    (void)state;
    nt_strategy_setup setup = {.space = spaces, .kernel_count = 2};
    nt_features features;
    uint16_t level[NT_MAX_FEATURES];
    nt_features_init(&features, &setup, 3);
    assert_int_equal(features.count, 5); /* kernel, size, way, only, alignment of size */
    assert_int_equal(features.feature[0].levels, 2);
    assert_false(features.feature[0].ordered);
    assert_int_equal(features.feature[1].levels, 8); /* 1 2 3 4 5 6 8 16 */
    assert_int_equal(features.feature[2].levels, 3);
    assert_int_equal(features.feature[3].levels, 3); /* two values and its absence */
    assert_true(features.feature[4].derived && !features.feature[1].derived);
    assert_int_equal(features.feature[4].levels, 5);                              /* 2^0 to 2^4 */
    nt_features_of(&features, candidate_of(0, (nt_config){3, {4, 1, 1}}), level); /* size 6, way row, only 0.25 */
    assert_true(level[0] == 0 && level[1] == 5 && level[2] == 1 && level[3] == 0 && level[4] == 1);
    nt_features_of(&features, candidate_of(1, (nt_config){3, {1, 0, 0}}), level); /* way row, size 16 */
    assert_true(level[0] == 1 && level[1] == 7 && level[2] == 1 && level[3] == 2 && level[4] == 4);
    assert_true(nt_feature_distance2(&features.feature[1], 0, 7) == 1);
    assert_true(close_to(nt_feature_distance2(&features.feature[1], 1, 2), 1.0 / 49, 1e-6));
    assert_true(nt_feature_distance2(&features.feature[2], 0, 2) == 1);
    assert_true(nt_feature_distance2(&features.feature[3], 0, 2) == 0.25);
    nt_features_done(&features);
}

/* ---- the posterior ---------------------------------------------------------------------------------------------- */

enum { AXES = 4, LEVELS = 9, POINTS = 40, CANDIDATES = 300 };

typedef struct world {
    nt_param param[AXES];
    nt_kernel kernel;
    nt_space *space;
    const nt_space *only;
    nt_features features;
    nt_gp_model model;
} world;

static const int64_t nine[LEVELS] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
static const nt_gp_prior prior = {.length = -0.5, .length_spread = 1, .noise = -7, .noise_spread = 1};

static void open_world(world *w)
{
    static const char *const names[AXES] = {"a", "b", "c", "d"};
    memset(w, 0, sizeof *w);
    for (int i = 0; i < AXES; i++)
        w->param[i] = (nt_param){.name = names[i], .ints = nine, .count = LEVELS};
    w->kernel = (nt_kernel){.name = "world", .params = w->param, .param_count = AXES};
    assert_int_equal(nt_space_build(&w->kernel, NULL, NULL, NULL, 0, NULL, &w->space, NULL), NT_OK);
    w->only = w->space;
    nt_strategy_setup setup = {.space = &w->only, .kernel_count = 1};
    nt_features_init(&w->features, &setup, 0);
    nt_gp_model_init(&w->model, &w->features, &prior);
}

static void close_world(world *w)
{
    nt_gp_model_done(&w->model);
    nt_features_done(&w->features);
    nt_space_free(w->space);
}

static void draw_levels(const world *w, nt_random *random, uint16_t *level, size_t count)
{
    for (size_t i = 0; i < count; i++)
        nt_features_of(&w->features, (nt_candidate){0, nt_random_below(random, nt_space_size(w->space))},
                       level + i * AXES);
}

/* k^T K^-1 y and 1 - k^T K^-1 k, the long way. */
static void textbook(const world *w, const uint16_t *point, const double *value, size_t n, const uint16_t *at,
                     double *mean, double *variance)
{
    nt_cholesky factor = {0};
    double row[POINTS], k[POINTS], y[POINTS];
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            row[j] = nt_gp_covariance(&w->model, point + i * AXES, point + j * AXES);
        assert_true(nt_cholesky_append(&factor, row, 1 + exp(w->model.log_noise) + 1e-6));
        k[i] = nt_gp_covariance(&w->model, point + i * AXES, at);
        y[i] = value[i];
    }
    nt_cholesky_solve_lower(&factor, k);
    nt_cholesky_solve_lower(&factor, y);
    *mean = nt_dot(k, y, n);
    *variance = 1 - nt_dot(k, k, n);
    nt_cholesky_done(&factor);
}

static void check_pool(const world *w, const nt_gp_pool *pool, const uint16_t *candidate, size_t count)
{
    assert_int_equal(pool->candidates, count);
    for (size_t c = 0; c < count; c += 7) {
        double mean, variance;
        textbook(w, pool->point, pool->value, pool->points, candidate + c * AXES, &mean, &variance);
        assert_true(fabs((double)pool->mean[c] - mean) < 2e-3);
        assert_true(fabs((double)pool->variance[c] - variance) < 2e-3);
        assert_int_equal(nt_gp_pool_level(pool, c, 2), candidate[c * AXES + 2]);
    }
}

static void test_pool_is_the_posterior(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    nt_random random = nt_random_seed(8, 8);
    uint16_t point[POINTS * AXES], candidate[CANDIDATES * AXES];
    nt_gp_pool pool;
    draw_levels(&w, &random, point, POINTS);
    draw_levels(&w, &random, candidate, CANDIDATES);
    nt_gp_pool_init(&pool, &w.model);
    for (int round = 0; round < 2; round++) { /* the second in the memory of the first */
        nt_gp_pool_clear(&pool);
        for (size_t i = 0; i < 10; i++)
            nt_gp_pool_add_point(&pool, point + i * AXES, sin((double)i));
        nt_gp_pool_add_candidates(&pool, candidate, 200);
        check_pool(&w, &pool, candidate, 200);
        for (size_t i = 10; i < POINTS; i++)
            nt_gp_pool_add_point(&pool, point + i * AXES, sin((double)i));
        check_pool(&w, &pool, candidate, 200);
        for (size_t c = 200; c < CANDIDATES; c++)
            assert_int_equal(nt_gp_pool_add_candidate(&pool, candidate + c * AXES), c);
        check_pool(&w, &pool, candidate, CANDIDATES);
        nt_gp_pool_set_value(&pool, 12, 3);
        nt_gp_pool_set_value(&pool, 39, -2);
        check_pool(&w, &pool, candidate, CANDIDATES);
    }
    nt_gp_pool_done(&pool);
    close_world(&w);
}

static void test_expected_value_changes_no_mean(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    nt_random random = nt_random_seed(9, 9);
    uint16_t point[POINTS * AXES];
    float before[POINTS];
    nt_gp_pool pool;
    draw_levels(&w, &random, point, POINTS);
    nt_gp_pool_init(&pool, &w.model);
    for (size_t i = 0; i < 8; i++)
        nt_gp_pool_add_point(&pool, point + i * AXES, cos((double)i));
    nt_gp_pool_add_candidates(&pool, point, POINTS);
    memcpy(before, pool.mean, sizeof before);
    float variance = pool.variance[20];
    nt_gp_pool_add_point(&pool, point + 20 * AXES, (double)NAN);
    assert_memory_equal(before, pool.mean, sizeof before);
    assert_true(fabs(pool.value[8] - (double)before[20]) < 1e-4);
    assert_true(pool.variance[20] < variance / 10);
    nt_gp_pool_done(&pool);
    close_world(&w);
}

/* Values that change with the first parameter alone, and fast: its length becomes the shortest. */
static void test_fit_finds_what_matters(void **state)
{
    (void)state;
    enum { N = 60 };
    world w;
    open_world(&w);
    nt_random random = nt_random_seed(10, 10);
    uint16_t point[N * AXES];
    double value[N];
    draw_levels(&w, &random, point, N);
    for (int i = 0; i < N; i++)
        value[i] = sin(1.5 * point[i * AXES]);
    double early = nt_gp_model_fit(&w.model, point, value, N, 2), late = nt_gp_model_fit(&w.model, point, value, N, 40);
    assert_true(late > early + 1);
    for (int f = 1; f < AXES; f++)
        assert_true(w.model.log_length[0] < w.model.log_length[f] - 1);
    close_world(&w);
}

static void test_matern(void **state)
{
    (void)state;
    for (double r = 0; r < 12; r += 0.01) {
        double s = sqrt(5.0) * r, want = (1 + s + s * s / 3) * exp(-s);
        assert_true(fabs((double)nt_gp_matern((float)(r * r)) - want) < 2e-6);
    }
    assert_true(nt_gp_matern(1e9f) >= 0 && nt_gp_matern(1e9f) < 1e-20f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factor),
        cmocka_unit_test(test_factor_refuses),
        cmocka_unit_test(test_features_join_kernels),
        cmocka_unit_test(test_matern),
        cmocka_unit_test(test_pool_is_the_posterior),
        cmocka_unit_test(test_expected_value_changes_no_mean),
        cmocka_unit_test(test_fit_finds_what_matters),
    };
    return cmocka_run_group_tests(tests, build_spaces, free_spaces);
}
