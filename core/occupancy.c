/* occupancy.c: how many blocks of a kernel fit on one SM at once, and which resource stops the next one.
 *
 * Registers are given to a warp in units of 256, inside the quarter of the SM where the warp runs. Shared memory is
 * given to a block in units of 128 bytes (256 before compute capability 8.0) and, from 8.0 on, with the driver's
 * reserve on top, which does not count against the block's own limit. Barriers are a pool of the SM from 9.0 on. What
 * the device does not say does not limit. */
#include "core/occupancy.h"

#include <math.h>

enum {
    REGISTER_UNIT = 256,
    REGISTERS_PER_THREAD = 255,
    QUARTERS = 4,
    RESERVE_SINCE_AMPERE = 1024 /* where the device did not tell */
};

const char *nt_limiter_name(nt_limiter limiter)
{
    static const char *const names[NT_LIMIT_COUNT] = {[NT_LIMIT_THREADS] = "threads",
                                                      [NT_LIMIT_REGISTERS] = "registers",
                                                      [NT_LIMIT_SMEM] = "smem",
                                                      [NT_LIMIT_BLOCKS] = "blocks",
                                                      [NT_LIMIT_BARRIERS] = "barriers"};
    return (unsigned)limiter < NT_LIMIT_COUNT ? names[limiter] : "unknown";
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t round_up(int64_t a, int64_t b)
{
    return divide_up(a, b) * b;
}

static int64_t limit_by_threads(const nt_device_info *device, int64_t threads, int64_t warps)
{
    if (device->max_threads_per_block != NT_UNKNOWN && threads > device->max_threads_per_block)
        return 0;
    if (device->max_threads_per_sm == NT_UNKNOWN)
        return INT64_MAX;
    return device->max_threads_per_sm / device->warp_size / warps;
}

static int64_t limit_by_registers(const nt_device_info *device, int64_t warps, int64_t registers)
{
    if (registers == NT_UNKNOWN || registers == 0)
        return INT64_MAX;
    if (registers > REGISTERS_PER_THREAD)
        return 0;
    int64_t per_warp = round_up(registers * device->warp_size, REGISTER_UNIT);
    /* The launch check charges a block as if its warps filled all four quarters evenly. */
    if (device->regs_per_block != NT_UNKNOWN && per_warp * round_up(warps, QUARTERS) > device->regs_per_block)
        return 0;
    if (device->regs_per_sm == NT_UNKNOWN)
        return INT64_MAX;
    int64_t warps_per_quarter = device->regs_per_sm / QUARTERS / per_warp;
    return warps_per_quarter * QUARTERS / warps;
}

static int64_t limit_by_smem(const nt_device_info *device, int64_t smem_bytes)
{
    if (smem_bytes == NT_UNKNOWN)
        return INT64_MAX;
    bool ampere = device->compute_capability >= 80;
    int64_t reserved = ampere ? RESERVE_SINCE_AMPERE : 0;
    if (device->smem_reserved_bytes != NT_UNKNOWN)
        reserved = device->smem_reserved_bytes;
    int64_t taken = round_up(smem_bytes + reserved, ampere ? 128 : 256);
    if (device->smem_per_block_bytes != NT_UNKNOWN && taken > device->smem_per_block_bytes + reserved)
        return 0;
    if (taken == 0 || device->smem_per_sm_bytes == NT_UNKNOWN)
        return INT64_MAX;
    return device->smem_per_sm_bytes / taken;
}

/* Barriers of an SM for each block slot: two where the slots are few for the width, else one. */
static int64_t barriers_per_block_slot(int64_t compute_capability)
{
    bool narrow = compute_capability == 101 || compute_capability == 110 || compute_capability / 10 == 12;
    return narrow ? 1 : 2;
}

static int64_t limit_by_barriers(const nt_device_info *device, int64_t barriers)
{
    if (barriers == NT_UNKNOWN || barriers <= 0 || device->compute_capability < 90 ||
        device->max_blocks_per_sm == NT_UNKNOWN)
        return INT64_MAX;
    return device->max_blocks_per_sm * barriers_per_block_slot(device->compute_capability) / barriers;
}

nt_occupancy nt_occupancy_of_use(const nt_device_info *device, const nt_block_use *use)
{
    nt_occupancy occupancy = {.blocks_per_sm = NT_UNKNOWN, .warps_per_sm = NT_UNKNOWN, .pct = NAN};
    if (device->warp_size <= 0 || use->threads <= 0)
        return occupancy;
    int64_t warps = divide_up(use->threads, device->warp_size);
    int64_t *limit = occupancy.limit;
    limit[NT_LIMIT_THREADS] = limit_by_threads(device, use->threads, warps);
    limit[NT_LIMIT_REGISTERS] = limit_by_registers(device, warps, use->registers);
    limit[NT_LIMIT_SMEM] = limit_by_smem(device, use->smem_bytes);
    limit[NT_LIMIT_BLOCKS] = device->max_blocks_per_sm == NT_UNKNOWN ? INT64_MAX : device->max_blocks_per_sm;
    limit[NT_LIMIT_BARRIERS] = limit_by_barriers(device, use->barriers);

    for (int i = 1; i < NT_LIMIT_COUNT; i++)
        if (limit[i] < limit[occupancy.limiter])
            occupancy.limiter = (nt_limiter)i;
    if (limit[occupancy.limiter] == INT64_MAX)
        return occupancy;
    occupancy.blocks_per_sm = limit[occupancy.limiter];
    occupancy.warps_per_sm = occupancy.blocks_per_sm * warps;
    if (device->max_threads_per_sm != NT_UNKNOWN)
        occupancy.pct =
            100.0 * (double)(occupancy.warps_per_sm * device->warp_size) / (double)device->max_threads_per_sm;
    return occupancy;
}

nt_occupancy nt_occupancy_of(const nt_device_info *device, int64_t threads_per_block, int64_t registers_per_thread,
                             int64_t smem_per_block_bytes)
{
    nt_block_use use = {threads_per_block, registers_per_thread, smem_per_block_bytes, 1};
    return nt_occupancy_of_use(device, &use);
}
