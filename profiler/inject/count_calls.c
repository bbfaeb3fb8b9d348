/* count_calls.c: finds the functions of count_calls.h. */
#include "profiler/inject/count_calls.h"

#include <dlfcn.h>
#include <string.h>

#include "profiler/inject/cupti_calls.h"

static const struct {
    const char *name;
    size_t offset;
} rows[] = {
#define X(name) {#name, offsetof(nt_count_calls, name)},
    NT_COUNT_MAP(X)
#undef X
        {"cuptiGetDeviceId", offsetof(nt_count_calls, cuptiGetDeviceId)},
};

bool nt_count_calls_find(nt_count_calls *calls, const char **missing)
{
    *missing = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *symbol = dlsym(nt_cupti_library(), rows[i].name);
        if (symbol == NULL) {
            *missing = rows[i].name;
            return false;
        }
        memcpy((char *)calls + rows[i].offset, &symbol, sizeof symbol);
    }
    return true;
}
