/* nvml_usage.h: who uses a GPU and how much, by NVML: utilisation, memory, processes, modes. Needs no privilege, holds
 * nothing. Functions that a driver lacks, and values that a card refuses, are unknown. */
#ifndef NT_NVML_USAGE_H
#define NT_NVML_USAGE_H

#include "device/nvml.h"

typedef struct nt_nvml_usage {
    double busy_pct;        /* time in which any kernel ran, over NVML's own last period (up to a second) */
    double memory_busy_pct; /* time in which device memory was read or written, likewise: not a bandwidth */
    int64_t memory_used_bytes, memory_total_bytes;
    double power_limit_mw;
} nt_nvml_usage;

typedef struct nt_nvml_process {
    int64_t pid; /* as the driver numbers it: in a container that may be a number of the host's */
    int64_t memory_bytes;
} nt_nvml_process;

/* How the card is set up. Text where a word is clearer than NVML's number; empty when unknown. */
typedef struct nt_nvml_modes {
    int mig;                 /* 1 on, 0 off, -1 unknown */
    int persistence;         /* likewise */
    char virtualisation[32]; /* none, passthrough, vgpu, ... */
} nt_nvml_modes;

void nt_nvml_read_usage(nt_nvml_device device, nt_nvml_usage *out);
void nt_nvml_read_modes(nt_nvml_device device, nt_nvml_modes *out);

/* Processes with a context on the device, compute and graphics, largest memory first, each once. Returns how many were
 * written; -1 when NVML does not say. */
int nt_nvml_processes(nt_nvml_device device, nt_nvml_process *out, int room);

/* "13.580.159.04"; false when unknown. */
bool nt_nvml_library_version(char *out, size_t capacity);

#endif
