/* top_gauges.c: a live frame as gauges: which fields, what they are called, which have a bar. */
#include <math.h>
#include <string.h>

#include "cli/top_feed.h"
#include "device/nvml.h"

static const struct {
    nt_live_field field;
    const char *label;
    nt_sheet_kind kind;
    double full; /* of the bar; 0: none */
} fields[] = {
    {NT_LIVE_BUSY, "busy %", NT_SHEET_PCT, 100},
    {NT_LIVE_SM_ACTIVE, "SMs active %", NT_SHEET_PCT, 100},
    {NT_LIVE_OCCUPANCY, "occupancy %", NT_SHEET_PCT, 100},
    {NT_LIVE_OCCUPANCY_ACTIVE, "of active SMs %", NT_SHEET_PCT, 100},
    {NT_LIVE_ISSUE, "issue %", NT_SHEET_PCT, 100},
    {NT_LIVE_TENSOR, "tensor %", NT_SHEET_PCT, 100},
    {NT_LIVE_DRAM, "DRAM %", NT_SHEET_PCT, 100},
    {NT_LIVE_DRAM_READ_RATE, "DRAM read B/s", NT_SHEET_BYTES, 0},
    {NT_LIVE_DRAM_WRITE_RATE, "DRAM write B/s", NT_SHEET_BYTES, 0},
    {NT_LIVE_PCIE_READ_RATE, "PCIe to B/s", NT_SHEET_BYTES, 0},
    {NT_LIVE_PCIE_WRITE_RATE, "PCIe from B/s", NT_SHEET_BYTES, 0},
    {NT_LIVE_NVLINK_READ_RATE, "NVLink to B/s", NT_SHEET_BYTES, 0},
    {NT_LIVE_NVLINK_WRITE_RATE, "NVLink from B/s", NT_SHEET_BYTES, 0},
    {NT_LIVE_SM_CLOCK, "clock MHz", NT_SHEET_WHOLE, 0},
    {NT_LIVE_MEM_CLOCK, "memory MHz", NT_SHEET_WHOLE, 0},
    {NT_LIVE_TEMPERATURE, "temperature C", NT_SHEET_WHOLE, 0},
    {NT_LIVE_POWER, "power mW", NT_SHEET_WHOLE, 0},
    {NT_LIVE_POWER_LIMIT, "limit mW", NT_SHEET_WHOLE, 0},
    {NT_LIVE_MEMORY_USED, "memory used", NT_SHEET_BYTES, 0},
    {NT_LIVE_MEMORY_TOTAL, "memory", NT_SHEET_BYTES, 0},
};

static double full_of(const nt_live_frame *frame, nt_live_field field, double full)
{
    if (field == NT_LIVE_POWER)
        return frame->value[NT_LIVE_POWER_LIMIT];
    if (field == NT_LIVE_MEMORY_USED)
        return frame->value[NT_LIVE_MEMORY_TOTAL];
    return full > 0 ? full : NAN;
}

static void add_processes(const nt_live_frame *frame, nt_sheet *out)
{
    nt_sheet_clear(out);
    nt_sheet_add_column(out, "pid", "pid", NT_SHEET_WHOLE, true);
    nt_sheet_add_column(out, "user", "user", NT_SHEET_TEXT, true);
    nt_sheet_add_column(out, "memory_bytes", "memory", NT_SHEET_BYTES, true);
    nt_sheet_add_column(out, "name", "name", NT_SHEET_TEXT, true);
    for (int i = 0; i < frame->process_count; i++) {
        const nt_live_process *p = &frame->process[i];
        nt_sheet_add_row(out);
        nt_sheet_set_number(out, 0, (double)p->pid);
        nt_sheet_set_text(out, 1, p->user);
        nt_sheet_set_number(out, 2, p->memory_bytes == NT_UNKNOWN ? NAN : (double)p->memory_bytes);
        nt_sheet_set_text(out, 3, p->name);
    }
}

static void add_cores(const nt_live_frame *frame, nt_shown_device *out)
{
    for (int i = 0; i < frame->core_count && out->gauges < NT_GAUGES; i++) {
        nt_gauge *gauge = &out->gauge[out->gauges++];
        *gauge = (nt_gauge){.number = frame->core_busy_pct[i], .kind = NT_SHEET_PCT};
        gauge->share = frame->core_busy_pct[i] / 100;
        snprintf(gauge->name, sizeof gauge->name, "core_%d_busy_pct", i);
        snprintf(gauge->label, sizeof gauge->label, "core %d busy %%", i);
        nt_copy(gauge->source, sizeof gauge->source, "cpu");
    }
}

static void add_throttle(const nt_live_frame *frame, nt_shown_device *out)
{
    enum { IDLE = 1 };
    nt_str names = {0};
    if (frame->throttle_mask == NT_UNKNOWN)
        return;
    nt_nvml_throttle_names(frame->throttle_mask & ~(int64_t)IDLE, &names);
    nt_copy(out->throttle, sizeof out->throttle,
            (frame->throttle_mask & ~(int64_t)IDLE) == 0 ? "none" : nt_str_text(&names));
    nt_str_done(&names);
}

void nt_top_gauges(const nt_top_device *device, const nt_live_frame *frame, nt_shown_device *out)
{
    out->gauges = 0;
    out->throttle[0] = '\0';
    nt_copy(out->name, sizeof out->name, device->name);
    nt_copy(out->model, sizeof out->model, device->info->name);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        nt_gauge *gauge = &out->gauge[out->gauges++];
        *gauge = (nt_gauge){.number = frame->value[fields[i].field], .kind = fields[i].kind};
        gauge->share = gauge->number / full_of(frame, fields[i].field, fields[i].full);
        nt_copy(gauge->name, sizeof gauge->name, nt_live_field_name(fields[i].field));
        nt_copy(gauge->label, sizeof gauge->label, fields[i].label);
        if (!isnan(gauge->number))
            nt_copy(gauge->source, sizeof gauge->source, nt_live_kind_name(frame->source[fields[i].field]));
    }
    add_throttle(frame, out);
    add_cores(frame, out);
    add_processes(frame, &out->processes);
}
