/* cpu_exec.h: executing plans on the pool: the same code verifies, times, measures the floor and the peaks. */
#ifndef NT_CPU_EXEC_H
#define NT_CPU_EXEC_H

#include "core/plan.h"
#include "device/cpu_pool.h"
#include "device/cpu_vendor.h"

#include <stdint.h>

/* The entry point of a cpu kernel (kernels/kernel.h). */
typedef void (*nt_cpu_entry)(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);

/* Stages with their entries found. */
typedef struct nt_cpu_script {
    int count;
    bool calls_vendor;
    struct {
        const nt_stage *stage;
        nt_cpu_entry entry;   /* KERNEL */
        void *variable;       /* SYMBOL */
        nt_vendor_call *call; /* VENDOR */
        int64_t items;        /* work items, or bytes to zero */
    } step[NT_MAX_STAGES];
} nt_cpu_script;

/* Finds entries by `find(context, name)` and makes the vendor's calls ready. NT_LAUNCH_FAILED names a missing entry, a
 * grid that is empty or too large, a call that its library refuses. The stages must outlive the script, which is freed
 * with nt_cpu_script_done, also after a failure. */
nt_status nt_cpu_script_make(const nt_stage *stages, int count, nt_cpu_entry (*find)(void *context, const char *name),
                             void *context, nt_cpu_script *out, nt_error *err);
void nt_cpu_script_done(nt_cpu_script *script);

/* A script over a ring of bindings: `samples` brackets of `launches` executions each. *position runs on. */
typedef struct nt_cpu_series {
    const nt_cpu_script *script;
    const nt_binding *ring;
    size_t ring_count;
    size_t *position;
    int64_t launches;
    size_t samples;
    double *out_ns; /* [samples] bracket / launches; may be NULL */
} nt_cpu_series;

void nt_cpu_series_run(nt_cpu_pool *pool, const nt_cpu_series *series);

#endif
