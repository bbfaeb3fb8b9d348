/* live_nvml.c: plain NVML and GPM as sources: the first for what every card tells, with its processes, the second for
 * occupancy, tensor use and bandwidth. Neither holds anything. */
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/clock.h"
#include "core/mem.h"
#include "device/nvml.h"
#include "device/nvml_gpm.h"
#include "device/nvml_traffic.h"
#include "device/nvml_usage.h"
#include "profiler/live.h"

/* Each question to NVML costs up to a millisecond, and its own values move five times a second at best (usage once or
 * twice): asked more often than this, it would only take time. */
static const double reading_every_s = 0.2, usage_every_s = 0.5, processes_every_s = 2, pcie_every_s = 2;

struct nt_live_source {
    nt_nvml_device device;
    nt_gpm *gpm; /* NULL for plain NVML */
    double reading_at_s, usage_at_s, processes_at_s;
    nt_nvml_reading reading;
    nt_nvml_usage usage;
    nt_nvml_counts counts;
    nt_nvml_traffic traffic, pcie;
    bool samples_pcie;
    double pcie_at_s;
    int process_count;
    nt_live_process process[NT_LIVE_PROCESSES];
};

static bool is_due(double *last_s, double every_s)
{
    double now_s = nt_now_s();
    bool due = now_s - *last_s >= every_s * 0.95; /* a frame may come a little early */
    *last_s = due ? now_s : *last_s;
    return due;
}

static nt_status open_nvml(const nt_device_info *device, nt_live_source **out, nt_error *err)
{
    nt_nvml_device handle;
    nt_status status = nt_nvml_find(device->uuid, &handle, err);
    *out = NULL;
    if (status != NT_OK)
        return status;
    *out = nt_alloc_zero(1, sizeof **out);
    (*out)->device = handle;
    (*out)->pcie = (nt_nvml_traffic){NAN, NAN, NAN, NAN};
    /* Sampling takes 40 ms: only where neither the driver counts PCIe's bytes nor GPM tells. */
    nt_nvml_read_traffic(handle, &(*out)->counts, &(*out)->traffic);
    nt_gpm *gpm = NULL;
    (*out)->samples_pcie =
        (*out)->counts.bytes[NT_NVML_PCIE_READ] == NT_UNKNOWN && nt_gpm_open(handle, &gpm, NULL) != NT_OK;
    nt_gpm_close(gpm);
    return NT_OK;
}

static void close_source(nt_live_source *source)
{
    nt_gpm_close(source->gpm);
    free(source);
}

/* ---- plain ------------------------------------------------------------------------------------------------------------ */

static void name_process(nt_live_process *process)
{
    char path[64];
    struct stat about;
    snprintf(path, sizeof path, "/proc/%lld/comm", (long long)process->pid);
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(process->name, sizeof process->name, file) == NULL)
        process->name[0] = '\0';
    if (file != NULL)
        fclose(file);
    process->name[strcspn(process->name, "\n")] = '\0';
    snprintf(path, sizeof path, "/proc/%lld", (long long)process->pid);
    if (stat(path, &about) != 0)
        return;
    struct passwd entry, *found = NULL;
    char buffer[1024];
    if (getpwuid_r(about.st_uid, &entry, buffer, sizeof buffer, &found) == 0 && found != NULL)
        nt_copy(process->user, sizeof process->user, found->pw_name);
    else
        snprintf(process->user, sizeof process->user, "%u", (unsigned)about.st_uid);
}

static void read_processes(nt_live_source *source)
{
    nt_nvml_process list[NT_LIVE_PROCESSES];
    source->process_count = nt_nvml_processes(source->device, list, NT_LIVE_PROCESSES);
    for (int i = 0; i < source->process_count; i++) {
        source->process[i] = (nt_live_process){.pid = list[i].pid, .memory_bytes = list[i].memory_bytes};
        name_process(&source->process[i]);
    }
}

static void ask(nt_live_source *source)
{
    if (is_due(&source->reading_at_s, reading_every_s))
        nt_nvml_read(source->device, &source->reading);
    if (is_due(&source->usage_at_s, usage_every_s)) {
        nt_nvml_read_usage(source->device, &source->usage);
        nt_nvml_read_traffic(source->device, &source->counts, &source->traffic);
    }
    if (source->samples_pcie && is_due(&source->pcie_at_s, pcie_every_s)) {
        source->pcie = (nt_nvml_traffic){NAN, NAN, NAN, NAN};
        nt_nvml_sample_pcie(source->device, &source->pcie);
    }
    if (is_due(&source->processes_at_s, processes_every_s))
        read_processes(source);
}

static double known(int64_t value)
{
    return value == NT_UNKNOWN ? (double)NAN : (double)value;
}

static nt_status read_nvml(nt_live_source *source, nt_live_frame *frame, nt_error *err)
{
    (void)err;
    ask(source);
    const nt_nvml_reading now = source->reading;
    const nt_nvml_usage usage = source->usage;
    const nt_nvml_traffic traffic = source->traffic, pcie = source->pcie;
    const struct {
        nt_live_field field;
        double value;
    } values[] = {
        {NT_LIVE_BUSY, usage.busy_pct},
        {NT_LIVE_SM_CLOCK, now.sm_clock_mhz},
        {NT_LIVE_MEM_CLOCK, now.mem_clock_mhz},
        {NT_LIVE_TEMPERATURE, now.temperature_c},
        {NT_LIVE_POWER, now.power_mw},
        {NT_LIVE_POWER_LIMIT, usage.power_limit_mw},
        {NT_LIVE_PCIE_READ_RATE,
         isnan(pcie.pcie_read_bytes_per_s) ? traffic.pcie_read_bytes_per_s : pcie.pcie_read_bytes_per_s},
        {NT_LIVE_PCIE_WRITE_RATE,
         isnan(pcie.pcie_write_bytes_per_s) ? traffic.pcie_write_bytes_per_s : pcie.pcie_write_bytes_per_s},
        {NT_LIVE_NVLINK_READ_RATE, traffic.nvlink_read_bytes_per_s},
        {NT_LIVE_NVLINK_WRITE_RATE, traffic.nvlink_write_bytes_per_s},
        {NT_LIVE_MEMORY_USED, known(usage.memory_used_bytes)},
        {NT_LIVE_MEMORY_TOTAL, known(usage.memory_total_bytes)},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        nt_live_set(frame, NT_LIVE_NVML, values[i].field, values[i].value);
    frame->throttle_mask = now.throttle_mask;
    frame->process_count = source->process_count;
    memcpy(frame->process, source->process, sizeof frame->process);
    return NT_OK;
}

const nt_live_ops nt_live_nvml_ops = {
    .kind = NT_LIVE_NVML, .shortest_s = 0.1, .open = open_nvml, .read = read_nvml, .close = close_source};

/* ---- GPM --------------------------------------------------------------------------------------------------------------- */

static nt_status open_gpm(const nt_device_info *device, nt_live_source **out, nt_error *err)
{
    nt_status status = open_nvml(device, out, err);
    if (status == NT_OK)
        status = nt_gpm_open((*out)->device, &(*out)->gpm, err);
    if (status != NT_OK && *out != NULL) {
        free(*out);
        *out = NULL;
    }
    return status;
}

static nt_status read_gpm(nt_live_source *source, nt_live_frame *frame, nt_error *err)
{
    nt_gpm_reading now;
    nt_status status = nt_gpm_read(source->gpm, &now, err);
    if (status != NT_OK)
        return status;
    const struct {
        nt_live_field field;
        double value;
    } values[] = {
        {NT_LIVE_SM_ACTIVE, now.sm_active_pct},
        {NT_LIVE_OCCUPANCY, now.occupancy_pct},
        {NT_LIVE_TENSOR, now.tensor_pct},
        {NT_LIVE_DRAM, now.dram_pct},
        {NT_LIVE_PCIE_READ_RATE, now.pcie_read_bytes_per_s},
        {NT_LIVE_PCIE_WRITE_RATE, now.pcie_write_bytes_per_s},
        {NT_LIVE_NVLINK_READ_RATE, now.nvlink_read_bytes_per_s},
        {NT_LIVE_NVLINK_WRITE_RATE, now.nvlink_write_bytes_per_s},
        {NT_LIVE_OCCUPANCY_ACTIVE, now.sm_active_pct > 1 ? 100 * now.occupancy_pct / now.sm_active_pct : (double)NAN},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        nt_live_set(frame, NT_LIVE_GPM, values[i].field, values[i].value);
    frame->span_s = now.span_s;
    return NT_OK;
}

const nt_live_ops nt_live_gpm_ops = {
    .kind = NT_LIVE_GPM, .shortest_s = 0.1, .open = open_gpm, .read = read_gpm, .close = close_source};
