/* counters_device.h: a device that launches into the CUPTI that is not there (cupti_fake.h): each kernel lasts grid x, and
 * its value is grid y. */
#ifndef COUNTERS_DEVICE_H
#define COUNTERS_DEVICE_H

#include <math.h>
#include <string.h>

#include "device/cuda_device.h"
#include "profiler/counters.h"
#include "profiler/cupti_range.h"
#include "tests/unit/cupti_fake.h"

static int runs, sweeps, fail_at_run;
static nt_status fail_with;
static uint64_t last_input[512];

static nt_status run_plan(nt_device *device, nt_module *module, const nt_plan *plan, bool prepare,
                          const nt_binding *binding, double *elapsed_ns, nt_error *err)
{
    (void)device, (void)module, (void)prepare, (void)elapsed_ns;
    last_input[runs % 512] = binding->address[NT_ROLE_IN];
    if (++runs == fail_at_run)
        return nt_fail(err, fail_with, "the launch of the test");
    for (int i = 0; i < plan->stage_count; i++)
        if (plan->stage[i].kind == NT_STAGE_KERNEL ||
            (plan->stage[i].kind == NT_STAGE_ZERO && plan->stage[i].grid[0] > 0))
            fake_launch(plan->stage[i].grid[0], plan->stage[i].grid[1]);
    return NT_OK;
}

static nt_status alloc_memory(nt_device *device, size_t bytes, nt_mem *out, nt_error *err)
{
    (void)device, (void)err;
    *out = bytes;
    fake.live++;
    return NT_OK;
}

static void free_memory(nt_device *device, nt_mem memory)
{
    (void)device;
    fake.live -= memory != 0;
}

static nt_status fill_memory(nt_device *device, nt_mem to, unsigned char byte, size_t bytes, nt_error *err)
{
    (void)device, (void)to, (void)byte, (void)bytes, (void)err;
    return NT_OK;
}

static nt_status sweep_memory(nt_device *device, nt_mem at, unsigned char byte, size_t bytes, size_t *changed,
                              nt_error *err)
{
    (void)device, (void)at, (void)byte, (void)err;
    assert_int_equal(bytes, 2 << 20);
    assert_false(fake.counting);
    *changed = 0;
    sweeps++;
    return NT_OK;
}

static nt_device device;

static const nt_device_info *device_info(const nt_device *of)
{
    return &of->info;
}

static const nt_device_ops ops = {.name = "cuda",
                                  .kind = NT_DEVICE_CUDA,
                                  .info = device_info,
                                  .run = run_plan,
                                  .alloc = alloc_memory,
                                  .free = free_memory,
                                  .fill = fill_memory,
                                  .count_changed = sweep_memory};

static int start_anew(void **state)
{
    (void)state;
    fake_reset();
    runs = sweeps = fail_at_run = 0;
    fail_with = NT_LAUNCH_FAILED;
    nt_device_info_init(&device.info, NT_DEVICE_CUDA);
    device.info.ordinal = 0;
    device.info.l2_bytes = 1 << 20;
    return 0;
}

static int leave_nothing(void **state)
{
    (void)state;
    nt_cupti_api_use(NULL);
    return fake.live == 0 && !fake.poisoned && !fake.counting ? 0 : -1;
}

static nt_counters *open_with(const char *const *metrics, size_t count)
{
    nt_counters *counters = NULL;
    nt_error err = {0};
    if (nt_counters_open(&ops, &device, metrics, count, 0, &counters, &err) != NT_OK)
        fail_msg("%s", err.what);
    return counters;
}

/* ---- plans and targets ---- */

enum { MOST = 2 * NT_COUNTERS_BATCH + 22, SECOND = NT_COUNTERS_BATCH + 6 };
static nt_plan plans[MOST];
static nt_target targets[MOST];
static nt_binding ring[3] = {
    {.address = {[NT_ROLE_IN] = 100}}, {.address = {[NT_ROLE_IN] = 101}}, {.address = {[NT_ROLE_IN] = 102}}};
static size_t position;

static void kernel(nt_plan *plan, uint32_t duration, uint32_t value)
{
    nt_stage_kernel(&plan->stage[plan->stage_count++], "k", duration, value, 1, 32, 1, 1);
}

static nt_target *make_targets(size_t count)
{
    memset(plans, 0, sizeof plans);
    position = 0;
    for (size_t i = 0; i < count; i++)
        targets[i] = (nt_target){&ops, &device, NULL, &plans[i], ring, 3, &position, NULL, NULL};
    return targets;
}

#endif
