/* test_counters.c: hardware counters with a CUPTI that is not there (cupti_fake.h): every error code in words, which
 * range is whose, sums and weighted means, batches, passes, cold and hot, what is lost, launches that fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "profiler/counters.h"

#if defined(NT_HAVE_CUPTI_H) && defined(NT_HAVE_CUDA_H)

#include "device/cuda_device.h"
#include "profiler/cupti_range.h"
#include "tests/unit/cupti_fake.h"

/* ---- a device that launches into the fake: each kernel lasts grid x, and its value is grid y ---- */

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

static int launches_without_waiting;

static nt_status launch_plan(nt_device *on, nt_module *module, const nt_plan *plan, const nt_binding *binding,
                             nt_error *err)
{
    launches_without_waiting++;
    return run_plan(on, module, plan, false, binding, NULL, err);
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

/* ---- errors ---- */

static const struct {
    int code;
    nt_status status;
    const char *in_hint;
} told[] = {
    {7, NT_FAILED, "report it"},
    {8, NT_NO_MEMORY, "fewer metrics"},
    {26, NT_BUSY, "dcgmi profile --pause"},
    {27, NT_NO_DEVICE, "does not give"},
    {33, NT_NO_DEVICE, "virtual GPU"},
    {35, NT_NO_PERMISSION, "NVreg_RestrictProfiling"},
    {38, NT_NO_DEVICE, "NNTUNE_LIBCUPTI"},
    {39, NT_BUSY, "without that tool"},
    {40, NT_NO_PERMISSION, "virtual GPU"},
    {41, NT_NO_DEVICE, "confidential"},
    {42, NT_NO_DEVICE, "CMP"},
    {43, NT_NO_DEVICE, "MIG"},
    {44, NT_NO_DEVICE, "SLI"},
    {45, NT_NO_DEVICE, "Windows"},
    {46, NT_NOT_FOUND, "newer CUDA toolkit"},
    {999, NT_FAILED, "nntune doctor"},
};

static void each_code_has_status_name_and_advice(void **state)
{
    (void)state;
    for (size_t i = 0; i < FAKE_COUNT(told); i++) {
        nt_error err;
        assert_int_equal(nt_cupti_status(told[i].code), told[i].status);
        assert_int_equal(nt_cupti_fail(&err, told[i].code, "doing %s", "this"), told[i].status);
        assert_non_null(strstr(err.what, "doing this: CUPTI_ERROR_"));
        assert_non_null(strstr(err.hint, told[i].in_hint));
    }
    assert_int_equal(nt_cupti_status(0), NT_OK);
    assert_int_equal(nt_cupti_status(777), NT_FAILED);
    assert_string_equal(nt_cupti_error_name(777), "CUPTI error");
    assert_string_equal(nt_cupti_error_hint(777), "");
}

/* The functions that opening calls, with the code given by each: nothing stays open behind any of them. */
static void each_code_comes_out_of_opening(void **state)
{
    static const char *const functions[] = {"initialize",      "device_supported", "chip_name",   "host_initialize",
                                            "host_image_size", "host_image",       "host_passes", "range_enable",
                                            "range_data_size", "range_data_init",  "range_config"};
    static const char *const metrics[] = {"occupancy_pct"};
    (void)state;
    for (size_t f = 0; f < FAKE_COUNT(functions); f++)
        for (size_t i = 0; i < FAKE_COUNT(told); i++) {
            nt_counters *counters;
            nt_error err;
            fake.fail = functions[f];
            fake.code = told[i].code;
            assert_int_equal(nt_counters_open(&ops, &device, metrics, 1, 0, &counters, &err), told[i].status);
            assert_null(counters);
            assert_non_null(strstr(err.what, nt_cupti_error_name(told[i].code)));
            assert_non_null(strstr(err.hint, told[i].in_hint));
            assert_int_equal(fake.live, 0);
        }
}

static void each_code_comes_out_of_collecting(void **state)
{
    static const char *const functions[] = {"range_data_init", "range_config",    "range_start", "range_stop",
                                            "range_decode",    "range_data_info", "range_info",  "host_evaluate"};
    static const char *const metrics[] = {"occupancy_pct", "instructions"};
    (void)state;
    kernel(make_targets(1)->plan == &plans[0] ? &plans[0] : NULL, 1000, 5);
    for (size_t f = 0; f < FAKE_COUNT(functions); f++)
        for (size_t i = 0; i < FAKE_COUNT(told); i++) {
            fake.fail = NULL;
            nt_counters *counters = open_with(metrics, 2);
            nt_error err;
            double values[2] = {1, 1};
            size_t failed;
            fake.fail = functions[f];
            fake.code = told[i].code;
            assert_int_equal(nt_counters_collect(counters, targets, 1, NT_COLD, values, &failed, &err), told[i].status);
            assert_non_null(strstr(err.what, nt_cupti_error_name(told[i].code)));
            assert_true(isnan(values[0]) && isnan(values[1]));
            assert_int_equal(failed, 1);
            nt_counters_close(counters);
            assert_int_equal(fake.live, 0);
        }
}

static void says_why_a_device_gives_no_counters(void **state)
{
    static const char *const metrics[] = {"occupancy_pct"};
    (void)state;
    const struct {
        CUpti_Profiler_Support_Level *level, value;
        nt_status status;
        const char *name;
    } cases[] = {
        {&fake.support.architecture, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED, NT_NO_DEVICE, "NOT_SUPPORTED (27)"},
        {&fake.support.sli, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED, NT_NO_DEVICE, "(44)"},
        {&fake.support.vGpu, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED, NT_NO_DEVICE, "(33)"},
        {&fake.support.vGpu, CUPTI_PROFILER_CONFIGURATION_DISABLED, NT_NO_PERMISSION, "(40)"},
        {&fake.support.confidentialCompute, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED, NT_NO_DEVICE, "(41)"},
        {&fake.support.cmp, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED, NT_NO_DEVICE, "(42)"},
        {&fake.support.wsl, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED, NT_NO_DEVICE, "(45)"},
    };
    for (size_t i = 0; i < FAKE_COUNT(cases); i++) {
        nt_counters *counters;
        nt_error err;
        fake_reset();
        *cases[i].level = cases[i].value;
        fake.support.isSupported = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
        assert_int_equal(nt_counters_open(&ops, &device, metrics, 1, 0, &counters, &err), cases[i].status);
        assert_non_null(strstr(err.what, cases[i].name));
    }
}

static void another_kind_of_device_has_no_counters(void **state)
{
    static const char *const metrics[] = {"t1"};
    nt_counters *counters;
    nt_error err;
    (void)state;
    assert_int_equal(nt_counters_open(&nt_device_cpu_ops, NULL, metrics, 1, 0, &counters, &err), NT_NO_DEVICE);
    assert_non_null(strstr(err.what, "the device is a cpu"));
}

/* What the chip's whole list does not get is tried once more with what the device says it gives. */
static void asks_for_availability_only_where_it_must(void **state)
{
    static const char *const metrics[] = {"occupancy_pct"};
    (void)state;
    fake.fail = "availability";
    fake.code = 35;
    nt_counters_close(open_with(metrics, 1));
    fake.fail = "range_config";
    fake.code = 1;
    nt_counters *counters;
    nt_error err;
    int before = fake.configs;
    assert_int_equal(nt_counters_open(&ops, &device, metrics, 1, 0, &counters, &err), NT_FAILED);
    assert_int_equal(fake.configs, before);
    assert_int_equal(fake.resets, 3); /* one that went well, then both ways */
}

/* ---- metrics and their places ---- */

static void metrics_keep_their_places(void **state)
{
    /* The first and third are unknown to this chip, the second has another name there. */
    static const char *const metrics[] = {"dram_write_bytes", "dram_read_bytes", "tensor_pct",
                                          "smsp__inst_executed.sum"};
    (void)state;
    nt_counters *counters = open_with(metrics, 4);
    const nt_metric_plan *plan = nt_counters_plan(counters);
    double values[4];
    nt_error err;
    assert_int_equal(plan->count, 4);
    assert_null(plan->metric[0].counter);
    assert_string_equal(plan->metric[1].counter, "dram__bytes_op_read.sum");
    assert_string_equal(plan->metric[1].unit, "bytes");
    assert_int_equal(plan->metric[1].index, 0);
    assert_int_equal(plan->metric[3].index, 1);
    kernel((nt_plan *)make_targets(1)->plan, 1000, 42);
    assert_int_equal(nt_counters_collect(counters, targets, 1, NT_COLD, values, NULL, &err), NT_OK);
    assert_true(isnan(values[0]) && isnan(values[2]));
    assert_true(values[1] == 42 && values[3] == 42);
    nt_counters_close(counters);
}

/* Known to the chip, but not to be had on this device: the others are, each in its place. */
static void a_column_that_is_refused_leaves_the_others(void **state)
{
    static const char *const metrics[] = {"sol_dram_pct", "occupancy_pct"};
    (void)state;
    nt_counters *counters = open_with(metrics, 2);
    double values[2];
    nt_error err;
    kernel((nt_plan *)make_targets(1)->plan, 1000, 42);
    assert_int_equal(nt_counters_collect(counters, targets, 1, NT_COLD, values, NULL, &err), NT_OK);
    assert_true(isnan(values[0]) && values[1] == 42);
    assert_null(nt_counters_plan(counters)->metric[0].counter);
    nt_counters_close(counters);
}

static void a_wrong_name_is_refused_with_the_nearest(void **state)
{
    static const struct {
        const char *name, *hint;
    } cases[] = {
        {"ocupancy_pct", "'occupancy_pct'"},
        {"sm__warp_active.sum", "'sm__warps_active'"},
        {"sm__warps_active.avg.pct_of_peak_sustained_activ", "'sm__warps_active.avg.pct_of_peak_sustained_active'"},
        {"sm__warps_active", "'sm__warps_active.sum'"},
        {"sm__throughput_raw.sum", "'sm__throughput_raw.sum'"},
        {"completely_made_up_by_somebody", "sets: t1"},
    };
    (void)state;
    for (size_t i = 0; i < FAKE_COUNT(cases); i++) {
        const char *metrics[] = {"occupancy_pct", cases[i].name};
        nt_counters *counters;
        nt_error err;
        assert_int_equal(nt_counters_open(&ops, &device, metrics, 2, 0, &counters, &err), NT_USAGE);
        assert_non_null(strstr(err.what, cases[i].name));
        if (strstr(err.hint, cases[i].hint) == NULL)
            fail_msg("%s: %s", cases[i].name, err.hint);
    }
}

static void a_set_becomes_its_members_once(void **state)
{
    static const char *const metrics[] = {"occupancy_pct", "T1", "tensor"};
    (void)state;
    nt_counters *counters = open_with(metrics, 3);
    const nt_metric_plan *plan = nt_counters_plan(counters);
    assert_int_equal(plan->count, 13 + 2);
    assert_string_equal(plan->metric[0].name, "occupancy_pct");
    assert_string_equal(plan->metric[1].name, "counter_time_ns");
    assert_string_equal(plan->metric[13].name, "sm__ops_path_tensor_src_a.sum");
    assert_string_equal(plan->metric[14].name, "sm__ops_path_tensor_src_b.sum");
    nt_counters_close(counters);
}

static void too_many_passes_are_refused(void **state)
{
    static const char *const metrics[] = {"occupancy_pct"};
    nt_counters *counters;
    nt_error err;
    (void)state;
    fake.passes = 3;
    assert_int_equal(nt_counters_open(&ops, &device, metrics, 1, 2, &counters, &err), NT_USAGE);
    assert_non_null(strstr(err.what, "take 3 passes on FK100, 2 allowed"));
    assert_non_null(strstr(err.hint, "'occupancy_pct' alone takes 3"));
    assert_int_equal(nt_counters_open(&ops, &device, metrics, 1, 3, &counters, &err), NT_OK);
    assert_int_equal(nt_counters_passes(counters), 3);
    nt_counters_close(counters);
}

/* ---- values ---- */

static void sums_add_up_and_shares_are_weighted(void **state)
{
    static const char *const metrics[] = {"occupancy_pct", "instructions", "l1_hit_pct"};
    (void)state;
    nt_counters *counters = open_with(metrics, 3); /* the duration is collected although nobody asked for it */
    double values[9];
    nt_error err;
    make_targets(3);
    kernel(&plans[0], 1000, 10);
    kernel(&plans[0], 3000, 50);
    kernel(&plans[1], 500, 7);
    kernel(&plans[2], 2000, 0); /* has no hit rate */
    kernel(&plans[2], 2000, 30);
    assert_int_equal(nt_counters_collect(counters, targets, 3, NT_COLD, values, NULL, &err), NT_OK);
    assert_true(values[0] == 40 && values[1] == 60 && values[2] == 40);
    assert_true(values[3] == 7 && values[4] == 7 && values[5] == 7);
    assert_true(values[6] == 15 && values[7] == 30 && values[8] == 30);
    nt_counters_close(counters);
}

/* Names of ranges run on from one batch to the next; each batch must still find its own. */
static void every_value_goes_to_its_plan_over_batches(void **state)
{
    static const char *const metrics[] = {"instructions"};
    (void)state;
    nt_counters *counters = open_with(metrics, 1);
    double values[MOST];
    nt_error err;
    make_targets(MOST);
    for (uint32_t i = 0; i < MOST; i++)
        for (uint32_t k = 0; k <= i % 6; k++)
            kernel(&plans[i], 100 + i, 1000 * i);
    assert_int_equal(nt_counters_collect(counters, targets, MOST, NT_COLD, values, NULL, &err), NT_OK);
    for (uint32_t i = 0; i < MOST; i++)
        assert_true(values[i] == 1000.0 * i * (i % 6 + 1));
    assert_true(fake.starts >= 4); /* 3.5 kernels a plan, of plans that stay together */
    assert_true(fake.most_launches > NT_COUNTERS_RANGES - 8 && fake.most_launches <= NT_COUNTERS_RANGES);
    assert_int_equal(sweeps, fake.starts);
    nt_counters_close(counters);
}

static void each_pass_takes_the_next_set_of_the_ring(void **state)
{
    static const char *const metrics[] = {"instructions"};
    (void)state;
    fake.passes = 3;
    nt_counters *counters = open_with(metrics, 1);
    double values[2];
    nt_error err;
    make_targets(2);
    kernel(&plans[0], 100, 1);
    kernel(&plans[1], 100, 2);
    assert_int_equal(nt_counters_collect(counters, targets, 2, NT_COLD, values, NULL, &err), NT_OK);
    assert_int_equal(fake.starts, 3);
    assert_int_equal(sweeps, 3);
    assert_int_equal(runs, 6);
    assert_int_equal(position, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(last_input[i], 100 + i % 3);
    nt_counters_close(counters);
}

static void hot_counts_the_second_of_two_runs(void **state)
{
    static const char *const metrics[] = {"instructions"};
    (void)state;
    nt_counters *counters = open_with(metrics, 1);
    double values[2];
    nt_error err;
    make_targets(2);
    kernel(&plans[0], 100, 1);
    kernel(&plans[0], 100, 5);
    kernel(&plans[1], 100, 2);
    assert_int_equal(nt_counters_collect(counters, targets, 2, NT_HOT, values, NULL, &err), NT_OK);
    assert_true(values[0] == 6 && values[1] == 2);
    assert_int_equal(fake.launches, 6);
    assert_int_equal(sweeps, 0);
    assert_int_equal(last_input[2], last_input[3]); /* both runs of a pass on one set */
    nt_counters_close(counters);
}

/* Zeroing is a range of its own on some drivers (grid x > 0 here) and none on others. */
static void zeroing_may_be_a_range(void **state)
{
    static const char *const metrics[] = {"instructions"};
    (void)state;
    nt_counters *counters = open_with(metrics, 1);
    for (uint32_t range = 0; range < 2; range++) {
        double values[2];
        nt_error err;
        make_targets(2);
        for (int i = 0; i < 2; i++) {
            nt_stage_zero(&plans[i].stage[0], NT_ROLE_OUT, 4);
            plans[i].stage[0].grid[0] = range;
            plans[i].stage[0].grid[1] = 100;
            plans[i].stage_count = 1;
            kernel(&plans[i], 10, (uint32_t)i + 1);
        }
        assert_int_equal(nt_counters_collect(counters, targets, 2, NT_COLD, values, NULL, &err), NT_OK);
        assert_true(values[0] == 1 + 100.0 * range && values[1] == 2 + 100.0 * range);
    }
    nt_counters_close(counters);
}

/* ---- what goes wrong ---- */

static void lost_ranges_leave_no_values(void **state)
{
    static const char *const metrics[] = {"instructions"};
    (void)state;
    nt_counters *counters = open_with(metrics, 1);
    double values[2] = {1, 1};
    nt_error err;
    make_targets(2);
    kernel(&plans[0], 100, 1);
    kernel(&plans[1], 100, 2);
    fake.lost = 1;
    assert_int_equal(nt_counters_collect(counters, targets, 2, NT_COLD, values, NULL, &err), NT_FAILED);
    assert_non_null(strstr(err.what, "2 kernels were launched, 1 counted and 1 lost"));
    assert_true(isnan(values[0]) && isnan(values[1]));
    fake.lost = 0;
    fake.said_lost = 1;
    assert_int_equal(nt_counters_collect(counters, targets, 2, NT_COLD, values, NULL, &err), NT_FAILED);
    fake.said_lost = 0;
    assert_int_equal(nt_counters_collect(counters, targets, 2, NT_COLD, values, NULL, &err), NT_OK);
    nt_counters_close(counters);
}

static void metrics_change_under_the_same_session(void **state)
{
    static const char *const first[] = {"instructions"}, *const second[] = {"occupancy_pct", "instructions"},
                      *const wrong[] = {"ocupancy"};
    (void)state;
    nt_counters *counters = open_with(first, 1);
    double value[2];
    nt_error err;
    kernel((nt_plan *)make_targets(1)->plan, 100, 5);
    assert_int_equal(nt_counters_collect(counters, targets, 1, NT_COLD, value, NULL, &err), NT_OK);
    double instructions = value[0];
    const nt_metric_plan *plan = nt_counters_plan(counters);
    assert_int_equal(nt_counters_change(counters, wrong, 1, 0, &err), NT_USAGE);
    assert_ptr_equal(nt_counters_plan(counters), plan); /* as it was */
    assert_int_equal(nt_counters_change(counters, second, 2, 0, &err), NT_OK);
    assert_int_equal(nt_counters_count(counters), 2);
    assert_int_equal(nt_counters_collect(counters, targets, 1, NT_COLD, value, NULL, &err), NT_OK);
    assert_true(value[1] == instructions);
    assert_int_equal(nt_counters_change(counters, first, 1, 0, &err), NT_OK);
    assert_ptr_equal(nt_counters_plan(counters), plan); /* known */
    assert_int_equal(nt_counters_collect(counters, targets, 1, NT_COLD, value, NULL, &err), NT_OK);
    assert_true(value[0] == instructions);
    nt_counters_close(counters);
}

static void a_profiler_that_never_ends_is_left(void **state)
{
    static const char *const metrics[] = {"instructions"};
    (void)state;
    nt_counters *counters = open_with(metrics, 1);
    double values[1];
    nt_error err;
    kernel((nt_plan *)make_targets(1)->plan, 100, 1);
    fake.never_done = 1;
    assert_int_equal(nt_counters_collect(counters, targets, 1, NT_COLD, values, NULL, &err), NT_FAILED);
    assert_non_null(strstr(err.what, "more than the 1 passes"));
    nt_counters_close(counters);
}

static void a_launch_that_fails_is_named_and_counting_ends(void **state)
{
    static const char *const metrics[] = {"instructions"};
    static const nt_status ends[] = {NT_LAUNCH_FAILED, NT_DEVICE_LOST};
    (void)state;
    nt_counters *counters = open_with(metrics, 1);
    for (size_t e = 0; e < 2; e++) {
        double values[SECOND];
        size_t failed;
        nt_error err;
        make_targets(SECOND);
        for (uint32_t i = 0; i < SECOND; i++)
            kernel(&plans[i], 100, i + 1);
        runs = 0;
        fail_with = ends[e];
        fail_at_run = NT_COUNTERS_BATCH + 3; /* the third of the second batch */
        assert_int_equal(nt_counters_collect(counters, targets, SECOND, NT_COLD, values, &failed, &err), ends[e]);
        assert_int_equal(failed, NT_COUNTERS_BATCH + 2);
        assert_false(fake.counting);
        assert_true(values[NT_COUNTERS_BATCH - 1] == NT_COUNTERS_BATCH && isnan(values[NT_COUNTERS_BATCH]));
    }
    nt_counters_close(counters);
}

/* Where the device takes launches without waiting, only the last of a pass waits, and its fault may be anybody's. */
static void a_pass_waits_only_at_its_end(void **state)
{
    static const char *const metrics[] = {"instructions"};
    nt_device_ops quick = ops;
    double values[5];
    size_t failed;
    nt_error err;
    (void)state;
    quick.launch = launch_plan;
    nt_counters *counters = open_with(metrics, 1);
    make_targets(5);
    for (uint32_t i = 0; i < 5; i++) {
        targets[i].ops = &quick;
        kernel(&plans[i], 100, i + 1);
    }
    launches_without_waiting = runs = 0;
    assert_int_equal(nt_counters_collect(counters, targets, 5, NT_COLD, values, &failed, &err), NT_OK);
    assert_int_equal(failed, 5);
    assert_int_equal(runs, 5);
    assert_int_equal(launches_without_waiting, 4);
    for (int i = 0; i < 5; i++)
        assert_true(values[i] == i + 1);
    static const struct {
        nt_status status;
        int run;
        size_t failed;
    } faults[] = {{NT_LAUNCH_FAILED, 3, 2}, {NT_DEVICE_LOST, 3, 5}, {NT_DEVICE_LOST, 5, 5}};
    for (size_t i = 0; i < FAKE_COUNT(faults); i++) {
        runs = 0;
        fail_with = faults[i].status;
        fail_at_run = faults[i].run;
        assert_int_equal(nt_counters_collect(counters, targets, 5, NT_COLD, values, &failed, &err), faults[i].status);
        assert_int_equal(failed, faults[i].failed);
    }
    nt_counters_close(counters);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start_anew, leave_nothing)
    const struct CMUnitTest tests[] = {
        TEST(each_code_has_status_name_and_advice),
        TEST(each_code_comes_out_of_opening),
        TEST(each_code_comes_out_of_collecting),
        TEST(says_why_a_device_gives_no_counters),
        TEST(another_kind_of_device_has_no_counters),
        TEST(asks_for_availability_only_where_it_must),
        TEST(metrics_keep_their_places),
        TEST(a_column_that_is_refused_leaves_the_others),
        TEST(a_wrong_name_is_refused_with_the_nearest),
        TEST(a_set_becomes_its_members_once),
        TEST(too_many_passes_are_refused),
        TEST(sums_add_up_and_shares_are_weighted),
        TEST(every_value_goes_to_its_plan_over_batches),
        TEST(each_pass_takes_the_next_set_of_the_ring),
        TEST(hot_counts_the_second_of_two_runs),
        TEST(zeroing_may_be_a_range),
        TEST(lost_ranges_leave_no_values),
        TEST(metrics_change_under_the_same_session),
        TEST(a_profiler_that_never_ends_is_left),
        TEST(a_launch_that_fails_is_named_and_counting_ends),
        TEST(a_pass_waits_only_at_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void says_that_it_was_built_without_headers(void **state)
{
    (void)state;
    nt_error err;
    const char *const *chips;
    size_t count;
    assert_int_equal(nt_cupti_chips(&chips, &count, &err), NT_NO_DEVICE);
    assert_non_null(strstr(err.what, "built without NVIDIA's CUPTI headers"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(says_that_it_was_built_without_headers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
