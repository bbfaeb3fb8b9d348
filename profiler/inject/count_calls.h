/* count_calls.h: the functions of CUPTI that counting needs beyond cupti_calls.h, and how to make their parameters. An
 * older CUPTI lacks some: then recording goes on and counting does not. Every one takes one structure. */
#ifndef NT_COUNT_CALLS_H
#define NT_COUNT_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#define NT_COUNT_MAP(X)                             \
    X(cuptiProfilerInitialize)                      \
    X(cuptiDeviceGetChipName)                       \
    X(cuptiProfilerGetCounterAvailability)          \
    X(cuptiProfilerHostInitialize)                  \
    X(cuptiProfilerHostDeinitialize)                \
    X(cuptiProfilerHostGetMetricProperties)         \
    X(cuptiProfilerHostConfigAddMetrics)            \
    X(cuptiProfilerHostGetConfigImageSize)          \
    X(cuptiProfilerHostGetConfigImage)              \
    X(cuptiProfilerHostGetNumOfPasses)              \
    X(cuptiProfilerHostEvaluateToGpuValues)         \
    X(cuptiRangeProfilerEnable)                     \
    X(cuptiRangeProfilerDisable)                    \
    X(cuptiRangeProfilerGetCounterDataSize)         \
    X(cuptiRangeProfilerCounterDataImageInitialize) \
    X(cuptiRangeProfilerSetConfig)                  \
    X(cuptiRangeProfilerStart)                      \
    X(cuptiRangeProfilerStop)                       \
    X(cuptiRangeProfilerDecodeData)                 \
    X(cuptiRangeProfilerGetCounterDataInfo)

typedef struct nt_count_calls {
#define X(name) int (*name)(void *params);
    NT_COUNT_MAP(X)
#undef X
    int (*cuptiGetDeviceId)(void *context, unsigned *ordinal);
} nt_count_calls;

/* From the CUPTI that nt_cupti_open found. *missing names the first function that it lacks, else NULL. */
bool nt_count_calls_find(nt_count_calls *calls, const char **missing);

#endif
