/* checked_device.h: for tests of verification: the fake device's memory, real comparisons, and kernels that are
 * functions of the test: run() calls them with the addresses that a launch would get. */
#ifndef NT_TEST_CHECKED_DEVICE_H
#define NT_TEST_CHECKED_DEVICE_H

#include <sched.h>

#include "device/cpu_check.h"
#include "device/device.h"

typedef void (*checked_kernel)(const nt_plan *plan, bool prepare, const nt_binding *binding);

static struct {
    nt_device_ops ops;
    nt_device *device;
    nt_cpu_pool *pool;
    checked_kernel kernel;
    nt_status run_status; /* what run() answers after the kernel */
    int runs, prepares;
} checked;

static inline nt_status checked_run(nt_device *device, nt_module *module, const nt_plan *plan, bool prepare,
                                    const nt_binding *binding, double *elapsed_ns, nt_error *err)
{
    (void)device;
    (void)module;
    checked.kernel(plan, prepare, binding);
    *(prepare ? &checked.prepares : &checked.runs) += 1;
    if (elapsed_ns != NULL)
        *elapsed_ns = prepare ? 500 : 1000.0 / checked.runs;
    return checked.run_status == NT_OK ? NT_OK : nt_fail(err, checked.run_status, "scripted");
}

static inline nt_status checked_compare(nt_device *device, const nt_compare_request *request, nt_compare_result *out,
                                        nt_error *err)
{
    (void)device;
    return nt_cpu_compare(checked.pool, request, out, err);
}

static inline int checked_open(void **state)
{
    (void)state;
    cpu_set_t allowed;
    int cpu = 0;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return -1;
    while (!CPU_ISSET(cpu, &allowed))
        cpu++;
    checked.ops = nt_device_fake_ops;
    checked.ops.run = checked_run;
    checked.ops.compare = checked_compare;
    checked.run_status = NT_OK;
    checked.runs = checked.prepares = 0;
    if (nt_cpu_pool_open(&cpu, 1, &checked.pool, NULL) != NT_OK)
        return -1;
    return checked.ops.open(0, &checked.device, NULL) == NT_OK ? 0 : -1;
}

static inline int checked_close(void **state)
{
    (void)state;
    checked.ops.close(checked.device);
    nt_cpu_pool_close(checked.pool);
    return 0;
}

static inline void *checked_at(nt_mem memory)
{
    return (void *)(uintptr_t)memory;
}

#endif
