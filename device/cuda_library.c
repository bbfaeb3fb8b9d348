/* cuda_library.c: dlopen with an override for unusual places, the list of known ones, and symbol tables.
 * See cuda_library.h. */
#include "device/cuda_library.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MATCHES = 64 };

static void *open_quietly(const char *path, nt_str *why)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL && why != NULL) {
        const char *reason = dlerror();
        nt_str_addf(why, "%s%s", why->length > 0 ? "; " : "", reason != NULL ? reason : path);
    }
    return library;
}

void *nt_library_open(const char *override, const char *const *names, int count, nt_str *why)
{
    const char *chosen = override != NULL ? getenv(override) : NULL;
    if (chosen != NULL && *chosen != '\0') {
        void *library = open_quietly(chosen, why);
        if (library == NULL && why != NULL)
            nt_str_addf(why, " (named by %s)", override);
        return library;
    }
    for (int i = 0; i < count; i++) {
        void *library = open_quietly(names[i], why);
        if (library != NULL)
            return library;
    }
    return NULL;
}

/* A folder, as a variable that may name its root and a glob pattern below it. Toolkits first: a wheel belongs to some
 * Python program, and may be gone tomorrow. */
static const struct place {
    const char *variable;
    const char *pattern;
} places[] = {
    {"CUDA_HOME", "/lib64"},
    {"CUDA_HOME", "/lib"},
    {"CUDA_HOME", "/extras/CUPTI/lib64"},
    {"CUDA_PATH", "/lib64"},
    {"CUDA_PATH", "/extras/CUPTI/lib64"},
    {NULL, "/usr/local/cuda/lib64"},
    {NULL, "/usr/local/cuda/extras/CUPTI/lib64"},
    {NULL, "/usr/local/cuda*/lib64"},
    {NULL, "/usr/local/cuda*/lib"},
    {NULL, "/usr/local/cuda*/extras/CUPTI/lib64"},
    {NULL, "/opt/cuda*/lib64"},
    {NULL, "/opt/cuda*/extras/CUPTI/lib64"},
    {NULL, "/usr/lib/cuda/lib64"},
    {"VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/*/lib"},
    {"CONDA_PREFIX", "/lib"},
    {"CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/*/lib"},
    {"HOME", "/.local/lib/python3*/site-packages/nvidia/*/lib"},
    {NULL, "/usr/local/lib/python3*/*-packages/nvidia/*/lib"},
    {NULL, "/usr/lib/python3*/*-packages/nvidia/*/lib"},
    {NULL, "/opt/*/lib/python3*/site-packages/nvidia/*/lib"},
    {NULL, "/opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib"},
};

/* glob sorts ascending, so the last match of cuda-12.4 and cuda-13.0 is the newest. */
static void *open_last_match(const char *pattern)
{
    glob_t found;
    void *library = NULL;
    if (glob(pattern, 0, NULL, &found) == 0) {
        size_t first = found.gl_pathc > MAX_MATCHES ? found.gl_pathc - MAX_MATCHES : 0;
        for (size_t i = found.gl_pathc; i > first && library == NULL; i--)
            library = open_quietly(found.gl_pathv[i - 1], NULL);
        globfree(&found);
    }
    return library;
}

static void *open_in_places(const char *name)
{
    void *library = NULL;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && library == NULL; i++) {
        const char *root = places[i].variable != NULL ? getenv(places[i].variable) : "";
        if (root == NULL || (places[i].variable != NULL && *root == '\0'))
            continue;
        char pattern[NT_PATH_BYTES];
        int length = snprintf(pattern, sizeof pattern, "%s%s/%s", root, places[i].pattern, name);
        if (length > 0 && (size_t)length < sizeof pattern)
            library = open_last_match(pattern);
    }
    return library;
}

void *nt_library_find(const char *override, const char *const *names, int count, nt_str *why)
{
    void *library = nt_library_open(override, names, count, why);
    const char *chosen = override != NULL ? getenv(override) : NULL;
    bool search = chosen == NULL || *chosen == '\0';
    for (int i = 0; i < count && library == NULL && search; i++)
        library = open_in_places(names[i]);
    return library;
}

void nt_library_path(void *library, const char *symbol, const char *otherwise, char out[NT_PATH_BYTES])
{
    Dl_info where;
    void *address = dlsym(library, symbol);
    bool known = address != NULL && dladdr(address, &where) != 0 && where.dli_fname != NULL;
    nt_copy(out, NT_PATH_BYTES, known ? where.dli_fname : otherwise);
}

const char *nt_library_bind(void *library, void *table, const nt_symbol *symbols, int count)
{
    const char *missing = NULL;
    for (int i = 0; i < count; i++) {
        void *address = dlsym(library, symbols[i].name);
        /* A function pointer and void * have the same bytes on POSIX, but C has no cast between them. */
        memcpy((char *)table + symbols[i].offset, &address, sizeof address);
        if (address == NULL && !symbols[i].optional && missing == NULL)
            missing = symbols[i].name;
    }
    return missing;
}
