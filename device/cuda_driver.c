/* cuda_driver.c: see cuda_driver.h. Most of it tells people why there is no GPU to use. */
#include "device/cuda_driver.h"

#ifdef NT_HAVE_CUDA_H

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/cuda_library.h"

static const nt_symbol symbols[] = {
#define X(field, symbol) {#symbol, offsetof(nt_cuda_api, field), false},
    NT_CUDA_FUNCTIONS(X)
#undef X
};

static nt_status no_library(const nt_str *why, nt_error *err)
{
    nt_fail(err, NT_NO_DEVICE, "NVIDIA's driver library was not found: %s", nt_str_text(why));
    if (access("/dev/nvidiactl", F_OK) == 0)
        nt_hint(err, "a driver is loaded here: put the folder of libcuda.so.1 on the loader's path, or, in a "
                     "container, start it with GPU support (docker run --gpus all)");
    else
        nt_hint(err, "install NVIDIA's driver and check it with nvidia-smi; without a GPU use --device cpu");
    return NT_NO_DEVICE;
}

/* cuInit has one code for 'no GPU' and 'every GPU hidden', which need different steps. */
static nt_status no_init(int result, nt_error *err)
{
    enum { NO_DEVICE = 100 };
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (result != NO_DEVICE) {
        nt_cuda_fail(err, result, "NVIDIA's driver does not start");
        if (err != NULL)
            err->status = NT_NO_DEVICE;
        return NT_NO_DEVICE;
    }
    if (visible == NULL) {
        nt_fail(err, NT_NO_DEVICE, "NVIDIA's driver library is here but finds no GPU");
        nt_hint(err, "see nvidia-smi and the kernel log (dmesg); in a container, pass the GPU in (--gpus all)");
    } else if (visible[0] == '\0') {
        nt_fail(err, NT_NO_DEVICE, "CUDA_VISIBLE_DEVICES is empty, which hides every GPU");
        nt_hint(err, "unset it, or name GPUs in it, for example CUDA_VISIBLE_DEVICES=0");
    } else {
        nt_fail(err, NT_NO_DEVICE, "CUDA_VISIBLE_DEVICES=%s leaves no GPU", visible);
        nt_hint(err, "unset it, or name GPUs that nvidia-smi -L lists, for example CUDA_VISIBLE_DEVICES=0");
    }
    return NT_NO_DEVICE;
}

static nt_status start(nt_cuda_api *api, nt_error *err)
{
    static const char *const names[] = {"libcuda.so.1"};
    nt_str why = {0};
    void *library = nt_library_open("NNTUNE_LIBCUDA", names, 1, &why);
    if (library == NULL) {
        nt_status status = no_library(&why, err);
        nt_str_done(&why);
        return status;
    }
    nt_str_done(&why);
    const char *missing = nt_library_bind(library, api, symbols, sizeof symbols / sizeof symbols[0]);
    if (missing != NULL) {
        nt_fail(err, NT_NO_DEVICE, "NVIDIA's driver is too old: it has no function %s", missing);
        nt_hint(err, "nntune needs a driver of CUDA 12.0 or newer (525 or newer)");
        dlclose(library);
        return NT_NO_DEVICE;
    }
    int result = (int)api->init(0);
    return result == 0 ? NT_OK : no_init(result, err); /* the library stays: unloading a started driver is not safe */
}

nt_status nt_cuda_api_get(const nt_cuda_api **api, nt_error *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static nt_cuda_api table;
    static bool started;
    pthread_mutex_lock(&lock);
    nt_status status = started ? NT_OK : start(&table, err);
    started = status == NT_OK;
    pthread_mutex_unlock(&lock);
    *api = started ? &table : NULL;
    return status;
}

#endif
