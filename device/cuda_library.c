/* cuda_library.c: dlopen with an override for unusual places, glob for known ones, and symbol tables.
 * See cuda_library.h. */
#include "device/cuda_library.h"

#include <dlfcn.h>
#include <glob.h>
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

void *nt_library_open_matching(const char *const *patterns, int count)
{
    void *library = NULL;
    for (int i = 0; i < count && library == NULL; i++)
        library = open_last_match(patterns[i]);
    return library;
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
