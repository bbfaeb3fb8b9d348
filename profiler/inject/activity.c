/* activity.c: switches CUPTI's recording on and carries its buffers: taken from a pool made beforehand, so that no
 * allocation of ours falls into the program's launches, emptied into the spool, and given back. */
#include "profiler/inject/activity.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "profiler/inject/count.h"
#include "profiler/inject/inject.h"
#include "profiler/inject/ring.h"
#include "profiler/inject/writer.h"

enum { BUFFER_BYTES = 512 * 1024, POOL = 16 };

static nt_cupti_calls cupti;
static atomic_bool recording;

static struct {
    pthread_mutex_t lock;
    void *free[POOL];
    int count;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *make_buffer(void)
{
    return aligned_alloc(64, BUFFER_BYTES); /* CUPTI asks for 8 */
}

static void fill_pool(void)
{
    for (pool.count = 0; pool.count < POOL; pool.count++)
        if ((pool.free[pool.count] = make_buffer()) == NULL)
            return;
}

static void CUPTIAPI buffer_wanted(uint8_t **buffer, size_t *bytes, size_t *most_records)
{
    pthread_mutex_lock(&pool.lock);
    *buffer = pool.count > 0 ? pool.free[--pool.count] : NULL;
    pthread_mutex_unlock(&pool.lock);
    if (*buffer == NULL)
        *buffer = make_buffer();
    *bytes = *buffer != NULL ? BUFFER_BYTES : 0;
    *most_records = 0; /* as many as fit */
}

static void give_back(void *buffer)
{
    pthread_mutex_lock(&pool.lock);
    bool kept = pool.count < POOL;
    if (kept)
        pool.free[pool.count++] = buffer;
    pthread_mutex_unlock(&pool.lock);
    if (!kept)
        free(buffer);
}

/* A launch is in a ring before its kernel can run, so emptying the rings first brings it into the spool first. */
static void CUPTIAPI buffer_full(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t used)
{
    CUpti_Activity *record = NULL;
    size_t dropped = 0;
    (void)size;
    nt_writer_lock();
    nt_rings_empty();
    while (used > 0 && cupti.cuptiActivityGetNextRecord(buffer, used, &record) == CUPTI_SUCCESS)
        nt_record_put(record);
    if (cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS && dropped > 0) {
        nt_spool_number lost = {.time_ns = nt_writer_now_ns(), .value = (int64_t)dropped};
        nt_writer_put(NT_SPOOL_DROPPED, &lost, sizeof lost, NULL, 0);
    }
    nt_writer_flush();
    nt_writer_unlock();
    give_back(buffer);
}

/* ---- beginning ------------------------------------------------------------------------------------------------------ */

static void put_problem(int code, const char *text)
{
    nt_spool_number body = {.time_ns = nt_writer_now_ns(), .value = code};
    nt_writer_lock();
    nt_writer_put(NT_SPOOL_PROBLEM, &body, sizeof body, text, (uint32_t)strlen(text));
    nt_writer_flush();
    nt_writer_unlock();
}

static void put_result(const char *doing, CUptiResult result, const char *holder)
{
    char text[256];
    const char *name = NULL;
    cupti.cuptiGetResultString(result, &name);
    snprintf(text, sizeof text, "%s: %s (%d)%s%s", doing, name != NULL ? name : "unknown", (int)result,
             holder[0] != '\0' ? "; held by " : "", holder);
    put_problem((int)result, text);
}

static bool subscribe(CUpti_SubscriberHandle *subscriber)
{
    char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN * 2] = "";
    CUpti_SubscriberParams params = {.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
                                     .subscriberName = "nntune profile",
                                     .oldSubscriberName = holder,
                                     .oldSubscriberSize = sizeof holder};
    CUptiResult result = cupti.cuptiSubscribe_v2(subscriber, nt_launches_callback, NULL, &params);
    holder[sizeof holder - 1] = '\0';
    if (result != CUPTI_SUCCESS)
        put_result("cuptiSubscribe", result, holder);
    return result == CUPTI_SUCCESS;
}

static const struct {
    const char *name;
    CUpti_ActivityKind kind;
    bool needed;
} kinds[] = {
    {"kernels", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, true}, /* unlike KERNEL it leaves streams side by side */
    {"copies", CUPTI_ACTIVITY_KIND_MEMCPY, true},
    {"fills", CUPTI_ACTIVITY_KIND_MEMSET, true},
    {"copies between devices", CUPTI_ACTIVITY_KIND_MEMCPY2, false},
    {"allocations", CUPTI_ACTIVITY_KIND_MEMORY2, false},
    {"devices", CUPTI_ACTIVITY_KIND_DEVICE, false},
};

static bool enable_kinds(void)
{
    CUptiResult result = cupti.cuptiActivityRegisterCallbacks(buffer_wanted, buffer_full);
    if (result != CUPTI_SUCCESS) {
        put_result("registering buffers", result, "");
        return false;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        result = cupti.cuptiActivityEnable(kinds[i].kind);
        if (result == CUPTI_SUCCESS || !kinds[i].needed)
            continue;
        put_result(kinds[i].name, result, "");
        return false;
    }
    return true;
}

static void put_begin(void)
{
    uint32_t version = 0;
    cupti.cuptiGetVersion(&version);
    nt_spool_cuda body = {.time_ns = nt_writer_now_ns(), .cupti_version = version};
    nt_writer_lock();
    nt_writer_put(NT_SPOOL_CUDA, &body, sizeof body, NULL, 0);
    nt_writer_flush();
    nt_writer_unlock();
}

void nt_activity_start(void)
{
    char why[256];
    CUpti_SubscriberHandle subscriber = NULL;
    if (!nt_cupti_open(&cupti, why, sizeof why)) {
        put_problem(-1, why);
        return;
    }
    put_begin();
    if (!subscribe(&subscriber))
        return;
    fill_pool();
    nt_count_start(&cupti, subscriber);
    nt_launches_enable(&cupti, subscriber);
    if (enable_kinds())
        atomic_store(&recording, true);
}

void nt_activity_flush(bool all)
{
    if (!atomic_load(&recording) || (!all && nt_count_busy()))
        return;
    if (!all)
        nt_launches_lighten();
    cupti.cuptiActivityFlushAll(all ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

void nt_activity_forget(void)
{
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    atomic_store(&recording, false);
    nt_count_forget();
    pool.lock = fresh;
}
