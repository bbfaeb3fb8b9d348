/* PM sampling against a CUPTI that is not there, and the locks that keep counters and sweeps apart. */
#include "live_device.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "autotune/lock.h"
#include "device/counter_lock.h"

/* ---- locks ---- */

static void one_sampler_and_never_beside_a_sweep(void **state)
{
    (void)state;
    nt_counter_lock first, second;
    nt_lock sweep;
    nt_error err = {0};
    int64_t pid;
    char own[32];
    snprintf(own, sizeof own, "process %d", getpid());
    assert_false(nt_device_is_swept(uuid, &pid));
    assert_int_equal(nt_counter_lock_try(uuid, &first, &err), NT_OK);
    assert_int_equal(nt_counter_lock_try(uuid, &second, &err), NT_BUSY);
    assert_contains(err.what, own);
    assert_int_equal(nt_counter_lock_wait(uuid, 0.05, &err), NT_TIMED_OUT);
    assert_contains(err.what, own);
    nt_counter_lock_release(&first);
    assert_int_equal(nt_counter_lock_wait(uuid, 0.05, &err), NT_OK);
    assert_int_equal(nt_lock_try(uuid, &sweep, &err), NT_OK);
    assert_true(nt_device_is_swept(uuid, &pid));
    assert_int_equal(pid, getpid());
    assert_int_equal(nt_counter_lock_try(uuid, &first, &err), NT_BUSY);
    assert_contains(err.what, "a sweep");
    assert_int_equal(nt_counter_lock_wait(uuid, 0.05, &err), NT_OK); /* the refused one holds nothing */
    nt_lock_release(&sweep);
    assert_false(nt_device_is_swept(uuid, NULL));
}

static void a_killed_holder_holds_nothing(void **state)
{
    (void)state;
    nt_counter_lock lock;
    nt_error err = {0};
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        nt_lock sweep;
        bool held = nt_lock_try(uuid, &sweep, NULL) == NT_OK && nt_counter_lock_try("GPU-other", &lock, NULL) == NT_OK;
        if (write(ready[1], held ? "y" : "n", 1) == 1)
            pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    assert_true(nt_device_is_swept(uuid, NULL));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_false(nt_device_is_swept(uuid, NULL));
    assert_int_equal(nt_counter_lock_wait("GPU-other", 0, &err), NT_OK);
    assert_int_equal(nt_counter_lock_try(uuid, &lock, &err), NT_OK);
    nt_counter_lock_release(&lock);
    close(ready[0]);
    close(ready[1]);
}

#if defined(NT_HAVE_CUPTI_H) && defined(NT_HAVE_CUDA_H)

#include "fake_cupti.h"

/* Steady samples for ever: each decode brings one more. */
static int decode_steadily(void *params)
{
    static scripted_decode now = {.count = 1};
    static uint64_t at = 1;
    CUpti_PmSampling_DecodeData_Params *p = params;
    now.sample[0] = (scripted_sample){at, at + 5000000, 50};
    at += 5000000;
    p->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
    play.image = &now;
    return 0;
}

static nt_live *open_pm(void)
{
    static nt_cupti_api api;
    nt_device_info info = gpu();
    nt_live *live = NULL;
    nt_error err = {0};
    memset(&play, 0, sizeof play);
    api = fake_cupti;
    api.pm_decode = decode_steadily;
    nt_cupti_api_use(&api);
    if (nt_live_open(&info, NT_LIVE_PM, &live, &err) != NT_OK)
        fail_msg("%s", err.what);
    return live;
}

static void pm_values_and_their_source(void **state)
{
    (void)state;
    nt_live *live = open_pm();
    nt_live_frame frame;
    next_frame(live, 0.1, &frame);
    next_frame(live, 0.1, &frame);
    assert_close(frame.value[NT_LIVE_SM_ACTIVE], 50, 1e-12);
    assert_close(frame.value[NT_LIVE_OCCUPANCY_ACTIVE], 100, 1e-12);
    assert_close(frame.value[NT_LIVE_SM_CLOCK], 50e-6, 1e-12);
    assert_int_equal(frame.source[NT_LIVE_SM_CLOCK], NT_LIVE_PM);
    assert_int_equal(frame.source[NT_LIVE_POWER], NT_LIVE_NVML);
    assert_true(frame.samples >= 1);
    assert_close(frame.value[NT_LIVE_DRAM_READ], 25, 1e-12); /* half of the traffic is half of the share */
    assert_close(frame.value[NT_LIVE_DRAM], 50, 1e-12);
    nt_live_close(live);
    assert_int_equal(play.enabled, 0);
}

static int decode_nonsense(void *params)
{
    int code = decode_steadily(params);
    ((scripted_decode *)(uintptr_t)play.image)->sample[0].value = 1311;
    return code;
}

/* A share of 1311 % is no share. */
static void pm_believes_no_impossible_share(void **state)
{
    (void)state;
    nt_live *live = open_pm();
    nt_live_frame frame;
    nt_cupti_api api = fake_cupti;
    api.pm_decode = decode_nonsense;
    nt_live_close(live);
    nt_cupti_api_use(&api);
    nt_device_info info = gpu();
    assert_int_equal(nt_live_open(&info, NT_LIVE_PM, &live, NULL), NT_OK);
    next_frame(live, 0.1, &frame);
    next_frame(live, 0.1, &frame);
    assert_true(frame.samples >= 1);
    assert_true(isnan(frame.value[NT_LIVE_TENSOR]));
    assert_close(frame.value[NT_LIVE_SM_CLOCK], 1311e-6, 1e-12);
    nt_live_close(live);
}

static void pm_gives_way_to_a_sweep_and_comes_back(void **state)
{
    (void)state;
    nt_live *live = open_pm();
    nt_live_frame frame;
    nt_lock sweep;
    nt_str note = {0};
    nt_error err = {0};
    assert_int_equal(nt_counter_lock_wait(uuid, 0, &err), NT_TIMED_OUT);
    assert_int_equal(nt_lock_try(uuid, &sweep, &err), NT_OK);
    next_frame(live, 0.25, &frame);
    assert_int_equal(nt_counter_lock_wait(uuid, 0, &err), NT_OK); /* long before a second is over */
    assert_int_equal(play.enabled, 0);
    assert_int_equal(nt_live_source_now(live), NT_LIVE_GPM);
    nt_live_note(live, &note);
    assert_contains(nt_str_text(&note), "pm gave the counters back");
    nt_lock_release(&sweep);
    next_frame(live, 1.5, &frame);
    assert_int_equal(nt_live_source_now(live), NT_LIVE_PM);
    nt_str_clear(&note);
    nt_live_note(live, &note);
    assert_contains(nt_str_text(&note), "pm samples again");
    nt_str_done(&note);
    nt_live_close(live);
    assert_int_equal(play.enabled, 0);
}

static int decode_is_refused(void *params)
{
    (void)params;
    return CUPTI_ERROR_HARDWARE_BUSY;
}

/* Another tool takes the counters while we sample: seen when they are polled, and when they are read. */
static void pm_gives_way_when_the_counters_are_taken(void **state)
{
    (void)state;
    for (int polled = 0; polled < 2; polled++) {
        nt_live *live = open_pm();
        nt_live_frame frame;
        nt_cupti_api api = fake_cupti;
        nt_str note = {0};
        nt_error err = {0};
        nt_live_close(live);
        api.pm_decode = decode_steadily;
        nt_cupti_api_use(&api);
        nt_device_info info = gpu();
        assert_int_equal(nt_live_open(&info, NT_LIVE_PM, &live, NULL), NT_OK);
        next_frame(live, 0.1, &frame);
        api.pm_decode = decode_is_refused;
        if (polled)
            next_frame(live, 0.25, &frame);
        else
            assert_int_equal(nt_live_read(live, &frame, &err), NT_OK);
        assert_int_equal(nt_live_source_now(live), NT_LIVE_GPM);
        assert_int_equal(play.enabled, 0);
        nt_live_note(live, &note);
        assert_contains(nt_str_text(&note), "waits until they are free");
        api.pm_decode = decode_steadily;
        next_frame(live, 1.5, &frame);
        assert_int_equal(nt_live_source_now(live), NT_LIVE_PM);
        nt_str_done(&note);
        nt_live_close(live);
    }
}

static void pm_waits_for_a_sweep_that_runs_already(void **state)
{
    (void)state;
    nt_lock sweep;
    nt_error err;
    nt_str note = {0};
    assert_int_equal(nt_lock_try(uuid, &sweep, &err), NT_OK);
    nt_live *live = open_pm();
    assert_int_equal(nt_live_source_now(live), NT_LIVE_GPM);
    assert_int_equal(play.enabled, 0);
    nt_live_note(live, &note);
    assert_contains(nt_str_text(&note), "waits until it ends");
    nt_str_done(&note);
    nt_live_close(live);
    nt_lock_release(&sweep);
}

static void two_samplers_are_one_too_many(void **state)
{
    (void)state;
    nt_live *live = open_pm(), *second;
    nt_device_info info = gpu();
    nt_error err;
    assert_int_equal(nt_live_open(&info, NT_LIVE_PM, &second, &err), NT_BUSY);
    assert_contains(err.what, "already");
    nt_live_close(live);
    nt_cupti_api_use(NULL);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sampler_and_never_beside_a_sweep),
        cmocka_unit_test(a_killed_holder_holds_nothing),
#if defined(NT_HAVE_CUPTI_H) && defined(NT_HAVE_CUDA_H)
        cmocka_unit_test(pm_values_and_their_source),
        cmocka_unit_test(pm_believes_no_impossible_share),
        cmocka_unit_test(pm_gives_way_to_a_sweep_and_comes_back),
        cmocka_unit_test(pm_gives_way_when_the_counters_are_taken),
        cmocka_unit_test(pm_waits_for_a_sweep_that_runs_already),
        cmocka_unit_test(two_samplers_are_one_too_many),
#endif
    };
    return cmocka_run_group_tests(tests, build_library, remove_library);
}
