/* cupti_calls.h: the functions of CUPTI that the library uses, found when the program starts using CUDA. */
#ifndef NT_CUPTI_CALLS_H
#define NT_CUPTI_CALLS_H

#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>

#define NT_CUPTI_MAP(X)                  \
    X(cuptiGetVersion)                   \
    X(cuptiGetResultString)              \
    X(cuptiGetCallbackName)              \
    X(cuptiSubscribe_v2)                 \
    X(cuptiEnableCallback)               \
    X(cuptiActivityEnable)               \
    X(cuptiActivityRegisterCallbacks)    \
    X(cuptiActivityGetNextRecord)        \
    X(cuptiActivityGetNumDroppedRecords) \
    X(cuptiActivityFlushAll)

typedef struct nt_cupti_calls {
#define X(name) __typeof__(&name) name;
    NT_CUPTI_MAP(X)
#undef X
} nt_cupti_calls;

/* A CUPTI that the program brought along is taken before one of the system. False with the reason in `why`. */
bool nt_cupti_open(nt_cupti_calls *calls, char *why, size_t why_bytes);
/* What it opened, for dlsym; NULL before. */
void *nt_cupti_library(void);

#endif
