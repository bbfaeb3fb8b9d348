/* test_counters.c: hardware counters with a CUPTI that is not there: every error code in words, metrics and their places,
 * what is refused, metrics that change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profiler/counters.h"

#if defined(NT_HAVE_CUPTI_H) && defined(NT_HAVE_CUDA_H)

#include "tests/unit/counters_device.h"

/* ---- errors ---- */

static const struct {
    int code;
    nt_status status;
    const char *in_hint;
} told[] = {
    {7, NT_FAILED, "report it"},
    {8, NT_NO_MEMORY, "fewer metrics"},
    {26, NT_BUSY, "dcgmi profile --pause"},
    {27, NT_NO_DEVICE, "does not give"},
    {33, NT_NO_DEVICE, "virtual GPU"},
    {35, NT_NO_PERMISSION, "NVreg_RestrictProfiling"},
    {38, NT_NO_DEVICE, "NNTUNE_LIBCUPTI"},
    {39, NT_BUSY, "without that tool"},
    {40, NT_NO_PERMISSION, "virtual GPU"},
    {41, NT_NO_DEVICE, "confidential"},
    {42, NT_NO_DEVICE, "CMP"},
    {43, NT_NO_DEVICE, "MIG"},
    {44, NT_NO_DEVICE, "SLI"},
    {45, NT_NO_DEVICE, "Windows"},
    {46, NT_NOT_FOUND, "newer CUDA toolkit"},
    {999, NT_FAILED, "nntune doctor"},
};

static void each_code_has_status_name_and_advice(void **state)
{
    (void)state;
    for (size_t i = 0; i < FAKE_COUNT(told); i++) {
        nt_error err;
        assert_int_equal(nt_cupti_status(told[i].code), told[i].status);
        assert_int_equal(nt_cupti_fail(&err, told[i].code, "doing %s", "this"), told[i].status);
        assert_non_null(strstr(err.what, "doing this: CUPTI_ERROR_"));
        assert_non_null(strstr(err.hint, told[i].in_hint));
    }
    assert_int_equal(nt_cupti_status(0), NT_OK);
    assert_int_equal(nt_cupti_status(777), NT_FAILED);
    assert_string_equal(nt_cupti_error_name(777), "CUPTI error");
    assert_string_equal(nt_cupti_error_hint(777), "");
}

/* The functions that opening calls, with the code given by each: nothing stays open behind any of them. */
static void each_code_comes_out_of_opening(void **state)
{
    static const char *const functions[] = {"initialize",      "device_supported", "chip_name",   "host_initialize",
                                            "host_image_size", "host_image",       "host_passes", "range_enable",
                                            "range_data_size", "range_data_init",  "range_config"};
    static const char *const metrics[] = {"occupancy_pct"};
    (void)state;
    for (size_t f = 0; f < FAKE_COUNT(functions); f++)
        for (size_t i = 0; i < FAKE_COUNT(told); i++) {
            nt_counters *counters;
            nt_error err;
            fake.fail = functions[f];
            fake.code = told[i].code;
            assert_int_equal(nt_counters_open(&ops, &device, metrics, 1, 0, &counters, &err), told[i].status);
            assert_null(counters);
            assert_non_null(strstr(err.what, nt_cupti_error_name(told[i].code)));
            assert_non_null(strstr(err.hint, told[i].in_hint));
            assert_int_equal(fake.live, 0);
        }
}

static void each_code_comes_out_of_collecting(void **state)
{
    static const char *const functions[] = {"range_data_init", "range_config",    "range_start", "range_stop",
                                            "range_decode",    "range_data_info", "range_info",  "host_evaluate"};
    static const char *const metrics[] = {"occupancy_pct", "instructions"};
    (void)state;
    kernel(make_targets(1)->plan == &plans[0] ? &plans[0] : NULL, 1000, 5);
    for (size_t f = 0; f < FAKE_COUNT(functions); f++)
        for (size_t i = 0; i < FAKE_COUNT(told); i++) {
            fake.fail = NULL;
            nt_counters *counters = open_with(metrics, 2);
            nt_error err;
            double values[2] = {1, 1};
            size_t failed;
            fake.fail = functions[f];
            fake.code = told[i].code;
            assert_int_equal(nt_counters_collect(counters, targets, 1, NT_COLD, values, &failed, &err), told[i].status);
            assert_non_null(strstr(err.what, nt_cupti_error_name(told[i].code)));
            assert_true(isnan(values[0]) && isnan(values[1]));
            assert_int_equal(failed, 1);
            nt_counters_close(counters);
            assert_int_equal(fake.live, 0);
        }
}

static void says_why_a_device_gives_no_counters(void **state)
{
    static const char *const metrics[] = {"occupancy_pct"};
    (void)state;
    const struct {
        CUpti_Profiler_Support_Level *level, value;
        nt_status status;
        const char *name;
    } cases[] = {
        {&fake.support.architecture, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED, NT_NO_DEVICE, "NOT_SUPPORTED (27)"},
        {&fake.support.sli, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED, NT_NO_DEVICE, "(44)"},
        {&fake.support.vGpu, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED, NT_NO_DEVICE, "(33)"},
        {&fake.support.vGpu, CUPTI_PROFILER_CONFIGURATION_DISABLED, NT_NO_PERMISSION, "(40)"},
        {&fake.support.confidentialCompute, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED, NT_NO_DEVICE, "(41)"},
        {&fake.support.cmp, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED, NT_NO_DEVICE, "(42)"},
        {&fake.support.wsl, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED, NT_NO_DEVICE, "(45)"},
    };
    for (size_t i = 0; i < FAKE_COUNT(cases); i++) {
        nt_counters *counters;
        nt_error err;
        fake_reset();
        *cases[i].level = cases[i].value;
        fake.support.isSupported = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
        assert_int_equal(nt_counters_open(&ops, &device, metrics, 1, 0, &counters, &err), cases[i].status);
        assert_non_null(strstr(err.what, cases[i].name));
    }
}

static void another_kind_of_device_has_no_counters(void **state)
{
    static const char *const metrics[] = {"t1"};
    nt_counters *counters;
    nt_error err;
    (void)state;
    assert_int_equal(nt_counters_open(&nt_device_cpu_ops, NULL, metrics, 1, 0, &counters, &err), NT_NO_DEVICE);
    assert_non_null(strstr(err.what, "the device is a cpu"));
}

/* What the chip's whole list does not get is tried once more with what the device says it gives. */
static void asks_for_availability_only_where_it_must(void **state)
{
    static const char *const metrics[] = {"occupancy_pct"};
    (void)state;
    fake.fail = "availability";
    fake.code = 35;
    nt_counters_close(open_with(metrics, 1));
    fake.fail = "range_config";
    fake.code = 1;
    nt_counters *counters;
    nt_error err;
    int before = fake.configs;
    assert_int_equal(nt_counters_open(&ops, &device, metrics, 1, 0, &counters, &err), NT_FAILED);
    assert_int_equal(fake.configs, before);
    assert_int_equal(fake.resets, 3); /* one that went well, then both ways */
}

/* ---- metrics and their places ---- */

static void metrics_keep_their_places(void **state)
{
    /* The first and third are unknown to this chip, the second has another name there. */
    static const char *const metrics[] = {"dram_write_bytes", "dram_read_bytes", "tensor_pct",
                                          "smsp__inst_executed.sum"};
    (void)state;
    nt_counters *counters = open_with(metrics, 4);
    const nt_metric_plan *plan = nt_counters_plan(counters);
    double values[4];
    nt_error err;
    assert_int_equal(plan->count, 4);
    assert_null(plan->metric[0].counter);
    assert_string_equal(plan->metric[1].counter, "dram__bytes_op_read.sum");
    assert_string_equal(plan->metric[1].unit, "bytes");
    assert_int_equal(plan->metric[1].index, 0);
    assert_int_equal(plan->metric[3].index, 1);
    kernel((nt_plan *)make_targets(1)->plan, 1000, 42);
    assert_int_equal(nt_counters_collect(counters, targets, 1, NT_COLD, values, NULL, &err), NT_OK);
    assert_true(isnan(values[0]) && isnan(values[2]));
    assert_true(values[1] == 42 && values[3] == 42);
    nt_counters_close(counters);
}

/* Known to the chip, but not to be had on this device: the others are, each in its place. */
static void a_column_that_is_refused_leaves_the_others(void **state)
{
    static const char *const metrics[] = {"sol_dram_pct", "occupancy_pct"};
    (void)state;
    nt_counters *counters = open_with(metrics, 2);
    double values[2];
    nt_error err;
    kernel((nt_plan *)make_targets(1)->plan, 1000, 42);
    assert_int_equal(nt_counters_collect(counters, targets, 1, NT_COLD, values, NULL, &err), NT_OK);
    assert_true(isnan(values[0]) && values[1] == 42);
    assert_null(nt_counters_plan(counters)->metric[0].counter);
    nt_counters_close(counters);
}

static void a_wrong_name_is_refused_with_the_nearest(void **state)
{
    static const struct {
        const char *name, *hint;
    } cases[] = {
        {"ocupancy_pct", "'occupancy_pct'"},
        {"sm__warp_active.sum", "'sm__warps_active'"},
        {"sm__warps_active.avg.pct_of_peak_sustained_activ", "'sm__warps_active.avg.pct_of_peak_sustained_active'"},
        {"sm__warps_active", "'sm__warps_active.sum'"},
        {"sm__throughput_raw.sum", "'sm__throughput_raw.sum'"},
        {"completely_made_up_by_somebody", "sets: t1"},
    };
    (void)state;
    for (size_t i = 0; i < FAKE_COUNT(cases); i++) {
        const char *metrics[] = {"occupancy_pct", cases[i].name};
        nt_counters *counters;
        nt_error err;
        assert_int_equal(nt_counters_open(&ops, &device, metrics, 2, 0, &counters, &err), NT_USAGE);
        assert_non_null(strstr(err.what, cases[i].name));
        if (strstr(err.hint, cases[i].hint) == NULL)
            fail_msg("%s: %s", cases[i].name, err.hint);
    }
}

static void a_set_becomes_its_members_once(void **state)
{
    static const char *const metrics[] = {"occupancy_pct", "T1", "tensor"};
    (void)state;
    nt_counters *counters = open_with(metrics, 3);
    const nt_metric_plan *plan = nt_counters_plan(counters);
    assert_int_equal(plan->count, 13 + 2);
    assert_string_equal(plan->metric[0].name, "occupancy_pct");
    assert_string_equal(plan->metric[1].name, "counter_time_ns");
    assert_string_equal(plan->metric[13].name, "sm__ops_path_tensor_src_a.sum");
    assert_string_equal(plan->metric[14].name, "sm__ops_path_tensor_src_b.sum");
    nt_counters_close(counters);
}

static void too_many_passes_are_refused(void **state)
{
    static const char *const metrics[] = {"occupancy_pct"};
    nt_counters *counters;
    nt_error err;
    (void)state;
    fake.passes = 3;
    assert_int_equal(nt_counters_open(&ops, &device, metrics, 1, 2, &counters, &err), NT_USAGE);
    assert_non_null(strstr(err.what, "take 3 passes on FK100, 2 allowed"));
    assert_non_null(strstr(err.hint, "'occupancy_pct' alone takes 3"));
    assert_int_equal(nt_counters_open(&ops, &device, metrics, 1, 3, &counters, &err), NT_OK);
    assert_int_equal(nt_counters_passes(counters), 3);
    nt_counters_close(counters);
}

static void metrics_change_under_the_same_session(void **state)
{
    static const char *const first[] = {"instructions"}, *const second[] = {"occupancy_pct", "instructions"},
                      *const wrong[] = {"ocupancy"};
    (void)state;
    nt_counters *counters = open_with(first, 1);
    double value[2];
    nt_error err;
    kernel((nt_plan *)make_targets(1)->plan, 100, 5);
    assert_int_equal(nt_counters_collect(counters, targets, 1, NT_COLD, value, NULL, &err), NT_OK);
    double instructions = value[0];
    const nt_metric_plan *plan = nt_counters_plan(counters);
    assert_int_equal(nt_counters_change(counters, wrong, 1, 0, &err), NT_USAGE);
    assert_ptr_equal(nt_counters_plan(counters), plan); /* as it was */
    assert_int_equal(nt_counters_change(counters, second, 2, 0, &err), NT_OK);
    assert_int_equal(nt_counters_count(counters), 2);
    assert_int_equal(nt_counters_collect(counters, targets, 1, NT_COLD, value, NULL, &err), NT_OK);
    assert_true(value[1] == instructions);
    assert_int_equal(nt_counters_change(counters, first, 1, 0, &err), NT_OK);
    assert_ptr_equal(nt_counters_plan(counters), plan); /* known */
    assert_int_equal(nt_counters_collect(counters, targets, 1, NT_COLD, value, NULL, &err), NT_OK);
    assert_true(value[0] == instructions);
    nt_counters_close(counters);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start_anew, leave_nothing)
    const struct CMUnitTest tests[] = {
        TEST(each_code_has_status_name_and_advice),
        TEST(each_code_comes_out_of_opening),
        TEST(each_code_comes_out_of_collecting),
        TEST(says_why_a_device_gives_no_counters),
        TEST(another_kind_of_device_has_no_counters),
        TEST(asks_for_availability_only_where_it_must),
        TEST(metrics_keep_their_places),
        TEST(a_column_that_is_refused_leaves_the_others),
        TEST(a_wrong_name_is_refused_with_the_nearest),
        TEST(a_set_becomes_its_members_once),
        TEST(too_many_passes_are_refused),
        TEST(metrics_change_under_the_same_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void says_that_it_was_built_without_headers(void **state)
{
    (void)state;
    nt_error err;
    const char *const *chips;
    size_t count;
    assert_int_equal(nt_cupti_chips(&chips, &count, &err), NT_NO_DEVICE);
    assert_non_null(strstr(err.what, "built without NVIDIA's CUPTI headers"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(says_that_it_was_built_without_headers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
