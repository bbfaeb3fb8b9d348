/* live_pm.c: PM sampling as a source: takes the lock of the counters, never beside a sweep, and gives both back as soon
 * as a sweep owns the device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "device/counter_lock.h"
#include "profiler/cupti_pm.h"
#include "profiler/live.h"

struct nt_live_source {
    char uuid[64];
    nt_counter_lock lock;
    nt_pm *pm;
    double taken_at_s;
};

static void let_go(nt_live_source *source)
{
    nt_pm_close(source->pm);
    source->pm = NULL;
    nt_counter_lock_release(&source->lock);
}

static nt_status open_pm(const nt_device_info *device, nt_live_source **out, nt_error *err)
{
    nt_live_source *source = nt_alloc_zero(1, sizeof *source);
    *out = NULL;
    nt_copy(source->uuid, sizeof source->uuid, device->uuid);
    nt_status status = nt_counter_lock_try(device->uuid, &source->lock, err);
    if (status == NT_OK)
        status = nt_pm_open(device->ordinal, &source->pm, err);
    if (status == NT_OK) {
        source->taken_at_s = nt_now_s();
        *out = source;
        return NT_OK;
    }
    let_go(source);
    free(source);
    return status;
}

static nt_status poll_pm(nt_live_source *source, nt_error *err)
{
    int64_t pid;
    if (!nt_device_is_swept(source->uuid, &pid))
        return nt_pm_decode(source->pm, err);
    let_go(source);
    return nt_fail(err, NT_BUSY, "process %lld sweeps the device", (long long)pid);
}

/* A share is never far above 100 %: a value that is comes from a counter that cannot be trusted. */
static double plausible(nt_live_field field, double value)
{
    const double most_pct = 105;
    const char *name = nt_live_field_name(field), *end = strstr(name, "_pct");
    return end != NULL && value > most_pct ? (double)NAN : value;
}

/* What the set left out, told from the rest. */
static void derive(nt_live_frame *frame)
{
    double active = frame->value[NT_LIVE_SM_ACTIVE], dram = frame->value[NT_LIVE_DRAM];
    double reads = frame->value[NT_LIVE_DRAM_READ_RATE], writes = frame->value[NT_LIVE_DRAM_WRITE_RATE];
    if (active > 1)
        nt_live_set(frame, NT_LIVE_PM, NT_LIVE_OCCUPANCY_ACTIVE, 100 * frame->value[NT_LIVE_OCCUPANCY] / active);
    if (reads + writes > 0 && isnan(frame->value[NT_LIVE_DRAM_READ])) {
        nt_live_set(frame, NT_LIVE_PM, NT_LIVE_DRAM_READ, dram * reads / (reads + writes));
        nt_live_set(frame, NT_LIVE_PM, NT_LIVE_DRAM_WRITE, dram * writes / (reads + writes));
    }
    if (isnan(dram))
        nt_live_set(frame, NT_LIVE_PM, NT_LIVE_DRAM,
                    frame->value[NT_LIVE_DRAM_READ] + frame->value[NT_LIVE_DRAM_WRITE]);
}

static nt_status read_pm(nt_live_source *source, nt_live_frame *frame, nt_error *err)
{
    nt_pm_average now;
    nt_status status = nt_pm_decode(source->pm, err);
    if (status != NT_OK)
        return status;
    const nt_pm_plan *plan = nt_pm_plan_of(source->pm);
    double read_at_s = nt_now_s();
    nt_pm_take(source->pm, read_at_s - source->taken_at_s, &now);
    source->taken_at_s = read_at_s;
    for (int i = 0; i < plan->count; i++)
        nt_live_set(frame, NT_LIVE_PM, plan->metric[i].field, plausible(plan->metric[i].field, now.value[i]));
    derive(frame);
    frame->samples = now.samples;
    frame->lost = now.lost;
    frame->lag_s = now.lag_s;
    if (now.samples > 0)
        frame->span_s = now.span_s;
    return NT_OK;
}

static void close_pm(nt_live_source *source)
{
    let_go(source);
    free(source);
}

const nt_live_ops nt_live_pm_ops = {
    .kind = NT_LIVE_PM, .shortest_s = 0.1, .open = open_pm, .poll = poll_pm, .read = read_pm, .close = close_pm};
