/* cupti_api.h: the functions of NVIDIA's CUPTI that nntune uses, opened at run time.
 *
 * One row of NT_CUPTI_FUNCTIONS is one function: its field in the table, its exported name, and whether a library may
 * lack it. Each takes one pointer to a structure of parameters and returns a code, so the table needs none of CUPTI's
 * headers: the files that fill the structures do (cupti_host.c, cupti_range.c).
 * Searched, unless NNTUNE_LIBCUPTI names a file: the loader's path, CUDA toolkits, Python packages. */
#ifndef NT_CUPTI_API_H
#define NT_CUPTI_API_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/cupti_error.h"

/* X(field, exported name, optional). The first row of each block is its newest needed function. */
#define NT_CUPTI_FUNCTIONS(X)                                               \
    X(host_initialize, cuptiProfilerHostInitialize, false)                  \
    X(host_deinitialize, cuptiProfilerHostDeinitialize, false)              \
    X(host_chips, cuptiProfilerHostGetSupportedChips, false)                \
    X(host_base_metrics, cuptiProfilerHostGetBaseMetrics, false)            \
    X(host_sub_metrics, cuptiProfilerHostGetSubMetrics, false)              \
    X(host_properties, cuptiProfilerHostGetMetricProperties, false)         \
    X(host_add, cuptiProfilerHostConfigAddMetrics, false)                   \
    X(host_image_size, cuptiProfilerHostGetConfigImageSize, false)          \
    X(host_image, cuptiProfilerHostGetConfigImage, false)                   \
    X(host_passes, cuptiProfilerHostGetNumOfPasses, false)                  \
    X(host_evaluate, cuptiProfilerHostEvaluateToGpuValues, false)           \
    X(initialize, cuptiProfilerInitialize, false)                           \
    X(deinitialize, cuptiProfilerDeInitialize, false)                       \
    X(device_supported, cuptiProfilerDeviceSupported, false)                \
    X(chip_name, cuptiDeviceGetChipName, false)                             \
    X(availability, cuptiProfilerGetCounterAvailability, false)             \
    X(range_enable, cuptiRangeProfilerEnable, false)                        \
    X(range_disable, cuptiRangeProfilerDisable, false)                      \
    X(range_data_size, cuptiRangeProfilerGetCounterDataSize, false)         \
    X(range_data_init, cuptiRangeProfilerCounterDataImageInitialize, false) \
    X(range_config, cuptiRangeProfilerSetConfig, false)                     \
    X(range_start, cuptiRangeProfilerStart, false)                          \
    X(range_stop, cuptiRangeProfilerStop, false)                            \
    X(range_decode, cuptiRangeProfilerDecodeData, false)                    \
    X(range_data_info, cuptiRangeProfilerGetCounterDataInfo, false)         \
    X(range_info, cuptiRangeProfilerCounterDataGetRangeInfo, false)         \
    X(pm_enable, cuptiPmSamplingEnable, true)                               \
    X(pm_disable, cuptiPmSamplingDisable, true)                             \
    X(pm_config, cuptiPmSamplingSetConfig, true)                            \
    X(pm_start, cuptiPmSamplingStart, true)                                 \
    X(pm_stop, cuptiPmSamplingStop, true)                                   \
    X(pm_decode, cuptiPmSamplingDecodeData, true)                           \
    X(pm_availability, cuptiPmSamplingGetCounterAvailability, true)         \
    X(pm_data_size, cuptiPmSamplingGetCounterDataSize, true)                \
    X(pm_data_init, cuptiPmSamplingCounterDataImageInitialize, true)        \
    X(pm_data_info, cuptiPmSamplingGetCounterDataInfo, true)                \
    X(pm_sample_info, cuptiPmSamplingCounterDataGetSampleInfo, true)

typedef struct nt_cupti_api {
    int (*version)(uint32_t *out);
#define X(field, symbol, optional) int (*field)(void *params);
    NT_CUPTI_FUNCTIONS(X)
#undef X
} nt_cupti_api;

/* Opens CUPTI on the first call. NT_NO_DEVICE says why there is none and what to do. A failure is tried again by the
 * next call; success is kept for the process. *path (may be NULL) is the file that was opened. */
nt_status nt_cupti_api_get(const nt_cupti_api **api, const char **path, nt_error *err);

/* For tests: every later nt_cupti_api_get gives this table; NULL goes back to the real library. */
void nt_cupti_api_use(const nt_cupti_api *fake);

#endif
