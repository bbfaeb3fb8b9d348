/* counter_lock.h: who may use a GPU's hardware counters.
 *
 * Two files of a device in the folder of locks, each held by flock and holding its holder's pid:
 *   UUID.lock      a sweep owns the device (autotune/lock.h takes it)
 *   UUID.counters  somebody samples counters over the whole device
 * A sampler takes UUID.counters, never while a sweep owns the device, and looks ten times a second: as soon as a sweep
 * owns it, the sampler stops and lets go. A sweep that has taken the device waits until UUID.counters is free, a second
 * at most, before its first timing. The kernel releases both however their holder ends. */
#ifndef NT_COUNTER_LOCK_H
#define NT_COUNTER_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

typedef struct nt_counter_lock {
    int fd; /* -1: not held */
} nt_counter_lock;

/* NT_BUSY names the sweep or the sampler that is in the way. */
nt_status nt_counter_lock_try(const char *uuid, nt_counter_lock *out, nt_error *err);
void nt_counter_lock_release(nt_counter_lock *lock);

/* Is a sweep running on the device? *pid (may be NULL) is its process, 0 when unknown. Takes nothing that a starting
 * sweep could stumble over. */
bool nt_device_is_swept(const char *uuid, int64_t *pid);

/* For the sweep, once it owns the device: NT_OK when no sampler holds the counters, or none any more within `seconds`;
 * NT_TIMED_OUT names the process that does not let go. */
nt_status nt_counter_lock_wait(const char *uuid, double seconds, nt_error *err);

#endif
