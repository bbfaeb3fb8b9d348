#include "runtime/cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/table.h"

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
#define X(field, name, parameters) {name, offsetof(nntune_cuda, field)},
    NNTUNE_CUDA_FUNCTIONS(X)
#undef X
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static nntune_cuda functions;
static atomic_bool started; /* functions are not written again once it is true */

static nntune_status start(char *why)
{
    const char *path = getenv("NNTUNE_LIBCUDA");
    void *library = dlopen(path != NULL && path[0] != '\0' ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return nntune_fail(why, NNTUNE_NO_DEVICE, "NVIDIA's driver library was not found: %s", dlerror());
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *symbol = dlsym(library, symbols[i].name);
        if (symbol == NULL && strcmp(symbols[i].name, "cuGetErrorName") != 0) {
            dlclose(library);
            return nntune_fail(why, NNTUNE_NO_DEVICE,
                               "NVIDIA's driver has no function %s: CUDA 12.0 or newer is needed", symbols[i].name);
        }
        memcpy((char *)&functions + symbols[i].offset, &symbol, sizeof symbol);
    }
    int code = functions.init(0);
    if (code != 0)
        return nntune_fail(why, NNTUNE_NO_DEVICE, "NVIDIA's driver finds no GPU it can use: %s",
                           nntune_cuda_error(&functions, code));
    return NNTUNE_OK;
}

nntune_status nntune_cuda_get(const nntune_cuda **out, char *why)
{
    *out = &functions;
    if (atomic_load_explicit(&started, memory_order_acquire))
        return NNTUNE_OK;
    pthread_mutex_lock(&lock);
    nntune_status status = started ? NNTUNE_OK : start(why);
    atomic_store_explicit(&started, status == NNTUNE_OK, memory_order_release);
    pthread_mutex_unlock(&lock);
    if (status != NNTUNE_OK)
        *out = NULL;
    return status;
}

const char *nntune_cuda_error(const nntune_cuda *cuda, int code)
{
    const char *name = NULL;
    if (cuda->error_name != NULL && cuda->error_name(code, &name) == 0 && name != NULL)
        return name;
    return "an error that the driver does not name";
}
