/* nvrtc_api.c: finding NVRTC and describing what was found. See nvrtc.h for the places searched. */
#include "device/nvrtc_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "device/cuda_library.h"
#include "device/nvrtc.h"

#define SYMBOL(field, symbol)                        \
    {                                                \
        symbol, offsetof(nt_nvrtc_api, field), false \
    }
#define OPTIONAL(field, symbol)                     \
    {                                               \
        symbol, offsetof(nt_nvrtc_api, field), true \
    }

static const nt_symbol symbols[] = {
    SYMBOL(version, "nvrtcVersion"),
    OPTIONAL(arch_count, "nvrtcGetNumSupportedArchs"),
    OPTIONAL(archs, "nvrtcGetSupportedArchs"),
    SYMBOL(error_string, "nvrtcGetErrorString"),
    SYMBOL(create, "nvrtcCreateProgram"),
    SYMBOL(destroy, "nvrtcDestroyProgram"),
    SYMBOL(compile, "nvrtcCompileProgram"),
    SYMBOL(cubin_size, "nvrtcGetCUBINSize"),
    SYMBOL(cubin, "nvrtcGetCUBIN"),
    SYMBOL(ptx_size, "nvrtcGetPTXSize"),
    SYMBOL(ptx, "nvrtcGetPTX"),
    SYMBOL(log_size, "nvrtcGetProgramLogSize"),
    SYMBOL(log, "nvrtcGetProgramLog"),
    OPTIONAL(add_name, "nvrtcAddNameExpression"),
    OPTIONAL(lowered_name, "nvrtcGetLoweredName"),
};

static const char *const loader_names[] = {"libnvrtc.so.13", "libnvrtc.so.12"};

static nt_status find(nt_nvrtc_api *api, char path[NT_PATH_BYTES], nt_error *err)
{
    enum { NAMES = sizeof loader_names / sizeof loader_names[0] };
    nt_str why = {0};
    void *library = nt_library_find("NNTUNE_NVRTC", loader_names, NAMES, &why);
    if (library == NULL) {
        nt_fail(err, NT_NO_DEVICE, "NVRTC, the run-time compiler for CUDA, was not found: %s", nt_str_text(&why));
        nt_hint(err, "install NVIDIA's CUDA toolkit (12 or 13) or the Python package nvidia-cuda-nvrtc, or name "
                     "libnvrtc.so in NNTUNE_NVRTC");
        nt_str_done(&why);
        return NT_NO_DEVICE;
    }
    nt_str_done(&why);
    const char *missing = nt_library_bind(library, api, symbols, sizeof symbols / sizeof symbols[0]);
    nt_library_path(library, "nvrtcVersion", "libnvrtc", path);
    if (missing == NULL)
        return NT_OK;
    nt_fail(err, NT_NO_DEVICE, "%s has no function %s, so it is no NVRTC of CUDA 11.1 or newer", path, missing);
    nt_hint(err, "name another libnvrtc.so in NNTUNE_NVRTC, or install NVIDIA's CUDA toolkit (12 or 13)");
    dlclose(library);
    return NT_NO_DEVICE;
}

nt_status nt_nvrtc_api_get(const nt_nvrtc_api **api, const char **path, nt_error *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static nt_nvrtc_api table;
    static char file[NT_PATH_BYTES];
    static bool found;
    pthread_mutex_lock(&lock);
    nt_status status = found ? NT_OK : find(&table, file, err);
    found = status == NT_OK;
    pthread_mutex_unlock(&lock);
    *api = found ? &table : NULL;
    if (path != NULL)
        *path = file;
    return status;
}

nt_status nt_nvrtc_describe(nt_nvrtc_about *out, nt_error *err)
{
    const nt_nvrtc_api *api = NULL;
    const char *path = NULL;
    memset(out, 0, sizeof *out);
    nt_status status = nt_nvrtc_api_get(&api, &path, err);
    if (status != NT_OK)
        return status;
    nt_copy(out->path, sizeof out->path, path);
    int result = api->version(&out->major, &out->minor);
    if (result != 0)
        return nt_fail(err, NT_NO_DEVICE, "%s does not tell its version: %s", path, api->error_string(result));
    int count = 0;
    if (api->arch_count != NULL && api->archs != NULL && api->arch_count(&count) == 0 && count > 0 &&
        count <= NT_NVRTC_MAX_ARCHS && api->archs(out->arch) == 0)
        out->arch_count = count;
    return NT_OK;
}

bool nt_nvrtc_knows(const nt_nvrtc_about *about, int64_t compute_capability)
{
    for (int i = 0; i < about->arch_count; i++)
        if (about->arch[i] == compute_capability)
            return true;
    return about->arch_count == 0;
}
