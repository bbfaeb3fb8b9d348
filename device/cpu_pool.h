/* cpu_pool.h: one pinned thread a core, and a barrier among them that costs about a microsecond.
 *
 * The thread that opens the pool is thread 0 and is pinned too, until the pool is closed. Only it may run jobs. */
#ifndef NT_CPU_POOL_H
#define NT_CPU_POOL_H

#include "core/status.h"

typedef struct nt_cpu_pool nt_cpu_pool;
typedef void (*nt_cpu_job)(void *context, int thread, int threads);

nt_status nt_cpu_pool_open(const int *cpus, int count, nt_cpu_pool **out, nt_error *err);
void nt_cpu_pool_close(nt_cpu_pool *pool); /* NULL allowed */
int nt_cpu_pool_threads(const nt_cpu_pool *pool);

/* Every thread calls job once; returns when all are back. */
void nt_cpu_pool_run(nt_cpu_pool *pool, nt_cpu_job job, void *context);

/* Inside a job, called by all threads: nobody passes before all have arrived. */
void nt_cpu_pool_barrier(nt_cpu_pool *pool);

#endif
