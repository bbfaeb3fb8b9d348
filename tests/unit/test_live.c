/* Live sources against an NVML that is not there, and what is read from /proc. */
#include "live_device.h"

#include <sys/prctl.h>
#include <sys/stat.h>

#include "device/nvml_gpm.h"
#include "device/nvml_traffic.h"
#include "device/nvml_usage.h"
#include "profiler/host_facts.h"
#include "profiler/live_cpu.h"

static int live_samples(void)
{
    return *(int *)dlsym(library, "fake_gpm_samples");
}

/* ---- NVML and GPM ---- */

static void plain_nvml_tells_what_it_can(void **state)
{
    (void)state;
    nt_device_info info = gpu();
    nt_live *live;
    nt_live_frame frame;
    nt_error err = {0};
    assert_int_equal(nt_live_open(&info, NT_LIVE_NVML, &live, &err), NT_OK);
    next_frame(live, 0, &frame);
    assert_close(frame.value[NT_LIVE_BUSY], 87, 0);
    assert_int_equal(frame.source[NT_LIVE_BUSY], NT_LIVE_NVML);
    assert_close(frame.value[NT_LIVE_TEMPERATURE], 41, 0);
    assert_close(frame.value[NT_LIVE_POWER], 120000, 0);
    assert_close(frame.value[NT_LIVE_POWER_LIMIT], 700000, 0);
    assert_close(frame.value[NT_LIVE_MEMORY_USED], 1 << 29, 0);
    assert_int_equal(frame.throttle_mask, 5);
    assert_true(isnan(frame.value[NT_LIVE_SM_CLOCK])); /* this NVML lacks the function */
    assert_true(isnan(frame.value[NT_LIVE_OCCUPANCY]));
    nt_live_close(live);
}

static void processes_are_listed_once_with_their_user(void **state)
{
    (void)state;
    nt_device_info info = gpu();
    nt_live *live;
    nt_live_frame frame;
    nt_error err;
    char pid[16], own_name[32] = "";
    prctl(PR_GET_NAME, own_name);
    snprintf(pid, sizeof pid, "%d", getpid());
    setenv("FAKE_PID", pid, 1);
    assert_int_equal(nt_live_open(&info, NT_LIVE_NVML, &live, &err), NT_OK);
    next_frame(live, 0, &frame);
    assert_int_equal(frame.process_count, 2);
    assert_int_equal(frame.process[0].pid, getpid());
    assert_int_equal(frame.process[0].memory_bytes, 5 << 20);
    assert_string_equal(frame.process[0].name, own_name);
    assert_string_not_equal(frame.process[0].user, "");
    assert_int_equal(frame.process[1].memory_bytes, NT_UNKNOWN);
    assert_string_equal(frame.process[1].user, ""); /* of another machine, as seen from a container */
    nt_live_close(live);
    setenv("FAKE_PROCESSES", "3", 1);
    assert_int_equal(nt_live_open(&info, NT_LIVE_NVML, &live, &err), NT_OK);
    next_frame(live, 0, &frame);
    assert_int_equal(frame.process_count, -1);
    unsetenv("FAKE_PROCESSES");
    nt_live_close(live);
}

static void gpm_is_chosen_and_each_value_names_its_source(void **state)
{
    (void)state;
    nt_device_info info = gpu();
    nt_live *live;
    nt_live_frame frame;
    nt_str note = {0};
    nt_error err;
    assert_int_equal(nt_live_open(&info, -1, &live, &err), NT_OK);
    assert_int_equal(nt_live_source_now(live), NT_LIVE_GPM);
    next_frame(live, 0.01, &frame); /* asked for too soon: gpm's shortest time holds */
    assert_true(frame.span_s >= nt_gpm_shortest_s * 0.98);
    assert_close(frame.value[NT_LIVE_SM_ACTIVE], 6, 0);
    assert_close(frame.value[NT_LIVE_OCCUPANCY], 9, 0);
    assert_close(frame.value[NT_LIVE_OCCUPANCY_ACTIVE], 150, 0);
    assert_close(frame.value[NT_LIVE_TENSOR], 15, 0);
    assert_close(frame.value[NT_LIVE_DRAM], 30, 0);
    assert_close(frame.value[NT_LIVE_PCIE_WRITE_RATE], 60.0 * 1048576, 0);
    assert_int_equal(frame.source[NT_LIVE_DRAM], NT_LIVE_GPM);
    assert_int_equal(frame.source[NT_LIVE_BUSY], NT_LIVE_NVML);
    nt_live_note(live, &note);
    assert_int_equal(note.length, 0);
    setenv("FAKE_GPM_IDLE", "1", 1);
    next_frame(live, 0.1, &frame);
    assert_true(isnan(frame.value[NT_LIVE_DRAM])); /* unknown, not 0 */
    unsetenv("FAKE_GPM_IDLE");
    nt_live_close(live);
    nt_str_done(&note);
    assert_int_equal(live_samples(), 0);
}

/* Rates of counters: what they rose by, over the time between two readings. */
static void traffic_is_what_counters_rose_by(void **state)
{
    (void)state;
    nt_nvml_device device;
    nt_nvml_counts counts = {0};
    nt_nvml_traffic traffic;
    assert_int_equal(nt_nvml_find(uuid, &device, NULL), NT_OK);
    nt_nvml_read_traffic(device, &counts, &traffic);
    assert_true(isnan(traffic.nvlink_read_bytes_per_s)); /* the first reading says nothing */
    double begin = counts.at_s;
    usleep(20000);
    setenv("FAKE_PCIE_COUNTS", "1", 1);
    nt_nvml_read_traffic(device, &counts, &traffic);
    double span = counts.at_s - begin;
    assert_close(traffic.nvlink_read_bytes_per_s, 1000 * 1024 / span, 1e-6);
    assert_close(traffic.nvlink_write_bytes_per_s, 2000 * 1024 / span, 1e-6);
    assert_true(isnan(traffic.pcie_read_bytes_per_s)); /* it was unknown before */
    begin = counts.at_s;
    usleep(20000);
    nt_nvml_read_traffic(device, &counts, &traffic);
    span = counts.at_s - begin;
    assert_close(traffic.pcie_read_bytes_per_s, 3e6 / span, 1e-6);
    assert_close(traffic.pcie_write_bytes_per_s, 4e6 / span, 1e-6);
    setenv("FAKE_COUNTS_RESET", "1", 1);
    nt_nvml_read_traffic(device, &counts, &traffic);
    assert_true(isnan(traffic.nvlink_read_bytes_per_s)); /* less than before: it ran over */
    unsetenv("FAKE_COUNTS_RESET");
    unsetenv("FAKE_PCIE_COUNTS");
    setenv("FAKE_NVLINK", "0", 1);
    nt_nvml_read_traffic(device, &counts, &traffic);
    nt_nvml_read_traffic(device, &counts, &traffic);
    assert_true(isnan(traffic.nvlink_write_bytes_per_s));
    unsetenv("FAKE_NVLINK");
}

static void traffic_from_whoever_tells_it(void **state)
{
    (void)state;
    nt_device_info info = gpu();
    nt_live *live;
    nt_live_frame frame;
    nt_error err;
    assert_int_equal(nt_live_open(&info, -1, &live, &err), NT_OK);
    next_frame(live, 0.1, &frame); /* metrics 60 and 61 of the fake GPM */
    assert_close(frame.value[NT_LIVE_NVLINK_READ_RATE], 180.0 * 1048576, 0);
    assert_close(frame.value[NT_LIVE_NVLINK_WRITE_RATE], 183.0 * 1048576, 0);
    assert_int_equal(frame.source[NT_LIVE_NVLINK_READ_RATE], NT_LIVE_GPM);
    nt_live_close(live);
    /* Without GPM and without counters of PCIe, the driver's own sampling of it. */
    setenv("FAKE_GPM", "0", 1);
    assert_int_equal(nt_live_open(&info, -1, &live, &err), NT_OK);
    next_frame(live, 0.6, &frame);
    assert_true(frame.value[NT_LIVE_NVLINK_READ_RATE] > 0);
    assert_int_equal(frame.source[NT_LIVE_NVLINK_READ_RATE], NT_LIVE_NVML);
    assert_close(frame.value[NT_LIVE_PCIE_READ_RATE], 22e3, 0);
    assert_close(frame.value[NT_LIVE_PCIE_WRITE_RATE], 11e3, 0);
    nt_live_close(live);
    unsetenv("FAKE_GPM");
}

static void says_why_there_is_no_gpm(void **state)
{
    (void)state;
    nt_device_info info = gpu();
    nt_live *live;
    nt_str note = {0};
    nt_error err;
    setenv("FAKE_GPM", "0", 1);
    assert_int_equal(nt_live_open(&info, NT_LIVE_GPM, &live, &err), NT_NO_DEVICE);
    assert_null(live);
    assert_contains(err.what, "no GPM");
    assert_int_equal(nt_live_open(&info, -1, &live, &err), NT_OK);
    assert_int_equal(nt_live_source_now(live), NT_LIVE_NVML);
    nt_live_note(live, &note);
    assert_contains(nt_str_text(&note), "plain NVML is used");
    unsetenv("FAKE_GPM");
    nt_live_close(live);
    nt_str_done(&note);
    setenv("FAKE_GPM_TAKE", "999", 1);
    assert_int_equal(nt_live_open(&info, NT_LIVE_GPM, &live, &err), NT_FAILED);
    assert_contains(err.what, "fake error");
    unsetenv("FAKE_GPM_TAKE");
    assert_int_equal(live_samples(), 0);
}

static void gpm_refuses_what_is_too_soon(void **state)
{
    (void)state;
    nt_nvml_device device;
    nt_gpm *gpm;
    nt_gpm_reading reading;
    nt_error err;
    assert_int_equal(nt_nvml_find(uuid, &device, &err), NT_OK);
    assert_int_equal(nt_gpm_open(device, &gpm, &err), NT_OK);
    assert_int_equal(nt_gpm_read(gpm, &reading, &err), NT_TIMED_OUT);
    assert_true(isnan(reading.dram_pct));
    usleep(100000);
    assert_int_equal(nt_gpm_read(gpm, &reading, &err), NT_OK);
    assert_true(isnan(reading.fp16_pct)); /* the metric that this chip lacks */
    assert_close(reading.fp32_pct, 36, 0);
    nt_gpm_close(gpm);
}

static void modes_and_versions(void **state)
{
    (void)state;
    nt_nvml_device device;
    nt_nvml_modes modes;
    char version[32];
    assert_int_equal(nt_nvml_find(uuid, &device, NULL), NT_OK);
    nt_nvml_read_modes(device, &modes);
    assert_int_equal(modes.mig, 0);
    assert_int_equal(modes.persistence, -1);
    assert_string_equal(modes.virtualisation, "passthrough");
    assert_true(nt_nvml_library_version(version, sizeof version));
    assert_string_equal(version, "13.999.1");
}

static void a_frame_as_json(void **state)
{
    (void)state;
    nt_live_frame frame;
    json_t *json = json_object();
    nt_live_frame_init(&frame);
    nt_live_set(&frame, NT_LIVE_PM, NT_LIVE_DRAM, 12.5);
    nt_live_set(&frame, NT_LIVE_PM, NT_LIVE_TENSOR, NAN);
    frame.throttle_mask = 4;
    nt_live_frame_json(&frame, json);
    assert_close(json_real_value(json_object_get(json, "dram_pct")), 12.5, 0);
    assert_true(json_is_null(json_object_get(json, "tensor_pct")));
    json_t *sources = json_object_get(json, "sources");
    assert_int_equal(json_object_size(sources), 1);
    assert_string_equal(json_string_value(json_object_get(sources, "dram_pct")), "pm");
    assert_string_equal(json_string_value(json_object_get(json, "throttle")), "power cap");
    assert_true(json_is_null(json_object_get(json, "processes")));
    json_decref(json);
}

/* ---- cpu and host ---- */

static void busy_time_of_cores(void **state)
{
    (void)state;
    static const char before[] =
        "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 10 0 10 80 0 0 0 0 0 0\ncpu3 1 1 1 1 1 1 1 1\nintr 5\n";
    static const char after[] = "cpu  1 2\ncpu0 20 0 20 110 20 0 0 30 0 0\ncpu3 1 1 1 1 1 1 1 1\n";
    nt_cpu_ticks a[4], b[4];
    assert_int_equal(nt_cpu_ticks_parse(before, a, 4), 2);
    assert_int_equal(nt_cpu_ticks_parse(after, b, 4), 2);
    assert_int_equal(b[1].cpu, 3);
    assert_close(nt_cpu_busy_pct(&a[0], &b[0]), 20, 1e-12); /* 20 of 100: waiting and stolen time are not busy */
    assert_true(isnan(nt_cpu_busy_pct(&a[1], &b[1])));
    assert_true(isnan(nt_cpu_busy_pct(&b[0], &a[0])));
    assert_int_equal(nt_cpu_ticks_parse("", a, 4), 0);
    assert_int_equal(nt_cpu_ticks_parse("cpu0", a, 4), 1);
    assert_int_equal(nt_cpu_ticks_parse(before, a, 1), 1);
}

static void this_computer_as_a_source(void **state)
{
    (void)state;
    nt_device_info info;
    nt_live *live;
    nt_live_frame frame;
    nt_error err = {0};
    nt_device_info_init(&info, NT_DEVICE_CPU);
    assert_int_equal(nt_live_open(&info, NT_LIVE_PM, &live, &err), NT_USAGE);
    assert_int_equal(nt_live_open(&info, -1, &live, &err), NT_OK);
    next_frame(live, 0.2, &frame);
    assert_true(frame.core_count > 0);
    assert_true(frame.value[NT_LIVE_BUSY] >= 0 && frame.value[NT_LIVE_BUSY] <= 100);
    assert_true(frame.value[NT_LIVE_MEMORY_USED] > 0);
    nt_live_close(live);
}

static void a_stop_is_seen_between_frames(void **state)
{
    (void)state;
    nt_device_info info;
    nt_live *live;
    atomic_bool stop = true;
    nt_error err;
    nt_device_info_init(&info, NT_DEVICE_CPU);
    assert_int_equal(nt_live_open(&info, -1, &live, &err), NT_OK);
    assert_int_equal(nt_live_wait(&live, 1, 3600, &stop, NULL, &err), NT_TIMED_OUT);
    nt_live_close(live);
}

static void put(const char *path, const char *text)
{
    char full[256], command[600];
    snprintf(full, sizeof full, "%s/root%s", folder, path);
    snprintf(command, sizeof command, "mkdir -p \"$(dirname %s)\"", full);
    assert_int_equal(system(command), 0);
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void facts_of_a_host(void **state)
{
    (void)state;
    char root[128];
    nt_host_facts facts;
    snprintf(root, sizeof root, "%s/root", folder);
    nt_host_facts_read(root, &facts);
    assert_int_equal(facts.counters_admin_only, -1);
    assert_int_equal(facts.admin, -1);
    assert_string_equal(facts.module, "");
    put("/proc/version", "Linux version 5.15.90.1-microsoft-standard-WSL2 (oe-user@oe-host) #1 SMP\n");
    put("/proc/1/cgroup", "0::/kubepods/besteffort/pod1\n");
    put("/proc/self/status", "Name:\tx\nCapEff:\t0000000000200000\nSeccomp:\t0\n");
    put("/proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Mon\nGCC version: 12.2\n");
    put("/proc/driver/nvidia/params", "RmMsg: \"\"\nRmProfilingAdminOnly: 1\nOther: 0\n");
    put("/proc/812/comm", "nv-hostengine\n");
    put("/proc/901/comm", "ncurses\n");
    nt_host_facts_read(root, &facts);
    assert_string_equal(facts.kernel, "5.15.90.1-microsoft-standard-WSL2");
    assert_true(facts.wsl);
    assert_string_equal(facts.container, "kubernetes");
    assert_int_equal(facts.admin, 1);
    assert_string_equal(facts.module, "580.159.04");
    assert_int_equal(facts.counters_admin_only, 1);
    assert_string_equal(facts.holders, "nv-hostengine (812)");
    put("/proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\n");
    put("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
    nt_host_facts_read(root, &facts);
    assert_int_equal(facts.admin, 0);
    assert_int_equal(facts.counters_admin_only, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_nvml_tells_what_it_can),
        cmocka_unit_test(processes_are_listed_once_with_their_user),
        cmocka_unit_test(gpm_is_chosen_and_each_value_names_its_source),
        cmocka_unit_test(traffic_is_what_counters_rose_by),
        cmocka_unit_test(traffic_from_whoever_tells_it),
        cmocka_unit_test(says_why_there_is_no_gpm),
        cmocka_unit_test(gpm_refuses_what_is_too_soon),
        cmocka_unit_test(modes_and_versions),
        cmocka_unit_test(a_frame_as_json),
        cmocka_unit_test(busy_time_of_cores),
        cmocka_unit_test(this_computer_as_a_source),
        cmocka_unit_test(a_stop_is_seen_between_frames),
        cmocka_unit_test(facts_of_a_host),
    };
    return cmocka_run_group_tests(tests, build_library, remove_library);
}
