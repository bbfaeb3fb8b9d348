/* cupti_calls.c: opens CUPTI. Its records have the layout of a major version, so another one is refused. */
#include "profiler/inject/cupti_calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

enum { MAJOR = CUPTI_API_VERSION / 10000 };

static const char *const folders[] = {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/",
                                      "/usr/local/cuda/lib/", "/opt/cuda/extras/CUPTI/lib64/"};

/* CUPTI's file carries the major version of CUDA since CUDA 13; the plain name is a developer's link to it. */
static void *open_library(char *path, size_t bytes)
{
    void *library = NULL;
    for (size_t i = 0; library == NULL && i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, bytes, "%slibcupti.so.%d", folders[i], (int)MAJOR);
        library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
        if (library == NULL)
            library = dlopen(path, RTLD_NOW);
    }
    return library;
}

static bool find_all(void *library, nt_cupti_calls *calls, const char **missing)
{
    struct {
        const char *name;
        size_t offset;
    } rows[] = {
#define X(name) {TEXT(name), offsetof(nt_cupti_calls, name)},
        NT_CUPTI_MAP(X)
#undef X
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *symbol = dlsym(library, rows[i].name);
        if (symbol == NULL) {
            *missing = rows[i].name;
            return false;
        }
        memcpy((char *)calls + rows[i].offset, &symbol, sizeof symbol);
    }
    return true;
}

static void *opened;

void *nt_cupti_library(void)
{
    return opened;
}

bool nt_cupti_open(nt_cupti_calls *calls, char *why, size_t why_bytes)
{
    char path[256];
    const char *missing = "";
    uint32_t version = 0;
    void *library = open_library(path, sizeof path);
    if (library == NULL) {
        snprintf(why, why_bytes, "libcupti.so.%d is in no folder of the loader and not in /usr/local/cuda", (int)MAJOR);
        return false;
    }
    if (!find_all(library, calls, &missing)) {
        snprintf(why, why_bytes, "%s has no function %s", path, missing);
        return false;
    }
    if (calls->cuptiGetVersion(&version) != CUPTI_SUCCESS || version / 10000 != MAJOR) {
        snprintf(why, why_bytes, "%s has interface version %u, this library was built for %d", path, (unsigned)version,
                 (int)CUPTI_API_VERSION);
        return false;
    }
    opened = library;
    return true;
}
