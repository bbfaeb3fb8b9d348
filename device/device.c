/* device.c: the kinds of device by name. The structs of functions are in cpu_device.c, cuda_device.c and fake.c. */
#include "device/device.h"

#include <stdio.h>
#include <string.h>

enum { MAX_ORDINAL = 1023 };

static const nt_device_ops *const ops_of_kind[NT_DEVICE_KIND_COUNT] = {
    [NT_DEVICE_CPU] = &nt_device_cpu_ops,
    [NT_DEVICE_CUDA] = &nt_device_cuda_ops,
    [NT_DEVICE_FAKE] = &nt_device_fake_ops,
};

const nt_device_ops *nt_device_ops_of(nt_device_kind kind)
{
    return (unsigned)kind < NT_DEVICE_KIND_COUNT ? ops_of_kind[kind] : NULL;
}

/* The fake device is for tests: it works when named and is never suggested. */
static nt_status unknown(const char *text, nt_error *err)
{
    static const char *const shown[] = {"cuda", "cpu"};
    nt_fail(err, NT_USAGE, "unknown device '%.64s': use cpu, cuda, or cuda:N for the N-th GPU", text);
    int near = nt_nearest(text, shown, 2);
    return near < 0 ? NT_USAGE : nt_hint(err, "did you mean '%s'?", shown[near]);
}

nt_status nt_device_parse(const char *text, nt_device_kind *kind, int *ordinal, nt_error *err)
{
    const char *colon = strchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    long long number = 0;
    for (int k = 0; k < NT_DEVICE_KIND_COUNT; k++) {
        const char *name = ops_of_kind[k]->name;
        if (strlen(name) != length || strncmp(name, text, length) != 0)
            continue;
        if (colon != NULL && k == NT_DEVICE_CPU)
            return nt_fail(err, NT_USAGE, "device '%.64s': there is one %s, written '%s'", text, name, name);
        /* Leading signs and blanks would parse as numbers but name no device. */
        if (colon != NULL &&
            (colon[1] < '0' || colon[1] > '9' || !nt_parse_i64(colon + 1, &number) || number > MAX_ORDINAL))
            return nt_fail(err, NT_USAGE, "device '%.64s': after '%s:' comes the number of a GPU, 0 to %d", text, name,
                           MAX_ORDINAL);
        *kind = (nt_device_kind)k;
        *ordinal = (int)number;
        return NT_OK;
    }
    return unknown(text, err);
}
