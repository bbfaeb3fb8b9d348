/* cpu_peak.h: the roof of a cpu, measured: multiply-adds a second by precision and bytes a second from memory.
 *
 * Measured once a computer (a second or two) and kept in the cache folder under the device's uuid. */
#ifndef NT_CPU_PEAK_H
#define NT_CPU_PEAK_H

#include "core/record.h"
#include "device/cpu_pool.h"

/* Fills the peaks of `info` from the cache folder; when they are not there they stay unknown and peak_source says so.
 */
void nt_cpu_peaks_load(nt_device_info *info);

/* Measures what is not in the cache folder yet and keeps it. Fails only when the loops do not compile or load; what
 * cannot be measured for lack of memory or instructions stays unknown. */
nt_status nt_cpu_peaks_measure(nt_device_info *info, nt_cpu_pool *pool, nt_error *err);

#endif
