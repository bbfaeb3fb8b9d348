/* occupancy.h: theoretical occupancy and what limits it, from device limits and kernel resources alone. Pure. */
#ifndef NT_OCCUPANCY_H
#define NT_OCCUPANCY_H

#include "core/record.h"

typedef enum nt_limiter { NT_LIMIT_THREADS, NT_LIMIT_REGISTERS, NT_LIMIT_SMEM, NT_LIMIT_BLOCKS, NT_LIMIT_COUNT } nt_limiter;

typedef struct nt_occupancy {
    int64_t blocks_per_sm; /* 0: cannot be launched */
    int64_t warps_per_sm;
    double pct;            /* warps over the device's maximum, times 100 */
    nt_limiter limiter;    /* the smallest of the limits; ties in enum order */
    int64_t limit[NT_LIMIT_COUNT]; /* blocks per SM that each resource alone would allow */
} nt_occupancy;

const char *nt_limiter_name(nt_limiter limiter); /* threads, registers, smem, blocks */

/* Allocation rules by compute capability (register allocation unit 256 per warp, smem unit 128 or 256 bytes plus the
 * driver's reserve): CUDA C++ Programming Guide's table of technical specifications and the toolkit's cuda_occupancy.h.
 * registers or smem may be NT_UNKNOWN, which then does not limit. */
nt_occupancy nt_occupancy_of(const nt_device_info *device, int64_t threads_per_block, int64_t registers_per_thread,
                             int64_t smem_per_block_bytes);

#endif
