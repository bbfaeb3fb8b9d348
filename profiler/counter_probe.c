/* counter_probe.c: see counter_probe.h. The child writes the plain struct into a pipe as it learns more, so what it
 * knew before a crash is kept. */
#include "profiler/counter_probe.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "device/counter_lock.h"
#include "device/cuda_device.h"
#include "device/device.h"
#include "profiler/cupti_api.h"
#include "profiler/cupti_pm.h"
#include "profiler/cupti_range.h"

enum { PROBE_BYTES = 4096, PROBE_RANGES = 16 };

static void keep(nt_probe_result *out, nt_status status, const nt_error *err)
{
    out->status = status;
    nt_copy(out->what, sizeof out->what, err->what);
    nt_copy(out->hint, sizeof out->hint, err->hint);
}

static void set_untried(nt_probe_result *out, const char *why)
{
    *out = (nt_probe_result){.status = NT_FAILED};
    nt_copy(out->what, sizeof out->what, why);
}

/* ---- in the child ---------------------------------------------------------------------------------------------------- */

static void probe_library(nt_counter_probe *out)
{
    const nt_cupti_api *api;
    const char *path = NULL;
    nt_error err = {0};
    nt_status status = nt_cupti_api_get(&api, &path, &err);
    keep(&out->library, status, &err);
    if (status != NT_OK)
        return;
    nt_copy(out->cupti_path, sizeof out->cupti_path, path);
    if (api->version(&out->cupti_version) != 0)
        out->cupti_version = 0;
}

#ifdef NT_HAVE_CUDA_H

static nt_status count_one_kernel(const nt_device_ops *ops, nt_device *device, nt_cupti_range *session, nt_error *err)
{
    nt_mem memory = 0;
    size_t changed, ranges = 0, dropped = 0, launch = 0;
    bool more = false;
    double values[2] = {NAN, NAN};
    nt_status status = ops->alloc(device, PROBE_BYTES, &memory, err);
    if (status == NT_OK)
        status = nt_cupti_range_start(session, err);
    if (status == NT_OK) {
        status = ops->count_changed(device, memory, 0, PROBE_BYTES, &changed, err);
        nt_status stopped = nt_cupti_range_stop(session, &more, status == NT_OK ? err : NULL);
        status = status == NT_OK ? stopped : status;
    }
    if (status == NT_OK)
        status = nt_cupti_range_decode(session, &ranges, &dropped, err);
    if (status == NT_OK && ranges == 0)
        status = nt_fail(err, NT_FAILED, "a kernel ran and CUPTI counted none");
    if (status == NT_OK)
        status = nt_cupti_range_values(session, 0, &launch, values, err);
    if (status == NT_OK && !(values[0] > 0))
        status = nt_fail(err, NT_FAILED, "a kernel ran and its cycles were counted as %g", values[0]);
    ops->free(device, memory);
    return status;
}

static nt_status probe_session(const nt_device_ops *ops, nt_device *device, char chip[NT_CHIP_BYTES], nt_error *err)
{
    static const char *const metric[] = {"sm__cycles_active.sum"};
    CUdevice handle;
    CUcontext context;
    nt_cuda_native(device, &handle, &context);
    nt_cupti_target target = {ops->info(device)->ordinal, handle, context};
    nt_cupti_image available = {0};
    nt_metric_plan *plan = NULL;
    nt_cupti_range *session = NULL;
    nt_status status = nt_cupti_range_probe(&target, chip, err);
    if (status == NT_OK)
        status = nt_cupti_range_available(&target, &available, err);
    if (status == NT_OK)
        status = nt_metric_plan_open(NT_CUPTI_RANGES, chip, &available, metric, 1, 1, &plan, err);
    if (status == NT_OK)
        status = nt_cupti_range_open(&target, plan, PROBE_RANGES, &session, err);
    if (status == NT_OK)
        status = count_one_kernel(ops, device, session, err);
    nt_cupti_range_close(session);
    nt_metric_plan_close(plan);
    nt_cupti_image_done(&available);
    return status;
}

static void probe_ranges(const nt_device_ops *ops, nt_device *device, nt_counter_probe *out)
{
    nt_error err = {0};
    nt_status status = probe_session(ops, device, out->chip, &err);
    keep(&out->ranges, status, &err);
}

#else

static void probe_ranges(const nt_device_ops *ops, nt_device *device, nt_counter_probe *out)
{
    (void)ops, (void)device;
    set_untried(&out->ranges, "this nntune was built without CUDA's headers, so it cannot count");
}

#endif

static void probe_sampling(int ordinal, nt_counter_probe *out)
{
    nt_pm *pm = NULL;
    nt_error err = {0};
    nt_status status = nt_pm_open(ordinal, &pm, &err);
    keep(&out->sampling, status, &err);
    if (status == NT_OK)
        nt_copy(out->sampling.what, sizeof out->sampling.what, nt_pm_plan_of(pm)->set);
    nt_pm_close(pm);
}

static void tell(int fd, const nt_counter_probe *out)
{
    const char *at = (const char *)out;
    size_t left = sizeof *out;
    while (left > 0) {
        ssize_t wrote = write(fd, at, left);
        if (wrote <= 0)
            _exit(1);
        at += wrote;
        left -= (size_t)wrote;
    }
}

static void probe_in_child(int ordinal, int fd, nt_counter_probe *out)
{
    const nt_device_ops *ops = nt_device_ops_of(NT_DEVICE_CUDA);
    nt_device *device = NULL;
    nt_counter_lock lock = {-1};
    nt_error err = {0};
    probe_library(out);
    tell(fd, out);
    nt_status status = ops->open(ordinal, &device, &err);
    if (status == NT_OK)
        status = nt_counter_lock_try(ops->info(device)->uuid, &lock, &err);
    keep(&out->ranges, status, &err);
    keep(&out->sampling, status, &err);
    if (status == NT_OK && out->library.status == NT_OK) {
        set_untried(&out->ranges, "CUPTI ended the process that tried to count a kernel");
        set_untried(&out->sampling, "not tried, because counting a kernel went wrong");
        tell(fd, out);
        probe_ranges(ops, device, out);
        set_untried(&out->sampling, "CUPTI ended the process that tried to sample");
        tell(fd, out);
        probe_sampling(ordinal, out);
    } else if (status == NT_OK) {
        out->ranges = out->sampling = out->library;
    }
    tell(fd, out);
    nt_counter_lock_release(&lock);
    _exit(0); /* without the libraries' own ends: they were asked for what they know */
}

/* ---- in the parent ------------------------------------------------------------------------------------------------------ */

/* Whole structs alone replace what is known. False when time is up. */
static bool listen(int fd, double until_s, nt_counter_probe *out)
{
    nt_counter_probe next;
    size_t have = 0;
    for (double left_s; (left_s = until_s - nt_now_s()) > 0;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (poll(&wait, 1, (int)(left_s * 1e3) + 1) < 0 && errno != EINTR)
            return true;
        if (wait.revents == 0)
            continue;
        ssize_t got = read(fd, (char *)&next + have, sizeof next - have);
        if (got <= 0)
            return true;
        have += (size_t)got;
        if (have < sizeof next)
            continue;
        *out = next;
        have = 0;
    }
    return false;
}

void nt_counter_probe_run(int ordinal, double seconds, nt_counter_probe *out)
{
    int ends[2];
    memset(out, 0, sizeof *out);
    set_untried(&out->library, "the process that looks at CUPTI could not be started");
    out->ranges = out->sampling = out->library;
    if (pipe(ends) != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        probe_in_child(ordinal, ends[1], out);
    }
    close(ends[1]);
    bool answered = child > 0 && listen(ends[0], nt_now_s() + seconds, out);
    if (child > 0 && !answered) {
        kill(child, SIGKILL);
        set_untried(&out->ranges, "counting one kernel did not end in time");
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    close(ends[0]);
}
