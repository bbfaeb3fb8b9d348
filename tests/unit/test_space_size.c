/* test_space_size.c: large spaces, those too large to list, their neighbours, and spaces of listed configurations. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "space_kernels.h"

/* ---- size -------------------------------------------------------------------------------------------------------- */

/* Thirteen parameters of `values` values each. */
static void wide_params(nt_param *params, int values)
{
    static const char *const names[13] = {"a", "b", "d", "e", "f", "g", "i", "j", "l", "m", "o", "p", "q"};
    static const int64_t listed[40] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                                       21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40};
    for (int i = 0; i < 13; i++)
        params[i] = (nt_param){.name = names[i], .ints = listed, .count = values};
}

static void test_wide_numbers(void **state)
{
    (void)state;
    nt_param params[13];
    wide_params(params, 8);
    static const nt_constraint constraints[] = {{"a == b", ""},
                                                {"b == d", ""},
                                                {"d == e", ""},
                                                {"e == f", ""},
                                                {"f == g", ""},
                                                {"g == i", ""},
                                                {"i == j", ""},
                                                {"l == m", ""},
                                                {"m == o", ""},
                                                {"o == p", ""},
                                                {"p == q", ""},
                                                {"q + a < 10", ""},
                                                {"a + b + d + e + f + g + i < 99", ""}};
    nt_kernel kernel = kernel_of(params, 13, constraints, COUNT(constraints));
    nt_device_info device = gpu();
    nt_space *space = built(&kernel, &device, NULL, 0, NULL);
    assert_true(nt_space_total(space) == UINT64_C(1) << 39);
    assert_int_equal(nt_space_size(space), 8 * 9 / 2);
    nt_config before = {0}, config;
    for (uint64_t i = 0; i < nt_space_size(space); i++) {
        uint64_t back;
        nt_space_config(space, i, &config);
        assert_true(nt_space_index(space, &config, &back) && back == i);
        assert_true(i == 0 || memcmp(before.index, config.index, sizeof before.index) != 0);
        before = config;
    }
    assert_int_equal(nt_space_rejection_of(space, 11).alone, (INT64_C(1) << 39) / 64 * 28);
    assert_int_equal(nt_space_rejection_of(space, 12).alone, NT_UNKNOWN); /* 8^7 is more than it tries */
    nt_space_free(space);
}

static void test_too_large(void **state)
{
    (void)state;
    nt_param params[13];
    wide_params(params, 40);
    nt_kernel kernel = kernel_of(params, 13, NULL, 0);
    expect_error(&kernel, NULL, 0, NULL, NT_USAGE, "more than 9e18 combinations", "narrow it with --param");
    wide_params(params, 4);
    static const nt_constraint impossible[] = {{"a + b + d + e + f + g + i + j + l + m + o + p + q > 51", ""}};
    kernel = kernel_of(params, 13, impossible, 1);
    nt_problem problem = problem_of(64, NT_FP32);
    nt_device_info device = gpu();
    nt_space_model model;
    nt_space_codes codes;
    bool sorted;
    assert_int_equal(nt_space_model_init(&model, &kernel, &problem, &device, NULL, 0, NULL, NULL), NT_OK);
    assert_int_equal(nt_space_search(&model, (nt_space_limits){100, 1000}, &codes, &sorted), NT_SPACE_TOO_LONG);
    free(codes.narrow);
    nt_space_model_done(&model);
    kernel.constraint_count = 0;
    assert_int_equal(nt_space_model_init(&model, &kernel, &problem, &device, NULL, 0, NULL, NULL), NT_OK);
    assert_int_equal(nt_space_search(&model, (nt_space_limits){100, 1000}, &codes, &sorted), NT_SPACE_TOO_MANY);
    assert_int_equal(codes.count, 100);
    free(codes.narrow);
    nt_space_model_done(&model);
}

/* ---- neighbours -------------------------------------------------------------------------------------------------- */

/* Listed values between two of one parameter; 0 when they are the same. */
static int distance(const nt_config *a, const nt_config *b, int *differing)
{
    int steps = 0;
    *differing = 0;
    for (int i = 0; i < a->count; i++)
        if (a->index[i] != b->index[i]) {
            ++*differing;
            steps = abs(a->index[i] - b->index[i]);
        }
    return steps;
}

static void test_neighbours(void **state)
{
    (void)state;
    nt_kernel kernel = kernel_of(tile_params, COUNT(tile_params), tile_constraints, COUNT(tile_constraints));
    nt_device_info device = gpu();
    nt_space *space = built(&kernel, &device, NULL, 0, NULL);
    uint64_t got[64];
    for (uint64_t i = 0; i < nt_space_size(space); i++) {
        for (int kind = NT_NEIGHBOUR_HAMMING; kind <= NT_NEIGHBOUR_ADJACENT; kind++) {
            nt_config own, other;
            nt_space_config(space, i, &own);
            size_t want = 0, count = nt_space_neighbours(space, i, (nt_neighbourhood)kind, got, 64);
            for (uint64_t j = 0; j < nt_space_size(space); j++) {
                int differing;
                nt_space_config(space, j, &other);
                int steps = distance(&own, &other, &differing);
                if (differing != 1 || (kind == NT_NEIGHBOUR_ADJACENT && steps != 1))
                    continue;
                bool listed = false;
                for (size_t k = 0; k < count; k++)
                    listed = listed || got[k] == j;
                assert_true(listed);
                want++;
            }
            assert_int_equal(count, want);
            uint64_t first[2] = {UINT64_MAX, UINT64_MAX};
            assert_int_equal(nt_space_neighbours(space, i, (nt_neighbourhood)kind, first, 1), count);
            assert_true(first[1] == UINT64_MAX && (count == 0 || first[0] == got[0]));
        }
    }
    nt_space_free(space);
}

static void test_kernel_without_parameters(void **state)
{
    (void)state;
    nt_kernel kernel = kernel_of(NULL, 0, NULL, 0);
    nt_device_info device = gpu();
    nt_space *space = built(&kernel, &device, NULL, 0, NULL);
    nt_config config;
    uint64_t index = 9;
    assert_int_equal(nt_space_size(space), 1);
    nt_space_config(space, 0, &config);
    assert_int_equal(config.count, 0);
    assert_true(nt_space_index(space, &config, &index) && index == 0);
    nt_space_free(space);
    expect_error(&kernel, NULL, 0, "c > 3", NT_NO_SPACE, "--where 'c > 3' (c=3) leaves none", "");
}

/* A tree and the list of the same space agree on what is legal and how much of it there is, whatever the constraints.
 */
static void test_tree_agrees_with_list(void **state)
{
    (void)state;
    static const nt_constraint pool[] = {
        {"a + b > 4", ""}, {"b * c % 3 != 0", ""},    {"d <= a", ""},
        {"c != d", ""},    {"a + b + c + d > 9", ""}, {"e != b", ""},
    };
    nt_param five[5];
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    static const int64_t listed[] = {1, 2, 3, 4, 5, 6};
    for (int p = 0; p < 5; p++)
        five[p] = (nt_param){.name = names[p], .ints = listed, .count = 6 - p % 3};
    for (int mask = 0; mask < 64; mask++) {
        nt_constraint chosen[6];
        nt_kernel kernel = {.name = "five", .params = five, .param_count = 5, .constraints = chosen};
        for (int i = 0; i < 6; i++)
            if (mask >> i & 1)
                chosen[kernel.constraint_count++] = pool[i];
        nt_space *space = NULL;
        nt_space_model model;
        assert_int_equal(nt_space_build(&kernel, NULL, NULL, NULL, 0, NULL, &space, NULL), NT_OK);
        assert_int_equal(nt_space_model_init(&model, &kernel, NULL, NULL, NULL, 0, NULL, NULL), NT_OK);
        nt_space_tree *tree = nt_space_tree_build(&model);
        assert_int_equal(nt_space_tree_size(tree), nt_space_size(space));
        for (uint64_t i = 0; i < nt_space_tree_size(tree); i++) {
            nt_config config = {.count = 5};
            int digit[NT_MAX_PARAMS];
            uint64_t index, back;
            nt_space_tree_digits(tree, i, digit);
            for (int p = 0; p < 5; p++)
                config.index[p] = (uint16_t)digit[p];
            assert_true(
                nt_space_index(space, &config, &index)); /* legal; and since each index comes back, all differ */
            assert_true(nt_space_tree_index(tree, digit, &back));
            assert_int_equal(back, i);
        }
        nt_space_tree_free(tree);
        nt_space_model_done(&model);
        nt_space_free(space);
    }
}

/* 10^10 combinations: counted, numbered, neighbours found, nothing listed. */
static void test_space_too_large_to_list(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    static const int64_t listed[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const nt_constraint constraints[] = {{"a + b < 10", ""}, {"c == d", ""}, {"i != j", ""}};
    nt_param ten[10];
    for (int p = 0; p < 10; p++)
        ten[p] = (nt_param){.name = names[p], .ints = listed, .count = 10};
    nt_kernel kernel = {
        .name = "ten", .params = ten, .param_count = 10, .constraints = constraints, .constraint_count = 3};
    nt_space *space = NULL;
    assert_int_equal(nt_space_build(&kernel, NULL, NULL, NULL, 0, NULL, &space, NULL), NT_OK);
    assert_int_equal(nt_space_size(space), UINT64_C(55) * 10 * 90 * 10000);
    assert_int_equal(nt_space_rejection_of(space, 0).pruned, NT_UNKNOWN);
    for (uint64_t i = 7; i < nt_space_size(space); i += nt_space_size(space) / 97) {
        nt_config config;
        uint64_t back, near[128];
        nt_space_config(space, i, &config);
        assert_true(nt_space_index(space, &config, &back));
        assert_int_equal(back, i);
        size_t count = nt_space_neighbours(space, i, NT_NEIGHBOUR_HAMMING, near, 128);
        size_t want = 4 * 9 + 2 * 8; /* e to h freely, i and j but for each other's value, c and d not at all */
        want += (size_t)(9 - config.index[1]) + (size_t)(9 - config.index[0]);
        assert_int_equal(count, want);
        config.index[2] = (uint16_t)(config.index[3] == 0 ? 1 : 0);
        assert_false(nt_space_index(space, &config, &back));
    }
    nt_space_free(space);
}

static void test_listed_configurations(void **state)
{
    (void)state;
    const nt_param two[] = {{.name = "a", .NT_INTS(1, 2, 4)}, {.name = "b", .NT_INTS(0, 1)}};
    static const nt_constraint never[] = {{"a < 0", ""}};
    nt_kernel kernel = {.name = "two", .params = two, .param_count = 2, .constraints = never, .constraint_count = 1};
    static const nt_config rows[] = {{2, {2, 1}}, {2, {0, 0}}, {2, {2, 0}}, {2, {2, 1}}};
    nt_space *space = NULL;
    nt_error err = {0};
    size_t twice = 99;
    assert_int_equal(nt_space_build_listed(&kernel, rows, 3, NULL, &space, &err), NT_OK);
    assert_int_equal(nt_space_size(space), 3);
    uint64_t index;
    assert_true(nt_space_index(space, &rows[0], &index));
    assert_int_equal(index, 2);
    assert_false(nt_space_index(space, &(nt_config){2, {1, 1}}, &index));
    nt_space_free(space);
    assert_int_equal(nt_space_build_listed(&kernel, rows, 4, &twice, &space, &err), NT_USAGE);
    assert_int_equal(twice, 3);
    assert_int_equal(nt_space_build_listed(&kernel, rows, 0, &twice, &space, &err), NT_USAGE);
    assert_null(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wide_numbers),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_kernel_without_parameters),
        cmocka_unit_test(test_tree_agrees_with_list),
        cmocka_unit_test(test_space_too_large_to_list),
        cmocka_unit_test(test_listed_configurations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
