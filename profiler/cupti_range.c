/* cupti_range.c: see cupti_range.h. Automatic ranges and user replay: as cheap as it gets for many kernels, and the
 * duration of a range is that of its kernel alone. Without CUPTI's headers the same functions exist and say why they
 * cannot work. */
#include "profiler/cupti_range.h"

#include <stdlib.h>

#include "core/mem.h"
#include "core/str.h"
#include "profiler/cupti_api.h"

#if defined(NT_HAVE_CUPTI_H) && defined(NT_HAVE_CUDA_H)

#include <cupti_target.h>
#include <stdint.h>

#include <cupti_range_profiler.h>

struct nt_cupti_range {
    const nt_cupti_api *api;
    const nt_metric_plan *plan;
    CUpti_RangeProfiler_Object *object;
    nt_cupti_image data;
    size_t ranges;
    long long first; /* number in the name of range 0 */
};

/* Every structure of parameters starts with its own size, as this build knows it; all else starts as zero. */
#define PARAMS(type, name) CUpti_##type##_Params name = {.structSize = CUpti_##type##_Params_STRUCT_SIZE}

static nt_status initialize(const nt_cupti_api **api, nt_error *err)
{
    nt_status status = nt_cupti_api_get(api, NULL, err);
    if (status != NT_OK)
        return status;
    PARAMS(Profiler_Initialize, params);
    int result = (*api)->initialize(&params);
    return result == 0 ? NT_OK : nt_cupti_fail(err, result, "starting CUPTI's profiler");
}

/* ---- what the device allows ---- */

/* The first reason of CUPTI's that is not in order, as the error code that other calls would give for it. */
static int reason(const CUpti_Profiler_DeviceSupported_Params *params)
{
    const struct {
        CUpti_Profiler_Support_Level level;
        int unsupported, disabled;
    } reasons[] = {
        {params->architecture, NT_CUPTI_NOT_SUPPORTED, NT_CUPTI_NOT_SUPPORTED},
        {params->sli, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED},
        {params->vGpu, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED,
         CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES},
        {params->confidentialCompute, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED,
         CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED},
        {params->cmp, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED},
        {params->wsl, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (reasons[i].level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED)
            return reasons[i].unsupported;
        if (reasons[i].level == CUPTI_PROFILER_CONFIGURATION_DISABLED)
            return reasons[i].disabled;
    }
    return NT_CUPTI_NOT_SUPPORTED;
}

nt_status nt_cupti_range_probe(const nt_cupti_target *target, char chip[NT_CHIP_BYTES], nt_error *err)
{
    const nt_cupti_api *api;
    chip[0] = '\0';
    nt_status status = initialize(&api, err);
    if (status != NT_OK)
        return status;
    PARAMS(Profiler_DeviceSupported, supported);
    supported.cuDevice = target->handle;
    supported.api = CUPTI_PROFILER_RANGE_PROFILING;
    int result = api->device_supported(&supported);
    if (result == 0 && (supported.isSupported == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
                        supported.isSupported == CUPTI_PROFILER_CONFIGURATION_DISABLED))
        result = reason(&supported);
    if (result != 0)
        return nt_cupti_fail(err, result, "asking whether the device gives counters");
    PARAMS(Device_GetChipName, name);
    name.deviceIndex = (size_t)target->ordinal;
    result = api->chip_name(&name);
    if (result != 0)
        return nt_cupti_fail(err, result, "asking for the chip's name");
    nt_copy(chip, NT_CHIP_BYTES, name.pChipName);
    return NT_OK;
}

nt_status nt_cupti_range_available(const nt_cupti_target *target, nt_cupti_image *out, nt_error *err)
{
    const nt_cupti_api *api;
    *out = (nt_cupti_image){0};
    nt_status status = initialize(&api, err);
    if (status != NT_OK)
        return status;
    PARAMS(Profiler_GetCounterAvailability, params);
    params.ctx = target->context;
    int result = api->availability(&params);
    if (result == 0) {
        *out = (nt_cupti_image){nt_alloc_zero(params.counterAvailabilityImageSize + 1, 1),
                                params.counterAvailabilityImageSize};
        params.pCounterAvailabilityImage = out->bytes;
        result = api->availability(&params);
    }
    if (result == 0)
        return NT_OK;
    nt_cupti_image_done(out);
    return nt_cupti_fail(err, result, "asking which counters the device gives");
}

/* ---- a session ---- */

static nt_status make_room(const nt_cupti_range *session, const nt_metric_plan *plan, nt_cupti_image *out,
                           nt_error *err)
{
    PARAMS(RangeProfiler_GetCounterDataSize, params);
    params.pRangeProfilerObject = session->object;
    params.pMetricNames = plan->counter;
    params.numMetrics = plan->counter_count;
    params.maxNumOfRanges = session->ranges;
    params.maxNumRangeTreeNodes = (uint32_t)session->ranges;
    int result = session->api->range_data_size(&params);
    if (result != 0)
        return nt_cupti_fail(err, result, "making room for %zu ranges", session->ranges);
    *out = (nt_cupti_image){nt_alloc_zero(params.counterDataSize + 1, 1), params.counterDataSize};
    return NT_OK;
}

nt_status nt_cupti_range_open(const nt_cupti_target *target, const nt_metric_plan *plan, size_t ranges,
                              nt_cupti_range **out, nt_error *err)
{
    const nt_cupti_api *api;
    *out = NULL;
    nt_status status = initialize(&api, err);
    if (status != NT_OK)
        return status;
    PARAMS(RangeProfiler_Enable, params);
    params.ctx = target->context;
    int result = api->range_enable(&params);
    if (result != 0)
        return nt_cupti_fail(err, result, "taking the device's counters");
    nt_cupti_range *session = nt_alloc_zero(1, sizeof *session);
    session->api = api;
    session->object = params.pRangeProfilerObject;
    session->ranges = ranges;
    status = nt_cupti_range_change(session, plan, err);
    if (status == NT_OK) {
        *out = session;
        return NT_OK;
    }
    nt_cupti_range_close(session);
    return status;
}

nt_status nt_cupti_range_change(nt_cupti_range *session, const nt_metric_plan *plan, nt_error *err)
{
    const nt_metric_plan *old_plan = session->plan;
    nt_cupti_image old = session->data, data = {0};
    nt_status status = make_room(session, plan, &data, err);
    if (status != NT_OK)
        return status;
    session->plan = plan;
    session->data = data;
    status = nt_cupti_range_reset(session, err);
    if (status != NT_OK) {
        session->plan = old_plan;
        session->data = old;
        old = data;
    }
    nt_cupti_image_done(&old);
    return status;
}

void nt_cupti_range_close(nt_cupti_range *session)
{
    if (session == NULL)
        return;
    PARAMS(RangeProfiler_Disable, params);
    params.pRangeProfilerObject = session->object;
    session->api->range_disable(&params);
    nt_cupti_image_done(&session->data);
    free(session);
}

nt_status nt_cupti_range_reset(nt_cupti_range *session, nt_error *err)
{
    PARAMS(RangeProfiler_CounterDataImage_Initialize, data);
    data.pRangeProfilerObject = session->object;
    data.counterDataSize = session->data.count;
    data.pCounterData = session->data.bytes;
    int result = session->api->range_data_init(&data);
    if (result != 0)
        return nt_cupti_fail(err, result, "clearing what was collected");
    PARAMS(RangeProfiler_SetConfig, params);
    params.pRangeProfilerObject = session->object;
    params.configSize = session->plan->config.count;
    params.pConfig = session->plan->config.bytes;
    params.counterDataImageSize = session->data.count;
    params.pCounterDataImage = session->data.bytes;
    params.range = CUPTI_AutoRange;
    params.replayMode = CUPTI_UserReplay;
    params.maxRangesPerPass = session->ranges;
    params.numNestingLevels = 1;
    params.minNestingLevel = 1;
    params.passIndex = 0;
    params.targetNestingLevel = 1;
    result = session->api->range_config(&params);
    return result == 0 ? NT_OK : nt_cupti_fail(err, result, "configuring the device's counters");
}

nt_status nt_cupti_range_start(nt_cupti_range *session, nt_error *err)
{
    PARAMS(RangeProfiler_Start, params);
    params.pRangeProfilerObject = session->object;
    int result = session->api->range_start(&params);
    return result == 0 ? NT_OK : nt_cupti_fail(err, result, "starting to count");
}

nt_status nt_cupti_range_stop(nt_cupti_range *session, bool *more, nt_error *err)
{
    PARAMS(RangeProfiler_Stop, params);
    params.pRangeProfilerObject = session->object;
    int result = session->api->range_stop(&params);
    *more = result == 0 && params.isAllPassSubmitted == 0;
    return result == 0 ? NT_OK : nt_cupti_fail(err, result, "stopping to count");
}

nt_status nt_cupti_range_decode(nt_cupti_range *session, size_t *ranges, size_t *dropped, nt_error *err)
{
    *ranges = *dropped = 0;
    PARAMS(RangeProfiler_DecodeData, params);
    params.pRangeProfilerObject = session->object;
    int result = session->api->range_decode(&params);
    if (result != 0)
        return nt_cupti_fail(err, result, "decoding what was counted");
    PARAMS(RangeProfiler_GetCounterDataInfo, info);
    info.pCounterDataImage = session->data.bytes;
    info.counterDataImageSize = session->data.count;
    result = session->api->range_data_info(&info);
    *ranges = info.numTotalRanges;
    *dropped = params.numOfRangeDropped;
    return result == 0 ? NT_OK : nt_cupti_fail(err, result, "asking how many ranges were counted");
}

nt_status nt_cupti_range_values(nt_cupti_range *session, size_t range, size_t *launch, double *values, nt_error *err)
{
    PARAMS(RangeProfiler_CounterData_GetRangeInfo, params);
    params.pCounterDataImage = session->data.bytes;
    params.counterDataImageSize = session->data.count;
    params.rangeIndex = range;
    params.rangeDelimiter = "/";
    int result = session->api->range_info(&params);
    if (result != 0)
        return nt_cupti_fail(err, result, "asking for the name of range %zu", range);
    /* Automatic ranges are named by a number that goes up by one with each launch and runs on across passes. */
    long long number = 0;
    if (params.rangeName == NULL || !nt_parse_i64(params.rangeName, &number))
        return nt_fail(err, NT_FAILED, "CUPTI names range %zu '%s', not by the number of its launch", range,
                       params.rangeName != NULL ? params.rangeName : "");
    if (range == 0)
        session->first = number;
    *launch = number >= session->first ? (size_t)(number - session->first) : SIZE_MAX;
    return nt_cupti_host_evaluate(session->plan->host, &session->data, range, session->plan->counter,
                                  session->plan->counter_count, values, err);
}

#else /* no CUPTI or no CUDA headers at build time */

struct nt_cupti_range {
    char unused;
};

static nt_status built_without(nt_error *err)
{
    nt_fail(err, NT_NO_DEVICE, "this nntune was built without NVIDIA's CUPTI headers, so it reads no counters");
    nt_hint(err, "install NVIDIA's CUDA toolkit (12.6 or newer, with cupti.h), then build again: make clean && make");
    return NT_NO_DEVICE;
}

nt_status nt_cupti_range_probe(const nt_cupti_target *target, char chip[NT_CHIP_BYTES], nt_error *err)
{
    (void)target;
    chip[0] = '\0';
    return built_without(err);
}

nt_status nt_cupti_range_available(const nt_cupti_target *target, nt_cupti_image *out, nt_error *err)
{
    (void)target;
    *out = (nt_cupti_image){0};
    return built_without(err);
}

nt_status nt_cupti_range_open(const nt_cupti_target *target, const nt_metric_plan *plan, size_t ranges,
                              nt_cupti_range **out, nt_error *err)
{
    (void)target, (void)plan, (void)ranges;
    *out = NULL;
    return built_without(err);
}

void nt_cupti_range_close(nt_cupti_range *session)
{
    free(session);
}

nt_status nt_cupti_range_change(nt_cupti_range *session, const nt_metric_plan *plan, nt_error *err)
{
    (void)session, (void)plan;
    return built_without(err);
}

nt_status nt_cupti_range_reset(nt_cupti_range *session, nt_error *err)
{
    (void)session;
    return built_without(err);
}

nt_status nt_cupti_range_start(nt_cupti_range *session, nt_error *err)
{
    (void)session;
    return built_without(err);
}

nt_status nt_cupti_range_stop(nt_cupti_range *session, bool *more, nt_error *err)
{
    (void)session;
    *more = false;
    return built_without(err);
}

nt_status nt_cupti_range_decode(nt_cupti_range *session, size_t *ranges, size_t *dropped, nt_error *err)
{
    (void)session;
    *ranges = *dropped = 0;
    return built_without(err);
}

nt_status nt_cupti_range_values(nt_cupti_range *session, size_t range, size_t *launch, double *values, nt_error *err)
{
    (void)session, (void)range, (void)values;
    *launch = 0;
    return built_without(err);
}

#endif
