/* test_measure.c: how a plan is timed, on a device whose samples are scripted: when sampling ends, what is retaken,
 * what is asked of the device. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/clock.h"
#include "profiler/measure.h"
#include "scratch.h"

/* What the scripted device answers, and what it was asked. */
static struct {
    double (*period_ns)(size_t sample);
    double (*clock_mhz)(size_t sample); /* NULL: unknown */
    bool in_real_time;                  /* a sample takes as long as it says */
    size_t fail_at;                     /* call that fails, from 1; 0: none */
    size_t calls, samples, most_at_once;
    int64_t launches; /* of the last call */
    nt_sample_request seen;
} script;

static nt_status sample(nt_device *device, const nt_sample_request *request, nt_error *err)
{
    (void)device;
    script.calls++;
    script.launches = request->launches;
    script.seen = *request;
    script.most_at_once = request->count > script.most_at_once ? request->count : script.most_at_once;
    if (script.calls == script.fail_at)
        return nt_fail(err, NT_LAUNCH_FAILED, "scripted");
    for (size_t i = 0; i < request->count; i++, script.samples++) {
        request->out_ns[i] = script.period_ns(script.samples);
        if (request->out_clock_mhz != NULL)
            request->out_clock_mhz[i] = script.clock_mhz != NULL ? script.clock_mhz(script.samples) : (double)NAN;
        *request->position += (size_t)request->launches;
        if (script.in_real_time)
            scratch_sleep(request->out_ns[i] * (double)request->launches * 1e-9);
    }
    return NT_OK;
}

static const nt_device_ops ops = {.name = "scripted", .sample = sample};

static const nt_plan plan = {.stage_count = 1};
static nt_binding ring[5];
static size_t position;

static nt_target new_target(double (*period_ns)(size_t sample))
{
    memset(&script, 0, sizeof script);
    script.period_ns = period_ns;
    position = 3;
    return (nt_target){.ops = &ops, .plan = &plan, .ring = ring, .ring_count = 5, .position = &position};
}

/* ---- periods and clocks --------------------------------------------------------------------------------------------------- */

static double steady(size_t i)
{
    return 20000 * (1 + 1e-4 * (double)(i * 7 % 5));
}

static double noisy(size_t i)
{
    return 20000 * (i % 2 == 0 ? 0.8 : 1.2);
}

static double five_percent(size_t i)
{
    return 20000 * (1 + 0.05 * (double)(i * 7 % 11) / 11);
}

static double slow(size_t i)
{
    return 15e6 * (i % 2 == 0 ? 0.8 : 1.2);
}

static double steady_clock(size_t i)
{
    (void)i;
    return 1980;
}

static double two_milliseconds(size_t i)
{
    return 2e6 * (i % 2 == 0 ? 0.9 : 1.1);
}

/* One sample in five, or in two, at a lower clock and as much slower. */
static double fifth_clock(size_t i)
{
    return i % 5 == 2 ? 1700 : 1980;
}

static double fifth(size_t i)
{
    return five_percent(i) * 1980 / fifth_clock(i);
}

static double half_clock(size_t i)
{
    return i % 2 == 0 ? 1980 : 1700;
}

/* ---- tests ------------------------------------------------------------------------------------------------------------------ */

static void test_launches(void **state)
{
    (void)state;
    assert_int_equal(nt_measure_launches(200e3, 200e3), 1);
    assert_int_equal(nt_measure_launches(200e3, 1e9), 1);
    assert_int_equal(nt_measure_launches(200e3, 199999), 2);
    assert_int_equal(nt_measure_launches(200e3, 20000), 10);
    assert_int_equal(nt_measure_launches(200e3, 3000), 67);
    assert_int_equal(nt_measure_launches(200e3, 0.001), 20000);
    assert_int_equal(nt_measure_launches(200e3, 0), 1);
    assert_int_equal(nt_measure_launches(200e3, -5), 1);
    assert_int_equal(nt_measure_launches(200e3, (double)NAN), 1);
}

static void test_steady_plan_converges_with_six(void **state)
{
    (void)state;
    nt_target target = new_target(steady);
    nt_measurement m;
    nt_error err;
    script.clock_mhz = steady_clock;
    assert_int_equal(nt_measure(&target, &nt_measure_defaults, &m, &err), NT_OK);
    assert_true(m.converged);
    assert_false(m.abandoned);
    assert_int_equal(m.samples.count, 6);
    assert_int_equal(m.samples.launches_per_sample, 10); /* 200 us of 20 us each */
    assert_true(m.time.lo <= m.time.median && m.time.median <= m.time.hi);
    assert_true(fabs(m.time.median - 20000) < 20);
    assert_true(fabs(m.probe_ns - 20000) < 20);
    assert_true(m.sm_clock_mhz == 1980);
    assert_int_equal(m.retaken, 0);
    nt_samples_done(&m.samples);
}

/* What the device is asked: the target's own plan and ring, and one position that runs on through all calls. */
static void test_ring_position_runs_on(void **state)
{
    (void)state;
    nt_target target = new_target(steady);
    nt_measurement m;
    nt_error err;
    double ns;
    assert_int_equal(nt_measure(&target, &nt_measure_defaults, &m, &err), NT_OK);
    assert_ptr_equal(script.seen.plan, &plan);
    assert_ptr_equal(script.seen.ring, ring);
    assert_int_equal(script.seen.ring_count, 5);
    assert_ptr_equal(script.seen.position, &position);
    /* two single launches, a quarter bracket of three, six samples of ten */
    assert_int_equal(position, 3 + 2 + 3 + 60);
    assert_int_equal(nt_measure_once(&target, 4, &ns, &err), NT_OK);
    assert_int_equal(position, 3 + 2 + 3 + 60 + 4);
    nt_samples_done(&m.samples);
}

static void test_slow_probe_is_not_repeated(void **state)
{
    (void)state;
    nt_target target = new_target(slow);
    nt_measure_options options = nt_measure_defaults;
    nt_measurement m;
    nt_error err;
    options.abandon_over_ns = 1e6;
    assert_int_equal(nt_measure(&target, &options, &m, &err), NT_OK);
    assert_int_equal(script.calls, 1); /* two launches, no bracket of them */
    assert_int_equal(script.samples, 2);
    assert_true(m.abandoned);
    assert_false(m.converged);
    assert_true(m.probe_ns == slow(0));
    assert_int_equal(m.samples.count, 0);
    assert_true(isnan(m.time.median));
    nt_samples_done(&m.samples);
}

static void test_abandon_is_strict(void **state)
{
    (void)state;
    for (int over = 0; over < 2; over++) {
        nt_target target = new_target(steady);
        nt_measure_options options = nt_measure_defaults;
        nt_measurement m;
        nt_error err;
        options.abandon_over_ns = over ? 19999 : 20010;
        assert_int_equal(nt_measure(&target, &options, &m, &err), NT_OK);
        assert_int_equal(m.abandoned, over);
        nt_samples_done(&m.samples);
    }
}

static void test_cap(void **state)
{
    (void)state;
    nt_target target = new_target(two_milliseconds);
    nt_measure_options options = nt_measure_defaults;
    nt_measurement m;
    nt_error err;
    script.in_real_time = true;
    options.cap_s = 0.05;
    double begin = nt_now_s();
    assert_int_equal(nt_measure(&target, &options, &m, &err), NT_OK);
    double took = nt_now_s() - begin;
    assert_false(m.converged);
    assert_true(took >= 0.05);
    /* 25 fit; a whole batch more would make 33. A busy machine only takes fewer. */
    assert_in_range(m.samples.count, 6, 27);
    nt_samples_done(&m.samples);
}

/* Each sample takes a third of the cap: the six that an interval needs, and not one more. */
static void test_slow_plan_gets_its_six(void **state)
{
    (void)state;
    nt_target target = new_target(slow);
    nt_measure_options options = nt_measure_defaults;
    nt_measurement m;
    nt_error err;
    script.in_real_time = true;
    options.cap_s = 0.045;
    assert_int_equal(nt_measure(&target, &options, &m, &err), NT_OK);
    assert_int_equal(m.samples.count, 6);
    assert_int_equal(m.samples.launches_per_sample, 1);
    assert_false(m.converged);
    assert_true(isfinite(m.time.lo) && isfinite(m.time.hi));
    nt_samples_done(&m.samples);
}

static void test_never_converging_plan_ends(void **state)
{
    (void)state;
    nt_target target = new_target(noisy);
    nt_measure_options options = nt_measure_defaults;
    nt_measurement m;
    nt_error err;
    options.cap_s = 1e9;
    assert_int_equal(nt_measure(&target, &options, &m, &err), NT_OK);
    assert_false(m.converged);
    assert_in_range(m.samples.count, 4096, 3 * 4096 / 2);
    nt_samples_done(&m.samples);
}

/* More samples narrow the interval until it is as wanted. */
static void test_more_samples_until_converged(void **state)
{
    (void)state;
    nt_target target = new_target(five_percent);
    nt_measurement m;
    nt_error err;
    assert_int_equal(nt_measure(&target, &nt_measure_defaults, &m, &err), NT_OK);
    assert_true(m.converged);
    assert_true(m.samples.count > 6);
    assert_true(nt_interval_rel(m.time) <= 0.005);
    nt_samples_done(&m.samples);
}

static void test_settled_loser(void **state)
{
    (void)state;
    nt_target target = new_target(five_percent);
    nt_measure_options options = nt_measure_defaults;
    nt_measurement m;
    nt_error err;
    options.settle_over_ns = 19000; /* its whole interval lies above */
    assert_int_equal(nt_measure(&target, &options, &m, &err), NT_OK);
    assert_false(m.abandoned);
    assert_false(m.converged);
    assert_int_equal(m.samples.count, 6);
    assert_true(m.time.lo > 19000);
    nt_samples_done(&m.samples);
}

static void test_throttled_samples_are_retaken(void **state)
{
    (void)state;
    nt_target target = new_target(fifth);
    nt_measurement m;
    nt_error err;
    script.clock_mhz = fifth_clock;
    assert_int_equal(nt_measure(&target, &nt_measure_defaults, &m, &err), NT_OK);
    assert_true(m.converged);
    assert_true(m.retaken > 0);
    for (size_t i = 0; i < m.samples.count; i++)
        assert_true(m.samples.sample_ns[i] < 20000 * 1.06); /* none of the slow ones is left */
    assert_true(m.sm_clock_mhz == 1980);
    nt_samples_done(&m.samples);
}

/* Half of all: that is how the device runs. At most 30 % of what was taken is dropped. */
static void test_retaking_has_a_limit(void **state)
{
    (void)state;
    nt_target target = new_target(five_percent);
    nt_measure_options options = nt_measure_defaults;
    nt_measurement m;
    nt_error err;
    script.clock_mhz = half_clock;
    options.ci_rel = 0;
    options.cap_s = 1e9;
    assert_int_equal(nt_measure(&target, &options, &m, &err), NT_OK);
    assert_true(m.retaken > 0);
    assert_true((double)m.retaken <= 0.30 * (double)(m.samples.count + m.retaken) + 1);
    nt_samples_done(&m.samples);
}

static void test_unknown_clock(void **state)
{
    (void)state;
    nt_target target = new_target(fifth);
    nt_measurement m;
    nt_error err;
    assert_int_equal(nt_measure(&target, &nt_measure_defaults, &m, &err), NT_OK);
    assert_int_equal(m.retaken, 0);
    assert_true(isnan(m.sm_clock_mhz));
    nt_samples_done(&m.samples);
}

/* At each call: the error comes through, and nothing is left to free. */
static void test_errors(void **state)
{
    (void)state;
    for (size_t call = 1; call <= 4; call++) {
        nt_target target = new_target(five_percent);
        nt_measurement m;
        nt_error err;
        script.fail_at = call;
        assert_int_equal(nt_measure(&target, &nt_measure_defaults, &m, &err), NT_LAUNCH_FAILED);
        assert_string_equal(err.what, "scripted");
        assert_null(m.samples.sample_ns);
        assert_int_equal(script.calls, call);
    }
}

/* ---- what launches change is put right before each sample ---------------------------------------------------------------- */

static size_t restores, restore_fails_at;

static nt_status restore(void *context, nt_error *err)
{
    assert_ptr_equal(context, &restores);
    assert_int_equal(restores, script.samples); /* one before each, none missed */
    return ++restores == restore_fails_at ? nt_fail(err, NT_FAILED, "no restoring") : NT_OK;
}

static void test_restores_before_each_sample(void **state)
{
    (void)state;
    nt_target target = new_target(steady);
    nt_measurement m;
    nt_error err;
    target.restore = restore;
    target.restore_context = &restores;
    restores = restore_fails_at = 0;
    assert_int_equal(nt_measure(&target, &nt_measure_defaults, &m, &err), NT_OK);
    assert_int_equal(script.most_at_once, 1);
    assert_int_equal(restores, script.samples);
    assert_int_equal(m.samples.count, 6);
    nt_samples_done(&m.samples);
    restores = 0;
    restore_fails_at = 5;
    script.samples = script.calls = 0;
    assert_int_equal(nt_measure(&target, &nt_measure_defaults, &m, &err), NT_FAILED);
    assert_int_equal(script.samples, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_steady_plan_converges_with_six),
        cmocka_unit_test(test_ring_position_runs_on),
        cmocka_unit_test(test_slow_probe_is_not_repeated),
        cmocka_unit_test(test_abandon_is_strict),
        cmocka_unit_test(test_cap),
        cmocka_unit_test(test_slow_plan_gets_its_six),
        cmocka_unit_test(test_never_converging_plan_ends),
        cmocka_unit_test(test_more_samples_until_converged),
        cmocka_unit_test(test_settled_loser),
        cmocka_unit_test(test_throttled_samples_are_retaken),
        cmocka_unit_test(test_retaking_has_a_limit),
        cmocka_unit_test(test_unknown_clock),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_restores_before_each_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
