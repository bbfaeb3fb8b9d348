/* live_cpu.h: busy time of cores from the text of /proc/stat. Pure, for live_cpu.c and its tests. */
#ifndef NT_LIVE_CPU_H
#define NT_LIVE_CPU_H

#include <stddef.h>
#include <stdint.h>

typedef struct nt_cpu_ticks {
    int cpu;
    uint64_t busy, total;
} nt_cpu_ticks;

/* Rows "cpuN ..." of /proc/stat; waiting for input and output is idle, time stolen from a virtual machine is not busy
 * either. Returns how many were written. */
int nt_cpu_ticks_parse(const char *text, nt_cpu_ticks *out, int room);

/* Share in percent between two readings of one core; NAN when time did not pass or went backwards. */
double nt_cpu_busy_pct(const nt_cpu_ticks *before, const nt_cpu_ticks *after);

#endif
