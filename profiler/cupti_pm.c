/* cupti_pm.c: see cupti_pm.h. Without CUPTI's headers the same functions exist and say why they cannot work. */
#include "profiler/cupti_pm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/mem.h"
#include "profiler/cupti_api.h"

#if defined(NT_HAVE_CUPTI_H) && defined(NT_HAVE_CUDA_H)

#include <stdbool.h>
#include <stdint.h>

#include <cupti_target.h>

#include <cupti_pmsampling.h>
#include <cupti_profiler_target.h>

/* Five samples in the shortest frame; no counter wraps in that time. The image holds what comes between two fetches, so
 * that one call brings it all; clearing it costs by its size, two milliseconds here. */
enum { SAMPLE_NS = 20000000, SAMPLE_CYCLES = 20000000, IMAGE_SAMPLES = 256, MOST_IMAGES = 64, OVERFLOW_CODE = 8 };

/* The share of a core that fetching may take, what it may take at once at the start, and the longest pause. */
static const double decode_share = 0.028, most_credit_s = 0.12, longest_pause_s = 5;
static const size_t buffer_bytes = (size_t)64 << 20;

struct nt_pm {
    const nt_cupti_api *api;
    CUpti_PmSampling_Object *object;
    nt_pm_plan plan;
    nt_cupti_image data;
    bool running, first; /* first: the next sample is the first of its session */
    nt_pm_queue queue;
    double credit_s, credited_at_s; /* CPU time that fetching may still take, and when it was last added to */
    double decoded_at_s, pause_s;   /* of the last fetch, and how long it was after the one before */
    double offset_s; /* from the GPU's clock to CLOCK_MONOTONIC; the least seen, since fetching only adds */
    int64_t rejected, lost;
};

#define PARAMS(type, name) CUpti_##type##_Params name = {.structSize = CUpti_##type##_Params_STRUCT_SIZE}

/* ---- opening ------------------------------------------------------------------------------------------------------- */

static nt_status available(const nt_cupti_api *api, int ordinal, nt_cupti_image *out, nt_error *err)
{
    PARAMS(PmSampling_GetCounterAvailability, params);
    params.deviceIndex = (size_t)ordinal;
    int result = api->pm_availability(&params);
    if (result == 0) {
        *out = (nt_cupti_image){nt_alloc_zero(params.counterAvailabilityImageSize + 1, 1),
                                params.counterAvailabilityImageSize};
        params.pCounterAvailabilityImage = out->bytes;
        result = api->pm_availability(&params);
    }
    return result == 0 ? NT_OK : nt_cupti_fail(err, result, "asking which counters can be sampled");
}

static nt_status plan_for(nt_pm *pm, int ordinal, nt_error *err)
{
    nt_cupti_image image = {0};
    PARAMS(Profiler_Initialize, start);
    PARAMS(Device_GetChipName, chip);
    int result = pm->api->initialize(&start);
    if (result != 0)
        return nt_cupti_fail(err, result, "starting CUPTI's profiler");
    chip.deviceIndex = (size_t)ordinal;
    result = pm->api->chip_name(&chip);
    if (result != 0)
        return nt_cupti_fail(err, result, "asking for the chip's name");
    nt_status status = available(pm->api, ordinal, &image, err);
    if (status == NT_OK)
        status = nt_pm_plan_open(chip.pChipName, &image, &pm->plan, err);
    nt_cupti_image_done(&image);
    return status;
}

static nt_status make_image(nt_pm *pm, nt_error *err)
{
    PARAMS(PmSampling_GetCounterDataSize, size);
    size.pPmSamplingObject = pm->object;
    size.pMetricNames = (const char **)pm->plan.name;
    size.numMetrics = (size_t)pm->plan.count;
    size.maxSamples = IMAGE_SAMPLES;
    int result = pm->api->pm_data_size(&size);
    if (result != 0)
        return nt_cupti_fail(err, result, "making room for samples");
    pm->data = (nt_cupti_image){nt_alloc_zero(size.counterDataSize + 1, 1), size.counterDataSize};
    return NT_OK;
}

static nt_status clear_image(nt_pm *pm, nt_error *err)
{
    PARAMS(PmSampling_CounterDataImage_Initialize, params);
    params.pPmSamplingObject = pm->object;
    params.counterDataSize = pm->data.count;
    params.pCounterData = pm->data.bytes;
    int result = pm->api->pm_data_init(&params);
    return result == 0 ? NT_OK : nt_cupti_fail(err, result, "clearing the samples");
}

/* By time where the chip can; Turing and the A100's chip count cycles of a clock that varies. */
static int configure(const nt_pm *pm, CUpti_PmSampling_TriggerMode trigger, uint64_t interval)
{
    PARAMS(PmSampling_SetConfig, params);
    params.pPmSamplingObject = pm->object;
    params.configSize = pm->plan.config.count;
    params.pConfig = pm->plan.config.bytes;
    params.hardwareBufferSize = buffer_bytes;
    params.samplingInterval = interval;
    params.triggerMode = trigger;
    params.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
    return pm->api->pm_config(&params);
}

static nt_status start(nt_pm *pm, nt_error *err)
{
    PARAMS(PmSampling_Start, params);
    params.pPmSamplingObject = pm->object;
    int result = pm->api->pm_start(&params);
    pm->running = result == 0;
    pm->first = true;
    return result == 0 ? NT_OK : nt_cupti_fail(err, result, "starting to sample counters");
}

static void stop(nt_pm *pm)
{
    PARAMS(PmSampling_Stop, params);
    params.pPmSamplingObject = pm->object;
    if (pm->running)
        pm->api->pm_stop(&params);
    pm->running = false;
}

static nt_status begin(nt_pm *pm, int ordinal, nt_error *err)
{
    PARAMS(PmSampling_Enable, enable);
    enable.deviceIndex = (size_t)ordinal;
    int result = pm->api->pm_enable(&enable);
    if (result != 0)
        return nt_cupti_fail(err, result, "taking the device's counters");
    pm->object = enable.pPmSamplingObject;
    nt_status status = make_image(pm, err);
    if (status == NT_OK)
        status = clear_image(pm, err);
    if (status != NT_OK)
        return status;
    result = configure(pm, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL, SAMPLE_NS);
    if (result != 0)
        result = configure(pm, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL, SAMPLE_CYCLES);
    return result == 0 ? start(pm, err) : nt_cupti_fail(err, result, "configuring the sampling of counters");
}

nt_status nt_pm_open(int ordinal, nt_pm **out, nt_error *err)
{
    const nt_cupti_api *api;
    *out = NULL;
    nt_status status = nt_cupti_api_get(&api, NULL, err);
    if (status != NT_OK)
        return status;
    if (api->pm_enable == NULL || api->pm_sample_info == NULL)
        return nt_cupti_lacks(err, "cuptiPmSamplingEnable");
    nt_pm *pm = nt_alloc_zero(1, sizeof *pm);
    pm->api = api;
    pm->credit_s = most_credit_s;
    pm->decoded_at_s = pm->credited_at_s = nt_now_s();
    pm->offset_s = INFINITY;
    status = plan_for(pm, ordinal, err);
    if (status == NT_OK)
        status = begin(pm, ordinal, err);
    if (status == NT_OK)
        *out = pm;
    else
        nt_pm_close(pm);
    return status;
}

void nt_pm_close(nt_pm *pm)
{
    if (pm == NULL)
        return;
    stop(pm);
    PARAMS(PmSampling_Disable, params);
    params.pPmSamplingObject = pm->object;
    if (pm->object != NULL)
        pm->api->pm_disable(&params);
    /* CUPTI keeps a pointer to the configuration until it is disabled, so the plan goes last. */
    nt_pm_plan_close(&pm->plan);
    nt_cupti_image_done(&pm->data);
    free(pm);
}

/* ---- sampling ------------------------------------------------------------------------------------------------------ */

/* Entries never written show times near 2^64. */
static bool times_are_good(uint64_t begin, uint64_t end)
{
    return begin > 0 && end > begin && end < (uint64_t)1 << 63;
}

static void keep_sample(nt_pm *pm, const double *values, uint64_t begin, uint64_t end)
{
    nt_pm_sample sample = {.begin_s = (double)begin * 1e-9, .end_s = (double)end * 1e-9, .samples = 1};
    for (int i = 0; i < NT_PM_MOST; i++) {
        bool given = i < pm->plan.count && isfinite(values[i]);
        sample.value[i] = given ? values[i] * pm->plan.metric[i].unit : (double)NAN;
        sample.weight_s[i] = given ? sample.end_s - sample.begin_s : 0;
    }
    pm->offset_s = fmin(pm->offset_s, nt_now_s() - sample.end_s);
    nt_pm_queue_push(&pm->queue, &sample);
}

static nt_status read_sample(nt_pm *pm, size_t index, nt_error *err)
{
    double values[NT_PM_MOST];
    PARAMS(PmSampling_CounterData_GetSampleInfo, info);
    info.pPmSamplingObject = pm->object;
    info.pCounterDataImage = pm->data.bytes;
    info.counterDataImageSize = pm->data.count;
    info.sampleIndex = index;
    int result = pm->api->pm_sample_info(&info);
    if (result != 0)
        return nt_cupti_fail(err, result, "reading a sample's times");
    bool first = pm->first;
    pm->first = false;
    if (first)
        return NT_OK;
    if (!times_are_good(info.startTimestamp, info.endTimestamp)) {
        pm->rejected++;
        return NT_OK;
    }
    nt_status status =
        nt_cupti_host_evaluate(pm->plan.host, &pm->data, index, pm->plan.name, (size_t)pm->plan.count, values, err);
    if (status == NT_OK)
        keep_sample(pm, values, info.startTimestamp, info.endTimestamp);
    return status;
}

static nt_status read_image(nt_pm *pm, nt_error *err)
{
    PARAMS(PmSampling_GetCounterDataInfo, info);
    info.pCounterDataImage = pm->data.bytes;
    info.counterDataImageSize = pm->data.count;
    int result = pm->api->pm_data_info(&info);
    if (result != 0)
        return nt_cupti_fail(err, result, "counting samples");
    nt_status status = NT_OK;
    for (size_t i = 0; i < info.numCompletedSamples && status == NT_OK; i++)
        status = read_sample(pm, i, err);
    return status == NT_OK ? clear_image(pm, err) : status;
}

static nt_status restart(nt_pm *pm, nt_error *err)
{
    pm->lost++;
    stop(pm);
    nt_status status = clear_image(pm, err);
    return status == NT_OK ? start(pm, err) : status;
}

static nt_status fetch(nt_pm *pm, nt_error *err)
{
    for (int i = 0; i < MOST_IMAGES; i++) {
        PARAMS(PmSampling_DecodeData, params);
        params.pPmSamplingObject = pm->object;
        params.pCounterDataImage = pm->data.bytes;
        params.counterDataImageSize = pm->data.count;
        int result = pm->api->pm_decode(&params);
        if (result == OVERFLOW_CODE) /* some releases say it so, and have decoded nothing */
            return restart(pm, err);
        if (result != 0)
            return nt_cupti_fail(err, result, "fetching samples");
        nt_status status = read_image(pm, err);
        if (status != NT_OK)
            return status;
        if (params.overflow)
            return restart(pm, err);
        if (params.decodeStopReason != CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL)
            return NT_OK;
    }
    return NT_OK; /* the rest comes with the next call */
}

static bool may_fetch(nt_pm *pm)
{
    double now = nt_now_s();
    pm->credit_s = fmin(pm->credit_s + decode_share * (now - pm->credited_at_s), most_credit_s);
    pm->credited_at_s = now;
    if (pm->credit_s <= 0 && now - pm->decoded_at_s < longest_pause_s)
        return false;
    pm->pause_s = now - pm->decoded_at_s;
    pm->decoded_at_s = now;
    return true;
}

nt_status nt_pm_decode(nt_pm *pm, nt_error *err)
{
    if (!may_fetch(pm))
        return NT_OK;
    double begin_s = nt_cpu_s();
    nt_status status = fetch(pm, err);
    pm->credit_s -= nt_cpu_s() - begin_s;
    return status;
}

/* What is queued beyond the last pause and two windows only makes the frames old: it goes into this window. */
void nt_pm_take(nt_pm *pm, double window_s, nt_pm_average *out)
{
    double needed_s = pm->pause_s + 2 * window_s;
    double all_s = fmax(window_s, nt_pm_queue_span_s(&pm->queue) - needed_s);
    nt_pm_sample sample = nt_pm_queue_take(&pm->queue, all_s);
    memcpy(out->value, sample.value, sizeof out->value);
    out->samples = sample.samples;
    out->span_s = sample.end_s - sample.begin_s;
    double lag_s = nt_now_s() - (sample.end_s + pm->offset_s);
    out->lag_s = sample.samples > 0 ? fmax(lag_s, 0) : (double)NAN;
    out->rejected = pm->rejected;
    out->lost = pm->lost;
}

const nt_pm_plan *nt_pm_plan_of(const nt_pm *pm)
{
    return &pm->plan;
}

#else

nt_status nt_pm_open(int ordinal, nt_pm **out, nt_error *err)
{
    (void)ordinal;
    *out = NULL;
    nt_fail(err, NT_NO_DEVICE, "this nntune was built without CUPTI's headers, so it cannot sample counters");
    return nt_hint(err, "build it where the CUDA toolkit (12.6 or newer) is installed; --source gpm needs none");
}

const nt_pm_plan *nt_pm_plan_of(const nt_pm *pm)
{
    (void)pm;
    return NULL;
}

nt_status nt_pm_decode(nt_pm *pm, nt_error *err)
{
    (void)pm;
    return nt_fail(err, NT_NO_DEVICE, "this nntune was built without CUPTI's headers");
}

void nt_pm_take(nt_pm *pm, double window_s, nt_pm_average *out)
{
    (void)pm, (void)window_s;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < NT_PM_MOST; i++)
        out->value[i] = NAN;
}

void nt_pm_close(nt_pm *pm)
{
    (void)pm;
}

#endif
