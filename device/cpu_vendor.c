/* cpu_vendor.c: the libraries by name, and the threads they make. See cpu_vendor.h. */
#include "device/cpu_vendor.h"

#include "core/str.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static const nt_vendor_ops *const libraries[] = {&nt_vendor_onednn, &nt_vendor_openblas};
enum { LIBRARIES = sizeof libraries / sizeof libraries[0], MOST_CORES = 1024 };

static struct {
    int cpu[MOST_CORES], count;
} cores;

void nt_cpu_vendor_cores(const int *cpus, int count)
{
    cores.count = count < MOST_CORES ? count : MOST_CORES;
    for (int i = 0; i < cores.count; i++)
        cores.cpu[i] = cpus[i];
}

/* Both libraries read these once, when they are loaded. A value that the user set stays. */
static void set_environment(void)
{
    nt_str places = {0};
    char count[16];
    for (int i = 0; i < cores.count; i++)
        nt_str_addf(&places, "%s{%d}", i > 0 ? "," : "", cores.cpu[i]);
    snprintf(count, sizeof count, "%d", cores.count);
    setenv("OMP_NUM_THREADS", count, 0);
    setenv("OMP_PLACES", nt_str_text(&places), 0);
    setenv("OMP_PROC_BIND", "close", 0);
    setenv("GOMP_SPINCOUNT", "20000", 0);
    setenv("OPENBLAS_NUM_THREADS", count, 0);
    setenv("OPENBLAS_THREAD_TIMEOUT", "20", 0); /* spins for 2^20 cycles */
    nt_str_done(&places);
}

/* A library counts the cores that the thread may use, and its threads inherit them: while it is loaded these are all of
 * the device's, not the one that the thread is pinned to. */
static void find(const nt_vendor_ops *ops, nt_vendor_library *out)
{
    cpu_set_t before, all;
    bool widened = cores.count > 0 && sched_getaffinity(0, sizeof before, &before) == 0;
    CPU_ZERO(&all);
    for (int i = 0; i < cores.count; i++)
        if (cores.cpu[i] < CPU_SETSIZE)
            CPU_SET((size_t)cores.cpu[i], &all);
    if (widened) {
        set_environment();
        sched_setaffinity(0, sizeof all, &all);
    }
    ops->find(out);
    if (widened)
        sched_setaffinity(0, sizeof before, &before);
}

void nt_cpu_vendor_libraries(nt_device_info *info)
{
    for (int i = 0; i < LIBRARIES; i++)
        find(libraries[i], &info->library[libraries[i]->vendor]);
}

nt_status nt_cpu_vendor_make(const nt_stage *stage, nt_vendor_call **out, nt_error *err)
{
    for (int i = 0; i < LIBRARIES; i++) {
        nt_vendor_library library = {{0}, {0}};
        if ((int)libraries[i]->vendor != stage->vendor_id)
            continue;
        find(libraries[i], &library);
        if (library.version[0] == '\0')
            return nt_fail(err, NT_LAUNCH_FAILED, "%s cannot be called: %s", nt_vendor_name(libraries[i]->vendor),
                           library.missing);
        return libraries[i]->make(stage, out, err);
    }
    return nt_fail(err, NT_LAUNCH_FAILED, "the cpu device has no library %s",
                   nt_vendor_name((nt_vendor)stage->vendor_id));
}
