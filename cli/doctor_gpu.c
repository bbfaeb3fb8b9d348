/* doctor_gpu.c: NVIDIA's driver and libraries, each GPU's state, and whether hardware counters work, with the reason
 * and the cure when they do not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor.h"
#include "core/mem.h"
#include "core/units.h"
#include "device/counter_lock.h"
#include "device/device.h"
#include "device/nvml.h"
#include "device/nvml_gpm.h"
#include "device/nvml_usage.h"
#include "device/nvrtc.h"
#include "profiler/counter_probe.h"

static const double probe_seconds = 60;

/* ---- driver and libraries ---------------------------------------------------------------------------------------------- */

static void check_driver(nt_doctor *doctor, const nt_device_listing *listing)
{
    const char *module = doctor->host.module;
    nt_doctor_section(doctor, "driver");
    if (module[0] != '\0')
        nt_doctor_add(doctor, "kernel module", NT_FOUND_OK, "%s", module);
    else
        nt_doctor_add(doctor, "kernel module", NT_FOUND_NONE, "/proc/driver/nvidia is not there");
    if (listing->count > 0) {
        nt_doctor_add(doctor, "cuda driver", NT_FOUND_OK, "%s, %d GPU%s", listing->info[0].driver, listing->count,
                      listing->count == 1 ? "" : "s");
        if (listing->missing[0] == '\0')
            return;
    }
    nt_doctor_add(doctor, listing->count > 0 ? "tuning" : "cuda driver", NT_FOUND_BAD, "%s", listing->missing);
    nt_doctor_next(doctor, "%s", listing->hint);
}

static void check_nvml(nt_doctor *doctor)
{
    char version[80];
    nt_error err = {0};
    if (nt_nvml_start(&err) != NT_OK)
        nt_doctor_add_error(doctor, "nvml", NT_FOUND_BAD, &err);
    else
        nt_doctor_add(doctor, "nvml", NT_FOUND_OK, "%s",
                      nt_nvml_library_version(version, sizeof version) ? version : "of unknown version");
}

static void check_nvrtc(nt_doctor *doctor)
{
    nt_nvrtc_about about;
    nt_error err = {0};
    if (nt_nvrtc_describe(&about, &err) != NT_OK)
        nt_doctor_add_error(doctor, "nvrtc", NT_FOUND_BAD, &err);
    else
        nt_doctor_add(doctor, "nvrtc", NT_FOUND_OK, "%d.%d, %s", about.major, about.minor, about.path);
}

static void add_result(nt_doctor *doctor, const char *name, const nt_probe_result *result)
{
    nt_doctor_add(doctor, name, NT_FOUND_BAD, "%s", result->what);
    nt_doctor_next(doctor, "%s", result->hint);
}

static void check_libraries(nt_doctor *doctor, const nt_counter_probe *probe)
{
    nt_doctor_section(doctor, "libraries");
    check_nvml(doctor);
    check_nvrtc(doctor);
    if (probe->library.status == NT_OK)
        nt_doctor_add(doctor, "cupti", NT_FOUND_OK, "interface %u, %s", probe->cupti_version, probe->cupti_path);
    else
        add_result(doctor, "cupti", &probe->library);
}

/* ---- one GPU ------------------------------------------------------------------------------------------------------------- */

static nt_text whole(double value)
{
    nt_text text;
    snprintf(text.s, sizeof text.s, isnan(value) ? "unknown" : "%.0f", value);
    return text;
}

static void check_clocks(nt_doctor *doctor, nt_nvml_device device)
{
    enum { IDLE = 1 };
    nt_nvml_reading now;
    nt_nvml_limits limits;
    nt_nvml_usage usage;
    nt_nvml_read(device, &now);
    nt_nvml_read_limits(device, &limits);
    nt_nvml_read_usage(device, &usage);
    nt_doctor_add(doctor, "clocks", NT_FOUND_OK, "SM %s of %s MHz, memory %s of %s MHz", whole(now.sm_clock_mhz).s,
                  whole(limits.sm_clock_max_mhz).s, whole(now.mem_clock_mhz).s, whole(limits.mem_clock_max_mhz).s);
    nt_doctor_add(doctor, "power", NT_FOUND_OK, "%s of %s W, %s C", whole(now.power_mw / 1e3).s,
                  whole(usage.power_limit_mw / 1e3).s, whole(now.temperature_c).s);
    nt_str reasons = {0};
    nt_nvml_throttle_names(now.throttle_mask, &reasons);
    bool slowed = now.throttle_mask != NT_UNKNOWN && (now.throttle_mask & ~(int64_t)IDLE) != 0;
    nt_doctor_add(doctor, "throttle", slowed ? NT_FOUND_NOTE : NT_FOUND_OK, "%s", nt_str_text(&reasons));
    if (slowed)
        nt_doctor_next(doctor, "times taken now are of a slowed card; nntune records this state with each trial");
    nt_str_done(&reasons);
}

static void check_modes(nt_doctor *doctor, nt_nvml_device device)
{
    static const char *const words[] = {"unknown", "off", "on"};
    nt_nvml_modes modes;
    nt_nvml_read_modes(device, &modes);
    nt_doctor_add(doctor, "mig", modes.mig == 1 ? NT_FOUND_NOTE : NT_FOUND_OK, "%s", words[modes.mig + 1]);
    if (modes.mig == 1)
        nt_doctor_next(doctor, "counters of a GPU split by MIG are refused or are those of an instance alone");
    nt_doctor_add(doctor, "persistence", modes.persistence == 0 ? NT_FOUND_NOTE : NT_FOUND_OK, "%s",
                  words[modes.persistence + 1]);
    if (modes.persistence == 0)
        nt_doctor_next(doctor, "every start then initialises the card anew, a second or more; an administrator can "
                               "switch it on");
    bool known = modes.virtualisation[0] != '\0';
    nt_doctor_add(doctor, "virtualisation", NT_FOUND_OK, "%s", known ? modes.virtualisation : "unknown");
}

static void check_gpm(nt_doctor *doctor, nt_nvml_device device)
{
    nt_gpm *gpm = NULL;
    nt_error err = {0};
    if (nt_gpm_open(device, &gpm, &err) == NT_OK)
        nt_doctor_add(doctor, "gpm", NT_FOUND_OK, "works: `nntune top` shows occupancy and bandwidth without counters");
    else
        nt_doctor_add_error(doctor, "gpm", NT_FOUND_NONE, &err);
    nt_gpm_close(gpm);
}

static void check_processes(nt_doctor *doctor, nt_nvml_device device)
{
    nt_nvml_process list[16];
    nt_str text = {0};
    int count = nt_nvml_processes(device, list, 16);
    for (int i = 0; i < count; i++)
        nt_str_addf(&text, "%s%lld (%s)", i > 0 ? ", " : "", (long long)list[i].pid,
                    list[i].memory_bytes == NT_UNKNOWN ? "-" : nt_text_bytes((double)list[i].memory_bytes).s);
    nt_doctor_add(doctor, "processes", count > 0 ? NT_FOUND_NOTE : NT_FOUND_OK, "%s",
                  count < 0    ? "unknown"
                  : count == 0 ? "none"
                               : nt_str_text(&text));
    if (count > 0)
        nt_doctor_next(doctor, "times taken beside other work are not to be trusted");
    nt_str_done(&text);
}

static void check_device(nt_doctor *doctor, const nt_device_info *info)
{
    nt_nvml_device device;
    nt_error err = {0};
    int64_t pid;
    char section[16];
    snprintf(section, sizeof section, "cuda:%d", info->ordinal);
    nt_doctor_section(doctor, section);
    nt_doctor_add(doctor, "name", NT_FOUND_OK, "%s, %s, %s, %s", info->name, info->uuid, info->arch,
                  nt_text_bytes((double)info->memory_bytes).s);
    if (nt_device_is_swept(info->uuid, &pid))
        nt_doctor_add(doctor, "sweep", NT_FOUND_NOTE, "process %lld is sweeping it", (long long)pid);
    if (nt_nvml_find(info->uuid, &device, &err) != NT_OK) {
        nt_doctor_add_error(doctor, "nvml", NT_FOUND_BAD, &err);
        return;
    }
    check_clocks(doctor, device);
    check_modes(doctor, device);
    check_processes(doctor, device);
    check_gpm(doctor, device);
}

/* ---- counters ------------------------------------------------------------------------------------------------------------ */

static void check_permission(nt_doctor *doctor)
{
    const nt_host_facts *host = &doctor->host;
    if (host->counters_admin_only < 0)
        nt_doctor_add(doctor, "permission", NT_FOUND_NOTE, "the driver does not tell (RmProfilingAdminOnly)");
    else if (host->counters_admin_only == 0)
        nt_doctor_add(doctor, "permission", NT_FOUND_OK, "for every user (RmProfilingAdminOnly: 0)");
    else if (host->admin == 1)
        nt_doctor_add(doctor, "permission", NT_FOUND_OK,
                      "for administrators, and this process is one (RmProfilingAdminOnly: 1, CAP_SYS_ADMIN)");
    else {
        nt_doctor_add(doctor, "permission", NT_FOUND_BAD,
                      "for administrators alone, and this process is none (RmProfilingAdminOnly: 1)");
        nt_doctor_next(doctor, "load the driver with NVreg_RestrictProfilingToAdminUsers=0, or run with CAP_SYS_ADMIN "
                               "(in a container: --cap-add SYS_ADMIN)");
    }
}

static void check_holders(nt_doctor *doctor)
{
    const char *holders = doctor->host.holders;
    nt_doctor_add(doctor, "other holders", holders[0] != '\0' ? NT_FOUND_NOTE : NT_FOUND_NONE, "%s",
                  holders[0] != '\0' ? holders : "no tool is running that is known to hold counters");
    if (holders[0] != '\0')
        nt_doctor_next(doctor, "if counters are busy: end ncu and nsys, pause DCGM with `dcgmi profile --pause`");
}

static void check_counters(nt_doctor *doctor, const nt_counter_probe *probe, bool gpu)
{
    nt_doctor_section(doctor, "counters");
    if (!gpu) {
        nt_doctor_add(doctor, "counters", NT_FOUND_BAD, "no GPU whose counters could be read");
        nt_copy(doctor->reason, sizeof doctor->reason, "there is no usable GPU");
        nt_doctor_next(doctor, "sweeps on the cpu device need none; on a machine with a GPU run `nntune doctor` again");
        return;
    }
    check_permission(doctor);
    check_holders(doctor);
    doctor->counters_work = probe->ranges.status == NT_OK;
    if (doctor->counters_work)
        nt_doctor_add(doctor, "kernel counters", NT_FOUND_OK, "one kernel was counted (chip %s)", probe->chip);
    else {
        add_result(doctor, "kernel counters", &probe->ranges);
        nt_copy(doctor->reason, sizeof doctor->reason, probe->ranges.what);
    }
    if (probe->sampling.status == NT_OK)
        nt_doctor_add(doctor, "pm sampling", NT_FOUND_OK, "set '%s'", probe->sampling.what);
    else
        add_result(doctor, "pm sampling", &probe->sampling);
}

void nt_doctor_gpu(nt_doctor *doctor)
{
    nt_device_listing *listing = nt_alloc_zero(1, sizeof *listing);
    nt_counter_probe probe;
    nt_counter_probe_run(0, probe_seconds, &probe); /* first: it forks, and CUDA does not survive that */
    nt_device_ops_of(NT_DEVICE_CUDA)->list(listing);
    check_driver(doctor, listing);
    check_libraries(doctor, &probe);
    for (int i = 0; i < listing->count; i++)
        check_device(doctor, &listing->info[i]);
    check_counters(doctor, &probe, listing->count > 0);
    free(listing);
}
