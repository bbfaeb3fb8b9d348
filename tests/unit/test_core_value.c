/* Parameters and configurations: values behind indices, printed forms and finding them again. */
#include "core/value.h"

#include "core_check.h"

static const nt_param params[] = {
    {.name = "tile_m", .NT_INTS(16, 32, 64), .dflt = 1},
    {.name = "swizzle", .NT_INTS(0, 1), .is_bool = true},
    {.name = "ratio", .reals = (const double[]){0.5, 0.1, 1e-9, 3, 1.0 / 3}, .count = 5},
    {.name = "algorithm", .NT_STRINGS("gemm", "fft"), .use = NT_PARAM_LAUNCH},
};
enum { COUNT = sizeof params / sizeof params[0] };

static void each_value_prints_and_is_found_again(void **state)
{
    (void)state;
    static const char *const printed[][5] = {
        {"16", "32", "64"}, {"false", "true"}, {"0.5", "0.1", "1e-09", "3", "0.3333333333333333"}, {"gemm", "fft"}};
    for (int p = 0; p < COUNT; p++)
        for (int i = 0; i < params[p].count; i++) {
            nt_str text = {0};
            nt_value_print(&text, nt_param_value(&params[p], i));
            assert_string_equal(nt_str_text(&text), printed[p][i]);
            assert_int_equal(nt_param_value_find(&params[p], printed[p][i]), i);
            nt_str_done(&text);
        }
    assert_int_equal(nt_param_value_find(&params[0], "48"), -1);
    assert_int_equal(nt_param_value_find(&params[0], ""), -1);
    assert_int_equal(nt_param_value_find(&params[1], "1"), -1);
}

static void values_differ_by_kind_and_by_value(void **state)
{
    (void)state;
    nt_value one = {.kind = NT_VALUE_INT, .i = 1}, yes = {.kind = NT_VALUE_BOOL, .i = 1};
    nt_value half = {.kind = NT_VALUE_REAL, .r = 0.5}, other = {.kind = NT_VALUE_REAL, .r = 0.25};
    char copy[] = "gemm";
    nt_value text = {.kind = NT_VALUE_STRING, .s = "gemm"}, same = {.kind = NT_VALUE_STRING, .s = copy};
    assert_true(nt_value_equal(one, one));
    assert_false(nt_value_equal(one, yes));
    assert_true(nt_value_equal(half, half));
    assert_false(nt_value_equal(half, other));
    assert_true(nt_value_equal(text, same));
}

static void configurations_print_compare_and_answer_by_name(void **state)
{
    (void)state;
    nt_config config = {.count = COUNT, .index = {2, 1, 0, 1}}, other = config;
    nt_str text = {0};
    nt_config_print(&text, params, &config);
    assert_string_equal(nt_str_text(&text), "tile_m=64 swizzle=true ratio=0.5 algorithm=fft");
    nt_str_done(&text);
    assert_int_equal(nt_config_int(params, &config, "tile_m"), 64);
    assert_int_equal(nt_config_int(params, &config, "swizzle"), 1);
    assert_true(nt_config_equal(&config, &other));
    other.index[COUNT] = 7; /* beyond the count: not part of the configuration */
    assert_true(nt_config_equal(&config, &other));
    other.index[3] = 0;
    assert_false(nt_config_equal(&config, &other));
    assert_int_equal(nt_param_find(params, COUNT, "ratio"), 2);
    assert_int_equal(nt_param_find(params, COUNT, "rati"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_value_prints_and_is_found_again),
        cmocka_unit_test(values_differ_by_kind_and_by_value),
        cmocka_unit_test(configurations_print_compare_and_answer_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
