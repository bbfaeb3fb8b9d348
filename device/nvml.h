/* nvml.h: NVIDIA's management library: temperature, power, energy, clocks, throttle reasons. Needs no privilege.
 *
 * Opened at run time (NNTUNE_NVML names another file) with our own prototypes, so no header is needed. Every reading
 * that a card refuses is NAN or NT_UNKNOWN. */
#ifndef NT_NVML_H
#define NT_NVML_H

#include "core/record.h"

typedef struct nt_nvml_device_s *nt_nvml_device;

typedef struct nt_nvml_reading {
    double temperature_c;
    double power_mw;
    double energy_mj; /* since the driver was loaded; differences mean something */
    double sm_clock_mhz, mem_clock_mhz;
    int64_t throttle_mask; /* clock event reasons; NT_UNKNOWN when refused */
} nt_nvml_reading;

/* What a device has for good. */
typedef struct nt_nvml_limits {
    double sm_clock_max_mhz, mem_clock_max_mhz;
    double bus_bits;
} nt_nvml_limits;

/* Opens and initialises once a process; NT_NO_DEVICE with the reason when it cannot. A failure is tried again. */
nt_status nt_nvml_start(nt_error *err);

/* The opened library, started, for the files that bind more of its functions; NULL when there is none. */
void *nt_nvml_library(void);
/* NVML's words for one of its codes. */
const char *nt_nvml_error_text(int result);

/* "580.159.04"; false when unknown. */
bool nt_nvml_driver_version(char *out, size_t capacity);

/* By UUID ("GPU-..."), because NVML counts devices that CUDA_VISIBLE_DEVICES hides. NT_NOT_FOUND when unknown. */
nt_status nt_nvml_find(const char *uuid, nt_nvml_device *out, nt_error *err);

void nt_nvml_read(nt_nvml_device device, nt_nvml_reading *out);
void nt_nvml_read_limits(nt_nvml_device device, nt_nvml_limits *out);

/* Names of the reasons in a mask, comma-separated ("power cap, hardware thermal"); "none" for 0, "unknown". */
void nt_nvml_throttle_names(int64_t mask, nt_str *out);

#endif
