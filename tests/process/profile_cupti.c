/* profile_cupti.c: a libcupti that records what a test program tells it to: the functions that the injected library
 * calls, and fake_* for the program. Without CUDA, on any machine. FAKE_CUPTI_BUSY makes it held by another tool,
 * FAKE_CUPTI_APART gives the driver's calls ids of their own. */
#include <cupti.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static CUpti_CallbackFunc callback;
static CUpti_BuffersCallbackRequestFunc wanted;
static CUpti_BuffersCallbackCompleteFunc full;
static uint8_t *buffer;
static size_t used, size;
static uint32_t correlation;
static bool enabled[2][4]; /* driver, runtime */
static int runtime_callbacks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

CUptiResult cuptiGetVersion(uint32_t *version)
{
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    *text = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
                                                                     : "CUPTI_ERROR_UNKNOWN";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char **name)
{
    static const char *const runtime[] = {"", "cudaLaunchKernel_v7000", "cudaMemcpyAsync_v3020",
                                          "cudaGraphLaunch_v10000"};
    static const char *const driver[] = {"", "cuLaunchKernel", "cuMemcpyHtoDAsync_v2", "cuGraphLaunch"};
    if (id > 3)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *name = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? runtime[id] : driver[id];
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc function, void *data,
                              CUpti_SubscriberParams *params)
{
    (void)data;
    if (getenv("FAKE_CUPTI_BUSY") != NULL) {
        strncpy(params->oldSubscriberName, "Another Profiler", params->oldSubscriberSize);
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    if (callback != NULL) /* a second injection would come here */
        abort();
    callback = function;
    *subscriber = (CUpti_SubscriberHandle)&callback;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                                CUpti_CallbackId id)
{
    (void)subscriber;
    enabled[domain == CUPTI_CB_DOMAIN_RUNTIME_API][id] = on != 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    (void)kind;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc done)
{
    wanted = request;
    full = done;
    return CUPTI_SUCCESS;
}

/* Records are stored behind their size. */
CUptiResult cuptiActivityGetNextRecord(uint8_t *records, size_t bytes, CUpti_Activity **record)
{
    uint8_t *at = *record == NULL ? records : (uint8_t *)*record + ((uint64_t *)(void *)*record)[-1];
    if (at + 8 >= records + bytes)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)(void *)(at + 8);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped)
{
    (void)context, (void)stream;
    *dropped = 0;
    return CUPTI_SUCCESS;
}

static void flush(void)
{
    if (buffer != NULL)
        full(NULL, 0, buffer, size, used);
    buffer = NULL;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    pthread_mutex_lock(&lock);
    flush();
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

static void put(const void *record, uint64_t bytes)
{
    size_t most;
    if (wanted == NULL)
        return;
    bytes = (bytes + 7) / 8 * 8;
    pthread_mutex_lock(&lock);
    if (buffer != NULL && used + 8 + bytes > size)
        flush();
    if (buffer == NULL) {
        wanted(&buffer, &size, &most);
        used = 0;
    }
    memcpy(buffer + used, &bytes, 8);
    memcpy(buffer + used + 8, record, bytes);
    used += 8 + bytes;
    pthread_mutex_unlock(&lock);
}

static void call(CUpti_CallbackDomain domain, uint32_t id, CUpti_ApiCallbackSite site, uint32_t number)
{
    CUpti_CallbackData data = {.callbackSite = site, .correlationId = number};
    if (callback == NULL || !enabled[domain == CUPTI_CB_DOMAIN_RUNTIME_API][id])
        return;
    runtime_callbacks += domain == CUPTI_CB_DOMAIN_RUNTIME_API && site == CUPTI_API_ENTER;
    callback(NULL, domain, id, &data);
}

/* A call of the runtime and the one of the driver inside it. */
static uint32_t launch(uint32_t id)
{
    bool apart = getenv("FAKE_CUPTI_APART") != NULL;
    uint32_t number = __atomic_fetch_add(&correlation, 2, __ATOMIC_RELAXED) + 2, inside = apart ? number + 1 : number;
    call(CUPTI_CB_DOMAIN_RUNTIME_API, id, CUPTI_API_ENTER, number);
    call(CUPTI_CB_DOMAIN_DRIVER_API, id, CUPTI_API_ENTER, inside);
    call(CUPTI_CB_DOMAIN_DRIVER_API, id, CUPTI_API_EXIT, inside);
    call(CUPTI_CB_DOMAIN_RUNTIME_API, id, CUPTI_API_EXIT, number);
    return number;
}

void fake_device(void);
void fake_kernel(const char *name, uint64_t start, uint64_t end);
void fake_graph(uint64_t start, uint64_t end);
void fake_copy(uint64_t bytes, uint64_t start, uint64_t end);
void fake_memory(uint64_t address, uint64_t bytes, int release);
int fake_runtime_callbacks(void);

int fake_runtime_callbacks(void)
{
    return runtime_callbacks;
}

void fake_device(void)
{
    union {
        CUpti_ActivityDevice5 d;
        char room[sizeof(CUpti_ActivityDevice5) + 8];
    } u = {{.kind = CUPTI_ACTIVITY_KIND_DEVICE,
            .name = "Fake H200",
            .numMultiprocessors = 132,
            .numThreadsPerWarp = 32,
            .maxWarpsPerMultiprocessor = 64,
            .maxBlocksPerMultiprocessor = 32,
            .maxRegistersPerMultiprocessor = 65536,
            .maxRegistersPerBlock = 65536,
            .maxSharedMemoryPerMultiprocessor = 233472,
            .maxThreadsPerBlock = 1024,
            .computeCapabilityMajor = 9}};
    put(&u, sizeof u.d);
}

static void kernel(const char *name, uint64_t start, uint64_t end, uint32_t number, uint32_t graph)
{
    union {
        CUpti_ActivityKernel10 k;
        char room[sizeof(CUpti_ActivityKernel10) + 8];
    } u = {{.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
            .name = name,
            .start = start,
            .end = end,
            .gridX = 8,
            .gridY = 1,
            .gridZ = 1,
            .blockX = 256,
            .blockY = 1,
            .blockZ = 1,
            .registersPerThread = 64,
            .correlationId = number,
            .streamId = 7,
            .graphId = graph}};
    put(&u, sizeof u.k);
}

void fake_kernel(const char *name, uint64_t start, uint64_t end)
{
    kernel(name, start, end, launch(1), 0);
}

/* Two kernels by one launch. */
void fake_graph(uint64_t start, uint64_t end)
{
    uint32_t number = launch(3);
    kernel("in_graph", start, end, number, 5);
    kernel("in_graph", end, end + 100, number, 5);
}

void fake_copy(uint64_t bytes, uint64_t start, uint64_t end)
{
    union {
        CUpti_ActivityMemcpy6 c;
        char room[sizeof(CUpti_ActivityMemcpy6) + 8];
    } u = {{.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
            .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD,
            .srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
            .dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
            .bytes = bytes,
            .start = start,
            .end = end,
            .correlationId = launch(2),
            .streamId = 7}};
    put(&u, sizeof u.c);
}

void fake_memory(uint64_t address, uint64_t bytes, int release)
{
    union {
        CUpti_ActivityMemory4 m;
        char room[sizeof(CUpti_ActivityMemory4) + 8];
    } u = {{.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
            .memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
            .address = address,
            .bytes = bytes,
            .memoryOperationType = release ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
                                           : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION}};
    put(&u, sizeof u.m);
}
