/* demangle.c: asks the C++ runtime, opened at run time, since nothing else here needs C++. */
#include "profiler/demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

typedef char *(*demangle_fn)(const char *name, char *buffer, size_t *bytes, int *status);

static demangle_fn demangle;

static void find(void)
{
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
    memcpy(&demangle, &symbol, sizeof symbol);
}

char *nt_demangle(const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    int status = -1;
    char *readable = strncmp(name, "_Z", 2) == 0 && demangle != NULL ? demangle(name, NULL, NULL, &status) : NULL;
    if (readable != NULL && status == 0)
        return readable;
    free(readable);
    return nt_strdup(name);
}
