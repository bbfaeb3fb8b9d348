/* cpu_vendor.h: stages of plans that a vendor's library computes on the cpu (oneDNN, OpenBLAS), opened at run time.
 *
 * A library has threads of its own. They are as many as the device's, on the same cores, and spin for less than a
 * millisecond between calls, so that they neither pay for waking up nor disturb what is timed next. A call is made by
 * the thread that opened the device while the pool's other threads sleep.
 *
 * Environment: NNTUNE_ONEDNN, NNTUNE_OPENBLAS: the library's file, instead of the one that the loader finds. */
#ifndef NT_CPU_VENDOR_H
#define NT_CPU_VENDOR_H

#include "core/plan.h"
#include "core/record.h"

/* A call made ready: everything that can be done once was done. */
typedef struct nt_vendor_call nt_vendor_call;
struct nt_vendor_call {
    void (*run)(nt_vendor_call *call, const nt_binding *binding);
    void (*free)(nt_vendor_call *call);
};

/* What a library is to the device. */
typedef struct nt_vendor_ops {
    nt_vendor vendor;
    /* Opens the library; notes its version, or what is missing. */
    void (*find)(nt_vendor_library *out);
    /* NT_LAUNCH_FAILED: the library does not do this; NT_NOT_FOUND: it is missing. */
    nt_status (*make)(const nt_stage *stage, nt_vendor_call **out, nt_error *err);
} nt_vendor_ops;

extern const nt_vendor_ops nt_vendor_onednn, nt_vendor_openblas;

/* Says on which cores the libraries may run. To be called before anything else here, by the thread that makes calls. */
void nt_cpu_vendor_cores(const int *cpus, int count);

void nt_cpu_vendor_libraries(nt_device_info *info);
nt_status nt_cpu_vendor_make(const nt_stage *stage, nt_vendor_call **out, nt_error *err);

#endif
