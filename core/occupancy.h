/* occupancy.h: theoretical occupancy and what limits it, from device limits and kernel resources alone. Pure. */
#ifndef NT_OCCUPANCY_H
#define NT_OCCUPANCY_H

#include "core/record.h"

typedef enum nt_limiter {
    NT_LIMIT_THREADS,
    NT_LIMIT_REGISTERS,
    NT_LIMIT_SMEM,
    NT_LIMIT_BLOCKS,
    NT_LIMIT_BARRIERS,
    NT_LIMIT_COUNT
} nt_limiter;

/* What one block of a kernel takes. */
typedef struct nt_block_use {
    int64_t threads;    /* per block */
    int64_t registers;  /* per thread */
    int64_t smem_bytes; /* static and dynamic, without the driver's reserve */
    int64_t barriers;   /* hardware barriers; 1 unless the kernel uses named ones */
} nt_block_use;

typedef struct nt_occupancy {
    int64_t blocks_per_sm; /* 0: cannot be launched */
    int64_t warps_per_sm;
    double pct;                    /* warps over the device's maximum, times 100 */
    nt_limiter limiter;            /* the smallest of the limits; ties in enum order */
    int64_t limit[NT_LIMIT_COUNT]; /* blocks per SM that each resource alone would allow; INT64_MAX: does not limit */
} nt_occupancy;

const char *nt_limiter_name(nt_limiter limiter); /* threads, registers, smem, blocks, barriers */

/* Allocation rules by compute capability (register allocation unit 256 per warp, smem unit 128 or 256 bytes plus the
 * driver's reserve): CUDA C++ Programming Guide's table of technical specifications and the toolkit's cuda_occupancy.h.
 * registers, smem_bytes or barriers may be NT_UNKNOWN, which then does not limit. */
nt_occupancy nt_occupancy_of_use(const nt_device_info *device, const nt_block_use *use);

/* The same for a kernel with the one barrier that every block has. */
nt_occupancy nt_occupancy_of(const nt_device_info *device, int64_t threads_per_block, int64_t registers_per_thread,
                             int64_t smem_per_block_bytes);

/* ---- what if (occupancy_curve.c) ------------------------------------------------------------------------------- */

typedef enum nt_curve_axis { NT_CURVE_REGISTERS, NT_CURVE_THREADS, NT_CURVE_SMEM, NT_CURVE_COUNT } nt_curve_axis;

typedef struct nt_curve_point {
    int64_t x;    /* registers per thread, threads per block, or bytes of shared memory per block */
    bool current; /* this is the kernel as it is */
    nt_occupancy occupancy;
} nt_curve_point;

const char *nt_curve_axis_name(nt_curve_axis axis); /* registers, threads, smem_bytes */

/* Occupancy with one resource varied and the others as they are: registers 16 to 255 in the device's steps, threads by
 * whole warps, shared memory by KiB; the current value is always among the points, which ascend. Returns their number;
 * free *out. 0 and NULL when the device does not say enough. */
size_t nt_occupancy_curve(const nt_device_info *device, const nt_block_use *use, nt_curve_axis axis,
                          nt_curve_point **out);

/* The largest amount of the limiting resource with which one more block fits on an SM: registers per thread or bytes of
 * shared memory. NT_UNKNOWN when the limiter is another, or nothing helps before the next limit. */
int64_t nt_occupancy_room(const nt_device_info *device, const nt_block_use *use);

#endif
