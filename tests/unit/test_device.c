/* test_device.c: devices by name. */
#include "device/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        nt_device_kind kind;
        int ordinal;
    } rows[] = {{"cpu", NT_DEVICE_CPU, 0},
                {"cuda", NT_DEVICE_CUDA, 0},
                {"cuda:0", NT_DEVICE_CUDA, 0},
                {"cuda:7", NT_DEVICE_CUDA, 7},
                {"fake", NT_DEVICE_FAKE, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nt_device_kind kind;
        int ordinal;
        assert_int_equal(nt_device_parse(rows[i].text, &kind, &ordinal, NULL), NT_OK);
        assert_int_equal(kind, rows[i].kind);
        assert_int_equal(ordinal, rows[i].ordinal);
    }
}

static void test_wrong_names(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "gpu",
                                        "cud",
                                        "cuda:",
                                        "cuda:x",
                                        "cuda:-1",
                                        "cuda:+1",
                                        "cuda: 1",
                                        "cuda:1x",
                                        "cuda:1:2",
                                        "cpu:0",
                                        "cuda:5000",
                                        "CPU",
                                        ":1",
                                        "all",
                                        "cpu:1",
                                        "cuda:99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        nt_device_kind kind;
        int ordinal;
        nt_error err = {0};
        assert_int_equal(nt_device_parse(wrong[i], &kind, &ordinal, &err), NT_USAGE);
        assert_true(strstr(err.what, wrong[i]) != NULL && err.what[0] != '\0');
    }
}

static void test_suggestion(void **state)
{
    (void)state;
    nt_device_kind kind;
    int ordinal;
    nt_error err = {0};
    nt_device_parse("cdua", &kind, &ordinal, &err);
    assert_non_null(strstr(err.hint, "cuda"));
    assert_non_null(strstr(err.what, "cuda:N"));
    nt_device_parse("fakes", &kind, &ordinal, &err);
    assert_null(strstr(err.hint, "fake")); /* never suggested */
}

static void test_operations(void **state)
{
    (void)state;
    for (int k = 0; k < NT_DEVICE_KIND_COUNT; k++) {
        const nt_device_ops *ops = nt_device_ops_of((nt_device_kind)k);
        assert_non_null(ops);
        assert_int_equal(ops->kind, k);
        assert_string_equal(ops->name, nt_device_kind_name((nt_device_kind)k));
    }
    assert_null(nt_device_ops_of(NT_DEVICE_KIND_COUNT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_wrong_names),
        cmocka_unit_test(test_suggestion),
        cmocka_unit_test(test_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
