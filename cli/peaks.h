/* peaks.h: the peaks of the cpu, which are measured: once a computer, by the first sweep or by `nntune devices`. */
#ifndef NT_PEAKS_H
#define NT_PEAKS_H

#include "core/record.h"

/* Measures in a device worker and fills `info` anew. NT_BUSY while a sweep holds the device: measuring would disturb
 * it. */
nt_status nt_peaks_measure(nt_device_info *info, nt_error *err);

#endif
