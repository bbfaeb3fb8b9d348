/* profile_cupti.c: a libcupti that records what a test program tells it to: the functions that the injected library
 * calls, and fake_* for the program. Without CUDA, on any machine. FAKE_CUPTI_BUSY makes it held by another tool,
 * FAKE_CUPTI_APART gives the driver's calls ids of their own. FAKE_COUNT_* make counting harder: REFUSED=code at taking
 * the counters, STOP=code at the end of a launch, PASSES=n, LACKS=name that the chip has not, SPOILS=name that cannot
 * be configured, EXTRA: another launch in between. FAKE_CUPTI_TOGETHER lets threads launch at the same time. */
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static CUpti_CallbackFunc callback;
static CUpti_BuffersCallbackRequestFunc wanted;
static CUpti_BuffersCallbackCompleteFunc full;
static uint8_t *buffer;
static size_t used, size;
static uint32_t correlation;
static bool enabled[2][6]; /* driver, runtime */
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
    static const char *const runtime[] = {"",
                                          "cudaLaunchKernel_v7000",
                                          "cudaMemcpyAsync_v3020",
                                          "cudaGraphLaunch_v10000",
                                          "cudaStreamBeginCapture_v10000",
                                          "cudaStreamEndCapture_v10000"};
    static const char *const driver[] = {
        "", "cuLaunchKernel", "cuMemcpyHtoDAsync_v2", "cuGraphLaunch", "cuStreamBeginCapture_v2", "cuStreamEndCapture"};
    if (id > 5)
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
    if (domain == CUPTI_CB_DOMAIN_RESOURCE)
        return CUPTI_SUCCESS;
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

/* ---- counting: one context, and the order of calls that CUPTI asks for --------------------------------------------- */

static _Thread_local const char *launching; /* the kernel's name */
static enum { OFF, TAKEN, CONFIGURED, COUNTING, STOPPED } counters;
static int range_launches, counted_launches;
static int context;

static int told(const char *variable)
{
    const char *text = getenv(variable);
    return text != NULL ? atoi(text) : 0;
}

static bool is_told(const char *variable, const char *name)
{
    const char *text = getenv(variable);
    return text != NULL && strcmp(text, name) == 0;
}

CUptiResult cuptiGetDeviceId(CUcontext asked, uint32_t *device)
{
    *device = 0;
    return asked == (CUcontext)(void *)&context ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_CONTEXT;
}

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *params)
{
    return params->structSize == CUpti_Profiler_Initialize_Params_STRUCT_SIZE ? CUPTI_SUCCESS
                                                                              : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *params)
{
    params->pChipName = "FK100";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params *params)
{
    params->counterAvailabilityImageSize = 16;
    return CUPTI_SUCCESS;
}

/* A host object: how many metrics it has; -1 when one was refused, which spoils it. */
typedef struct host {
    int metrics;
    const char *names[64];
} host;

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *params)
{
    if (strcmp(params->pChipName, "FK100") != 0 || params->pCounterAvailabilityImage == NULL)
        return CUPTI_ERROR_INVALID_PARAMETER;
    params->pHostObject = calloc(1, sizeof(host));
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *params)
{
    free(params->pHostObject);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params *params)
{
    return is_told("FAKE_COUNT_LACKS", params->pMetricName) ? CUPTI_ERROR_INVALID_METRIC_NAME : CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *params)
{
    host *h = (host *)(void *)params->pHostObject;
    for (size_t i = 0; i < params->numMetrics; i++) {
        if (is_told("FAKE_COUNT_SPOILS", params->ppMetricNames[i]) || h->metrics < 0)
            h->metrics = -1;
        else
            h->names[h->metrics++] = params->ppMetricNames[i];
    }
    return h->metrics < 0 ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params *params)
{
    params->configImageSize = 32;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *params)
{
    memset(params->pConfigImage, 1, 32);
    return CUPTI_SUCCESS;
}

static int passes(void)
{
    return told("FAKE_COUNT_PASSES") > 0 ? told("FAKE_COUNT_PASSES") : 1;
}

CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params *params)
{
    params->numOfPasses = (size_t)passes();
    return CUPTI_SUCCESS;
}

/* Of the n-th counted launch, occupancy is 10 n %, anything else 1000 n. */
CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params *params)
{
    const host *h = (const host *)(const void *)params->pHostObject;
    for (size_t i = 0; i < params->numMetrics; i++) {
        if ((int)params->numMetrics != h->metrics || strcmp(params->ppMetricNames[i], h->names[i]) != 0)
            return CUPTI_ERROR_INVALID_PARAMETER;
        params->pMetricValues[i] =
            (strstr(h->names[i], "warps_active") != NULL ? 10.0 : 1000.0) * (double)counted_launches;
    }
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *params)
{
    if (told("FAKE_COUNT_REFUSED") != 0)
        return (CUptiResult)told("FAKE_COUNT_REFUSED");
    counters = TAKEN;
    params->pRangeProfilerObject = (CUpti_RangeProfiler_Object *)(void *)&context;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *params)
{
    (void)params;
    counters = OFF;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params *params)
{
    params->counterDataSize = 64;
    return params->maxNumRangeTreeNodes >= params->maxNumOfRanges ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params *params)
{
    memset(params->pCounterData, 0, params->counterDataSize);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *params)
{
    if (counters == OFF || params->range != CUPTI_AutoRange || params->replayMode != CUPTI_KernelReplay)
        return CUPTI_ERROR_INVALID_OPERATION;
    counters = CONFIGURED;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *params)
{
    (void)params;
    if (counters != CONFIGURED)
        return CUPTI_ERROR_INVALID_OPERATION;
    counters = COUNTING;
    range_launches = 0;
    if (getenv("FAKE_CUPTI_TOGETHER") != NULL)
        usleep(200); /* time for others to come in between */
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *params)
{
    if (counters != COUNTING)
        return CUPTI_ERROR_INVALID_OPERATION;
    counters = STOPPED;
    params->isAllPassSubmitted = 1;
    counted_launches++;
    return (CUptiResult)told("FAKE_COUNT_STOP");
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *params)
{
    params->numOfRangeDropped = 0;
    return counters == STOPPED ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params *params)
{
    params->numTotalRanges = (size_t)range_launches;
    return CUPTI_SUCCESS;
}

/* ---- calls and records ------------------------------------------------------------------------------------------------ */

static void call(CUpti_CallbackDomain domain, uint32_t id, CUpti_ApiCallbackSite site, uint32_t number)
{
    int result = 0;
    CUpti_CallbackData data = {.callbackSite = site,
                               .correlationId = number,
                               .symbolName = id == 1 ? launching : NULL,
                               .context = (CUcontext)(void *)&context,
                               .functionReturnValue = &result};
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
    if (id == 1 && __atomic_load_n(&counters, __ATOMIC_RELAXED) == COUNTING)
        __atomic_fetch_add(&range_launches, getenv("FAKE_COUNT_EXTRA") != NULL ? 2 : 1, __ATOMIC_RELAXED);
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
void fake_capture(int begin);
int fake_counted_launches(void);

int fake_counted_launches(void)
{
    return counted_launches;
}

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

/* A counted launch runs and is recorded once for each pass. One launch at a time, unlike the driver's own. */
void fake_kernel(const char *name, uint64_t start, uint64_t end)
{
    static pthread_mutex_t one_by_one = PTHREAD_MUTEX_INITIALIZER;
    bool alone = getenv("FAKE_CUPTI_TOGETHER") == NULL;
    if (alone)
        pthread_mutex_lock(&one_by_one);
    int before = counted_launches;
    launching = name;
    uint32_t number = launch(1);
    int times = counted_launches > before ? passes() : 1;
    for (int i = 0; i < times; i++)
        kernel(name, start, end, number, 0);
    if (alone)
        pthread_mutex_unlock(&one_by_one);
}

/* What the runtime does around a capture: its own call, and the driver's inside. */
void fake_capture(int begin)
{
    launch(begin ? 4 : 5);
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
