/* cupti_api.c: finding CUPTI and, beside it, the libraries that it opens by bare names. See cupti_api.h. */
#include "profiler/cupti_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/record.h"
#include "device/cuda_library.h"

static const nt_symbol symbols[] = {{"cuptiGetVersion", offsetof(nt_cupti_api, version), false},
#define X(field, symbol, optional) {#symbol, offsetof(nt_cupti_api, field), optional},
                                    NT_CUPTI_FUNCTIONS(X)
#undef X
};

static const char *const loader_names[] = {"libcupti.so.13", "libcupti.so.12"};

/* CUPTI opens its helpers by bare names, which the loader finds only on its path, or among what is open already. */
static void open_helpers(const char *cupti_path)
{
    static const char *const helpers[] = {"libnvperf_host.so", "libnvperf_target.so"};
    const char *slash = strrchr(cupti_path, '/');
    for (size_t i = 0; slash != NULL && i < sizeof helpers / sizeof helpers[0]; i++) {
        char path[NT_PATH_BYTES];
        int length = snprintf(path, sizeof path, "%.*s/%s", (int)(slash - cupti_path), cupti_path, helpers[i]);
        if (length > 0 && (size_t)length < sizeof path)
            dlopen(path, RTLD_NOW | RTLD_LOCAL); /* where it fails, CUPTI's own attempt tells */
    }
}

static nt_status not_found(const nt_str *why, nt_error *err)
{
    nt_fail(err, NT_NO_DEVICE, "CUPTI, NVIDIA's library of hardware counters, was not found: %s", nt_str_text(why));
    nt_hint(err, "install NVIDIA's CUDA toolkit (12.6 or newer) or the Python package nvidia-cuda-cupti, or name "
                 "libcupti.so in NNTUNE_LIBCUPTI");
    return NT_NO_DEVICE;
}

static nt_status find(nt_cupti_api *api, char path[NT_PATH_BYTES], nt_error *err)
{
    enum { NAMES = sizeof loader_names / sizeof loader_names[0] };
    nt_str why = {0};
    void *library = nt_library_find("NNTUNE_LIBCUPTI", loader_names, NAMES, &why);
    nt_status status = library != NULL ? NT_OK : not_found(&why, err);
    nt_str_done(&why);
    if (status != NT_OK)
        return status;
    const char *missing = nt_library_bind(library, api, symbols, sizeof symbols / sizeof symbols[0]);
    nt_library_path(library, "cuptiGetVersion", "libcupti", path);
    if (missing == NULL) {
        open_helpers(path);
        return NT_OK;
    }
    status = nt_cupti_lacks(err, missing);
    dlclose(library);
    return status;
}

static const nt_cupti_api *in_place_of_it;

void nt_cupti_api_use(const nt_cupti_api *fake)
{
    in_place_of_it = fake;
}

nt_status nt_cupti_api_get(const nt_cupti_api **api, const char **path, nt_error *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static nt_cupti_api table;
    static char file[NT_PATH_BYTES];
    static bool found;
    if (path != NULL)
        *path = in_place_of_it != NULL ? "a table of the test" : file;
    *api = in_place_of_it;
    if (in_place_of_it != NULL)
        return NT_OK;
    pthread_mutex_lock(&lock);
    nt_status status = found ? NT_OK : find(&table, file, err);
    found = status == NT_OK;
    pthread_mutex_unlock(&lock);
    *api = found ? &table : NULL;
    return status;
}
