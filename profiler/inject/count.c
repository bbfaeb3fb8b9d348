/* count.c: see count.h. A launch is counted when the expression finds its kernel's name, as it is or as its author
 * wrote it, and fewer than the limit of that kernel were counted before. One is counted at a time: other threads wait
 * at their next launch until it is done, and where one got in between all the same, the counts are thrown away. */
#include "profiler/inject/count.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/inject/count_session.h"
#include "profiler/inject/count_wanted.h"
#include "profiler/inject/writer.h"

enum { MOST_CONTEXTS = 32 };

typedef struct context {
    void *handle;
    nt_count_session *session;
    uint32_t first_metric; /* number of its first metric in the spool */
} context;

/* On a thread: busy with CUPTI, whose own calls are no launches of the program's; or the launch itself. */
enum { NOT_COUNTING, BUSY, LAUNCHING };

static atomic_bool on;
static nt_count_calls calls;
static atomic_int captures_begun[2], captures_ended[2]; /* driver, runtime: a call may show in both */

/* Held from the start to the stop of what is counted. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool taken;
static context contexts[MOST_CONTEXTS];
static uint32_t last_metric;
static struct {
    context *context;
    nt_counted_kernel *kernel;
    uint32_t correlation, outer;
} current;

/* ---- what goes into the spool ------------------------------------------------------------------------------------- */

static void put(nt_spool_type type, const void *body, uint32_t bytes, const void *text, uint32_t text_bytes)
{
    nt_writer_lock();
    nt_writer_put(type, body, bytes, text, text_bytes);
    nt_writer_flush();
    nt_writer_unlock();
}

/* Counting ends, recording and the program go on. */
static void give_up(const nt_count_failure *failure)
{
    nt_spool_number body = {.time_ns = nt_writer_now_ns(), .value = failure->code};
    atomic_store(&on, false);
    put(NT_SPOOL_COUNT_PROBLEM, &body, sizeof body, failure->doing, (uint32_t)strlen(failure->doing));
}

static void put_metrics(context *c)
{
    c->first_metric = last_metric + 1;
    for (int i = 0; i < nt_count_wish.metric_count; i++) {
        const nt_count_wanted *wanted = &nt_count_wish.metric[i];
        const char *counter = nt_count_session_counter(c->session, i);
        char text[512];
        int length = snprintf(text, sizeof text, "%s\t%s\t%s", wanted->name, wanted->unit, counter ? counter : "");
        nt_spool_metric body = {.number = ++last_metric};
        if (length > 0 && (size_t)length < sizeof text)
            put(NT_SPOOL_METRIC, &body, sizeof body, text, (uint32_t)length);
    }
}

static void put_uncounted(nt_counted_kernel *kernel, nt_spool_uncounted_reason reason)
{
    nt_spool_uncounted body = {.time_ns = nt_writer_now_ns(), .reason = reason};
    nt_writer_lock();
    body.name = nt_writer_name(kernel->name);
    nt_writer_put(NT_SPOOL_UNCOUNTED, &body, sizeof body, NULL, 0);
    nt_writer_unlock();
}

static void put_counting(void)
{
    nt_spool_counting body = {
        .time_ns = nt_writer_now_ns(), .correlation = current.correlation, .outer = current.outer};
    put(NT_SPOOL_COUNTING, &body, sizeof body, NULL, 0);
}

static void put_counted(const double *values)
{
    const context *c = current.context;
    nt_spool_counted body = {.time_ns = nt_writer_now_ns(),
                             .correlation = current.correlation,
                             .device = nt_count_session_device(c->session),
                             .passes = (uint32_t)nt_count_session_passes(c->session),
                             .first_metric = c->first_metric,
                             .count = (uint32_t)nt_count_wish.metric_count};
    nt_writer_lock();
    body.name = nt_writer_name(current.kernel->name);
    nt_writer_put(NT_SPOOL_COUNTED, &body, sizeof body, (const char *)values, body.count * sizeof *values);
    nt_writer_flush();
    nt_writer_unlock();
}

/* ---- contexts, with the turn held ----------------------------------------------------------------------------------- */

static context *context_of(void *handle, nt_count_failure *failure)
{
    context *free = NULL;
    for (int i = 0; i < MOST_CONTEXTS; i++) {
        if (contexts[i].session != NULL && contexts[i].handle == handle)
            return &contexts[i];
        if (contexts[i].session == NULL && free == NULL)
            free = &contexts[i];
    }
    if (free == NULL) {
        *failure = (nt_count_failure){CUPTI_ERROR_MAX_LIMIT_REACHED, "counting in one more context"};
        return NULL;
    }
    free->session = nt_count_session_open(&calls, handle, nt_count_wish.metric, nt_count_wish.metric_count, failure);
    if (free->session == NULL)
        return NULL;
    free->handle = handle;
    put_metrics(free);
    return free;
}

void nt_count_resource(uint32_t id, const CUpti_ResourceData *data)
{
    if (id != CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
        return;
    pthread_mutex_lock(&turn);
    for (int i = 0; i < MOST_CONTEXTS; i++)
        if (contexts[i].session != NULL && contexts[i].handle == (void *)data->context) {
            nt_count_session_close(contexts[i].session);
            contexts[i] = (context){0};
        }
    pthread_mutex_unlock(&turn);
}

/* ---- launches -------------------------------------------------------------------------------------------------------- */

static bool capturing(void)
{
    bool any = false;
    for (int i = 0; i < 2; i++)
        any = any || atomic_load(&captures_begun[i]) > atomic_load(&captures_ended[i]);
    return any;
}

void nt_count_capture(CUpti_CallbackDomain domain, bool begin, const CUpti_CallbackData *call)
{
    int side = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
    if (begin && call->callbackSite == CUPTI_API_ENTER)
        atomic_fetch_add(&captures_begun[side], 1);
    /* A capture that did not begin never ends. */
    else if (begin && call->functionReturnValue != NULL && *(const int *)call->functionReturnValue != 0)
        atomic_fetch_sub(&captures_begun[side], 1);
    /* Nor does an end without a beginning count. */
    else if (!begin && call->callbackSite == CUPTI_API_EXIT &&
             atomic_load(&captures_begun[side]) > atomic_load(&captures_ended[side]))
        atomic_fetch_add(&captures_ended[side], 1);
}

static void let_go(nt_thread *thread)
{
    thread->counting = NOT_COUNTING;
    atomic_store(&taken, false);
    pthread_mutex_unlock(&turn);
}

static void begin(nt_thread *thread, nt_counted_kernel *kernel, const CUpti_CallbackData *call, uint32_t outer)
{
    nt_count_failure failure = {0};
    pthread_mutex_lock(&turn);
    atomic_store(&taken, true);
    thread->counting = BUSY;
    context *c = atomic_load(&on) ? context_of((void *)call->context, &failure) : NULL;
    current.context = c;
    current.kernel = kernel;
    current.correlation = call->correlationId;
    current.outer = outer;
    if (c != NULL)
        put_counting();
    if (c != NULL && nt_count_session_start(c->session, &failure)) {
        thread->counting = LAUNCHING;
        return;
    }
    if (failure.code != 0)
        give_up(&failure);
    let_go(thread);
}

void nt_count_enter(nt_thread *thread, const CUpti_CallbackData *call, uint32_t outer)
{
    if (!atomic_load_explicit(&on, memory_order_relaxed) || thread->counting != NOT_COUNTING)
        return;
    nt_counted_kernel *kernel = nt_count_kernel(call->symbolName);
    if (kernel != NULL && capturing()) {
        nt_count_give_back(kernel, false);
        if (!atomic_exchange(&kernel->told, true))
            put_uncounted(kernel, NT_SPOOL_UNCOUNTED_CAPTURED);
        kernel = NULL;
    }
    if (kernel != NULL) {
        begin(thread, kernel, call, outer);
    } else if (atomic_load(&taken)) {
        pthread_mutex_lock(&turn);
        pthread_mutex_unlock(&turn);
    }
}

void nt_count_exit(nt_thread *thread, const CUpti_CallbackData *call)
{
    double values[NT_COUNT_MOST_METRICS];
    nt_count_failure failure = {0};
    size_t launches = 0;
    if (thread->counting != LAUNCHING || call->correlationId != current.correlation)
        return;
    thread->counting = BUSY;
    if (!nt_count_session_stop(current.context->session, &launches, values, &failure)) {
        give_up(&failure);
    } else if (launches == 1) {
        put_counted(values);
    } else {
        nt_count_give_back(current.kernel, true);
        put_uncounted(current.kernel, launches > 1 ? NT_SPOOL_UNCOUNTED_DISTURBED : NT_SPOOL_UNCOUNTED_FAILED);
    }
    let_go(thread);
}

/* ---- beginning and forgetting ------------------------------------------------------------------------------------------ */

bool nt_count_wanted_here(void)
{
    return atomic_load(&on);
}

bool nt_count_busy(void)
{
    return atomic_load(&taken);
}

void nt_count_start(const nt_cupti_calls *cupti, CUpti_SubscriberHandle subscriber)
{
    nt_count_failure failure = {0};
    const char *missing;
    if (!nt_count_wish_read())
        return;
    if (!nt_count_calls_find(&calls, &missing)) {
        failure = (nt_count_failure){CUPTI_ERROR_API_NOT_IMPLEMENTED, missing};
        give_up(&failure);
        return;
    }
    atomic_store(&on, true);
    cupti->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
}

void nt_count_forget(void)
{
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    atomic_store(&on, false);
    atomic_store(&taken, false);
    turn = fresh;
    memset(contexts, 0, sizeof contexts); /* the parent's: nothing of CUDA works here */
    nt_count_wish_forget();
}
