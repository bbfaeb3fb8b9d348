/* occupancy_curve.c: what occupancy would be with more or less of one resource, the others as they are. Steps are those
 * in which the hardware gives the resource out, so that no plateau is missed; shared memory goes by KiB, because its
 * own unit would make thousands of equal points. */
#include "core/occupancy.h"

#include <math.h>

#include "core/mem.h"

enum { FIRST_REGISTERS = 16, MOST_REGISTERS = 255, REGISTER_STEP = 8, SMEM_STEP = 1024, SMEM_UNIT = 128 };

static const struct axis {
    const char *name;
    size_t offset;
} axes[NT_CURVE_COUNT] = {
    [NT_CURVE_REGISTERS] = {"registers", offsetof(nt_block_use, registers)},
    [NT_CURVE_THREADS] = {"threads", offsetof(nt_block_use, threads)},
    [NT_CURVE_SMEM] = {"smem_bytes", offsetof(nt_block_use, smem_bytes)},
};

typedef struct range {
    int64_t first, last, step;
} range;

const char *nt_curve_axis_name(nt_curve_axis axis)
{
    return (unsigned)axis < NT_CURVE_COUNT ? axes[axis].name : "unknown";
}

static int64_t *field(nt_block_use *use, nt_curve_axis axis)
{
    return (int64_t *)(void *)((char *)use + axes[axis].offset);
}

/* An empty range (last < first) where the device does not tell its limit. */
static range range_of(const nt_device_info *device, nt_curve_axis axis)
{
    range ranges[NT_CURVE_COUNT] = {
        [NT_CURVE_REGISTERS] = {FIRST_REGISTERS, MOST_REGISTERS, REGISTER_STEP},
        [NT_CURVE_THREADS] = {device->warp_size, device->max_threads_per_block, device->warp_size},
        [NT_CURVE_SMEM] = {0, device->smem_per_block_bytes, SMEM_STEP},
    };
    return ranges[axis];
}

static nt_curve_point point_at(const nt_device_info *device, const nt_block_use *use, nt_curve_axis axis, int64_t x)
{
    nt_block_use changed = *use;
    int64_t current = *field(&changed, axis);
    *field(&changed, axis) = x;
    return (nt_curve_point){x, x == current, nt_occupancy_of_use(device, &changed)};
}

size_t nt_occupancy_curve(const nt_device_info *device, const nt_block_use *use, nt_curve_axis axis,
                          nt_curve_point **out)
{
    nt_block_use copy = *use;
    int64_t current = *field(&copy, axis);
    range r = range_of(device, axis);
    size_t count = 0;
    *out = NULL;
    if (nt_occupancy_of_use(device, use).blocks_per_sm == NT_UNKNOWN || r.step <= 0 || r.last < r.first)
        return 0;
    nt_curve_point *points = nt_alloc_zero((size_t)((r.last - r.first) / r.step) + 3, sizeof *points);
    bool passed = current == NT_UNKNOWN || current < r.first || current > r.last;
    for (int64_t x = r.first; x <= r.last; x += r.step) {
        if (!passed && current < x)
            points[count++] = point_at(device, use, axis, current);
        passed = passed || current <= x;
        points[count++] = point_at(device, use, axis, x);
    }
    if (!passed)
        points[count++] = point_at(device, use, axis, current);
    if (points[count - 1].x < r.last) /* 255 registers, and all of the shared memory */
        points[count++] = point_at(device, use, axis, r.last);
    *out = points;
    return count;
}

int64_t nt_occupancy_room(const nt_device_info *device, const nt_block_use *use)
{
    nt_occupancy now = nt_occupancy_of_use(device, use);
    nt_block_use less = *use;
    bool registers = now.limiter == NT_LIMIT_REGISTERS;
    if (now.blocks_per_sm == NT_UNKNOWN || (!registers && now.limiter != NT_LIMIT_SMEM))
        return NT_UNKNOWN;
    int64_t *resource = registers ? &less.registers : &less.smem_bytes;
    int64_t step = registers ? 1 : SMEM_UNIT;
    int64_t least = registers ? FIRST_REGISTERS : 0;
    /* Shared memory counts in its unit from zero, so the answer is a multiple of it. */
    for (*resource = (*resource - 1) / step * step; *resource >= least; *resource -= step)
        if (nt_occupancy_of_use(device, &less).blocks_per_sm > now.blocks_per_sm)
            return *resource;
    return NT_UNKNOWN;
}
