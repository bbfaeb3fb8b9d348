/* cupti_host.c: see cupti_host.h. The one file that includes CUPTI's host header, which asks for the C++ header
 * <string> without using it: the build gives this file a folder with an empty one (profiler/cxx). Without CUPTI's
 * headers the same functions exist and say why they cannot work. */
#include "profiler/cupti_host.h"

#include <stdbool.h>
#include <stdlib.h>

#include "core/mem.h"
#include "profiler/cupti_api.h"

void nt_cupti_image_done(nt_cupti_image *image)
{
    free(image->bytes);
    *image = (nt_cupti_image){0};
}

#ifdef NT_HAVE_CUPTI_H

#include <cupti_profiler_host.h>

struct nt_cupti_host {
    const nt_cupti_api *api;
    CUpti_Profiler_Host_Object *object;
};

/* Every structure of parameters starts with its own size, as this build knows it; all else starts as zero. */
#define PARAMS(type, name) \
    CUpti_Profiler_Host_##type##_Params name = {.structSize = CUpti_Profiler_Host_##type##_Params_STRUCT_SIZE}

nt_status nt_cupti_chips(const char *const **names, size_t *count, nt_error *err)
{
    const nt_cupti_api *api;
    *names = NULL;
    *count = 0;
    nt_status status = nt_cupti_api_get(&api, NULL, err);
    if (status != NT_OK)
        return status;
    PARAMS(GetSupportedChips, params);
    int result = api->host_chips(&params);
    if (result != 0)
        return nt_cupti_fail(err, result, "listing the chips that CUPTI knows");
    *names = params.ppChipNames;
    *count = params.numChips;
    return NT_OK;
}

nt_status nt_cupti_host_open(nt_cupti_way way, const char *chip, const nt_cupti_image *available, nt_cupti_host **out,
                             nt_error *err)
{
    static const CUpti_ProfilerType types[NT_CUPTI_WAY_COUNT] = {
        [NT_CUPTI_RANGES] = CUPTI_PROFILER_TYPE_RANGE_PROFILER,
        [NT_CUPTI_SAMPLES] = CUPTI_PROFILER_TYPE_PM_SAMPLING,
    };
    const nt_cupti_api *api;
    *out = NULL;
    nt_status status = nt_cupti_api_get(&api, NULL, err);
    if (status != NT_OK)
        return status;
    PARAMS(Initialize, params);
    params.profilerType = types[way];
    params.pChipName = chip;
    params.pCounterAvailabilityImage = available != NULL ? available->bytes : NULL;
    int result = api->host_initialize(&params);
    if (result != 0)
        return nt_cupti_fail(err, result, "reading CUPTI's list of metrics for chip '%s'", chip);
    nt_cupti_host *host = nt_alloc_zero(1, sizeof *host);
    host->api = api;
    host->object = params.pHostObject;
    *out = host;
    return NT_OK;
}

void nt_cupti_host_close(nt_cupti_host *host)
{
    if (host == NULL)
        return;
    PARAMS(Deinitialize, params);
    params.pHostObject = host->object;
    host->api->host_deinitialize(&params);
    free(host);
}

nt_status nt_cupti_host_base(nt_cupti_host *host, int type, const char *const **names, size_t *count, nt_error *err)
{
    PARAMS(GetBaseMetrics, params);
    params.pHostObject = host->object;
    params.metricType = (CUpti_MetricType)type;
    int result = host->api->host_base_metrics(&params);
    bool ok = result == 0;
    *names = ok ? params.ppMetricNames : NULL;
    *count = ok ? params.numMetrics : 0;
    return ok ? NT_OK : nt_cupti_fail(err, result, "listing the chip's metrics");
}

nt_status nt_cupti_host_sub(nt_cupti_host *host, int type, const char *name, const char *const **names, size_t *count,
                            nt_error *err)
{
    PARAMS(GetSubMetrics, params);
    params.pHostObject = host->object;
    params.metricType = (CUpti_MetricType)type;
    params.pMetricName = name;
    int result = host->api->host_sub_metrics(&params);
    bool ok = result == 0;
    *names = ok ? params.ppSubMetrics : NULL;
    *count = ok ? params.numOfSubmetrics : 0;
    return ok ? NT_OK : nt_cupti_fail(err, result, "listing what may follow '%s'", name);
}

nt_status nt_cupti_host_describe(nt_cupti_host *host, const char *name, nt_cupti_metric *out, nt_error *err)
{
    PARAMS(GetMetricProperties, params);
    params.pHostObject = host->object;
    params.pMetricName = name;
    int result = host->api->host_properties(&params);
    *out = (nt_cupti_metric){0};
    if (result != 0)
        return nt_cupti_fail(err, result, "looking up the metric '%s'", name);
    out->description = params.pDescription;
    out->unit = params.pDimUnit;
    out->hardware = params.pHwUnit;
    out->type = (int)params.metricType;
    return NT_OK;
}

nt_status nt_cupti_host_add(nt_cupti_host *host, const char *const *names, size_t count, nt_error *err)
{
    PARAMS(ConfigAddMetrics, params);
    params.pHostObject = host->object;
    params.ppMetricNames = (const char **)names; /* read only, whatever the prototype says */
    params.numMetrics = count;
    int result = host->api->host_add(&params);
    return result == 0
               ? NT_OK
               : nt_cupti_fail(err, result, "configuring %zu metrics, '%s' first", count, count > 0 ? names[0] : "");
}

static int count_passes(const nt_cupti_host *host, const nt_cupti_image *image, int *passes)
{
    PARAMS(GetNumOfPasses, params);
    params.configImageSize = image->count;
    params.pConfigImage = image->bytes;
    int result = host->api->host_passes(&params);
    *passes = result == 0 ? (int)params.numOfPasses : 0;
    return result;
}

nt_status nt_cupti_host_image(nt_cupti_host *host, nt_cupti_image *out, int *passes, nt_error *err)
{
    *out = (nt_cupti_image){0};
    *passes = 0;
    PARAMS(GetConfigImageSize, size);
    size.pHostObject = host->object;
    int result = host->api->host_image_size(&size);
    if (result == 0) {
        *out = (nt_cupti_image){nt_alloc_zero(size.configImageSize + 1, 1), size.configImageSize};
        PARAMS(GetConfigImage, params);
        params.pHostObject = host->object;
        params.configImageSize = out->count;
        params.pConfigImage = out->bytes;
        result = host->api->host_image(&params);
    }
    if (result == 0)
        result = count_passes(host, out, passes);
    if (result == 0)
        return NT_OK;
    nt_cupti_image_done(out);
    return nt_cupti_fail(err, result, "making the configuration of the counters");
}

nt_status nt_cupti_host_evaluate(nt_cupti_host *host, const nt_cupti_image *data, size_t index,
                                 const char *const *names, size_t count, double *values, nt_error *err)
{
    PARAMS(EvaluateToGpuValues, params);
    params.pHostObject = host->object;
    params.pCounterDataImage = data->bytes;
    params.counterDataImageSize = data->count;
    params.rangeIndex = index;
    params.ppMetricNames = (const char **)names; /* as above */
    params.numMetrics = count;
    params.pMetricValues = values;
    int result = host->api->host_evaluate(&params);
    return result == 0 ? NT_OK : nt_cupti_fail(err, result, "evaluating %zu metrics of range %zu", count, index);
}

#else /* no CUPTI headers at build time */

struct nt_cupti_host {
    char unused;
};

static nt_status built_without(nt_error *err)
{
    nt_fail(err, NT_NO_DEVICE, "this nntune was built without NVIDIA's CUPTI headers, so it reads no counters");
    nt_hint(err, "install NVIDIA's CUDA toolkit (12.6 or newer, with cupti.h), then build again: make clean && make");
    return NT_NO_DEVICE;
}

nt_status nt_cupti_chips(const char *const **names, size_t *count, nt_error *err)
{
    *names = NULL;
    *count = 0;
    return built_without(err);
}

nt_status nt_cupti_host_open(nt_cupti_way way, const char *chip, const nt_cupti_image *available, nt_cupti_host **out,
                             nt_error *err)
{
    (void)way, (void)chip, (void)available;
    *out = NULL;
    return built_without(err);
}

void nt_cupti_host_close(nt_cupti_host *host)
{
    free(host);
}

nt_status nt_cupti_host_base(nt_cupti_host *host, int type, const char *const **names, size_t *count, nt_error *err)
{
    (void)host, (void)type;
    *names = NULL;
    *count = 0;
    return built_without(err);
}

nt_status nt_cupti_host_sub(nt_cupti_host *host, int type, const char *name, const char *const **names, size_t *count,
                            nt_error *err)
{
    (void)name;
    return nt_cupti_host_base(host, type, names, count, err);
}

nt_status nt_cupti_host_describe(nt_cupti_host *host, const char *name, nt_cupti_metric *out, nt_error *err)
{
    (void)host, (void)name;
    *out = (nt_cupti_metric){0};
    return built_without(err);
}

nt_status nt_cupti_host_add(nt_cupti_host *host, const char *const *names, size_t count, nt_error *err)
{
    (void)host, (void)names, (void)count;
    return built_without(err);
}

nt_status nt_cupti_host_image(nt_cupti_host *host, nt_cupti_image *out, int *passes, nt_error *err)
{
    (void)host;
    *out = (nt_cupti_image){0};
    *passes = 0;
    return built_without(err);
}

nt_status nt_cupti_host_evaluate(nt_cupti_host *host, const nt_cupti_image *data, size_t index,
                                 const char *const *names, size_t count, double *values, nt_error *err)
{
    (void)host, (void)data, (void)index, (void)names, (void)count, (void)values;
    return built_without(err);
}

#endif
