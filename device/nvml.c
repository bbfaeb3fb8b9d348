/* nvml.c: see nvml.h. Prototypes and numbers as NVML documents them; its enums are int, its handle opaque. */
#include "device/nvml.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>

#include "device/cuda_library.h"

enum { NVML_OK = 0, NVML_TEMPERATURE_GPU = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };

typedef int clock_fn(nt_nvml_device device, int type, unsigned *mhz);

static struct api {
    int (*init)(void);
    const char *(*error_string)(int result);
    int (*driver_version)(char *out, unsigned bytes);
    int (*by_uuid)(const char *uuid, nt_nvml_device *out);
    int (*temperature)(nt_nvml_device device, int sensor, unsigned *celsius);
    int (*power)(nt_nvml_device device, unsigned *milliwatt);
    int (*energy)(nt_nvml_device device, unsigned long long *millijoule);
    int (*event_reasons)(nt_nvml_device device, unsigned long long *mask);
    int (*throttle_reasons)(nt_nvml_device device, unsigned long long *mask); /* the older name of the same */
    clock_fn *clock, *max_clock;
    int (*bus_width)(nt_nvml_device device, unsigned *bits);
} api;

#define SYMBOL(field, symbol)                      \
    {                                              \
        symbol, offsetof(struct api, field), false \
    }
#define OPTIONAL(field, symbol)                   \
    {                                             \
        symbol, offsetof(struct api, field), true \
    }

static const nt_symbol symbols[] = {
    SYMBOL(init, "nvmlInit_v2"),
    SYMBOL(error_string, "nvmlErrorString"),
    SYMBOL(driver_version, "nvmlSystemGetDriverVersion"),
    SYMBOL(by_uuid, "nvmlDeviceGetHandleByUUID"),
    SYMBOL(temperature, "nvmlDeviceGetTemperature"),
    OPTIONAL(power, "nvmlDeviceGetPowerUsage"),
    OPTIONAL(energy, "nvmlDeviceGetTotalEnergyConsumption"),
    OPTIONAL(event_reasons, "nvmlDeviceGetCurrentClocksEventReasons"),
    OPTIONAL(throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons"),
    OPTIONAL(clock, "nvmlDeviceGetClockInfo"),
    OPTIONAL(max_clock, "nvmlDeviceGetMaxClockInfo"),
    OPTIONAL(bus_width, "nvmlDeviceGetMemoryBusWidth"),
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool started;
static void *opened; /* the library, once started */

static nt_status start(nt_error *err)
{
    static const char *const names[] = {"libnvidia-ml.so.1"};
    nt_str why = {0};
    void *library = nt_library_open("NNTUNE_NVML", names, 1, &why);
    if (library == NULL) {
        nt_fail(err, NT_NO_DEVICE, "NVIDIA's management library was not found: %s", nt_str_text(&why));
        nt_hint(err, "it comes with the NVIDIA driver; without it there is no temperature, power or throttle state");
        nt_str_done(&why);
        return NT_NO_DEVICE;
    }
    nt_str_done(&why);
    const char *missing = nt_library_bind(library, &api, symbols, sizeof symbols / sizeof symbols[0]);
    if (missing != NULL) {
        dlclose(library);
        return nt_fail(err, NT_NO_DEVICE, "NVIDIA's management library has no function %s: the driver is too old",
                       missing);
    }
    int result = api.init();
    if (result == NVML_OK) {
        opened = library;
        return NT_OK;
    }
    nt_fail(err, NT_NO_DEVICE, "NVIDIA's management library does not start: %s", api.error_string(result));
    dlclose(library);
    return NT_NO_DEVICE;
}

nt_status nt_nvml_start(nt_error *err)
{
    pthread_mutex_lock(&lock);
    nt_status status = started ? NT_OK : start(err);
    started = status == NT_OK;
    pthread_mutex_unlock(&lock);
    return status;
}

void *nt_nvml_library(void)
{
    return nt_nvml_start(NULL) == NT_OK ? opened : NULL;
}

const char *nt_nvml_error_text(int result)
{
    return nt_nvml_start(NULL) == NT_OK ? api.error_string(result) : "not started";
}

bool nt_nvml_driver_version(char *out, size_t capacity)
{
    return nt_nvml_start(NULL) == NT_OK && api.driver_version(out, (unsigned)capacity) == NVML_OK;
}

nt_status nt_nvml_find(const char *uuid, nt_nvml_device *out, nt_error *err)
{
    *out = NULL;
    nt_status status = nt_nvml_start(err);
    if (status != NT_OK)
        return status;
    int result = api.by_uuid(uuid, out);
    if (result == NVML_OK)
        return NT_OK;
    *out = NULL;
    return nt_fail(err, NT_NOT_FOUND, "NVIDIA's management library does not know %s: %s", uuid,
                   api.error_string(result));
}

static double read_clock(clock_fn *function, nt_nvml_device device, int type)
{
    unsigned mhz = 0;
    return function != NULL && function(device, type, &mhz) == NVML_OK ? mhz : (double)NAN;
}

static int64_t read_throttle(nt_nvml_device device)
{
    unsigned long long mask = 0;
    if (api.event_reasons != NULL && api.event_reasons(device, &mask) == NVML_OK)
        return (int64_t)mask;
    if (api.throttle_reasons != NULL && api.throttle_reasons(device, &mask) == NVML_OK)
        return (int64_t)mask;
    return NT_UNKNOWN;
}

void nt_nvml_read(nt_nvml_device device, nt_nvml_reading *out)
{
    *out = (nt_nvml_reading){NAN, NAN, NAN, NAN, NAN, NT_UNKNOWN};
    if (device == NULL)
        return;
    unsigned value = 0;
    unsigned long long energy = 0;
    if (api.temperature(device, NVML_TEMPERATURE_GPU, &value) == NVML_OK)
        out->temperature_c = value;
    if (api.power != NULL && api.power(device, &value) == NVML_OK)
        out->power_mw = value;
    if (api.energy != NULL && api.energy(device, &energy) == NVML_OK)
        out->energy_mj = (double)energy;
    out->sm_clock_mhz = read_clock(api.clock, device, NVML_CLOCK_SM);
    out->mem_clock_mhz = read_clock(api.clock, device, NVML_CLOCK_MEM);
    out->throttle_mask = read_throttle(device);
}

void nt_nvml_read_limits(nt_nvml_device device, nt_nvml_limits *out)
{
    *out = (nt_nvml_limits){NAN, NAN, NAN};
    if (device == NULL)
        return;
    unsigned bits = 0;
    out->sm_clock_max_mhz = read_clock(api.max_clock, device, NVML_CLOCK_SM);
    out->mem_clock_max_mhz = read_clock(api.max_clock, device, NVML_CLOCK_MEM);
    if (api.bus_width != NULL && api.bus_width(device, &bits) == NVML_OK)
        out->bus_bits = bits;
}

void nt_nvml_throttle_names(int64_t mask, nt_str *out)
{
    static const char *const names[] = {
        "idle",           "application clocks", "power cap",        "hardware slowdown",
        "sync boost",     "thermal limit",      "hardware thermal", "hardware power brake",
        "display clocks",
    };
    if (mask == NT_UNKNOWN || mask == 0) {
        nt_str_add(out, mask == 0 ? "none" : "unknown");
        return;
    }
    const char *between = "";
    for (size_t bit = 0; bit < 63; bit++) {
        if ((mask >> bit & 1) == 0)
            continue;
        if (bit < sizeof names / sizeof names[0])
            nt_str_addf(out, "%s%s", between, names[bit]);
        else
            nt_str_addf(out, "%sreason %zu", between, bit);
        between = ", ";
    }
}
