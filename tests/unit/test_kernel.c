/* test_kernel.c: what follows from a kernel's table row: options, hash, rules, error bound; and that every row of the
 * registry is well formed. */
#include "core/mem.h"
#include "kernels/kernel.h"

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const nt_param params[] = {
    {.name = "tile_m", .help = "rows", .NT_INTS(16, 32), .dflt = 1},
    {.name = "stages", .help = "of the pipeline", .NT_INTS(1, 2), .use = NT_PARAM_LAUNCH},
    {.name = "use_smem", .help = "stage in shared memory", .NT_INTS(0, 1), .dflt = 1, .is_bool = true},
    {.name = "order", .help = "of the loops", .NT_STRINGS("rs", "sr")},
};

static double additions(const nt_problem *problem)
{
    return 100.0 * (double)problem->batch;
}

static void own_options(const nt_problem *problem, const nt_config *config, nt_str *options)
{
    (void)problem, (void)config;
    nt_str_add(options, " -DELEM=half");
}

static const nt_kernel kernel = {
    .name = "sample",
    .layer = "conv3x3",
    .source = {"first\n", "second\n"},
    .params = params,
    .param_count = 4,
    .additions = additions,
};

static void test_options_are_macros_only(void **state)
{
    (void)state;
    nt_problem problem = {.batch = 1, .precision = NT_INT8, .layout = NT_NCHW};
    nt_config config;
    nt_str text = {0};
    nt_kernel_default_config(&kernel, &config);
    nt_kernel_options(&kernel, &problem, &config, &text);
    assert_string_equal(nt_str_text(&text),
                        "-DTILE_M=32 -DUSE_SMEM=1 -DORDER=rs -DNT_PRECISION_INT8=1 -DNT_LAYOUT_NCHW=1");
    nt_kernel with_own = kernel;
    with_own.options = own_options;
    with_own.param_count = 0;
    nt_str_clear(&text);
    nt_kernel_options(&with_own, &problem, &config, &text);
    assert_string_equal(nt_str_text(&text), "-DNT_PRECISION_INT8=1 -DNT_LAYOUT_NCHW=1 -DELEM=half");
    nt_str_done(&text);
}

static void test_source_and_hash(void **state)
{
    (void)state;
    char *source = nt_kernel_source(&kernel), hash[NT_KEY_BYTES], other_hash[NT_KEY_BYTES];
    assert_string_equal(source, "first\nsecond\n");
    free(source);
    nt_kernel other = kernel;
    other.source[1] = "second";
    nt_kernel_hash(&kernel, NULL, hash);
    nt_kernel_hash(&other, NULL, other_hash);
    assert_int_equal(strlen(hash), NT_KEY_BYTES - 1);
    assert_string_not_equal(hash, other_hash);
    other.source[0] = NULL;
    source = nt_kernel_source(&other);
    assert_string_equal(source, "");
    free(source);
}

static void test_rules(void **state)
{
    (void)state;
    nt_config config;
    nt_error err;
    assert_int_equal(nt_kernel_rule_config(&kernel, &(nt_rule){"r", "order=sr  use_smem=false"}, &config, &err), NT_OK);
    assert_int_equal(config.count, 4);
    assert_int_equal(config.index[0], 1);
    assert_int_equal(config.index[2], 0);
    assert_int_equal(config.index[3], 1);
    static const struct {
        const char *params, *what;
    } wrong[] = {
        {"tile_n=16", "there are tile_m, stages, use_smem, order"},
        {"tile_m=17", "its values are 16, 32"},
        {"use_smem=1", "its values are false, true"},
        {"tile_m", "not name=value"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(nt_kernel_rule_config(&kernel, &(nt_rule){"r", wrong[i].params}, &config, &err), NT_USAGE);
        assert_non_null(strstr(err.what, wrong[i].what));
    }
}

static void test_gamma(void **state)
{
    (void)state;
    nt_problem problem = {.batch = 2, .precision = NT_FP32};
    double nu = 200 * ldexp(1, -24);
    assert_true(fabs(nt_kernel_gamma(&kernel, &problem) / (nu / (1 - nu)) - 1) < 1e-9);
    problem.precision = NT_INT8;
    assert_true(nt_kernel_gamma(&kernel, &problem) == 0);
    problem.precision = NT_TF32;
    double gamma = nt_kernel_gamma(&kernel, &problem), operands = 2 * ldexp(1, -10);
    assert_true(gamma > operands && gamma < operands + 1e-4);
    /* Only transformed operands are rounded again: of those that are exact otherwise, and of f32 not. */
    problem.precision = NT_FP16;
    double direct = nt_kernel_gamma_of(&kernel, &problem, NT_BOUND_DIRECT);
    double moved = nt_kernel_gamma_of(&kernel, &problem, NT_BOUND_WINOGRAD_F4) - direct;
    assert_true(direct < 1e-4 && moved > 2 * ldexp(1, -11) && moved < 2.01 * ldexp(1, -11));
    problem.precision = NT_FP32;
    assert_true(nt_kernel_gamma_of(&kernel, &problem, NT_BOUND_WINOGRAD_F2) ==
                nt_kernel_gamma_of(&kernel, &problem, NT_BOUND_DIRECT));
    problem.precision = NT_FP8; /* 200 additions are seven steps */
    gamma = nt_kernel_gamma(&kernel, &problem);
    assert_true(fabs(gamma - (1 + sqrt(7)) * ldexp(1, -13)) < 1e-4);
}

/* ---- the registry -------------------------------------------------------------------------------------------------------- */

static void check_params(const nt_kernel *row)
{
    assert_true(row->param_count <= NT_MAX_PARAMS);
    for (int i = 0; i < row->param_count; i++) {
        const nt_param *param = &row->params[i];
        assert_int_equal((param->ints != NULL) + (param->reals != NULL) + (param->strings != NULL), 1);
        assert_true(param->count > 0 && param->dflt >= 0 && param->dflt < param->count);
        assert_non_null(param->help);
        assert_int_equal(nt_param_find(row->params, row->param_count, param->name), i);
        for (const char *c = param->name; *c != '\0'; c++)
            assert_true(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '_');
    }
}

static void test_every_row(void **state)
{
    (void)state;
    for (int i = 0; i < nt_kernel_count; i++) {
        const nt_kernel *row = nt_kernels[i];
        nt_config config;
        nt_error err;
        assert_non_null(nt_layer_find(row->layer));
        assert_ptr_equal(nt_kernel_find(row->layer, row->device, row->name), row);
        assert_true(row->precisions != 0 && row->layouts != 0);
        assert_non_null(row->plan);
        assert_non_null(row->additions);
        check_params(row);
        for (int j = 0; j < row->rule_count; j++)
            if (nt_kernel_rule_config(row, &row->rules[j], &config, &err) != NT_OK)
                fail_msg("%s", err.what);
    }
    assert_null(nt_kernel_find("conv3x3", NT_DEVICE_CPU, "none"));
    assert_null(nt_layer_find("none"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_are_macros_only),
        cmocka_unit_test(test_source_and_hash),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_gamma),
        cmocka_unit_test(test_every_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
