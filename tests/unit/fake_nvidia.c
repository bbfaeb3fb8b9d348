/* fake_nvidia.c: the driver of a GPU that is not there. With fake_nvidia_tools.c it makes one shared object that tests
 * build and name in NNTUNE_LIBCUDA, NNTUNE_NVRTC and NNTUNE_NVML. Device memory is host memory; a launch runs at once
 * and moves a clock on; what was launched is kept for the test to read. FAKE_* environment variables choose what goes
 * wrong. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;

enum { KERNEL_NS = 10000, EMPTY_NS = 1000, EVENT_NS = 700, SMS = 4, MAX_LOG = 65536 };

/* ---- what the test reads ---- */
uint64_t fake_first_arg[MAX_LOG]; /* first argument of each launch of a kernel under test */
int fake_launches;
uint64_t fake_now_ns = 1000000;
int fake_held, fake_waits, fake_live; /* holds queued, stream waits, objects made and not freed */
int fake_last_smem, fake_last_cluster, fake_maps;

static int sticky;

static int setting(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? atoi(text) : otherwise;
}

#define FAKE_NVIDIA_DRIVER
#include "fake_nvidia_log.h"

/* ---- driver: devices ---- */
int cuInit(unsigned flags)
{
    (void)flags;
    return setting("FAKE_INIT", 0);
}
int cuDriverGetVersion(int *version)
{
    *version = setting("FAKE_CUDA", 13000);
    return 0;
}
int cuDeviceGetCount(int *count)
{
    *count = setting("FAKE_DEVICES", 1);
    return 0;
}
int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return 0;
}
int cuDeviceGetName(char *name, int bytes, int device)
{
    snprintf(name, (size_t)bytes, "Fake %d", device);
    return 0;
}
int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = 1u << 30;
    return 0;
}

int cuDeviceGetUuid_v2(char uuid[16], int device)
{
    for (int i = 0; i < 16; i++)
        uuid[i] = (char)(0xa0 + i + device);
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    static const int known[][2] = {
        {1, 1024},  {10, 32}, {12, 65536}, {13, 1500000}, {16, SMS},   {36, 2000000}, {37, 256}, {38, 1 << 20},
        {39, 2048}, {75, 9},  {76, 0},     {81, 233472},  {82, 65536}, {97, 232448},  {106, 32}, {111, 1024},
    };
    (void)device;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i][0] == attribute) {
            *value = known[i][1];
            return 0;
        }
    return 1;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    (void)device;
    fake_live++;
    *context = &sticky;
    return 0;
}
int cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    fake_live--;
    sticky = 0;
    return 0;
}
int cuCtxSetCurrent(void *context)
{
    (void)context;
    return 0;
}

/* ---- driver: streams, events, memory ---- */
int cuStreamCreate(void **stream, unsigned flags)
{
    (void)flags;
    fake_live++;
    *stream = &fake_waits;
    return 0;
}
int cuStreamDestroy_v2(void *stream)
{
    (void)stream;
    fake_live--;
    return 0;
}
int cuStreamSynchronize(void *stream)
{
    (void)stream;
    fake_waits++;
    return sticky;
}
int cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    fake_live++;
    *event = calloc(1, sizeof(u64));
    return 0;
}
int cuEventDestroy_v2(void *event)
{
    fake_live--;
    free(event);
    return 0;
}
int cuEventRecord(u64 *event, void *stream)
{
    (void)stream;
    *event = fake_now_ns;
    fake_now_ns += EVENT_NS;
    return sticky;
}
int cuEventSynchronize(void *event)
{
    (void)event;
    return sticky;
}

int cuEventElapsedTime(float *ms, u64 *begin, u64 *end)
{
    *ms = setting("FAKE_TIMER_STUCK", 0) ? 0 : (float)((double)(*end - *begin) * 1e-6);
    return sticky;
}

int cuMemAlloc_v2(u64 *address, size_t bytes)
{
    if (bytes > 1u << 30)
        return 2;
    void *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
    fake_live++;
    *address = (u64)(uintptr_t)memory;
    return 0;
}

int cuMemFree_v2(u64 address)
{
    fake_live--;
    free((void *)(uintptr_t)address);
    return 0;
}
int cuMemGetInfo_v2(size_t *left, size_t *total)
{
    *total = 1u << 30;
    *left = 1u << 29;
    return sticky;
}
int cuMemHostAlloc(void **host, size_t bytes, unsigned flags)
{
    (void)flags;
    fake_live++;
    *host = malloc(bytes);
    return 0;
}
int cuMemFreeHost(void *host)
{
    fake_live--;
    free(host);
    return 0;
}
int cuMemHostGetDevicePointer_v2(u64 *address, void *host, unsigned flags)
{
    (void)flags;
    *address = (u64)(uintptr_t)host;
    return 0;
}
int cuMemcpyHtoDAsync_v2(u64 to, const void *from, size_t n, void *s)
{
    (void)s;
    memcpy((void *)(uintptr_t)to, from, n);
    return sticky;
}
int cuMemcpyDtoHAsync_v2(void *to, u64 from, size_t n, void *s)
{
    (void)s;
    memcpy(to, (void *)(uintptr_t)from, n);
    return sticky;
}
int cuMemcpyDtoDAsync_v2(u64 to, u64 from, size_t n, void *s)
{
    (void)s;
    memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, n);
    return sticky;
}
int cuMemsetD8Async(u64 to, unsigned char byte, size_t n, void *s)
{
    log_fill("D8", to, byte, n, s);
    if (!setting("FAKE_NO_MEMORY", 0))
        memset((void *)(uintptr_t)to, byte, n);
    return sticky;
}

int cuMemsetD32Async(u64 to, unsigned word, size_t n, void *s)
{
    log_fill("D32", to, word, n, s);
    for (size_t i = 0; i < n && !setting("FAKE_NO_MEMORY", 0); i++)
        ((unsigned *)(uintptr_t)to)[i] = word;
    return sticky;
}

/* ---- driver: modules and launches; a function is its name ---- */
static const char *const names[] = {"nt_hold", "nt_read_clocks", "nt_empty", "nt_count_changed",
                                    "work",    "fault",          "greedy"};

int cuModuleLoadData(void **module, const char *image)
{
    if (strncmp(image, "cubin", 5) != 0)
        return 200;
    fake_live++;
    *module = &fake_live;
    return 0;
}

int cuModuleUnload(void *module)
{
    (void)module;
    fake_live--;
    return 0;
}

static const char *kept_name(const char *name)
{
    static char kept[256][FAKE_NAME_BYTES];
    static int count;
    for (int i = 0; i < count; i++)
        if (strcmp(kept[i], name) == 0)
            return kept[i];
    if (count == 256)
        return NULL;
    snprintf(kept[count], sizeof kept[count], "%s", name);
    return kept[count++];
}

int cuModuleGetFunction(const char **function, void *module, const char *name)
{
    (void)module;
    if (setting("FAKE_ANY_FUNCTION", 0))
        return (*function = kept_name(name)) != NULL ? 0 : 500;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0) {
            *function = names[i];
            return 0;
        }
    return 500;
}

/* One variable, of 64 bytes. */
unsigned long long fake_variable[8];
int cuModuleGetGlobal_v2(unsigned long long *address, size_t *bytes, void *module, const char *name)
{
    (void)module;
    if (strcmp(name, "variable") != 0)
        return 500;
    *address = (unsigned long long)(size_t)fake_variable;
    *bytes = sizeof fake_variable;
    return 0;
}

int cuFuncGetAttribute(int *value, int attribute, const char *function)
{
    static const int by_attribute[] = {512, 64, 0, 16, 40}; /* threads, static smem, constant, local, registers */
    (void)function;
    *value = attribute >= 0 && attribute < 5 ? by_attribute[attribute] : 0;
    return 0;
}

int cuFuncSetAttribute(const char *function, int attribute, int value)
{
    log_limit(function, attribute, value);
    if (attribute == 8 && value > 232448)
        return 1;
    if (attribute == 8)
        fake_last_smem = value;
    return 0;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const char *function, int threads, size_t smem)
{
    (void)function;
    *blocks = (int)(2048 / threads) - (smem > 65536);
    return 0;
}

static void hold(void **args)
{
    fake_held++;
    if (setting("FAKE_EXPIRE", 0) > 0) {
        char left[16];
        snprintf(left, sizeof left, "%d", setting("FAKE_EXPIRE", 0) - 1);
        setenv("FAKE_EXPIRE", left, 1);
        *(unsigned *)*(uintptr_t *)args[2] = *(unsigned *)args[1];
    }
}

static void read_clocks(void **args)
{
    u64 *out = *(u64 **)args[0];
    unsigned slots = *(unsigned *)args[1];
    for (unsigned i = 0; i + 1 < slots; i++) { /* one SM stays unread */
        out[2 * i] = fake_now_ns + i;
        out[2 * i + 1] = (fake_now_ns + i) * 3 / 2;
    }
    fake_now_ns += 5000;
}

static void count_changed(void **args)
{
    const unsigned char *at = *(unsigned char **)args[0];
    for (u64 i = 0; i < *(u64 *)args[2]; i++)
        **(u64 **)args[3] += at[i] != *(unsigned *)args[1];
}

static int launch(const char *function, void **args)
{
    if (setting("FAKE_NO_MEMORY", 0)) /* addresses are made up, so nothing runs */
        return 0;
    if (strcmp(function, "nt_hold") == 0)
        hold(args);
    else if (strcmp(function, "nt_read_clocks") == 0)
        read_clocks(args);
    else if (strcmp(function, "nt_count_changed") == 0)
        count_changed(args);
    else if (strcmp(function, "greedy") == 0)
        return 701;
    else if (strcmp(function, "fault") == 0)
        sticky = 700;
    else if (strcmp(function, "nt_empty") != 0 && fake_launches < MAX_LOG)
        fake_first_arg[fake_launches++] = *(u64 *)args[0];
    fake_now_ns += strcmp(function, "nt_empty") == 0 ? EMPTY_NS : KERNEL_NS;
    return sticky == 0 ? 0 : strcmp(function, "fault") == 0 ? 0 : sticky;
}

int cuLaunchKernel(const char *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned smem, void *stream, void **args, void **extra)
{
    const unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
    (void)extra;
    log_launch(function, grid, block, NULL, smem, 0, stream, args);
    return launch(function, args);
}

/* The driver's launch record as far as it is looked at. */
struct launch_config {
    unsigned grid[3], block[3], smem;
    void *stream;
    struct {
        int id, pad;
        unsigned cluster[3];
    } * attributes;
    unsigned count;
};

int cuLaunchKernelEx(const struct launch_config *config, const char *function, void **args, void **extra)
{
    (void)extra;
    const unsigned *c = config->attributes[0].cluster;
    fake_last_cluster = config->count == 1 && config->attributes[0].id == 4 ? (int)(c[0] * c[1] * c[2]) : -1;
    log_launch(function, config->grid, config->block, c, config->smem, config->count, config->stream, args);
    return launch(function, args);
}
