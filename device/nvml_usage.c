/* nvml_usage.c: see nvml_usage.h. Structures and numbers as NVML documents them; every function may be absent. */
#include "device/nvml_usage.h"

#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "device/cuda_library.h"

enum { NVML_OK = 0, NVML_TOO_SMALL = 7, MOST_PROCESSES = 256 };

typedef struct rates {
    unsigned gpu, memory;
} rates;

typedef struct memory {
    unsigned long long total, free, used;
} memory;

typedef struct process {
    unsigned pid;
    unsigned long long memory_bytes; /* all ones: not available */
    unsigned gpu_instance, compute_instance;
} process;

typedef int list_fn(nt_nvml_device device, unsigned *count, process *out);

static struct api {
    int (*rates)(nt_nvml_device device, rates *out);
    int (*memory)(nt_nvml_device device, memory *out);
    list_fn *compute, *graphics;
    int (*mig)(nt_nvml_device device, unsigned *current, unsigned *pending);
    int (*persistence)(nt_nvml_device device, unsigned *mode);
    int (*virtualisation)(nt_nvml_device device, unsigned *mode);
    int (*power_limit)(nt_nvml_device device, unsigned *milliwatt);
    int (*version)(char *out, unsigned bytes);
} api;

#define OPTIONAL(field, symbol)                   \
    {                                             \
        symbol, offsetof(struct api, field), true \
    }

static const nt_symbol symbols[] = {
    OPTIONAL(rates, "nvmlDeviceGetUtilizationRates"),
    OPTIONAL(memory, "nvmlDeviceGetMemoryInfo"),
    OPTIONAL(compute, "nvmlDeviceGetComputeRunningProcesses_v3"),
    OPTIONAL(graphics, "nvmlDeviceGetGraphicsRunningProcesses_v3"),
    OPTIONAL(mig, "nvmlDeviceGetMigMode"),
    OPTIONAL(persistence, "nvmlDeviceGetPersistenceMode"),
    OPTIONAL(virtualisation, "nvmlDeviceGetVirtualizationMode"),
    OPTIONAL(power_limit, "nvmlDeviceGetEnforcedPowerLimit"),
    OPTIONAL(version, "nvmlSystemGetNVMLVersion"),
};

static void bind_once(void)
{
    void *library = nt_nvml_library();
    if (library != NULL)
        nt_library_bind(library, &api, symbols, sizeof symbols / sizeof symbols[0]);
}

/* A library that did not open is tried again by nt_nvml_library; then nothing is bound, and all stays unknown. */
static void bind(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (nt_nvml_library() != NULL)
        pthread_once(&once, bind_once);
}

void nt_nvml_read_usage(nt_nvml_device device, nt_nvml_usage *out)
{
    rates busy;
    memory bytes;
    unsigned milliwatt;
    *out = (nt_nvml_usage){NAN, NAN, NT_UNKNOWN, NT_UNKNOWN, NAN};
    bind();
    if (device == NULL)
        return;
    if (api.rates != NULL && api.rates(device, &busy) == NVML_OK) {
        out->busy_pct = busy.gpu;
        out->memory_busy_pct = busy.memory;
    }
    if (api.memory != NULL && api.memory(device, &bytes) == NVML_OK) {
        out->memory_used_bytes = (int64_t)bytes.used;
        out->memory_total_bytes = (int64_t)bytes.total;
    }
    if (api.power_limit != NULL && api.power_limit(device, &milliwatt) == NVML_OK)
        out->power_limit_mw = milliwatt;
}

void nt_nvml_read_modes(nt_nvml_device device, nt_nvml_modes *out)
{
    static const char *const ways[] = {"none", "passthrough", "vgpu", "host of vgpu", "host of vsga"};
    unsigned mode = 0, pending = 0;
    *out = (nt_nvml_modes){-1, -1, ""};
    bind();
    if (device == NULL)
        return;
    if (api.mig != NULL && api.mig(device, &mode, &pending) == NVML_OK)
        out->mig = mode != 0;
    if (api.persistence != NULL && api.persistence(device, &mode) == NVML_OK)
        out->persistence = mode != 0;
    if (api.virtualisation != NULL && api.virtualisation(device, &mode) == NVML_OK &&
        mode < sizeof ways / sizeof ways[0])
        nt_copy(out->virtualisation, sizeof out->virtualisation, ways[mode]);
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

static void add_process(nt_nvml_process *out, int *count, int room, const process *found)
{
    nt_nvml_process one = {found->pid, found->memory_bytes == ~0ull ? NT_UNKNOWN : (int64_t)found->memory_bytes};
    for (int i = 0; i < *count; i++)
        if (out[i].pid == one.pid) {
            out[i].memory_bytes = one.memory_bytes > out[i].memory_bytes ? one.memory_bytes : out[i].memory_bytes;
            return;
        }
    if (*count < room)
        out[(*count)++] = one;
}

/* More processes than places: the list is then incomplete, and those that fit are shown. */
static bool add_list(nt_nvml_device device, list_fn *list, nt_nvml_process *out, int *count, int room)
{
    process found[MOST_PROCESSES];
    unsigned number = MOST_PROCESSES;
    int result = list != NULL ? list(device, &number, found) : -1;
    if (result != NVML_OK && result != NVML_TOO_SMALL)
        return false;
    for (unsigned i = 0; result == NVML_OK && i < number && i < MOST_PROCESSES; i++)
        add_process(out, count, room, &found[i]);
    return true;
}

static int by_memory(const void *a, const void *b)
{
    const nt_nvml_process *x = a, *y = b;
    if (x->memory_bytes != y->memory_bytes)
        return x->memory_bytes > y->memory_bytes ? -1 : 1;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

int nt_nvml_processes(nt_nvml_device device, nt_nvml_process *out, int room)
{
    int count = 0;
    bind();
    if (device == NULL || room <= 0)
        return -1;
    bool compute = add_list(device, api.compute, out, &count, room);
    bool graphics = add_list(device, api.graphics, out, &count, room);
    qsort(out, (size_t)count, sizeof *out, by_memory);
    return compute || graphics ? count : -1;
}

bool nt_nvml_library_version(char *out, size_t capacity)
{
    bind();
    return api.version != NULL && api.version(out, (unsigned)capacity) == NVML_OK;
}
