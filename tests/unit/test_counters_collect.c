/* test_counters_collect.c: what a collection of counters gives, with a CUPTI that is not there: which range is whose, sums
 * and weighted means, batches, passes, cold and hot, what is lost, launches that fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profiler/counters.h"

#if defined(NT_HAVE_CUPTI_H) && defined(NT_HAVE_CUDA_H)

#include "tests/unit/counters_device.h"

/* ---- values ---- */

static void sums_add_up_and_shares_are_weighted(void **state)
{
    static const char *const metrics[] = {"occupancy_pct", "instructions", "l1_hit_pct"};
    (void)state;
    nt_counters *counters = open_with(metrics, 3); /* the duration is collected although nobody asked for it */
    double values[9];
    nt_error err;
    make_targets(3);
    kernel(&plans[0], 1000, 10);
    kernel(&plans[0], 3000, 50);
    kernel(&plans[1], 500, 7);
    kernel(&plans[2], 2000, 0); /* has no hit rate */
    kernel(&plans[2], 2000, 30);
    assert_int_equal(nt_counters_collect(counters, targets, 3, NT_COLD, values, NULL, &err), NT_OK);
    assert_true(values[0] == 40 && values[1] == 60 && values[2] == 40);
    assert_true(values[3] == 7 && values[4] == 7 && values[5] == 7);
    assert_true(values[6] == 15 && values[7] == 30 && values[8] == 30);
    nt_counters_close(counters);
}

/* Names of ranges run on from one batch to the next; each batch must still find its own. */
static void every_value_goes_to_its_plan_over_batches(void **state)
{
    static const char *const metrics[] = {"instructions"};
    (void)state;
    nt_counters *counters = open_with(metrics, 1);
    double values[MOST];
    nt_error err;
    make_targets(MOST);
    for (uint32_t i = 0; i < MOST; i++)
        for (uint32_t k = 0; k <= i % 6; k++)
            kernel(&plans[i], 100 + i, 1000 * i);
    assert_int_equal(nt_counters_collect(counters, targets, MOST, NT_COLD, values, NULL, &err), NT_OK);
    for (uint32_t i = 0; i < MOST; i++)
        assert_true(values[i] == 1000.0 * i * (i % 6 + 1));
    assert_true(fake.starts >= 4); /* 3.5 kernels a plan, of plans that stay together */
    assert_true(fake.most_launches > NT_COUNTERS_RANGES - 8 && fake.most_launches <= NT_COUNTERS_RANGES);
    assert_int_equal(sweeps, fake.starts);
    nt_counters_close(counters);
}

static void each_pass_takes_the_next_set_of_the_ring(void **state)
{
    static const char *const metrics[] = {"instructions"};
    (void)state;
    fake.passes = 3;
    nt_counters *counters = open_with(metrics, 1);
    double values[2];
    nt_error err;
    make_targets(2);
    kernel(&plans[0], 100, 1);
    kernel(&plans[1], 100, 2);
    assert_int_equal(nt_counters_collect(counters, targets, 2, NT_COLD, values, NULL, &err), NT_OK);
    assert_int_equal(fake.starts, 3);
    assert_int_equal(sweeps, 3);
    assert_int_equal(runs, 6);
    assert_int_equal(position, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(last_input[i], 100 + i % 3);
    nt_counters_close(counters);
}

static void hot_counts_the_second_of_two_runs(void **state)
{
    static const char *const metrics[] = {"instructions"};
    (void)state;
    nt_counters *counters = open_with(metrics, 1);
    double values[2];
    nt_error err;
    make_targets(2);
    kernel(&plans[0], 100, 1);
    kernel(&plans[0], 100, 5);
    kernel(&plans[1], 100, 2);
    assert_int_equal(nt_counters_collect(counters, targets, 2, NT_HOT, values, NULL, &err), NT_OK);
    assert_true(values[0] == 6 && values[1] == 2);
    assert_int_equal(fake.launches, 6);
    assert_int_equal(sweeps, 0);
    assert_int_equal(last_input[2], last_input[3]); /* both runs of a pass on one set */
    nt_counters_close(counters);
}

/* Zeroing is a range of its own on some drivers (grid x > 0 here) and none on others. */
static void zeroing_may_be_a_range(void **state)
{
    static const char *const metrics[] = {"instructions"};
    (void)state;
    nt_counters *counters = open_with(metrics, 1);
    for (uint32_t range = 0; range < 2; range++) {
        double values[2];
        nt_error err;
        make_targets(2);
        for (int i = 0; i < 2; i++) {
            nt_stage_zero(&plans[i].stage[0], NT_ROLE_OUT, 4);
            plans[i].stage[0].grid[0] = range;
            plans[i].stage[0].grid[1] = 100;
            plans[i].stage_count = 1;
            kernel(&plans[i], 10, (uint32_t)i + 1);
        }
        assert_int_equal(nt_counters_collect(counters, targets, 2, NT_COLD, values, NULL, &err), NT_OK);
        assert_true(values[0] == 1 + 100.0 * range && values[1] == 2 + 100.0 * range);
    }
    nt_counters_close(counters);
}

/* ---- what goes wrong ---- */

static void lost_ranges_leave_no_values(void **state)
{
    static const char *const metrics[] = {"instructions"};
    (void)state;
    nt_counters *counters = open_with(metrics, 1);
    double values[2] = {1, 1};
    nt_error err;
    make_targets(2);
    kernel(&plans[0], 100, 1);
    kernel(&plans[1], 100, 2);
    fake.lost = 1;
    assert_int_equal(nt_counters_collect(counters, targets, 2, NT_COLD, values, NULL, &err), NT_FAILED);
    assert_non_null(strstr(err.what, "2 kernels were launched, 1 counted and 1 lost"));
    assert_true(isnan(values[0]) && isnan(values[1]));
    fake.lost = 0;
    fake.said_lost = 1;
    assert_int_equal(nt_counters_collect(counters, targets, 2, NT_COLD, values, NULL, &err), NT_FAILED);
    fake.said_lost = 0;
    assert_int_equal(nt_counters_collect(counters, targets, 2, NT_COLD, values, NULL, &err), NT_OK);
    nt_counters_close(counters);
}

static void a_profiler_that_never_ends_is_left(void **state)
{
    static const char *const metrics[] = {"instructions"};
    (void)state;
    nt_counters *counters = open_with(metrics, 1);
    double values[1];
    nt_error err;
    kernel((nt_plan *)make_targets(1)->plan, 100, 1);
    fake.never_done = 1;
    assert_int_equal(nt_counters_collect(counters, targets, 1, NT_COLD, values, NULL, &err), NT_FAILED);
    assert_non_null(strstr(err.what, "more than the 1 passes"));
    nt_counters_close(counters);
}

static void a_launch_that_fails_is_named_and_counting_ends(void **state)
{
    static const char *const metrics[] = {"instructions"};
    static const nt_status ends[] = {NT_LAUNCH_FAILED, NT_DEVICE_LOST};
    (void)state;
    nt_counters *counters = open_with(metrics, 1);
    for (size_t e = 0; e < 2; e++) {
        double values[SECOND];
        size_t failed;
        nt_error err;
        make_targets(SECOND);
        for (uint32_t i = 0; i < SECOND; i++)
            kernel(&plans[i], 100, i + 1);
        runs = 0;
        fail_with = ends[e];
        fail_at_run = NT_COUNTERS_BATCH + 3; /* the third of the second batch */
        assert_int_equal(nt_counters_collect(counters, targets, SECOND, NT_COLD, values, &failed, &err), ends[e]);
        assert_int_equal(failed, NT_COUNTERS_BATCH + 2);
        assert_false(fake.counting);
        assert_true(values[NT_COUNTERS_BATCH - 1] == NT_COUNTERS_BATCH && isnan(values[NT_COUNTERS_BATCH]));
    }
    nt_counters_close(counters);
}

static int launches_without_waiting;

static nt_status launch_plan(nt_device *on, nt_module *module, const nt_plan *plan, const nt_binding *binding,
                             nt_error *err)
{
    launches_without_waiting++;
    return run_plan(on, module, plan, false, binding, NULL, err);
}

/* Where the device takes launches without waiting, only the last of a pass waits, and its fault may be anybody's. */
static void a_pass_waits_only_at_its_end(void **state)
{
    static const char *const metrics[] = {"instructions"};
    nt_device_ops quick = ops;
    double values[5];
    size_t failed;
    nt_error err;
    (void)state;
    quick.launch = launch_plan;
    nt_counters *counters = open_with(metrics, 1);
    make_targets(5);
    for (uint32_t i = 0; i < 5; i++) {
        targets[i].ops = &quick;
        kernel(&plans[i], 100, i + 1);
    }
    launches_without_waiting = runs = 0;
    assert_int_equal(nt_counters_collect(counters, targets, 5, NT_COLD, values, &failed, &err), NT_OK);
    assert_int_equal(failed, 5);
    assert_int_equal(runs, 5);
    assert_int_equal(launches_without_waiting, 4);
    for (int i = 0; i < 5; i++)
        assert_true(values[i] == i + 1);
    static const struct {
        nt_status status;
        int run;
        size_t failed;
    } faults[] = {{NT_LAUNCH_FAILED, 3, 2}, {NT_DEVICE_LOST, 3, 5}, {NT_DEVICE_LOST, 5, 5}};
    for (size_t i = 0; i < FAKE_COUNT(faults); i++) {
        runs = 0;
        fail_with = faults[i].status;
        fail_at_run = faults[i].run;
        assert_int_equal(nt_counters_collect(counters, targets, 5, NT_COLD, values, &failed, &err), faults[i].status);
        assert_int_equal(failed, faults[i].failed);
    }
    nt_counters_close(counters);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start_anew, leave_nothing)
    const struct CMUnitTest tests[] = {
        TEST(sums_add_up_and_shares_are_weighted),
        TEST(every_value_goes_to_its_plan_over_batches),
        TEST(each_pass_takes_the_next_set_of_the_ring),
        TEST(hot_counts_the_second_of_two_runs),
        TEST(zeroing_may_be_a_range),
        TEST(lost_ranges_leave_no_values),
        TEST(a_profiler_that_never_ends_is_left),
        TEST(a_launch_that_fails_is_named_and_counting_ends),
        TEST(a_pass_waits_only_at_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 0; /* test_counters.c has the test of a build without CUPTI's headers */
}

#endif
