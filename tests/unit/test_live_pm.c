/* PM sampling against a CUPTI that is not there: a table of functions that plays a script of decodes. And, where
 * CUPTI's library is installed, the sets that seven chips take in one pass. */
#include "core_check.h"

#include "profiler/cupti_api.h"
#include "profiler/cupti_pm.h"

#if defined(NT_HAVE_CUPTI_H) && defined(NT_HAVE_CUDA_H)

#include "fake_cupti.h"

/* ---- the tests ---- */

static int begin_play(void **state)
{
    (void)state;
    memset(&play, 0, sizeof play);
    nt_cupti_api_use(&fake_cupti);
    return 0;
}

/* Whatever was opened is closed again. */
static int end_play(void **state)
{
    (void)state;
    nt_cupti_api_use(NULL);
    return play.enabled == 0 && play.running == 0 && play.hosts == 0 ? 0 : -1;
}

static nt_pm *play_script(const scripted_decode *script, int count)
{
    nt_pm *pm = NULL;
    nt_error err = {0};
    play.decode = script;
    play.decodes = count;
    if (nt_pm_open(0, &pm, &err) != NT_OK)
        fail_msg("%s", err.what);
    return pm;
}

static void averages_by_duration_without_the_first(void **state)
{
    (void)state;
    static const scripted_decode script[] = {
        {.count = 3, .sample = {{1, 2000000001, 99}, {2000000001, 2005000001, 10}, {2005000001, 2020000001, 50}}},
        {.count = 1, .sample = {{2020000001, 2025000001, 7}}},
    };
    nt_pm *pm = play_script(script, 2);
    nt_pm_average got;
    nt_error err;
    assert_int_equal(nt_pm_decode(pm, &err), NT_OK);
    nt_pm_take(pm, 10, &got);
    assert_int_equal(got.samples, 2);
    assert_close(got.value[0], (10 * 5.0 + 50 * 15.0) / 20, 1e-12);
    assert_close(got.span_s, 0.020, 1e-9);
    assert_int_equal(nt_pm_decode(pm, &err), NT_OK);
    nt_pm_take(pm, 10, &got); /* the second take knows nothing of the first */
    assert_int_equal(got.samples, 1);
    assert_close(got.value[1], 7, 1e-12);
    nt_pm_take(pm, 10, &got);
    assert_true(got.samples == 0 && isnan(got.value[0]));
    nt_pm_close(pm);
}

static void units_are_the_fields(void **state)
{
    (void)state;
    static const scripted_decode script[] = {{.count = 2, .sample = {{1, 2, 0}, {5, 10, 1.98e9}}}};
    nt_pm *pm = play_script(script, 1);
    nt_pm_average got;
    nt_error err;
    assert_int_equal(nt_pm_decode(pm, &err), NT_OK);
    nt_pm_take(pm, 10, &got);
    const nt_pm_plan *plan = nt_pm_plan_of(pm);
    assert_string_equal(plan->set, "tensor_issue");
    int clock = plan->count - 1;
    assert_int_equal(plan->metric[clock].field, NT_LIVE_SM_CLOCK);
    assert_close(got.value[clock], 1980, 1e-9);
    nt_pm_close(pm);
}

static void rejects_times_that_cannot_be(void **state)
{
    (void)state;
    static const scripted_decode script[] = {
        {.count = 4, .sample = {{1, 2, 0}, {0, 0, 1}, {18000000000000000000u, 18000000000000000009u, 2}, {30, 20, 3}}},
        {.count = 1, .sample = {{40, 50, 8}}},
    };
    nt_pm *pm = play_script(script, 2);
    nt_pm_average got;
    nt_error err;
    assert_int_equal(nt_pm_decode(pm, &err), NT_OK);
    assert_int_equal(nt_pm_decode(pm, &err), NT_OK);
    nt_pm_take(pm, 10, &got);
    assert_int_equal(got.rejected, 3);
    assert_int_equal(got.samples, 1);
    assert_close(got.value[0], 8, 1e-12);
    nt_pm_close(pm);
}

static void goes_on_while_the_image_is_full(void **state)
{
    (void)state;
    static const scripted_decode script[] = {
        {.full = true, .count = 2, .sample = {{1, 2, 0}, {10, 20, 1}}},
        {.full = true, .count = 2, .sample = {{20, 30, 2}, {30, 40, 3}}},
        {.count = 1, .sample = {{40, 50, 4}}},
        {.count = 1, .sample = {{50, 60, 100}}},
    };
    nt_pm *pm = play_script(script, 4);
    nt_pm_average got;
    nt_error err;
    assert_int_equal(nt_pm_decode(pm, &err), NT_OK);
    nt_pm_take(pm, 10, &got);
    assert_int_equal(got.samples, 4);
    assert_close(got.value[0], 2.5, 1e-12);
    nt_pm_close(pm);
}

/* Said by a flag or by a code, an overflow costs what was in the buffer and the first sample behind it, no more. */
static void survives_overflow(void **state)
{
    (void)state;
    static const scripted_decode script[] = {
        {.count = 2, .sample = {{1, 2, 0}, {10, 20, 5}}, .overflow = true},
        {.count = 2, .sample = {{20, 9000, 77}, {9000, 9010, 15}}},
        {.code = 8},
        {.count = 2, .sample = {{9010, 12000, 77}, {12000, 12010, 25}}},
    };
    nt_pm *pm = play_script(script, 4);
    nt_pm_average got;
    nt_error err = {0};
    for (int i = 0; i < 4; i++)
        assert_int_equal(nt_pm_decode(pm, &err), NT_OK);
    nt_pm_take(pm, 10, &got);
    assert_int_equal(got.lost, 2);
    assert_int_equal(play.starts, 3);
    assert_int_equal(got.samples, 3);
    assert_close(got.value[0], 15, 1e-12);
    nt_pm_close(pm);
}

/* Fetching may take a small share of a core: when one fetch was dear, the next ones wait. */
static void fetches_seldom_when_it_is_dear(void **state)
{
    (void)state;
    static const scripted_decode script[] = {
        {.count = 2, .sample = {{1, 2, 0}, {10, 20, 1}}},
        {.count = 1, .sample = {{20, 30, 2}}},
    };
    nt_pm_average got;
    nt_error err;
    play.decode_ms = 300; /* beyond what may be taken at once by more than comes back meanwhile, on a busy machine too */
    nt_pm *pm = play_script(script, 2);
    assert_int_equal(nt_pm_decode(pm, &err), NT_OK);
    assert_int_equal(play.at, 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(nt_pm_decode(pm, &err), NT_OK);
    assert_int_equal(play.at, 1);
    nt_pm_take(pm, 10, &got);
    assert_int_equal(got.samples, 1);
    nt_pm_take(pm, 10, &got);
    assert_true(got.samples == 0 && isnan(got.lag_s));
    nt_pm_close(pm);
}

/* What came with one fetch is shown window by window, oldest first, with its age. */
static void shows_one_fetch_in_windows(void **state)
{
    (void)state;
    static const scripted_decode script[] = {
        {.full = true,
         .count = 4,
         .sample = {{1, 2, 0}, {10000, 20010000, 1}, {20010000, 40010000, 2}, {40010000, 60010000, 3}}},
        {.count = 3, .sample = {{60010000, 80010000, 4}, {80010000, 100010000, 5}, {100010000, 120010000, 6}}},
    };
    nt_pm_average got;
    nt_error err;
    nt_pm *pm = play_script(script, 2);
    assert_int_equal(nt_pm_decode(pm, &err), NT_OK);
    nt_pm_take(pm, 0.04, &got);
    assert_int_equal(got.samples, 2);
    assert_close(got.value[0], 1.5, 1e-9);
    assert_true(got.lag_s > 0.07 && got.lag_s < 1);
    nt_pm_take(pm, 0.04, &got);
    assert_close(got.value[0], 3.5, 1e-9);
    nt_pm_take(pm, 0.04, &got);
    assert_close(got.value[0], 5.5, 1e-9);
    assert_close(got.span_s, 0.04, 1e-6);
    nt_pm_close(pm);
}

static void a_full_queue_gets_coarser_and_loses_nothing(void **state)
{
    (void)state;
    static nt_pm_queue queue;
    enum { PUSHED = 3 * NT_PM_QUEUED };
    double sum = 0;
    int64_t samples = 0;
    for (int i = 0; i < PUSHED; i++) {
        nt_pm_sample one = {.begin_s = i, .end_s = i + 1, .value = {i, NAN}, .weight_s = {1, 0}, .samples = 1};
        nt_pm_queue_push(&queue, &one);
    }
    assert_close(nt_pm_queue_span_s(&queue), PUSHED, 1e-12);
    while (nt_pm_queue_span_s(&queue) > 0) {
        nt_pm_sample window = nt_pm_queue_take(&queue, 100);
        assert_true(isnan(window.value[1]));
        sum += window.value[0] * window.weight_s[0];
        samples += window.samples;
    }
    assert_int_equal(samples, PUSHED);
    assert_close(sum, PUSHED * (PUSHED - 1) / 2.0, 1e-9);
    assert_int_equal(nt_pm_queue_take(&queue, 1).samples, 0);
}

static void says_what_a_decode_says(void **state)
{
    (void)state;
    static const scripted_decode script[] = {{.code = 26}};
    nt_pm *pm = play_script(script, 1);
    nt_error err;
    assert_int_equal(nt_pm_decode(pm, &err), NT_BUSY);
    assert_contains(err.what, "CUPTI_ERROR_HARDWARE_BUSY");
    nt_pm_close(pm);
}

/* Each of the calls of an open refused in turn: the error is told, and nothing stays open (end_play looks). A look-up
 * or a set that is refused only leads to a smaller set. */
static void gives_back_whatever_call_fails(void **state)
{
    (void)state;
    int told = 0;
    for (int call = 1; call < 60; call++) {
        nt_pm *pm = NULL;
        nt_error err = {0};
        memset(&play, 0, sizeof play);
        play.fail_at = call;
        play.fail_with = 35;
        nt_status status = nt_pm_open(0, &pm, &err);
        if (status != NT_OK) {
            assert_int_equal(status, NT_NO_PERMISSION);
            assert_contains(err.what, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES");
            assert_contains(err.hint, "NVreg_RestrictProfilingToAdminUsers=0");
            assert_null(pm);
            told++;
        }
        nt_pm_close(pm);
        assert_int_equal(play.enabled, 0);
        assert_int_equal(play.running, 0);
        assert_int_equal(play.hosts, 0);
    }
    assert_true(told >= 8);
}

static void falls_back_to_cycles_where_time_cannot_trigger(void **state)
{
    (void)state;
    nt_pm *pm = NULL;
    nt_error err;
    int calls;
    assert_int_equal(nt_pm_open(0, &pm, &err), NT_OK);
    calls = play.calls; /* the last two were the configuration and the start */
    nt_pm_close(pm);
    memset(&play, 0, sizeof play);
    play.fail_at = calls - 1;
    play.fail_with = 27;
    assert_int_equal(nt_pm_open(0, &pm, &err), NT_OK);
    assert_int_equal(play.calls, calls + 1);
    nt_pm_close(pm);
}

static void says_that_the_library_is_too_old(void **state)
{
    (void)state;
    nt_cupti_api old = fake_cupti;
    nt_pm *pm;
    nt_error err;
    old.pm_enable = NULL;
    nt_cupti_api_use(&old);
    assert_int_not_equal(nt_pm_open(0, &pm, &err), NT_OK);
    assert_contains(err.what, "cuptiPmSamplingEnable");
    nt_cupti_api_use(&fake_cupti);
}

/* ---- the real library's plans ---- */

/* CUPTI opens its helper in a way that AddressSanitizer refuses by ending the program. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static void seven_chips_sample_in_one_pass(void **state)
{
    (void)state;
    static const struct {
        const char *chip, *set;
    } rows[] = {
        {"TU102", "bytes"},  {"GA100", "tensor"}, {"GA102", "tensor"},    {"AD102", "tensor"},
        {"GH100", "tensor"}, {"GB100", "tensor"}, {"GB202", "tensor_op"},
    };
    const nt_cupti_api *api;
    nt_cupti_api_use(NULL);
    if (SANITIZED || nt_cupti_api_get(&api, NULL, NULL) != NT_OK) {
        print_message("skipped: CUPTI's library is not installed, or refuses to run under a sanitizer\n");
        skip();
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nt_pm_plan plan;
        nt_error err = {0};
        if (nt_pm_plan_open(rows[i].chip, NULL, &plan, &err) != NT_OK)
            fail_msg("%s: %s", rows[i].chip, err.what);
        assert_string_equal(plan.set, rows[i].set);
        assert_true(plan.config.count > 0);
        nt_pm_plan_close(&plan);
    }
    nt_pm_plan plan;
    nt_error err;
    assert_int_not_equal(nt_pm_plan_open("XX999", NULL, &plan, &err), NT_OK);
    assert_contains(err.what, "XX999");
}

#define PLAYED(test) cmocka_unit_test_setup_teardown(test, begin_play, end_play)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAYED(averages_by_duration_without_the_first),
        PLAYED(units_are_the_fields),
        PLAYED(rejects_times_that_cannot_be),
        PLAYED(goes_on_while_the_image_is_full),
        PLAYED(survives_overflow),
        PLAYED(fetches_seldom_when_it_is_dear),
        PLAYED(shows_one_fetch_in_windows),
        cmocka_unit_test(a_full_queue_gets_coarser_and_loses_nothing),
        PLAYED(says_what_a_decode_says),
        PLAYED(gives_back_whatever_call_fails),
        PLAYED(falls_back_to_cycles_where_time_cannot_trigger),
        PLAYED(says_that_the_library_is_too_old),
        cmocka_unit_test(seven_chips_sample_in_one_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void says_what_the_build_lacks(void **state)
{
    (void)state;
    nt_pm *pm;
    nt_error err;
    assert_int_equal(nt_pm_open(0, &pm, &err), NT_NO_DEVICE);
    assert_contains(err.what, "without CUPTI's headers");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(says_what_the_build_lacks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
