/* cpu_pool.c: threads that wait by spinning for a while and then sleep on a futex.
 *
 * Between the stages of a timed plan a wait is short and a wake-up would be part of the time, so the barrier spins for
 * long; between jobs the pool must not disturb others, so it soon sleeps. After the first microseconds each round of
 * spinning offers the core to whoever else wants it, which costs nothing on a core of our own. */
#include "device/cpu_pool.h"

#include "core/clock.h"
#include "core/mem.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LINE_BYTES = 64, BARRIER_SPIN_NS = 2000000, IDLE_SPIN_NS = 50000, PAUSE_NS = 10000, MAX_CPU = 8192 };

/* A number that only grows, and those who sleep until it does. On a line of its own. */
typedef struct gate {
    _Alignas(LINE_BYTES) _Atomic uint32_t value;
    _Atomic uint32_t sleepers;
} gate;

typedef struct worker {
    nt_cpu_pool *pool;
    pthread_t thread;
    int index;
} worker;

struct nt_cpu_pool {
    gate start;  /* one more for each job */
    gate passed; /* one more for each time everybody arrived */
    _Alignas(LINE_BYTES) _Atomic uint32_t arrived;
    _Alignas(LINE_BYTES) nt_cpu_job job; /* NULL: end */
    void *context;
    int threads;
    worker *workers; /* [threads], the first unused */
    cpu_set_t *old_mask;
    size_t mask_bytes;
};

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Returns once the gate no longer shows `old`. */
static void gate_wait(gate *at, uint32_t old, int64_t spin_ns)
{
    for (int round = 0; round < 64; round++) {
        if (atomic_load_explicit(&at->value, memory_order_acquire) != old)
            return;
        relax();
    }
    for (int64_t begin = nt_now_whole_ns(), waited = 0; waited < spin_ns; waited = nt_now_whole_ns() - begin) {
        for (int round = 0; round < 32; round++) {
            if (atomic_load_explicit(&at->value, memory_order_acquire) != old)
                return;
            relax();
        }
        if (waited > PAUSE_NS)
            sched_yield();
    }
    /* Registered before the kernel compares the value again, so the one who opens the gate sees a sleeper or we see
     * the new value. */
    atomic_fetch_add(&at->sleepers, 1);
    while (atomic_load(&at->value) == old)
        syscall(SYS_futex, &at->value, FUTEX_WAIT_PRIVATE, old, NULL, NULL, 0);
    atomic_fetch_sub(&at->sleepers, 1);
}

static void gate_open(gate *at)
{
    atomic_fetch_add(&at->value, 1);
    if (atomic_load(&at->sleepers) > 0)
        syscall(SYS_futex, &at->value, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void nt_cpu_pool_barrier(nt_cpu_pool *pool)
{
    /* Read before arriving: the gate cannot open until this thread has arrived. */
    uint32_t old = atomic_load_explicit(&pool->passed.value, memory_order_relaxed);
    if (atomic_fetch_add(&pool->arrived, 1) + 1 < (uint32_t)pool->threads) {
        gate_wait(&pool->passed, old, BARRIER_SPIN_NS);
        return;
    }
    atomic_store_explicit(&pool->arrived, 0, memory_order_relaxed);
    gate_open(&pool->passed);
}

static void *work(void *context)
{
    worker *self = context;
    nt_cpu_pool *pool = self->pool;
    for (uint32_t seen = 0;; seen++) {
        gate_wait(&pool->start, seen, IDLE_SPIN_NS);
        if (pool->job == NULL)
            return NULL;
        pool->job(pool->context, self->index, pool->threads);
        nt_cpu_pool_barrier(pool);
    }
}

void nt_cpu_pool_run(nt_cpu_pool *pool, nt_cpu_job job, void *context)
{
    pool->job = job;
    pool->context = context;
    gate_open(&pool->start);
    job(context, 0, pool->threads);
    nt_cpu_pool_barrier(pool);
}

int nt_cpu_pool_threads(const nt_cpu_pool *pool)
{
    return pool->threads;
}

/* ---- opening and closing --------------------------------------------------------------------------------------------- */

/* Signals are for the thread that opened the pool. */
static int start_worker(worker *self, int cpu, cpu_set_t *mask, size_t mask_bytes)
{
    pthread_attr_t attributes;
    sigset_t all, old;
    CPU_ZERO_S(mask_bytes, mask);
    CPU_SET_S((size_t)cpu, mask_bytes, mask);
    int why = pthread_attr_init(&attributes);
    if (why != 0)
        return why;
    why = pthread_attr_setaffinity_np(&attributes, mask_bytes, mask);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (why == 0)
        why = pthread_create(&self->thread, &attributes, work, self);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    return why;
}

/* The threads `count` on are not there (yet, or any more). */
static void stop(nt_cpu_pool *pool, int count)
{
    pool->job = NULL;
    gate_open(&pool->start);
    for (int i = 1; i < count; i++)
        pthread_join(pool->workers[i].thread, NULL);
    sched_setaffinity(0, pool->mask_bytes, pool->old_mask);
    CPU_FREE(pool->old_mask);
    free(pool->workers);
    free(pool);
}

static nt_cpu_pool *pool_new(int count)
{
    nt_cpu_pool *pool;
    if (posix_memalign((void **)&pool, LINE_BYTES, sizeof *pool) != 0)
        return NULL;
    memset(pool, 0, sizeof *pool);
    pool->threads = count;
    pool->workers = nt_alloc_zero((size_t)count, sizeof pool->workers[0]);
    pool->mask_bytes = CPU_ALLOC_SIZE(MAX_CPU);
    pool->old_mask = CPU_ALLOC(MAX_CPU);
    return pool;
}

nt_status nt_cpu_pool_open(const int *cpus, int count, nt_cpu_pool **out, nt_error *err)
{
    nt_cpu_pool *pool = pool_new(count);
    cpu_set_t *mask = CPU_ALLOC(MAX_CPU);
    int started = 1, why = 0;
    if (pool == NULL || pool->old_mask == NULL || mask == NULL || count < 1)
        return nt_fail(err, NT_NO_MEMORY, "no memory for %d threads", count);
    sched_getaffinity(0, pool->mask_bytes, pool->old_mask);
    for (; started < count && why == 0; started += why == 0) {
        pool->workers[started] = (worker){.pool = pool, .index = started};
        why = start_worker(&pool->workers[started], cpus[started], mask, pool->mask_bytes);
    }
    if (why == 0) {
        CPU_ZERO_S(pool->mask_bytes, mask);
        CPU_SET_S((size_t)cpus[0], pool->mask_bytes, mask);
        why = sched_setaffinity(0, pool->mask_bytes, mask) == 0 ? 0 : errno;
    }
    CPU_FREE(mask);
    if (why != 0) {
        stop(pool, started);
        nt_fail(err, NT_FAILED, "cannot pin a thread to each of %d cores: %s", count, strerror(why));
        return nt_hint(err, "NNTUNE_CPU_THREADS sets a smaller number of threads");
    }
    *out = pool;
    return NT_OK;
}

void nt_cpu_pool_close(nt_cpu_pool *pool)
{
    if (pool != NULL)
        stop(pool, pool->threads);
}
