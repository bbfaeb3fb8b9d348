/* inject.c: how the library comes to life and ends. The CUDA driver calls InitializeInjection at the program's first
 * cuInit (CUDA_INJECTION64_PATH names this library), NVTX calls InitializeInjectionNvtx2 (ranges.c). */
#include "profiler/inject/inject.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "profiler/inject/ring.h"
#include "profiler/inject/writer.h"

enum { PERIOD_MS = 100 /* what a kill can cost */, STACK_BYTES = 1 << 19 };

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static bool attached;
static atomic_bool started, leaving;

/* Not in a timer of the program's threads: a thread of our own, with all signals blocked, so that handlers of the
 * program never run on it. */
static void *empty_now_and_then(void *unused)
{
    struct timespec pause = {.tv_nsec = PERIOD_MS * 1000000L};
    while (!atomic_load(&leaving)) {
        nanosleep(&pause, NULL);
        if (atomic_load(&leaving))
            break;
        nt_activity_flush(false);
        nt_writer_lock();
        nt_rings_empty();
        nt_writer_flush();
        nt_writer_unlock();
    }
    return unused;
}

static void begin_thread(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_create(&thread, &attributes, empty_now_and_then, NULL);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void at_end(void)
{
    if (!atomic_load(&started) || atomic_exchange(&leaving, true))
        return;
    nt_activity_flush(true);
    nt_writer_lock();
    nt_rings_empty();
    nt_spool_number end = {.time_ns = nt_writer_now_ns()};
    nt_writer_put(NT_SPOOL_END, &end, sizeof end, NULL, 0);
    nt_writer_flush();
    nt_writer_unlock();
}

/* ---- fork: the child gets a spool of its own, once it has something to say ------------------------------------------- */

static void in_child(void)
{
    nt_activity_forget();
    nt_ranges_start_over();
    nt_rings_start_over();
    nt_writer_start_over();
    atomic_store(&started, false);
    attached = false;
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    starting = fresh;
}

bool nt_inject_start(void)
{
    static bool handlers;
    if (atomic_load_explicit(&started, memory_order_acquire))
        return true;
    if (getenv(NT_SPOOL_FOLDER_VARIABLE) == NULL)
        return false;
    pthread_mutex_lock(&starting);
    if (!atomic_load(&started)) {
        if (!handlers) {
            pthread_atfork(nt_writer_lock, nt_writer_unlock, in_child);
            atexit(at_end);
        }
        handlers = true;
        begin_thread();
        atomic_store(&started, true);
    }
    pthread_mutex_unlock(&starting);
    return true;
}

/* Returns 1 also where nothing is recorded: the program is to run in any case. */
NT_INJECT_EXPORT int InitializeInjection(void);

int InitializeInjection(void)
{
    if (!nt_inject_start())
        return 1;
    pthread_mutex_lock(&starting);
    bool first = !attached;
    attached = true;
    pthread_mutex_unlock(&starting);
    if (first)
        nt_activity_start();
    return 1;
}
