/* live_cpu.c: this computer's cores as a source, from /proc and /sys; what cannot be read stays unknown. */
#include "profiler/live_cpu.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/paths.h"
#include "core/stats.h"
#include "device/cpu_host.h"
#include "device/cpu_sensors.h"
#include "profiler/live.h"

enum { STAT_BYTES = 1 << 20, COLUMNS = 8, IDLE = 3, IO_WAIT = 4, STOLEN = 7 };

struct nt_live_source {
    int cpus[NT_MAX_CORES];
    int cpu_count;
    nt_cpu_sensors sensors;
    nt_cpu_ticks before[NT_LIVE_CORES];
    int before_count;
};

int nt_cpu_ticks_parse(const char *text, nt_cpu_ticks *out, int room)
{
    int count = 0;
    for (const char *line = text; line != NULL && count < room; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "cpu", 3) != 0 || !isdigit((unsigned char)line[3]))
            continue;
        char *at;
        nt_cpu_ticks one = {.cpu = (int)strtol(line + 3, &at, 10)};
        for (int column = 0; column < COLUMNS && *at == ' '; column++) {
            uint64_t ticks = strtoull(at, &at, 10);
            one.total += ticks;
            one.busy += column == IDLE || column == IO_WAIT || column == STOLEN ? 0 : ticks;
        }
        out[count++] = one;
    }
    return count;
}

double nt_cpu_busy_pct(const nt_cpu_ticks *before, const nt_cpu_ticks *after)
{
    if (after->total <= before->total || after->busy < before->busy)
        return NAN;
    return 100.0 * (double)(after->busy - before->busy) / (double)(after->total - before->total);
}

static int read_ticks(nt_cpu_ticks *out)
{
    char *text = NULL;
    size_t bytes;
    if (nt_read_file("/proc/stat", STAT_BYTES, &text, &bytes, NULL) != NT_OK)
        return 0;
    int count = nt_cpu_ticks_parse(text, out, NT_LIVE_CORES);
    free(text);
    return count;
}

static nt_status open_cpu(const nt_device_info *device, nt_live_source **out, nt_error *err)
{
    (void)device;
    (void)err;
    nt_live_source *source = nt_alloc_zero(1, sizeof *source);
    source->cpu_count = nt_cpu_cores(source->cpus);
    nt_cpu_sensors_find(&source->sensors);
    nt_cpu_sensors_begin(&source->sensors);
    source->before_count = read_ticks(source->before);
    *out = source;
    return NT_OK;
}

static void read_busy(nt_live_source *source, nt_live_frame *frame)
{
    nt_cpu_ticks now[NT_LIVE_CORES];
    int count = read_ticks(now);
    double sum = 0;
    int known = 0;
    for (int i = 0; i < count && i < source->before_count && now[i].cpu == source->before[i].cpu; i++) {
        double busy = nt_cpu_busy_pct(&source->before[i], &now[i]);
        frame->core_busy_pct[frame->core_count++] = busy;
        sum += isnan(busy) ? 0 : busy;
        known += !isnan(busy);
    }
    if (known > 0)
        nt_live_set(frame, NT_LIVE_CPU, NT_LIVE_BUSY, sum / known);
    memcpy(source->before, now, (size_t)count * sizeof now[0]);
    source->before_count = count;
}

/* Where the kernel has no cpufreq, as in most virtual machines, /proc/cpuinfo may still know. */
static double cpuinfo_mhz(void)
{
    char line[256];
    double mhz[NT_LIVE_CORES];
    size_t count = 0;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && count < NT_LIVE_CORES && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "cpu MHz", 7) == 0 && strchr(line, ':') != NULL)
            mhz[count++] = strtod(strchr(line, ':') + 1, NULL);
    if (file != NULL)
        fclose(file);
    return nt_median(mhz, count);
}

static nt_status read_cpu(nt_live_source *source, nt_live_frame *frame, nt_error *err)
{
    nt_conditions now;
    (void)err;
    read_busy(source, frame);
    nt_cpu_sensors_end(&source->sensors, source->cpus, source->cpu_count, &now);
    int64_t total = nt_cpu_memory_total(), left = nt_cpu_memory_available();
    nt_live_set(frame, NT_LIVE_CPU, NT_LIVE_SM_CLOCK, isnan(now.sm_clock_mhz) ? cpuinfo_mhz() : now.sm_clock_mhz);
    nt_live_set(frame, NT_LIVE_CPU, NT_LIVE_TEMPERATURE, now.temperature_c);
    nt_live_set(frame, NT_LIVE_CPU, NT_LIVE_POWER, now.power_mw);
    if (total != NT_UNKNOWN)
        nt_live_set(frame, NT_LIVE_CPU, NT_LIVE_MEMORY_TOTAL, (double)total);
    if (total != NT_UNKNOWN && left != NT_UNKNOWN)
        nt_live_set(frame, NT_LIVE_CPU, NT_LIVE_MEMORY_USED, (double)(total - left));
    if (!isnan(now.power_mw))
        nt_cpu_sensors_begin(&source->sensors);
    return NT_OK;
}

static void close_cpu(nt_live_source *source)
{
    free(source);
}

const nt_live_ops nt_live_cpu_ops = {
    .kind = NT_LIVE_CPU, .shortest_s = 0.1, .open = open_cpu, .read = read_cpu, .close = close_cpu};
