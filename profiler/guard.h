/* guard.h: device buffers between guard zones, so that a kernel that writes outside its buffer is found out. */
#ifndef NT_GUARD_H
#define NT_GUARD_H

#include "device/device.h"

enum { NT_GUARD_BYTES = 4096, NT_GUARD_PATTERN = 0xA7, NT_POISON = 0xFF };

typedef struct nt_guarded {
    nt_mem base;  /* allocation; 0 when empty */
    nt_mem data;  /* base + NT_GUARD_BYTES */
    size_t bytes; /* of data in use; the rear guard follows at once */
    size_t capacity;
} nt_guarded;

/* Makes room for `bytes` (an empty buffer gets none) and writes both guards. Contents are not kept. */
nt_status nt_guarded_resize(const nt_device_ops *ops, nt_device *device, nt_guarded *buffer, size_t bytes,
                            nt_error *err);

/* Bytes changed in the guards: 0 when all is well. */
nt_status nt_guarded_check(const nt_device_ops *ops, nt_device *device, const nt_guarded *buffer, size_t *front,
                           size_t *rear, nt_error *err);

/* Writes both guards anew, after a kernel broke them. */
nt_status nt_guarded_mend(const nt_device_ops *ops, nt_device *device, const nt_guarded *buffer, nt_error *err);

void nt_guarded_free(const nt_device_ops *ops, nt_device *device, nt_guarded *buffer);

#endif
