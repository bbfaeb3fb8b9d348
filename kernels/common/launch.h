/* launch.h: small arithmetic of plans. */
#ifndef NT_KERNELS_LAUNCH_H
#define NT_KERNELS_LAUNCH_H

#include "core/plan.h"
#include "core/record.h"

static inline int64_t nt_div_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* Stage 0 of a plan of one CUDA kernel: `blocks` blocks of x * y threads. NT_LAUNCH_FAILED when a grid cannot hold
 * them; `larger` says what to take larger. */
nt_status nt_launch_blocks(nt_plan *plan, const char *entry, int64_t blocks, int64_t x, int64_t y, const char *larger,
                           nt_error *err);

/* The same for the fp64 reference of a layer: one thread for each of `threads` results, 256 a block; NT_USAGE. */
nt_status nt_launch_reference(nt_plan *plan, const char *entry, int64_t threads, nt_error *err);

/* Stage 0 of a plan of one CPU entry over `items` work items, at most 4294967295 * 65536. */
nt_status nt_launch_items(nt_plan *plan, const char *entry, int64_t items, nt_error *err);

#endif
