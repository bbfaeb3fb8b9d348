/* workload.h: the data of one problem on one device: input sets with fp64 references, and the ring of buffers that
 * timing walks through. Rebuilt from the seed whenever a worker is replaced.
 *
 * Set 0 and 1 are verified before timing; a fresh set (another seed) verifies finalists after it. Cold: the ring holds
 * at least 3 x L2 on a GPU, min(2 x L3, 1 GiB) on a cpu, and at least two slots. Hot: one slot. */
#ifndef NT_WORKLOAD_H
#define NT_WORKLOAD_H

#include "device/device.h"
#include "kernels/kernel.h"
#include "profiler/guard.h"
#include "profiler/measure.h"
#include "profiler/verify.h"

enum { NT_CHECK_SETS = 2 };

/* Input set s on the device; references of each bound are made when first asked for. */
typedef struct nt_input_set {
    nt_guarded in, weight;
    nt_mem rounded_in, rounded_weight; /* f32 values as they stand in memory: inputs of the reference (cuda) */
    float *host_in, *host_weight;      /* the same on the host (cpu) */
    nt_mem ref, original, scale;
    nt_mem abs[NT_BOUND_COUNT];
} nt_input_set;

typedef struct nt_arguments nt_arguments; /* workload_arguments.h */

typedef struct nt_workload {
    const nt_device_ops *ops;
    nt_device *device;
    const nt_layer *layer;
    nt_problem problem;
    nt_extents extents;
    uint64_t seed;
    nt_cache_mode cache;
    nt_module *reference; /* compiled reference on cuda; NULL on a cpu */
    nt_input_set set[NT_CHECK_SETS], fresh;
    nt_arguments *arguments; /* of a user's kernel, instead of in, weight and out; else NULL */
    nt_guarded out, packed, workspace; /* of verification */
    nt_mem ring_memory, ring_packed;
    size_t ring_packed_capacity;
    size_t slot_bytes, ring_count, position;
    nt_binding *ring;
    double reference_ms; /* what building inputs and references cost */
} nt_workload;

/* Bytes of device memory the problem needs, ring and references included. */
double nt_workload_bytes(const nt_device_info *info, const nt_problem *problem, const nt_extents *extents,
                         nt_cache_mode cache);

/* NT_USAGE with needed and available bytes when it does not fit; unknown available bytes are enough. */
nt_status nt_workload_check_fits(const nt_device_info *info, const nt_problem *problem, const nt_extents *extents,
                                 nt_cache_mode cache, double available_bytes, nt_error *err);

/* NT_USAGE when it does not fit what is free now. */
nt_status nt_workload_open(const nt_device_ops *ops, nt_device *device, const nt_problem *problem, uint64_t seed,
                           nt_cache_mode cache, nt_workload **out, nt_error *err);
/* Ring and inputs without references, for what runs plans that were verified before; nt_workload_verify is not allowed. */
nt_status nt_workload_open_unchecked(const nt_device_ops *ops, nt_device *device, const nt_problem *problem,
                                     uint64_t seed, nt_cache_mode cache, nt_workload **out, nt_error *err);
void nt_workload_close(nt_workload *workload);

/* Verifies a plan on both sets, or on the fresh set (made from another seed when first asked for). */
nt_status nt_workload_verify(nt_workload *workload, const nt_kernel *kernel, nt_module *module, const nt_plan *plan,
                             nt_verdict *out, nt_error *err);
nt_status nt_workload_verify_fresh(nt_workload *workload, const nt_kernel *kernel, nt_module *module,
                                   const nt_plan *plan, nt_verdict *out, nt_error *err);
void nt_workload_drop_fresh(nt_workload *workload); /* frees the fresh set; made again when next asked for */

/* Prepares the ring for a plan (packed weights in each slot) and describes what to time. */
nt_status nt_workload_target(nt_workload *workload, nt_module *module, const nt_plan *plan, nt_target *out,
                             nt_error *err);

#endif
