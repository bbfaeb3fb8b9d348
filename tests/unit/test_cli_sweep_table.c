/* test_cli_sweep_table.c: the end of a sweep for people: rows, notes below them, totals, and the summary in JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/sweep_table.h"
#include "cli/vs_vendor.h"
#include "core/mem.h"

/* A result of one problem on a cpu, won by `kernel` in 1 ms; the roof allows `roof_pct` of that. */
static void make(nt_sweep_result *result, nt_unit_result *unit, const char *kernel, double roof_pct)
{
    *result = (nt_sweep_result){.unit = unit, .unit_count = 1};
    nt_run_init(&result->run);
    result->run.id = 7;
    nt_device_info_init(&result->run.device, NT_DEVICE_CPU);
    nt_copy(result->run.device.name, sizeof result->run.device.name, "Example");
    *unit = (nt_unit_result){.has_best = true, .extents = {.flop = 1e9, .bytes = 1}};
    unit->problem = (nt_problem){.layer = "conv3x3", .batch = 2, .precision = NT_FP32};
    nt_shape_parse("c=64,k=64,h=56,w=56", &unit->problem.shape, NULL);
    result->run.device.peak_flops[NT_FP32] = 1e12 * 100 / roof_pct;
    result->run.device.dram_peak_bytes_per_s = 1e12;
    nt_trial_init(&unit->best);
    unit->best.id = 42;
    nt_copy(unit->best.kernel, sizeof unit->best.kernel, kernel);
    unit->best.params_json = nt_strdup("{\"tile\":8}");
    unit->best.time_ns = unit->best.time_lo_ns = unit->best.time_hi_ns = 1e6;
    unit->best.error_impl = 0.5;
    unit->best.error_prec = 1e-6;
    unit->outcome[NT_OUTCOME_OK] = 1;
}

/* What nt_sweep_print says. */
static char *printed(const nt_sweep_result *result)
{
    static char text[8192];
    char path[] = "/tmp/nntune-test-XXXXXX";
    int fd = mkstemp(path), saved = dup(STDOUT_FILENO);
    assert_true(fd >= 0 && saved >= 0);
    unlink(path);
    fflush(stdout);
    dup2(fd, STDOUT_FILENO);
    nt_sweep_print(result, "t.db", false);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    assert_true(n >= 0);
    text[n] = '\0';
    close(fd);
    return text;
}

static int count(const char *text, const char *part)
{
    int found = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        found++;
    return found;
}

static void winograd_above_the_roof_is_explained_once(void **state)
{
    nt_sweep_result result;
    nt_unit_result units[2];
    (void)state;
    make(&result, &units[1], "winograd", 120);
    make(&result, &units[0], "winograd", 120);
    result.unit_count = 2;
    const char *text = printed(&result);
    assert_int_equal(count(text, "120.0 % *"), 2);
    assert_int_equal(count(text, "2.25 times fewer"), 1);
    assert_int_equal(count(text, "another moment"), 0);
    free(units[0].best.params_json);
    free(units[1].best.params_json);
}

static void a_direct_kernel_above_the_roof_points_at_the_roof(void **state)
{
    nt_sweep_result result;
    nt_unit_result unit;
    (void)state;
    make(&result, &unit, "direct", 101);
    const char *text = printed(&result);
    assert_int_equal(count(text, "101.0 % *"), 1);
    assert_int_equal(count(text, "another moment"), 1);
    assert_int_equal(count(text, "2.25 times fewer"), 0);
    free(unit.best.params_json);
}

static void below_the_roof_there_is_no_note(void **state)
{
    nt_sweep_result result;
    nt_unit_result unit;
    (void)state;
    make(&result, &unit, "winograd", 60);
    const char *text = printed(&result);
    assert_int_equal(count(text, "60.0 %"), 1);
    assert_int_equal(count(text, "*"), 0);
    assert_int_equal(count(text, "conv3x3 64x56x56 batch 2 fp32"), 1);
    assert_int_equal(count(text, "trial 42: tile=8"), 1);
    assert_int_equal(count(text, "1 trial: 1 ok, 0 abandoned, 0 pruned, 0 failed"), 1);
    assert_int_equal(count(text, "run 7 on Example is in t.db"), 1);
    free(unit.best.params_json);
}

static void rules_and_failures_are_told(void **state)
{
    nt_sweep_result result;
    nt_unit_result unit;
    (void)state;
    make(&result, &unit, "direct", 50);
    unit.rule_count = 2;
    nt_copy(unit.rule[0].kernel, sizeof unit.rule[0].kernel, "direct");
    nt_copy(unit.rule[0].rule, sizeof unit.rule[0].rule, "16x16 threads");
    unit.rule[0].time_ns = 3.5e6;
    nt_copy(unit.rule[1].kernel, sizeof unit.rule[1].kernel, "igemm");
    nt_copy(unit.rule[1].rule, sizeof unit.rule[1].rule, "big tile");
    unit.rule[1].outcome = NT_OUTCOME_LAUNCH_FAILED;
    unit.rule[1].time_ns = NAN;
    unit.outcome[NT_OUTCOME_CRASHED] = 2;
    unit.outcome[NT_OUTCOME_COMPILE_FAILED] = 1;
    unit.over_error = true;
    unit.tied = 3;
    const char *text = printed(&result);
    assert_int_equal(count(text, "rule of thumb '16x16 threads' (direct): 3.5 ms, 3.50 times the best"), 1);
    assert_int_equal(count(text, "rule of thumb 'big tile' (igemm): launch_failed"), 1);
    assert_int_equal(count(text, "3 failed (1 compile_failed, 2 crashed)"), 1);
    assert_int_equal(count(text, "3 more are not distinguishable"), 1);
    assert_int_equal(count(text, "beyond --max-error"), 1);
    free(unit.best.params_json);
}

/* A vendor's kernel beside ours: its time over ours with the cache mode, and the mean where there are several. */
static void vendors_are_compared(void **state)
{
    nt_sweep_result result;
    nt_unit_result units[3];
    (void)state;
    for (int i = 2; i >= 0; i--) {
        make(&result, &units[i], "direct", 50);
        units[i].has_vendor = i != 1;
        nt_trial_init(&units[i].vendor);
        units[i].vendor.id = 50 + i;
        nt_copy(units[i].vendor.kernel, sizeof units[i].vendor.kernel, "onednn");
        units[i].vendor.time_ns = units[i].vendor.time_lo_ns = units[i].vendor.time_hi_ns = i == 0 ? 2e6 : 0.5e6;
    }
    result.unit_count = 2;
    const char *text = printed(&result);
    assert_int_equal(count(text, "vendor: onednn takes 2 ms, 2.000 times our time (cold)"), 1);
    assert_int_equal(count(text, "vendor"), 1);
    result.unit_count = 3;
    text = printed(&result);
    assert_int_equal(count(text, "vendor: onednn takes 500 us, 0.500 times our time (cold)"), 1);
    assert_int_equal(count(text, "cold: the vendor takes 1.000 times our time in the geometric mean of 2"), 1);
    units[2].cache = NT_HOT;
    text = printed(&result);
    assert_int_equal(count(text, "0.500 times our time (hot)"), 1);
    assert_int_equal(count(text, "geometric mean"), 0);
    json_t *summary = nt_sweep_summary_json(&result, "t.db", NT_OK, NULL);
    const json_t *problems = json_object_get(summary, "problems");
    const json_t *vendor = json_object_get(json_array_get(problems, 0), "vendor_best");
    assert_string_equal(json_string_value(json_object_get(vendor, "kernel")), "onednn");
    assert_int_equal(json_integer_value(json_object_get(vendor, "trial")), 50);
    assert_true(json_real_value(json_object_get(vendor, "ratio")) == 2);
    assert_true(json_is_null(json_object_get(json_array_get(problems, 1), "vendor_best")));
    assert_true(json_real_value(json_object_get(summary, "vendor_ratio_cold")) == 2);
    assert_true(json_real_value(json_object_get(summary, "vendor_ratio_hot")) == 0.5);
    json_decref(summary);
    units[0].has_best = false;
    text = printed(&result);
    assert_int_equal(count(text, "no configuration of ours was measured"), 1);
    assert_int_equal(count(text, "vendor: onednn takes 2 ms (cold)"), 1);
    for (int i = 0; i < 3; i++)
        free(units[i].best.params_json);
}

/* Below three times an empty kernel that is taken off both. */
static void the_floor_is_no_part_of_a_ratio(void **state)
{
    (void)state;
    assert_true(nt_vendor_ratio(4000, 8000, 1000) == 2);
    assert_true(nt_vendor_ratio(2000, 3000, 1000) == 2);
    assert_true(nt_vendor_ratio(2000, 3000, NAN) == 1.5);
}

static void the_summary_says_null_for_what_never_was(void **state)
{
    nt_sweep_result result;
    nt_unit_result unit;
    nt_error err = {.status = NT_NO_DEVICE, .what = "no device"};
    (void)state;
    make(&result, &unit, "direct", 50);
    unit.has_best = false;
    result.run.id = 0;
    json_t *summary = nt_sweep_summary_json(&result, "t.db", NT_NO_DEVICE, &err);
    assert_string_equal(json_string_value(json_object_get(summary, "type")), "summary");
    assert_int_equal(json_integer_value(json_object_get(summary, "schema_version")), 1);
    assert_true(json_is_null(json_object_get(summary, "run")));
    assert_string_equal(json_string_value(json_object_get(json_object_get(summary, "error"), "what")), "no device");
    const json_t *problem = json_array_get(json_object_get(summary, "problems"), 0);
    assert_true(json_is_null(json_object_get(problem, "best")));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(summary, "outcomes"), "ok")), 1);
    json_decref(summary);
    free(unit.best.params_json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(winograd_above_the_roof_is_explained_once),
        cmocka_unit_test(a_direct_kernel_above_the_roof_points_at_the_roof),
        cmocka_unit_test(below_the_roof_there_is_no_note),
        cmocka_unit_test(rules_and_failures_are_told),
        cmocka_unit_test(vendors_are_compared),
        cmocka_unit_test(the_floor_is_no_part_of_a_ratio),
        cmocka_unit_test(the_summary_says_null_for_what_never_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
