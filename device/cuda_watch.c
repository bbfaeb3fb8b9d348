/* cuda_watch.c: temperature, power and throttle reasons beside the timing. A thread asks NVML ten times a second;
 * begin and end only mark a window in what it saw, so that short trials pay nothing for it. */
#include "core/clock.h"
#include "device/cuda_device.h"

#ifdef NT_HAVE_CUDA_H

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "core/mem.h"
#include "core/stats.h"
#include "device/nvml.h"

enum { PERIOD_MS = 100, FIRST_READING_MS = 500, THROTTLE_IDLE = 1 };
static const double shortest_power_s = 1.0; /* NVML's power and energy move about ten times a second */

/* What was seen since the window began. */
typedef struct window {
    double begin_s;
    int count, temperatures, powers;
    double temperature_sum, power_sum;
    int64_t throttle;
    double energy_first_mj, energy_first_s, energy_last_mj, energy_last_s; /* NAN before the first */
} window;

struct nt_cuda_watch {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stop, seen;
    nt_nvml_device device;
    nt_nvml_reading latest;
    window now;
};

/* Idle is a reason for a low clock, but no throttling. */
static int64_t throttle_of(const nt_nvml_reading *reading)
{
    return reading->throttle_mask == NT_UNKNOWN ? NT_UNKNOWN : reading->throttle_mask & ~(int64_t)THROTTLE_IDLE;
}

static window window_from(double begin_s)
{
    return (window){.begin_s = begin_s, .throttle = NT_UNKNOWN, .energy_first_mj = NAN, .energy_last_mj = NAN};
}

static void add_reading(window *w, const nt_nvml_reading *reading, double at_s)
{
    int64_t throttle = throttle_of(reading);
    w->count++;
    if (isfinite(reading->temperature_c)) {
        w->temperature_sum += reading->temperature_c;
        w->temperatures++;
    }
    if (isfinite(reading->power_mw)) {
        w->power_sum += reading->power_mw;
        w->powers++;
    }
    if (throttle != NT_UNKNOWN)
        w->throttle = (w->throttle == NT_UNKNOWN ? 0 : w->throttle) | throttle;
    if (!isfinite(reading->energy_mj))
        return;
    if (!isfinite(w->energy_first_mj)) {
        w->energy_first_mj = reading->energy_mj;
        w->energy_first_s = at_s;
    }
    w->energy_last_mj = reading->energy_mj;
    w->energy_last_s = at_s;
}

static void wait_until(nt_cuda_watch *watch, int milliseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)milliseconds * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&watch->changed, &watch->lock, &until);
}

static void *watch_loop(void *context)
{
    nt_cuda_watch *watch = context;
    pthread_mutex_lock(&watch->lock);
    while (!watch->stop) {
        nt_nvml_reading reading;
        pthread_mutex_unlock(&watch->lock);
        nt_nvml_read(watch->device, &reading); /* may take a while: not under the lock */
        pthread_mutex_lock(&watch->lock);
        watch->latest = reading;
        add_reading(&watch->now, &reading, nt_now_s());
        if (!watch->seen) {
            watch->seen = true;
            pthread_cond_broadcast(&watch->changed);
        }
        if (!watch->stop)
            wait_until(watch, PERIOD_MS);
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

nt_cuda_watch *nt_cuda_watch_start(const char *uuid)
{
    nt_nvml_device device = NULL;
    pthread_condattr_t monotonic;
    sigset_t all, before;
    if (nt_nvml_find(uuid, &device, NULL) != NT_OK)
        return NULL;
    nt_cuda_watch *watch = nt_alloc_zero(1, sizeof *watch);
    watch->device = device;
    watch->now = window_from(nt_now_s());
    pthread_mutex_init(&watch->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&watch->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    /* Signals are the main thread's business. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&watch->thread, NULL, watch_loop, watch);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed == 0)
        return watch;
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
    return NULL;
}

void nt_cuda_watch_stop(nt_cuda_watch *watch)
{
    if (watch == NULL)
        return;
    pthread_mutex_lock(&watch->lock);
    watch->stop = true;
    pthread_cond_broadcast(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

void nt_cuda_conditions_begin(nt_device *device)
{
    device->clock_count = 0;
    if (!device->watch_tried)
        device->watch = nt_cuda_watch_start(device->info.uuid);
    device->watch_tried = true;
    nt_cuda_watch *watch = device->watch;
    if (watch == NULL)
        return;
    pthread_mutex_lock(&watch->lock);
    if (!watch->seen)
        wait_until(watch, FIRST_READING_MS);
    watch->now = window_from(nt_now_s());
    pthread_mutex_unlock(&watch->lock);
}

static void fill_power(const window *w, double length_s, nt_conditions *out)
{
    if (length_s < shortest_power_s)
        return;
    double between_s = w->energy_last_s - w->energy_first_s;
    if (isfinite(w->energy_first_mj) && between_s > shortest_power_s / 2)
        out->power_mw = (w->energy_last_mj - w->energy_first_mj) / between_s; /* mJ a second are mW */
    else if (w->powers > 0)
        out->power_mw = w->power_sum / w->powers;
    out->energy_mj = out->power_mw * length_s;
}

void nt_cuda_conditions_end(nt_device *device, nt_conditions *out)
{
    *out = (nt_conditions){NAN, NAN, NAN, NAN, NT_UNKNOWN};
    out->sm_clock_mhz = nt_median(device->clock, device->clock_count);
    nt_cuda_watch *watch = device->watch;
    if (watch == NULL)
        return;
    pthread_mutex_lock(&watch->lock);
    window w = watch->now;
    double length_s = nt_now_s() - w.begin_s;
    /* A window between two readings takes the one before it, at most a period old. */
    if (w.count == 0 && watch->seen)
        add_reading(&w, &watch->latest, w.begin_s);
    pthread_mutex_unlock(&watch->lock);
    if (w.temperatures > 0)
        out->temperature_c = w.temperature_sum / w.temperatures;
    out->throttle_mask = w.throttle;
    fill_power(&w, length_s, out);
}

#endif
