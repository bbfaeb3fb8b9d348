/* What `nntune profile --metrics` asks of the library inside a program: names, spellings, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/count_request.h"
#include "profiler/cupti_api.h"
#include "profiler/metrics.h"

static int lines(const nt_str *text)
{
    int count = text->length > 0;
    for (const char *at = nt_str_text(text); *at != '\0'; at++)
        count += *at == '\n';
    return count;
}

static void test_by_tables(void **state)
{
    (void)state;
    nt_str out = {0};
    nt_error err = {0};
    int passes = 9;
    const char *const asked[] = {"t1", "dram_read_bytes", "sm__inst_executed.sum"};
    assert_int_equal(nt_count_request(asked, 3, "", &out, &passes, &err), NT_OK);
    assert_int_equal(passes, 0);
    assert_int_equal(lines(&out), 13 + 2);
    assert_non_null(
        strstr(nt_str_text(&out), "\ndram_read_bytes\tbytes\tdram__bytes_read.sum dram__bytes_op_read.sum\n"));
    assert_non_null(strstr(nt_str_text(&out), "\nsm__inst_executed.sum\t\tsm__inst_executed.sum"));
    nt_str_done(&out);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        nt_status status;
        const char *hint;
    } rows[] = {{"ocupancy_pct", NT_USAGE, "did you mean 'occupancy_pct'"},
                {"a b__c.sum", NT_USAGE, "sets: t1"},
                {"a__b.sum\tc", NT_USAGE, "sets: t1"},
                {"sm__warps", NT_USAGE, "sets: t1"},
                {"", NT_USAGE, ""},
                {"tensor", NT_NO_DEVICE, "doctor"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nt_str out = {0};
        nt_error err = {0};
        int passes;
        assert_int_equal(nt_count_request(&rows[i].name, 1, "", &out, &passes, &err), rows[i].status);
        if (strstr(err.hint, rows[i].hint) == NULL)
            fail_msg("'%s': %s", rows[i].name, err.hint);
        nt_str_done(&out);
    }
}

/* CUPTI opens its helper in a way that the sanitizers' run time refuses by ending the program. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

/* Against CUPTI's own catalogue, where it is installed. */
static void test_by_chip(void **state)
{
    (void)state;
    const nt_cupti_api *api;
    nt_error err = {0};
    nt_str out = {0};
    int passes = 0;
    if (SANITIZED || nt_cupti_api_get(&api, NULL, &err) != NT_OK) {
        print_message("skipped: CUPTI's library is not installed, or refuses to run under a sanitizer\n");
        skip();
    }
    const char *const t1[] = {"t1"}, *const sol[] = {"sol"}, *const wrong[] = {"sm__warps_activ.avg"};
    if (nt_count_request(t1, 1, "GH100", &out, &passes, &err) != NT_OK)
        fail_msg("%s", err.what);
    assert_int_equal(passes, 1); /* one run of each launch, nothing put back */
    assert_int_equal(lines(&out), 13);
    nt_str_done(&out);
    assert_int_equal(nt_count_request(t1, 1, "GB202", &out, &passes, &err), NT_OK);
    assert_non_null(strstr(nt_str_text(&out), "dram_read_bytes\tbytes\tdram__bytes_op_read.sum\n"));
    nt_str_done(&out);
    assert_int_equal(nt_count_request(sol, 1, "GH100", &out, &passes, &err), NT_OK);
    assert_int_equal(passes, 9);
    nt_str_done(&out);
    assert_int_equal(nt_count_request(wrong, 1, "GH100", &out, &passes, &err), NT_USAGE);
    assert_non_null(strstr(err.hint, "sm__warps_active"));
    nt_str_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_tables),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_by_chip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
