/* count_session.c: see count_session.h. CUPTI's order of calls: chip, what the context gives, which metrics the chip
 * has, their configuration; then the counters are taken and each launch is one start, stop, decode, evaluate. */
#include "profiler/inject/count_session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cupti_result.h>
#include <cupti_target.h>

#include <cupti_range_profiler.h>

#include <cupti_profiler_host.h>

enum { RANGES = 8 /* one is wanted; room to see that there were more */ };

typedef struct image {
    uint8_t *bytes;
    size_t count;
} image;

struct nt_count_session {
    const nt_count_calls *calls;
    void *context;
    unsigned device;
    char chip[64];
    image available, config, data;
    CUpti_Profiler_Host_Object *host;
    CUpti_RangeProfiler_Object *object;
    const nt_count_wanted *wanted;
    int wanted_count;
    const char *counter[NT_COUNT_MOST_METRICS]; /* of each wanted; NULL where the chip has none */
    const char *accepted[NT_COUNT_MOST_METRICS];
    int accepted_count;
    int passes;
};

/* Every structure of parameters starts with its own size, as this build knows it; all else starts as zero. */
#define PARAMS(type, name)      CUpti_##type##_Params name = {.structSize = CUpti_##type##_Params_STRUCT_SIZE}
#define HOST_PARAMS(type, name) PARAMS(Profiler_Host_##type, name)

static bool check(int code, const char *doing, nt_count_failure *failure)
{
    if (code == CUPTI_SUCCESS)
        return true;
    *failure = (nt_count_failure){.code = code, .doing = doing};
    return false;
}

static bool make_image(image *out, size_t count, const char *doing, nt_count_failure *failure)
{
    *out = (image){calloc(1, count + 1), count};
    return check(out->bytes != NULL ? CUPTI_SUCCESS : CUPTI_ERROR_OUT_OF_MEMORY, doing, failure);
}

/* ---- which metrics ------------------------------------------------------------------------------------------------- */

static CUpti_Profiler_Host_Object *open_host(nt_count_session *s, nt_count_failure *failure)
{
    HOST_PARAMS(Initialize, params);
    params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    params.pChipName = s->chip;
    params.pCounterAvailabilityImage = s->available.bytes;
    return check(s->calls->cuptiProfilerHostInitialize(&params), "reading the metrics of the chip", failure)
               ? params.pHostObject
               : NULL;
}

static void close_host(const nt_count_session *s, CUpti_Profiler_Host_Object *host)
{
    if (host == NULL)
        return;
    HOST_PARAMS(Deinitialize, params);
    params.pHostObject = host;
    s->calls->cuptiProfilerHostDeinitialize(&params);
}

static bool knows(const nt_count_session *s, CUpti_Profiler_Host_Object *host, const char *name)
{
    HOST_PARAMS(GetMetricProperties, params);
    params.pHostObject = host;
    params.pMetricName = name;
    return s->calls->cuptiProfilerHostGetMetricProperties(&params) == CUPTI_SUCCESS;
}

static int add_metrics(const nt_count_session *s, CUpti_Profiler_Host_Object *host, const char **names, int count)
{
    HOST_PARAMS(ConfigAddMetrics, params);
    params.pHostObject = host;
    params.ppMetricNames = names;
    params.numMetrics = (size_t)count;
    return s->calls->cuptiProfilerHostConfigAddMetrics(&params);
}

/* A name refused spoils the object that it was added to, so each is tried on an object of its own. */
static bool is_accepted(nt_count_session *s, const char *name)
{
    nt_count_failure ignored;
    CUpti_Profiler_Host_Object *host = open_host(s, &ignored);
    bool accepted = host != NULL && add_metrics(s, host, &name, 1) == CUPTI_SUCCESS;
    close_host(s, host);
    return accepted;
}

static void choose_names(nt_count_session *s, CUpti_Profiler_Host_Object *look)
{
    for (int i = 0; i < s->wanted_count; i++)
        for (int k = 0; k < NT_COUNT_SPELLINGS && s->counter[i] == NULL; k++)
            if (s->wanted[i].spelling[k] != NULL && knows(s, look, s->wanted[i].spelling[k]))
                s->counter[i] = s->wanted[i].spelling[k];
}

static void gather(nt_count_session *s, bool try_each)
{
    s->accepted_count = 0;
    for (int i = 0; i < s->wanted_count; i++) {
        if (s->counter[i] != NULL && try_each && !is_accepted(s, s->counter[i]))
            s->counter[i] = NULL;
        if (s->counter[i] != NULL)
            s->accepted[s->accepted_count++] = s->counter[i];
    }
}

static bool configure(nt_count_session *s, nt_count_failure *failure)
{
    static const char doing[] = "making the configuration of the counters";
    HOST_PARAMS(GetConfigImageSize, size);
    size.pHostObject = s->host;
    if (!check(s->calls->cuptiProfilerHostGetConfigImageSize(&size), doing, failure) ||
        !make_image(&s->config, size.configImageSize, doing, failure))
        return false;
    HOST_PARAMS(GetConfigImage, fill);
    fill.pHostObject = s->host;
    fill.configImageSize = s->config.count;
    fill.pConfigImage = s->config.bytes;
    if (!check(s->calls->cuptiProfilerHostGetConfigImage(&fill), doing, failure))
        return false;
    HOST_PARAMS(GetNumOfPasses, passes);
    passes.configImageSize = s->config.count;
    passes.pConfigImage = s->config.bytes;
    if (!check(s->calls->cuptiProfilerHostGetNumOfPasses(&passes), doing, failure))
        return false;
    s->passes = (int)passes.numOfPasses;
    return true;
}

static bool plan(nt_count_session *s, nt_count_failure *failure)
{
    CUpti_Profiler_Host_Object *look = open_host(s, failure);
    if (look == NULL)
        return false;
    choose_names(s, look);
    close_host(s, look);
    for (int attempt = 0; attempt < 2; attempt++) {
        gather(s, attempt > 0);
        if (s->accepted_count == 0)
            return check(CUPTI_ERROR_INVALID_METRIC_NAME, "looking for a metric that this chip has", failure);
        s->host = open_host(s, failure);
        if (s->host == NULL)
            return false;
        int code = add_metrics(s, s->host, s->accepted, s->accepted_count);
        if (code == CUPTI_SUCCESS)
            return configure(s, failure);
        check(code, "configuring the metrics", failure);
        close_host(s, s->host);
        s->host = NULL;
    }
    return false;
}

/* ---- the device ---------------------------------------------------------------------------------------------------- */

static bool look_at_device(nt_count_session *s, nt_count_failure *failure)
{
    static const char doing[] = "asking which counters the device gives";
    PARAMS(Profiler_Initialize, start);
    if (!check(s->calls->cuptiProfilerInitialize(&start), "starting CUPTI's profiler", failure) ||
        !check(s->calls->cuptiGetDeviceId(s->context, &s->device), "asking for the context's device", failure))
        return false;
    PARAMS(Device_GetChipName, name);
    name.deviceIndex = s->device;
    if (!check(s->calls->cuptiDeviceGetChipName(&name), "asking for the chip's name", failure))
        return false;
    strncpy(s->chip, name.pChipName != NULL ? name.pChipName : "", sizeof s->chip - 1);
    PARAMS(Profiler_GetCounterAvailability, available);
    available.ctx = s->context;
    if (!check(s->calls->cuptiProfilerGetCounterAvailability(&available), doing, failure) ||
        !make_image(&s->available, available.counterAvailabilityImageSize, doing, failure))
        return false;
    available.pCounterAvailabilityImage = s->available.bytes;
    return check(s->calls->cuptiProfilerGetCounterAvailability(&available), doing, failure);
}

static bool take(nt_count_session *s, nt_count_failure *failure)
{
    static const char doing[] = "making room for what is counted";
    PARAMS(RangeProfiler_Enable, enable);
    enable.ctx = s->context;
    if (!check(s->calls->cuptiRangeProfilerEnable(&enable), "taking the device's counters", failure))
        return false;
    s->object = enable.pRangeProfilerObject;
    PARAMS(RangeProfiler_GetCounterDataSize, size);
    size.pRangeProfilerObject = s->object;
    size.pMetricNames = s->accepted;
    size.numMetrics = (size_t)s->accepted_count;
    size.maxNumOfRanges = RANGES;
    size.maxNumRangeTreeNodes = RANGES;
    return check(s->calls->cuptiRangeProfilerGetCounterDataSize(&size), doing, failure) &&
           make_image(&s->data, size.counterDataSize, doing, failure);
}

nt_count_session *nt_count_session_open(const nt_count_calls *calls, void *context, const nt_count_wanted *wanted,
                                        int wanted_count, nt_count_failure *failure)
{
    nt_count_session *s = calloc(1, sizeof *s);
    if (s == NULL) {
        check(CUPTI_ERROR_OUT_OF_MEMORY, "starting to count", failure);
        return NULL;
    }
    s->calls = calls;
    s->context = context;
    s->wanted = wanted;
    s->wanted_count = wanted_count < NT_COUNT_MOST_METRICS ? wanted_count : NT_COUNT_MOST_METRICS;
    if (look_at_device(s, failure) && plan(s, failure) && take(s, failure))
        return s;
    nt_count_session_close(s);
    return NULL;
}

void nt_count_session_close(nt_count_session *s)
{
    if (s == NULL)
        return;
    if (s->object != NULL) {
        PARAMS(RangeProfiler_Disable, params);
        params.pRangeProfilerObject = s->object;
        s->calls->cuptiRangeProfilerDisable(&params);
    }
    close_host(s, s->host);
    free(s->available.bytes);
    free(s->config.bytes);
    free(s->data.bytes);
    free(s);
}

int nt_count_session_passes(const nt_count_session *s)
{
    return s->passes;
}

unsigned nt_count_session_device(const nt_count_session *s)
{
    return s->device;
}

const char *nt_count_session_counter(const nt_count_session *s, int number)
{
    return number < s->wanted_count ? s->counter[number] : NULL;
}

/* ---- one launch ---------------------------------------------------------------------------------------------------- */

bool nt_count_session_start(nt_count_session *s, nt_count_failure *failure)
{
    PARAMS(RangeProfiler_CounterDataImage_Initialize, clear);
    clear.pRangeProfilerObject = s->object;
    clear.counterDataSize = s->data.count;
    clear.pCounterData = s->data.bytes;
    if (!check(s->calls->cuptiRangeProfilerCounterDataImageInitialize(&clear), "clearing what was counted", failure))
        return false;
    PARAMS(RangeProfiler_SetConfig, config);
    config.pRangeProfilerObject = s->object;
    config.configSize = s->config.count;
    config.pConfig = s->config.bytes;
    config.counterDataImageSize = s->data.count;
    config.pCounterDataImage = s->data.bytes;
    config.range = CUPTI_AutoRange;
    config.replayMode = CUPTI_KernelReplay;
    config.maxRangesPerPass = RANGES;
    config.numNestingLevels = 1;
    config.minNestingLevel = 1;
    config.targetNestingLevel = 1;
    if (!check(s->calls->cuptiRangeProfilerSetConfig(&config), "configuring the device's counters", failure))
        return false;
    PARAMS(RangeProfiler_Start, start);
    start.pRangeProfilerObject = s->object;
    return check(s->calls->cuptiRangeProfilerStart(&start), "starting to count", failure);
}

static bool evaluate(nt_count_session *s, double *values, nt_count_failure *failure)
{
    double found[NT_COUNT_MOST_METRICS];
    HOST_PARAMS(EvaluateToGpuValues, params);
    params.pHostObject = s->host;
    params.pCounterDataImage = s->data.bytes;
    params.counterDataImageSize = s->data.count;
    params.ppMetricNames = s->accepted;
    params.numMetrics = (size_t)s->accepted_count;
    params.pMetricValues = found;
    if (!check(s->calls->cuptiProfilerHostEvaluateToGpuValues(&params), "evaluating what was counted", failure))
        return false;
    for (int i = 0, k = 0; i < s->wanted_count; i++)
        values[i] = s->counter[i] != NULL ? found[k++] : (double)NAN;
    return true;
}

bool nt_count_session_stop(nt_count_session *s, size_t *launches, double *values, nt_count_failure *failure)
{
    *launches = 0;
    PARAMS(RangeProfiler_Stop, stop);
    stop.pRangeProfilerObject = s->object;
    if (!check(s->calls->cuptiRangeProfilerStop(&stop), "stopping to count", failure))
        return false;
    PARAMS(RangeProfiler_DecodeData, decode);
    decode.pRangeProfilerObject = s->object;
    if (!check(s->calls->cuptiRangeProfilerDecodeData(&decode), "decoding what was counted", failure))
        return false;
    PARAMS(RangeProfiler_GetCounterDataInfo, info);
    info.pCounterDataImage = s->data.bytes;
    info.counterDataImageSize = s->data.count;
    if (!check(s->calls->cuptiRangeProfilerGetCounterDataInfo(&info), "asking what was counted", failure))
        return false;
    *launches = info.numTotalRanges + decode.numOfRangeDropped;
    return *launches != 1 || evaluate(s, values, failure);
}
