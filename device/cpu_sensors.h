/* cpu_sensors.h: clock, temperature and energy of the cpu, where the kernel lets this user read them. */
#ifndef NT_CPU_SENSORS_H
#define NT_CPU_SENSORS_H

#include "core/record.h"

typedef struct nt_cpu_sensors {
    char temperature_path[128]; /* millidegrees; empty when there is no sensor */
    double begin_s;
    double begin_mj; /* NAN without a counter that can be read */
} nt_cpu_sensors;

void nt_cpu_sensors_find(nt_cpu_sensors *out);
void nt_cpu_sensors_begin(nt_cpu_sensors *sensors);
/* Conditions since begin. No throttle reasons on a cpu: NT_UNKNOWN. */
void nt_cpu_sensors_end(const nt_cpu_sensors *sensors, const int *cpus, int count, nt_conditions *out);

#endif
