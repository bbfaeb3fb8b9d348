/* ring.h: what the program's own threads note, launches and ranges, without a lock or a call of the kernel on their
 * way: a ring for each thread, emptied into the spool by whoever holds the writer's lock. */
#ifndef NT_INJECT_RING_H
#define NT_INJECT_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/spool_format.h"

enum { NT_RING_OPEN_RANGES = 64 };

/* A range open on this thread. */
typedef struct nt_open_range {
    uint32_t id;
    bool free_standing;
    const void *domain;
} nt_open_range;

typedef struct nt_ring nt_ring;

typedef struct nt_thread {
    nt_ring *ring;
    uint32_t id;           /* of the thread, as the system counts them */
    uint32_t runtime_call; /* correlation of the runtime's call that this thread is in, 0 for none */
    uint32_t runtime_id;   /* which call that is */
    bool same_inside;      /* the driver's call inside it had the same correlation */
    uint8_t counting;      /* nt_counting: what count.c is at on this thread */
    int open_count;
    int open_beyond; /* pushed when the list was full: popped before anything else */
    nt_open_range open[NT_RING_OPEN_RANGES];
} nt_thread;

/* This thread's, made when first asked for; NULL without memory. */
nt_thread *nt_thread_here(void);

void nt_ring_launch(nt_thread *thread, const nt_spool_launch *launch);
void nt_ring_open(nt_thread *thread, const nt_spool_open *open);
void nt_ring_close(nt_thread *thread, uint32_t range);

/* With the writer's lock held. */
void nt_rings_empty(void);
/* After fork, in the child, where the other threads are gone. */
void nt_rings_start_over(void);

#endif
