/* live.c: one device watched: the chosen source, plain NVML below it, and the change between sources when a sweep wants
 * the counters. Single-threaded: between frames it wakes ten times a second for the source's own needs. */
#include "profiler/live.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/mem.h"
#include "device/counter_lock.h"

static const double step_s = 0.1, retry_s = 1.0, base_every_s = 0.5;

static const nt_live_ops *const all_ops[NT_LIVE_KINDS] = {
    [NT_LIVE_GPM] = &nt_live_gpm_ops,
    [NT_LIVE_PM] = &nt_live_pm_ops,
    [NT_LIVE_NVML] = &nt_live_nvml_ops,
    [NT_LIVE_CPU] = &nt_live_cpu_ops,
};

/* A source in use; ops NULL when none is. */
typedef struct opened {
    const nt_live_ops *ops;
    nt_live_source *source;
} opened;

struct nt_live {
    nt_device_info device;
    bool waits_for_pm; /* pm was asked for and a sweep has the device */
    double retry_at_s;
    opened main, base;        /* base: plain NVML below another source */
    nt_live_frame base_frame; /* as last read: what it holds moves slowly, and asking costs */
    double base_at_s;
    double last_s; /* when the last frame was taken */
    nt_str note;
};

/* ---- choosing ------------------------------------------------------------------------------------------------------ */

static nt_status open_source(nt_live *live, nt_live_kind kind, nt_error *err)
{
    opened next = {all_ops[kind], NULL};
    nt_status status = next.ops->open(&live->device, &next.source, err);
    if (status != NT_OK)
        return status;
    if (live->main.ops != NULL)
        live->main.ops->close(live->main.source);
    live->main = next;
    return NT_OK;
}

/* gpm where the chip has it, else plain NVML, which then says why. */
static nt_status open_holding_nothing(nt_live *live, nt_error *err)
{
    nt_error why = {0};
    if (open_source(live, NT_LIVE_GPM, &why) == NT_OK)
        return NT_OK;
    nt_status status = open_source(live, NT_LIVE_NVML, err);
    if (status == NT_OK)
        nt_str_addf(&live->note, "%s; plain NVML is used, which knows no occupancy or bandwidth", why.what);
    return status;
}

/* NT_BUSY of pm is a sweep, or another sampler: only the first passes by itself. */
static nt_status open_pm(nt_live *live, nt_error *err)
{
    nt_status status = open_source(live, NT_LIVE_PM, err);
    if (status != NT_BUSY || !nt_device_is_swept(live->device.uuid, NULL))
        return status;
    nt_error why;
    nt_str_addf(&live->note, "%s; pm waits until it ends", err != NULL ? err->what : "a sweep is running");
    live->waits_for_pm = true;
    return open_holding_nothing(live, &why);
}

static nt_status open_wanted(nt_live *live, int wanted, nt_error *err)
{
    if (live->device.kind == NT_DEVICE_CPU && wanted >= 0 && wanted != NT_LIVE_CPU) {
        nt_fail(err, NT_USAGE, "a cpu has no source '%s'", nt_live_kind_name((nt_live_kind)wanted));
        return nt_hint(err, "leave --source out; gpm, pm and nvml are for NVIDIA GPUs");
    }
    if (live->device.kind == NT_DEVICE_CPU)
        return open_source(live, NT_LIVE_CPU, err);
    if (wanted < 0)
        return open_holding_nothing(live, err);
    return wanted == NT_LIVE_PM ? open_pm(live, err) : open_source(live, (nt_live_kind)wanted, err);
}

nt_status nt_live_open(const nt_device_info *device, int wanted, nt_live **out, nt_error *err)
{
    nt_live *live = nt_alloc_zero(1, sizeof *live);
    live->device = *device;
    *out = NULL;
    nt_status status = open_wanted(live, wanted, err);
    if (status != NT_OK) {
        nt_live_close(live);
        return status;
    }
    bool needs_base = device->kind == NT_DEVICE_CUDA && live->main.ops->kind != NT_LIVE_NVML;
    live->base.ops = &nt_live_nvml_ops;
    if (!needs_base || live->base.ops->open(device, &live->base.source, NULL) != NT_OK)
        live->base.ops = NULL;
    nt_live_frame_init(&live->base_frame);
    live->last_s = nt_now_s();
    *out = live;
    return NT_OK;
}

void nt_live_close(nt_live *live)
{
    if (live == NULL)
        return;
    if (live->main.ops != NULL)
        live->main.ops->close(live->main.source);
    if (live->base.ops != NULL)
        live->base.ops->close(live->base.source);
    nt_str_done(&live->note);
    free(live);
}

nt_live_kind nt_live_source_now(const nt_live *live)
{
    return live->main.ops->kind;
}

void nt_live_note(nt_live *live, nt_str *out)
{
    nt_str_add(out, nt_str_text(&live->note));
    nt_str_clear(&live->note);
}

/* ---- frames ---------------------------------------------------------------------------------------------------------- */

static nt_status give_way(nt_live *live, nt_error *err)
{
    bool swept = nt_device_is_swept(live->device.uuid, NULL);
    nt_str_addf(&live->note, "%s: pm gave the counters back and waits until %s",
                err != NULL && err->what[0] != '\0' ? err->what : "a sweep wants the device",
                swept ? "it ends" : "they are free");
    live->waits_for_pm = true;
    live->retry_at_s = nt_now_s() + retry_s;
    return open_holding_nothing(live, err);
}

static void try_pm_again(nt_live *live)
{
    if (nt_now_s() < live->retry_at_s || nt_device_is_swept(live->device.uuid, NULL))
        return;
    live->retry_at_s = nt_now_s() + retry_s;
    if (open_source(live, NT_LIVE_PM, NULL) != NT_OK)
        return;
    live->waits_for_pm = false;
    nt_str_add(&live->note, "the counters are free: pm samples again");
}

static nt_status poll_source(nt_live *live, nt_error *err)
{
    if (live->waits_for_pm)
        try_pm_again(live);
    if (live->main.ops->poll == NULL)
        return NT_OK;
    nt_error why = {0};
    nt_status status = live->main.ops->poll(live->main.source, &why);
    if (status == NT_BUSY)
        return give_way(live, &why);
    if (status != NT_OK && err != NULL)
        *err = why;
    return status;
}

static void sleep_s(double seconds)
{
    if (seconds <= 0)
        return;
    struct timespec t = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    nanosleep(&t, NULL); /* a signal ends it early, and the caller looks at its flag */
}

static nt_status poll_all(nt_live *const *lives, int count, int *failed, nt_error *err)
{
    for (int i = 0; i < count; i++) {
        nt_status status = poll_source(lives[i], err);
        if (status == NT_OK)
            continue;
        if (failed != NULL)
            *failed = i;
        return status;
    }
    return NT_OK;
}

nt_status nt_live_wait(nt_live *const *lives, int count, double seconds, const atomic_bool *stop, int *failed,
                       nt_error *err)
{
    double span_s = seconds, left_s;
    for (int i = 0; i < count; i++)
        span_s = fmax(span_s, lives[i]->main.ops->shortest_s);
    double until_s = lives[0]->last_s + span_s;
    while ((left_s = until_s - nt_now_s()) > 0) {
        if (stop != NULL && *stop)
            return NT_TIMED_OUT;
        sleep_s(fmin(left_s, step_s));
        nt_status status = poll_all(lives, count, failed, err);
        if (status != NT_OK)
            return status;
    }
    return stop != NULL && *stop ? NT_TIMED_OUT : NT_OK;
}

nt_status nt_live_read(nt_live *live, nt_live_frame *out, nt_error *err)
{
    double begin = nt_now_s();
    if (live->base.ops != NULL && begin - live->base_at_s >= base_every_s) {
        nt_live_frame_init(&live->base_frame);
        live->base.ops->read(live->base.source, &live->base_frame, NULL);
        live->base_at_s = begin;
    }
    *out = live->base_frame;
    nt_error why = {0};
    nt_status status = live->main.ops->read(live->main.source, out, &why);
    if (status == NT_BUSY) /* somebody else took the counters in the middle */
        status = give_way(live, &why) == NT_OK ? NT_TIMED_OUT : NT_BUSY;
    if (status != NT_OK && err != NULL)
        *err = why;
    double now = nt_now_s();
    out->unix_s = nt_unix_s() - (isnan(out->lag_s) ? 0 : out->lag_s);
    if (isnan(out->span_s))
        out->span_s = now - live->last_s;
    live->last_s = now;
    return status == NT_TIMED_OUT ? NT_OK : status; /* nothing new is unknown, not wrong */
}
