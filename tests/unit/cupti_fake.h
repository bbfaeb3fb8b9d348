/* cupti_fake.h: a CUPTI without a GPU: a chip of a few metrics, and ranges that are what the test says was launched.
 * One state for the whole program, set back by fake_reset. Any function can be told to fail with any code. */
#ifndef CUPTI_FAKE_H
#define CUPTI_FAKE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cupti_target.h>
#include <stdbool.h>
#include <stdint.h>

#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>

#include "profiler/cupti_api.h"

enum { FAKE_RANGES = 1024, FAKE_METRICS = 64 };

static struct {
    const char *fail; /* field of the table that fails; NULL: none */
    int code;
    int calls_before_failing;
    int passes;           /* that a configuration takes */
    int never_done;       /* stop never says that all passes are in */
    int lost;             /* ranges that are missing of each pass */
    int said_lost;        /* ranges that are said to be dropped */
    size_t most_launches; /* of any pass */
    bool poisoned;        /* a failed add was followed by another on the same object */
    bool counting;
    int live; /* objects made and not given back */
    int starts, resets, configs;
    int pass;        /* finished since the configuration was set */
    size_t launches; /* of the pass under way */
    long long named; /* launches since the session was enabled */
    struct fake_range {
        long long name;
        double duration, value;
    } range[FAKE_RANGES];
    size_t (*driver_launches)(void); /* where a driver counts launches itself; NULL: the test says each */
    size_t before;
    CUpti_Profiler_DeviceSupported_Params support;
} fake;

static const char *const fake_chip_names[] = {"FK100"};
static const char *fake_counters[] = {
    "gpu__time_duration",        "sm__warps_active",          "dram__bytes_op_read",
    "smsp__inst_executed",       "sm__throughput_raw",        "gpu__dram_throughput",
    "sm__ops_path_tensor_src_a", "sm__ops_path_tensor_src_b", "sm__ops_path_tensor_src_b_sparsity_on"};
static const char *fake_ratios[] = {"l1tex__t_sector_hit_rate"};
static const char *fake_ends[] = {
    ".sum", ".avg", ".pct", ".ratio", ".avg.pct_of_peak_sustained_active", ".avg.pct_of_peak_sustained_elapsed"};

#define FAKE_COUNT(list) (sizeof(list) / sizeof((list)[0]))

static int fake_fails(const char *function)
{
    if (fake.fail == NULL || strcmp(fake.fail, function) != 0)
        return 0;
    return fake.calls_before_failing-- > 0 ? 0 : fake.code;
}

#define FAIL_FIRST(function)                    \
    do {                                        \
        int fake_code_ = fake_fails(#function); \
        if (fake_code_ != 0)                    \
            return fake_code_;                  \
    } while (0)

/* ---- host half ---- */

typedef struct fake_host {
    bool spoiled;
} fake_host;

/* 0 unknown, 1 base only, 2 with a roll-up */
static int fake_known(const char *name)
{
    for (size_t i = 0; i < FAKE_COUNT(fake_counters) + FAKE_COUNT(fake_ratios); i++) {
        const char *base =
            i < FAKE_COUNT(fake_counters) ? fake_counters[i] : fake_ratios[i - FAKE_COUNT(fake_counters)];
        size_t length = strlen(base);
        if (strncmp(name, base, length) != 0)
            continue;
        if (name[length] == '\0')
            return 1;
        for (size_t k = 0; k < FAKE_COUNT(fake_ends); k++)
            if (strcmp(name + length, fake_ends[k]) == 0)
                return 2;
    }
    return 0;
}

static int fake_host_initialize(void *params)
{
    CUpti_Profiler_Host_Initialize_Params *p = params;
    FAIL_FIRST(host_initialize);
    if (strcmp(p->pChipName, fake_chip_names[0]) != 0)
        return 46;
    p->pHostObject = calloc(1, sizeof(fake_host));
    fake.live++;
    return 0;
}

static int fake_host_deinitialize(void *params)
{
    CUpti_Profiler_Host_Deinitialize_Params *p = params;
    free(p->pHostObject);
    fake.live--;
    return 0;
}

static int fake_host_chips(void *params)
{
    CUpti_Profiler_Host_GetSupportedChips_Params *p = params;
    FAIL_FIRST(host_chips);
    p->numChips = 1;
    p->ppChipNames = fake_chip_names;
    return 0;
}

static int fake_host_base_metrics(void *params)
{
    CUpti_Profiler_Host_GetBaseMetrics_Params *p = params;
    FAIL_FIRST(host_base_metrics);
    p->ppMetricNames = p->metricType == 0 ? fake_counters : fake_ratios;
    p->numMetrics = p->metricType == 0 ? FAKE_COUNT(fake_counters) : p->metricType == 1 ? FAKE_COUNT(fake_ratios) : 0;
    return 0;
}

static int fake_host_sub_metrics(void *params)
{
    CUpti_Profiler_Host_GetSubMetrics_Params *p = params;
    FAIL_FIRST(host_sub_metrics);
    p->ppSubMetrics = fake_ends;
    p->numOfSubmetrics = FAKE_COUNT(fake_ends);
    return 0;
}

static int fake_host_properties(void *params)
{
    CUpti_Profiler_Host_GetMetricProperties_Params *p = params;
    FAIL_FIRST(host_properties);
    if (fake_known(p->pMetricName) == 0)
        return 17;
    p->pDescription = "a metric of the test";
    p->pDimUnit = "things";
    p->pHwUnit = "sm";
    return 0;
}

/* As the real one: one bad name fails the list with the wrong code, and the object is spoiled for good. */
static int fake_host_add(void *params)
{
    CUpti_Profiler_Host_ConfigAddMetrics_Params *p = params;
    fake_host *host = (fake_host *)(void *)p->pHostObject;
    FAIL_FIRST(host_add);
    if (host->spoiled) {
        fake.poisoned = true;
        return 999;
    }
    for (size_t i = 0; i < p->numMetrics; i++)
        if (fake_known(p->ppMetricNames[i]) != 2 || strstr(p->ppMetricNames[i], "throughput") != NULL) {
            host->spoiled = true;
            return 1;
        }
    return 0;
}

static int fake_host_image_size(void *params)
{
    FAIL_FIRST(host_image_size);
    ((CUpti_Profiler_Host_GetConfigImageSize_Params *)params)->configImageSize = 4;
    return 0;
}

static int fake_host_image(void *params)
{
    FAIL_FIRST(host_image);
    memcpy(((CUpti_Profiler_Host_GetConfigImage_Params *)params)->pConfigImage, "conf", 4);
    return 0;
}

static int fake_host_passes(void *params)
{
    FAIL_FIRST(host_passes);
    ((CUpti_Profiler_Host_GetNumOfPasses_Params *)params)->numOfPasses = (size_t)fake.passes;
    return 0;
}

/* A duration is what the launch said; a ratio of nothing is not a number; anything else is the launch's value. */
static int fake_host_evaluate(void *params)
{
    CUpti_Profiler_Host_EvaluateToGpuValues_Params *p = params;
    FAIL_FIRST(host_evaluate);
    const struct fake_range *range = &fake.range[p->rangeIndex];
    for (size_t i = 0; i < p->numMetrics; i++) {
        bool ratio = strstr(p->ppMetricNames[i], "hit_rate") != NULL;
        p->pMetricValues[i] = strncmp(p->ppMetricNames[i], "gpu__time_duration", 18) == 0 ? range->duration
                              : ratio && range->value == 0                                ? 0.0 / 0.0
                                                                                          : range->value;
    }
    return 0;
}

/* ---- device half ---- */

static int fake_version(uint32_t *version)
{
    *version = 130001;
    return 0;
}

#define PASSES_ALWAYS(name)              \
    static int fake_##name(void *params) \
    {                                    \
        (void)params;                    \
        FAIL_FIRST(name);                \
        return 0;                        \
    }
PASSES_ALWAYS(initialize)
PASSES_ALWAYS(deinitialize)

static int fake_device_supported(void *params)
{
    CUpti_Profiler_DeviceSupported_Params *p = params;
    FAIL_FIRST(device_supported);
    p->isSupported = fake.support.isSupported;
    p->architecture = fake.support.architecture;
    p->sli = fake.support.sli;
    p->vGpu = fake.support.vGpu;
    p->confidentialCompute = fake.support.confidentialCompute;
    p->cmp = fake.support.cmp;
    p->wsl = fake.support.wsl;
    return 0;
}

static int fake_chip_name(void *params)
{
    FAIL_FIRST(chip_name);
    ((CUpti_Device_GetChipName_Params *)params)->pChipName = fake_chip_names[0];
    return 0;
}

static int fake_availability(void *params)
{
    CUpti_Profiler_GetCounterAvailability_Params *p = params;
    FAIL_FIRST(availability);
    p->counterAvailabilityImageSize = 3;
    if (p->pCounterAvailabilityImage != NULL)
        memcpy(p->pCounterAvailabilityImage, "all", 3);
    return 0;
}

static int fake_range_enable(void *params)
{
    FAIL_FIRST(range_enable);
    ((CUpti_RangeProfiler_Enable_Params *)params)->pRangeProfilerObject = (void *)&fake;
    fake.live++;
    fake.named = 0;
    return 0;
}

static int fake_range_disable(void *params)
{
    (void)params;
    fake.live--;
    return 0;
}

static int fake_range_data_size(void *params)
{
    FAIL_FIRST(range_data_size);
    ((CUpti_RangeProfiler_GetCounterDataSize_Params *)params)->counterDataSize = 8;
    return 0;
}

static int fake_range_data_init(void *params)
{
    FAIL_FIRST(range_data_init);
    memset(((CUpti_RangeProfiler_CounterDataImage_Initialize_Params *)params)->pCounterData, 0, 8);
    fake.resets++;
    return 0;
}

static int fake_range_config(void *params)
{
    CUpti_RangeProfiler_SetConfig_Params *p = params;
    FAIL_FIRST(range_config);
    fake.pass = 0;
    fake.configs++;
    return p->range == CUPTI_AutoRange && p->replayMode == CUPTI_UserReplay && memcmp(p->pConfig, "conf", 4) == 0 ? 0
                                                                                                                  : 1;
}

static int fake_range_start(void *params)
{
    (void)params;
    FAIL_FIRST(range_start);
    fake.counting = true;
    fake.starts++;
    fake.launches = 0;
    fake.before = fake.driver_launches != NULL ? fake.driver_launches() : 0;
    return 0;
}

static void fake_launch(double duration, double value);

static int fake_range_stop(void *params)
{
    for (size_t n = fake.driver_launches != NULL ? fake.driver_launches() - fake.before : 0; n > 0; n--)
        fake_launch(1000, 7 + (double)fake.launches);
    fake.counting = false;
    fake.most_launches = fake.launches > fake.most_launches ? fake.launches : fake.most_launches;
    FAIL_FIRST(range_stop);
    fake.pass++;
    ((CUpti_RangeProfiler_Stop_Params *)params)->isAllPassSubmitted = !fake.never_done && fake.pass >= fake.passes;
    return 0;
}

static int fake_range_decode(void *params)
{
    FAIL_FIRST(range_decode);
    ((CUpti_RangeProfiler_DecodeData_Params *)params)->numOfRangeDropped = (size_t)(fake.lost + fake.said_lost);
    return 0;
}

static int fake_range_data_info(void *params)
{
    FAIL_FIRST(range_data_info);
    ((CUpti_RangeProfiler_GetCounterDataInfo_Params *)params)->numTotalRanges = fake.launches - (size_t)fake.lost;
    return 0;
}

static int fake_range_info(void *params)
{
    static char name[32];
    CUpti_RangeProfiler_CounterData_GetRangeInfo_Params *p = params;
    FAIL_FIRST(range_info);
    snprintf(name, sizeof name, "%lld", fake.range[p->rangeIndex].name);
    p->rangeName = name;
    return 0;
}

PASSES_ALWAYS(pm_enable)
PASSES_ALWAYS(pm_disable)
PASSES_ALWAYS(pm_config)
PASSES_ALWAYS(pm_start)
PASSES_ALWAYS(pm_stop)
PASSES_ALWAYS(pm_decode)
PASSES_ALWAYS(pm_availability)
PASSES_ALWAYS(pm_data_size)
PASSES_ALWAYS(pm_data_init)
PASSES_ALWAYS(pm_data_info)
PASSES_ALWAYS(pm_sample_info)

static const nt_cupti_api fake_table = {.version = fake_version,
#define X(field, symbol, optional) .field = fake_##field,
                                        NT_CUPTI_FUNCTIONS(X)
#undef X
};

/* ---- for the test ---- */

static void fake_reset(void)
{
    memset(&fake, 0, sizeof fake);
    fake.passes = 1;
    fake.support.isSupported = fake.support.architecture = fake.support.sli = fake.support.vGpu =
        fake.support.confidentialCompute = fake.support.cmp = fake.support.wsl = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    nt_cupti_api_use(&fake_table);
}

/* A kernel was launched. */
static void fake_launch(double duration, double value)
{
    if (!fake.counting || fake.launches >= FAKE_RANGES)
        return;
    fake.range[fake.launches++] = (struct fake_range){fake.named++, duration, value};
}

#endif
