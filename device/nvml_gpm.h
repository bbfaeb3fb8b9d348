/* nvml_gpm.h: NVML's GPU performance monitoring (Hopper and newer): occupancy, tensor use and DRAM bandwidth of the
 * whole GPU between two samples. Needs no privilege and holds nothing, so it may run beside anything.
 *
 * Values over less than 100 ms are not good: they come back as 0 or NAN. Whoever asks sooner gets no values. */
#ifndef NT_NVML_GPM_H
#define NT_NVML_GPM_H

#include "device/nvml.h"

extern const double nt_gpm_shortest_s; /* 0.1 */

/* Shares over the time between two readings, in percent of what the whole GPU could do; NAN when not given. */
typedef struct nt_gpm_reading {
    double sm_active_pct;
    double occupancy_pct; /* warps resident over the maximum; idle SMs and idle time count */
    double tensor_pct;
    double dram_pct; /* read and write together */
    double fp32_pct, fp16_pct, fp64_pct, integer_pct;
    double pcie_read_bytes_per_s, pcie_write_bytes_per_s;
    double nvlink_read_bytes_per_s, nvlink_write_bytes_per_s; /* all links together */
    double span_s;
} nt_gpm_reading;

typedef struct nt_gpm nt_gpm;

/* Takes the first sample. NT_NO_DEVICE when the driver or the chip has no GPM. Needs nt_nvml_find's handle. */
nt_status nt_gpm_open(nt_nvml_device device, nt_gpm **out, nt_error *err);

/* Since the previous call that gave values (or open). NT_TIMED_OUT when that is less than nt_gpm_shortest_s ago: ask
 * again later, nothing is lost. */
nt_status nt_gpm_read(nt_gpm *gpm, nt_gpm_reading *out, nt_error *err);
void nt_gpm_close(nt_gpm *gpm); /* NULL allowed */

#endif
