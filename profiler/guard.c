#include "profiler/guard.h"

nt_status nt_guarded_mend(const nt_device_ops *ops, nt_device *device, const nt_guarded *buffer, nt_error *err)
{
    nt_status status = ops->fill(device, buffer->base, NT_GUARD_PATTERN, NT_GUARD_BYTES, err);
    if (status == NT_OK)
        status = ops->fill(device, buffer->data + buffer->bytes, NT_GUARD_PATTERN, NT_GUARD_BYTES, err);
    return status;
}

nt_status nt_guarded_resize(const nt_device_ops *ops, nt_device *device, nt_guarded *buffer, size_t bytes,
                            nt_error *err)
{
    if (buffer->base == 0 || bytes > buffer->capacity) {
        nt_guarded_free(ops, device, buffer);
        nt_status status = ops->alloc(device, bytes + 2 * (size_t)NT_GUARD_BYTES, &buffer->base, err);
        if (status != NT_OK)
            return status;
        buffer->capacity = bytes;
    }
    buffer->data = buffer->base + NT_GUARD_BYTES;
    buffer->bytes = bytes;
    return nt_guarded_mend(ops, device, buffer, err);
}

nt_status nt_guarded_check(const nt_device_ops *ops, nt_device *device, const nt_guarded *buffer, size_t *front,
                           size_t *rear, nt_error *err)
{
    size_t before = 0, after = 0;
    nt_status status = NT_OK;
    if (buffer->base != 0)
        status = ops->count_changed(device, buffer->base, NT_GUARD_PATTERN, NT_GUARD_BYTES, &before, err);
    if (buffer->base != 0 && status == NT_OK)
        status =
            ops->count_changed(device, buffer->data + buffer->bytes, NT_GUARD_PATTERN, NT_GUARD_BYTES, &after, err);
    *front = before;
    *rear = after;
    return status;
}

void nt_guarded_free(const nt_device_ops *ops, nt_device *device, nt_guarded *buffer)
{
    ops->free(device, buffer->base);
    *buffer = (nt_guarded){0};
}
