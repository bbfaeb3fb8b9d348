/* cpu_check.h: looking at results on the cpu: comparison with the fp64 reference, and guard zones. */
#ifndef NT_CPU_CHECK_H
#define NT_CPU_CHECK_H

#include "device/cpu_pool.h"
#include "device/device.h"

/* As nt_device_ops.compare. */
nt_status nt_cpu_compare(nt_cpu_pool *pool, const nt_compare_request *request, nt_compare_result *out, nt_error *err);

/* Bytes in [at, at + bytes) that differ from `byte`. */
size_t nt_cpu_count_changed(const unsigned char *at, unsigned char byte, size_t bytes);

#endif
