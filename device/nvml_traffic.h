/* nvml_traffic.h: what a GPU moves over NVLink and PCIe, by NVML's counters. Needs no privilege, holds nothing. */
#ifndef NT_NVML_TRAFFIC_H
#define NT_NVML_TRAFFIC_H

#include "device/nvml.h"

enum { NT_NVML_NVLINK_READ, NT_NVML_NVLINK_WRITE, NT_NVML_PCIE_READ, NT_NVML_PCIE_WRITE, NT_NVML_COUNTERS };

/* Bytes a second as the GPU sees it, all links of a kind together; NAN unknown. */
typedef struct nt_nvml_traffic {
    double nvlink_read_bytes_per_s, nvlink_write_bytes_per_s; /* data without headers */
    double pcie_read_bytes_per_s, pcie_write_bytes_per_s;
} nt_nvml_traffic;

/* NVML's counters as they stood at a reading; all zero before the first. */
typedef struct nt_nvml_counts {
    double at_s;                     /* monotonic; 0: none yet */
    int64_t bytes[NT_NVML_COUNTERS]; /* NT_UNKNOWN */
} nt_nvml_counts;

/* Rates since `counts` was taken, which is then brought up to date. Unknown at the first call, for a counter that ran
 * over meanwhile, and where the card has no such link. */
void nt_nvml_read_traffic(nt_nvml_device device, nt_nvml_counts *counts, nt_nvml_traffic *out);

/* What an older driver says about PCIe, where it counts no bytes: the rate over 20 ms, for which each of the two calls
 * waits. Fills what is NAN of `out`. */
void nt_nvml_sample_pcie(nt_nvml_device device, nt_nvml_traffic *out);

#endif
