/* cpu_sensors.c: reading /sys for conditions; virtual machines have next to nothing there, and then all is unknown. */
#include "device/cpu_sensors.h"

#include "core/clock.h"
#include "core/mem.h"
#include "core/stats.h"
#include "device/cpu_host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_SENSORS = 64 };

void nt_cpu_sensors_find(nt_cpu_sensors *out)
{
    static const char *const drivers[] = {"coretemp", "k10temp", "zenpower", "cpu_thermal"};
    char path[128], name[64];
    memset(out, 0, sizeof *out);
    for (int i = 0; i < MAX_SENSORS; i++) {
        snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%d/name", i);
        if (!nt_cpu_read_line(path, name, sizeof name))
            continue;
        for (size_t d = 0; d < sizeof drivers / sizeof drivers[0]; d++)
            if (strcmp(name, drivers[d]) == 0) {
                snprintf(out->temperature_path, sizeof out->temperature_path, "/sys/class/hwmon/hwmon%d/temp1_input",
                         i);
                return;
            }
    }
}

/* Energy of all packages together since some moment. A counter that wrapped in between shows as a negative difference
 * and is then not used. */
static double energy_mj(void)
{
    char path[128];
    double sum = 0;
    int found = 0;
    for (int package = 0; package < MAX_SENSORS; package++) {
        snprintf(path, sizeof path, "/sys/class/powercap/intel-rapl:%d/energy_uj", package);
        int64_t uj = nt_cpu_read_number(path);
        if (uj == NT_UNKNOWN)
            break;
        sum += (double)uj * 1e-3;
        found++;
    }
    return found > 0 ? sum : NAN;
}

/* Median over the cores of the clock right now: called when the work has just ended. */
static double clock_mhz(const int *cpus, int count)
{
    char path[128];
    double *mhz = nt_alloc((size_t)count * sizeof *mhz);
    size_t found = 0;
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpus[i]);
        int64_t khz = nt_cpu_read_number(path);
        if (khz == NT_UNKNOWN)
            break;
        mhz[found++] = (double)khz * 1e-3;
    }
    double median = nt_median(mhz, found);
    free(mhz);
    return median;
}

void nt_cpu_sensors_begin(nt_cpu_sensors *sensors)
{
    sensors->begin_s = nt_now_s();
    sensors->begin_mj = energy_mj();
}

void nt_cpu_sensors_end(const nt_cpu_sensors *sensors, const int *cpus, int count, nt_conditions *out)
{
    double seconds = nt_now_s() - sensors->begin_s, energy = NAN;
    out->sm_clock_mhz = clock_mhz(cpus, count);
    int64_t millidegrees =
        sensors->temperature_path[0] != '\0' ? nt_cpu_read_number(sensors->temperature_path) : NT_UNKNOWN;
    out->temperature_c = millidegrees == NT_UNKNOWN ? NAN : (double)millidegrees * 1e-3;
    if (seconds >= 1)
        energy = energy_mj() - sensors->begin_mj;
    out->energy_mj = energy > 0 ? energy : NAN;
    out->power_mw = out->energy_mj / seconds;
    out->throttle_mask = NT_UNKNOWN;
}
