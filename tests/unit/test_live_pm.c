/* PM sampling against a CUPTI that is not there: a table of functions that plays a script of decodes. And, where
 * CUPTI's library is installed, the sets that seven chips take in one pass. */
#include "core_check.h"

#include "profiler/cupti_api.h"
#include "profiler/cupti_pm.h"

#if defined(NT_HAVE_CUPTI_H) && defined(NT_HAVE_CUDA_H)

#include <cupti_target.h>

#include <cupti_pmsampling.h>
#include <cupti_profiler_target.h>

/* ---- the table ---- */

typedef struct scripted_sample {
    uint64_t begin, end;
    double value; /* of every metric */
} scripted_sample;

typedef struct scripted_decode {
    int code;
    bool full, overflow;
    int count;
    scripted_sample sample[4];
} scripted_decode;

static struct {
    const scripted_decode *decode;
    int decodes, at; /* script and place in it; behind its end nothing is left to decode */
    const scripted_decode *image;
    int enabled, running, starts, hosts, fail_at, calls, fail_with;
} play;

/* Every call counts; the one numbered fail_at answers fail_with. */
static int answer(void)
{
    return ++play.calls == play.fail_at ? play.fail_with : 0;
}

static int nothing(void *params)
{
    (void)params;
    return answer();
}

static int host_end(void *params)
{
    (void)params;
    play.hosts--;
    return 0;
}

static int chip_name(void *params)
{
    ((CUpti_Device_GetChipName_Params *)params)->pChipName = "GH100";
    return answer();
}

static int availability(void *params)
{
    ((CUpti_PmSampling_GetCounterAvailability_Params *)params)->counterAvailabilityImageSize = 8;
    return answer();
}

static int enable(void *params)
{
    int code = answer();
    ((CUpti_PmSampling_Enable_Params *)params)->pPmSamplingObject = code == 0 ? (void *)&play : NULL;
    play.enabled += code == 0;
    return code;
}

static int disable(void *params)
{
    (void)params;
    play.enabled--;
    return 0;
}

static int start(void *params)
{
    (void)params;
    int code = answer();
    play.running += code == 0;
    play.starts += code == 0;
    return code;
}

static int stop(void *params)
{
    (void)params;
    play.running--;
    return 0;
}

static int data_size(void *params)
{
    ((CUpti_PmSampling_GetCounterDataSize_Params *)params)->counterDataSize = 16;
    return answer();
}

static int data_init(void *params)
{
    (void)params;
    play.image = NULL;
    return answer();
}

static int decode(void *params)
{
    CUpti_PmSampling_DecodeData_Params *p = params;
    static const scripted_decode empty;
    const scripted_decode *now = play.at < play.decodes ? &play.decode[play.at++] : &empty;
    p->overflow = now->overflow;
    p->decodeStopReason = now->full ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL
                                    : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
    play.image = now;
    return now->code;
}

static int data_info(void *params)
{
    ((CUpti_PmSampling_GetCounterDataInfo_Params *)params)->numCompletedSamples =
        play.image != NULL ? (size_t)play.image->count : 0;
    return 0;
}

static int sample_info(void *params)
{
    CUpti_PmSampling_CounterData_GetSampleInfo_Params *p = params;
    p->startTimestamp = play.image->sample[p->sampleIndex].begin;
    p->endTimestamp = play.image->sample[p->sampleIndex].end;
    return 0;
}

/* The host's structures are in a header that C cannot include as it is, so its half answers by hand: these offsets are
 * those of the fields that cupti_host.c reads, in the order that CUPTI documents (all members are eight bytes). */
enum { HOST_OBJECT = 5, IMAGE_SIZE = 3, PASSES = 4, RANGE_INDEX = 5, METRICS = 7, VALUES = 8 };

static int host_begin(void *params)
{
    int code = answer();
    ((void **)params)[HOST_OBJECT] = &play;
    play.hosts += code == 0;
    return code;
}

static int image_size(void *params)
{
    ((size_t *)params)[IMAGE_SIZE] = 8;
    return answer();
}

static int passes(void *params)
{
    ((size_t *)params)[PASSES] = 1;
    return answer();
}

static int evaluate(void *params)
{
    size_t *p = params;
    double *values = ((double **)params)[VALUES];
    for (size_t i = 0; i < p[METRICS]; i++)
        values[i] = play.image->sample[p[RANGE_INDEX]].value;
    return 0;
}

static const nt_cupti_api table = {
    .host_initialize = host_begin,
    .host_deinitialize = host_end,
    .host_properties = nothing,
    .host_add = nothing,
    .host_image_size = image_size,
    .host_image = nothing,
    .host_passes = passes,
    .host_evaluate = evaluate,
    .initialize = nothing,
    .chip_name = chip_name,
    .pm_enable = enable,
    .pm_disable = disable,
    .pm_config = nothing,
    .pm_start = start,
    .pm_stop = stop,
    .pm_decode = decode,
    .pm_availability = availability,
    .pm_data_size = data_size,
    .pm_data_init = data_init,
    .pm_data_info = data_info,
    .pm_sample_info = sample_info,
};

/* ---- the tests ---- */

static int begin_play(void **state)
{
    (void)state;
    memset(&play, 0, sizeof play);
    nt_cupti_api_use(&table);
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
    nt_pm_take(pm, &got);
    assert_int_equal(got.samples, 2);
    assert_close(got.value[0], (10 * 5.0 + 50 * 15.0) / 20, 1e-12);
    assert_close(got.span_s, 0.020, 1e-9);
    assert_int_equal(nt_pm_decode(pm, &err), NT_OK);
    nt_pm_take(pm, &got); /* the second take knows nothing of the first */
    assert_int_equal(got.samples, 1);
    assert_close(got.value[1], 7, 1e-12);
    nt_pm_take(pm, &got);
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
    nt_pm_take(pm, &got);
    const nt_pm_plan *plan = nt_pm_plan_of(pm);
    assert_string_equal(plan->set, "tensor");
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
    nt_pm_take(pm, &got);
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
    nt_pm_take(pm, &got);
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
    nt_pm_take(pm, &got);
    assert_int_equal(got.lost, 2);
    assert_int_equal(play.starts, 3);
    assert_int_equal(got.samples, 3);
    assert_close(got.value[0], 15, 1e-12);
    nt_pm_close(pm);
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
    nt_cupti_api old = table;
    nt_pm *pm;
    nt_error err;
    old.pm_enable = NULL;
    nt_cupti_api_use(&old);
    assert_int_not_equal(nt_pm_open(0, &pm, &err), NT_OK);
    assert_contains(err.what, "cuptiPmSamplingEnable");
    nt_cupti_api_use(&table);
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
        {"TU102", "bytes_only"}, {"GA100", "full"},   {"GA102", "full"},    {"AD102", "full"},
        {"GH100", "tensor"},     {"GB100", "tensor"}, {"GB202", "full_op"},
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
