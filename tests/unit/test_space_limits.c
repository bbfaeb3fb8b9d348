/* test_space_limits.c: spaces that are narrowed, by a user or by a device of unknown limits, and those that are wrong
 * or empty, with the reason. */
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

/* ---- narrowing, unknown limits ----------------------------------------------------------------------------------- */

static void test_narrowing(void **state)
{
    (void)state;
    nt_kernel kernel = kernel_of(tile_params, COUNT(tile_params), NULL, 0);
    nt_device_info device = gpu();
    const char *const m[] = {"128", "32", "128"}, *const path[] = {"tma"}, *const swizzle[] = {"true"};
    nt_narrowing narrowing[] = {{"tile_m", m, 3}, {"path", path, 1}, {"swizzle", swizzle, 1}};
    nt_space *space = built(&kernel, &device, narrowing, 3, "swizzle == True and path == 'tma'");
    assert_int_equal(nt_space_total(space), 2 * 4 * 3 * 1 * 4 * 1);
    assert_int_equal(nt_space_size(space), 96);
    nt_config config;
    nt_space_config(space, 0, &config);
    assert_int_equal(config.index[0], 1); /* as listed: 32 before 128 */
    assert_int_equal(config.index[3], 2);
    uint64_t index;
    config.index[0] = 0;
    assert_false(nt_space_index(space, &config, &index));
    nt_space_free(space);
}

static void test_unknown_limits_hold(void **state)
{
    (void)state;
    static const nt_constraint constraints[] = {
        {"tile_m <= smem_per_block and tile_m * warps > 16", ""},
        {"cc >= 900", ""},
        {"regs_per_sm < 1 or regs_per_block < 1 or max_threads < 1", ""},
        {"simd_bytes == 32 and warp_size == 1 and sm_count == 16 and n == 8 and c == 64 and h == 56", ""},
    };
    nt_kernel kernel = kernel_of(tile_params, COUNT(tile_params), constraints, COUNT(constraints));
    nt_device_info device = cpu();
    nt_space *space = built(&kernel, &device, NULL, 0, NULL);
    assert_int_equal(nt_space_size(space), 1152 / 16 * 15); /* the known half of the first one still counts */
    nt_space_free(space);
}

static void test_elem_bytes_follow_the_precision(void **state)
{
    (void)state;
    nt_kernel kernel = kernel_of(tile_params, COUNT(tile_params), NULL, 0);
    nt_device_info device = gpu();
    static const int64_t bytes[NT_PRECISION_COUNT] = {4, 4, 2, 2, 1, 1, 2, 2, 1};
    for (int p = 0; p < NT_PRECISION_COUNT; p++) {
        nt_problem problem = problem_of(64, (nt_precision)p);
        char where[32];
        snprintf(where, sizeof where, "elem_bytes == %d", (int)bytes[p]);
        nt_space *space = NULL;
        assert_int_equal(nt_space_build(&kernel, &problem, &device, NULL, 0, where, &space, NULL), NT_OK);
        nt_space_free(space);
    }
}

/* ---- bad input, empty spaces ------------------------------------------------------------------------------------- */

static void test_bad_narrowing_and_where(void **state)
{
    (void)state;
    nt_kernel kernel = kernel_of(tile_params, COUNT(tile_params), NULL, 0);
    const char *const values[] = {"64", "48"};
    nt_narrowing name = {"tile_n", values, 1}, value = {"tile_m", values, 2}, none = {"tile_m", values, 0};
    nt_narrowing twice[] = {{"tile_m", values, 1}, {"tile_m", values, 1}};
    expect_error(&kernel, &name, 1, NULL, NT_USAGE, "kernel 'direct' has no parameter 'tile_n'",
                 "did you mean 'tile_m'? its parameters are tile_m, warps, tile_k, path, stages, swizzle");
    expect_error(&kernel, &value, 1, NULL, NT_USAGE, "'48' is no value of 'tile_m'",
                 "values of tile_m: 16, 32, 64, 128");
    expect_error(&kernel, &none, 1, NULL, NT_USAGE, "'' is no value", "16, 32");
    expect_error(&kernel, twice, 2, NULL, NT_USAGE, "'tile_m' is given twice", "");
    expect_error(&kernel, NULL, 0, "tile_m < tile_q", NT_USAGE,
                 "--where for kernel 'direct': column 10 of 'tile_m < tile_q': unknown name 'tile_q'",
                 "did you mean 'tile_");
    static const nt_constraint bad[] = {{"tile_m <", "never"}};
    nt_kernel broken = kernel_of(tile_params, COUNT(tile_params), bad, 1);
    expect_error(&broken, NULL, 0, NULL, NT_FAILED, "a constraint of kernel 'direct': column 9", "");
}

static void test_empty_says_why(void **state)
{
    (void)state;
    static const nt_constraint channels[] = {{"stages > 1", "x"}, {"c % 4 == 0", "channels come in fours"}};
    nt_kernel kernel = kernel_of(tile_params, COUNT(tile_params), channels, 2);
    expect_error(&kernel, NULL, 0, NULL, NT_NO_SPACE,
                 "kernel 'direct' has no legal configuration: 'c % 4 == 0' (channels come in fours; c=3) leaves none",
                 "does not suit this problem");

    static const nt_constraint big[] = {{"tile_m * 65536 < smem_per_block or tile_m > 500", "tiles fit"}};
    kernel = kernel_of(tile_params, COUNT(tile_params), big, 1);
    expect_error(&kernel, NULL, 0, NULL, NT_NO_SPACE, "(tiles fit; smem_per_block=232448) leaves none", "");

    static const nt_constraint clash[] = {{"tile_m >= 16", "harmless"},
                                          {"stages + tile_k > 33", "p"},
                                          {"warps < 4", "harmless"},
                                          {"stages < tile_k // 16", "q"}};
    kernel = kernel_of(tile_params, COUNT(tile_params), clash, 4);
    expect_error(&kernel, NULL, 0, NULL, NT_NO_SPACE,
                 "together 'stages + tile_k > 33' (p) and 'stages < tile_k // 16' (q) leave none", "");

    kernel = kernel_of(tile_params, COUNT(tile_params), clash, 2);
    const char *const small[] = {"8", "16"};
    nt_narrowing narrowing = {"tile_k", small, 2};
    expect_error(&kernel, &narrowing, 1, NULL, NT_NO_SPACE, "'stages + tile_k > 33' (p) leaves none",
                 "--param leaves no value that fits");
    expect_error(&kernel, NULL, 0, "stages == 1", NT_NO_SPACE,
                 "together 'stages + tile_k > 33' (p) and --where 'stages == 1' leave none", "relax --where");
    expect_error(&kernel, NULL, 0, "stages // 0", NT_NO_SPACE,
                 "--where 'stages // 0' gives division by zero at column 8", "relax --where");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_narrowing),
        cmocka_unit_test(test_unknown_limits_hold),
        cmocka_unit_test(test_elem_bytes_follow_the_precision),
        cmocka_unit_test(test_bad_narrowing_and_where),
        cmocka_unit_test(test_empty_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
