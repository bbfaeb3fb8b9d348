#include "profiler/nvtx.h"

#include <stdarg.h>
#include <stdio.h>

#if defined(__has_include) && __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define HAVE_NVTX 1
#else
#define HAVE_NVTX 0
#endif

enum { NAME_BYTES = 128 };

#if HAVE_NVTX
void nt_nvtx_push(const char *format, ...)
{
    char name[NAME_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    nvtxRangePushA(name);
}

void nt_nvtx_pop(void)
{
    nvtxRangePop();
}
#else
void nt_nvtx_push(const char *format, ...)
{
    (void)format;
}

void nt_nvtx_pop(void)
{
}
#endif
