/* lock.h: one sweep a device at a time. A lock file named by the device's UUID in a folder shared by all users, held by
 * flock while the sweep lives and holding its pid for the message. The kernel releases it however the sweep ends. */
#ifndef NT_LOCK_H
#define NT_LOCK_H

#include "core/status.h"

typedef struct nt_lock {
    int fd; /* -1: not held */
} nt_lock;

/* NT_BUSY names the pid of the holder. */
nt_status nt_lock_try(const char *uuid, nt_lock *out, nt_error *err);
void nt_lock_release(nt_lock *lock);

#endif
