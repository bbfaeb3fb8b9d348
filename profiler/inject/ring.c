/* ring.c: single-producer rings, one for each thread of the program, in a list that only grows. */
#include "profiler/inject/ring.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/inject/writer.h"

enum { RING_EVENTS = 4096 };

/* Every event fits the largest body; `type` says which it is. */
typedef struct event {
    nt_spool_type type;
    uint32_t bytes;
    union {
        nt_spool_launch launch;
        nt_spool_open open;
        nt_spool_close close;
    } body;
} event;

/* Written by its thread at `head`, read under the writer's lock at `tail`. Rings outlive their threads and are taken
 * over by later ones. */
struct nt_ring {
    nt_ring *next;
    _Atomic bool taken;
    _Atomic uint32_t head, tail;
    event events[RING_EVENTS];
};

static nt_ring *_Atomic rings;
static pthread_key_t thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local nt_thread here;

static void leave(void *ring)
{
    atomic_store(&((nt_ring *)ring)->taken, false);
}

static void make_key(void)
{
    pthread_key_create(&thread_end, leave);
}

static nt_ring *take_ring(void)
{
    for (nt_ring *ring = atomic_load(&rings); ring != NULL; ring = ring->next) {
        bool free = false;
        if (atomic_compare_exchange_strong(&ring->taken, &free, true))
            return ring;
    }
    nt_ring *ring = calloc(1, sizeof *ring);
    if (ring == NULL)
        return NULL;
    atomic_store(&ring->taken, true);
    ring->next = atomic_load(&rings);
    while (!atomic_compare_exchange_weak(&rings, &ring->next, ring))
        continue;
    return ring;
}

nt_thread *nt_thread_here(void)
{
    if (here.ring == NULL) {
        pthread_once(&once, make_key);
        here.ring = take_ring();
        if (here.ring == NULL)
            return NULL;
        pthread_setspecific(thread_end, here.ring);
    }
    if (here.id == 0)
        here.id = (uint32_t)syscall(SYS_gettid);
    return &here;
}

static void empty(nt_ring *ring)
{
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    for (; tail != head; tail++) {
        const event *e = &ring->events[tail % RING_EVENTS];
        nt_writer_put(e->type, &e->body, e->bytes, NULL, 0);
    }
    atomic_store_explicit(&ring->tail, tail, memory_order_release);
}

/* The place of the next event, which publish() makes visible. A full ring is emptied by its own thread, so nothing is
 * ever lost here. */
static event *next_event(nt_ring *ring)
{
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    if (head - atomic_load_explicit(&ring->tail, memory_order_acquire) == RING_EVENTS) {
        nt_writer_lock();
        empty(ring);
        nt_writer_unlock();
    }
    return &ring->events[head % RING_EVENTS];
}

static void publish(nt_ring *ring)
{
    atomic_store_explicit(&ring->head, atomic_load_explicit(&ring->head, memory_order_relaxed) + 1,
                          memory_order_release);
}

void nt_ring_launch(nt_thread *thread, const nt_spool_launch *launch)
{
    event *e = next_event(thread->ring);
    e->type = NT_SPOOL_LAUNCH;
    e->bytes = sizeof *launch;
    e->body.launch = *launch;
    e->body.launch.thread = thread->id;
    e->body.launch.time_ns = nt_writer_now_ns();
    publish(thread->ring);
}

void nt_ring_open(nt_thread *thread, const nt_spool_open *open)
{
    event *e = next_event(thread->ring);
    e->type = NT_SPOOL_OPEN;
    e->bytes = sizeof *open;
    e->body.open = *open;
    e->body.open.thread = thread->id;
    e->body.open.time_ns = nt_writer_now_ns();
    publish(thread->ring);
}

void nt_ring_close(nt_thread *thread, uint32_t range)
{
    event *e = next_event(thread->ring);
    e->type = NT_SPOOL_CLOSE;
    e->bytes = sizeof(nt_spool_close);
    e->body.close = (nt_spool_close){.time_ns = nt_writer_now_ns(), .thread = thread->id, .range = range};
    publish(thread->ring);
}

void nt_rings_empty(void)
{
    for (nt_ring *ring = atomic_load(&rings); ring != NULL; ring = ring->next)
        empty(ring);
}

void nt_rings_start_over(void)
{
    for (nt_ring *ring = atomic_load(&rings); ring != NULL; ring = ring->next) {
        atomic_store(&ring->tail, atomic_load(&ring->head));
        if (ring != here.ring)
            atomic_store(&ring->taken, false);
    }
    here.runtime_call = 0;
    here.id = 0;
    for (int i = 0; i < here.open_count; i++)
        here.open[i].id = 0; /* told in the parent's spool: here they are only popped */
}
