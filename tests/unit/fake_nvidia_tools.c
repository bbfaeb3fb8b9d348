/* fake_nvidia_tools.c: NVRTC and NVML of the GPU that is not there; see fake_nvidia.c. This NVRTC is from before
 * --no-cache; this NVML knows the first GPU only, and no energy counter. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int handle;

static int setting(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? atoi(text) : otherwise;
}

/* ---- NVRTC ---- */
int nvrtcVersion(int *major, int *minor)
{
    *major = setting("FAKE_NVRTC", 13);
    *minor = 0;
    return 0;
}
const char *nvrtcGetErrorString(int result)
{
    return result == 5 ? "NVRTC_ERROR_INVALID_OPTION" : "NVRTC_ERROR";
}
int nvrtcCreateProgram(void **p, const char *s, const char *n, int h, const void *t, const void *i)
{
    (void)s, (void)n, (void)h, (void)t, (void)i;
    *p = &handle;
    return 0;
}
int nvrtcDestroyProgram(void **program)
{
    *program = NULL;
    return 0;
}
int nvrtcGetCUBINSize(void *program, size_t *bytes)
{
    (void)program;
    *bytes = 6;
    return 0;
}
int nvrtcGetCUBIN(void *program, char *out)
{
    (void)program;
    memcpy(out, "cubin", 6);
    return 0;
}
int nvrtcGetPTXSize(void *program, size_t *bytes)
{
    (void)program;
    *bytes = 5;
    return 0;
}
int nvrtcGetPTX(void *program, char *out)
{
    (void)program;
    memcpy(out, ".ptx", 5);
    return 0;
}
int nvrtcGetProgramLogSize(void *program, size_t *bytes)
{
    (void)program;
    *bytes = 1;
    return 0;
}
int nvrtcGetProgramLog(void *program, char *out)
{
    (void)program;
    out[0] = '\0';
    return 0;
}

int nvrtcCompileProgram(void *program, int count, const char *const *options)
{
    (void)program;
    for (int i = 0; i < count; i++)
        if (strcmp(options[i], "--no-cache") == 0)
            return 5;
    return 0;
}

/* The GPU falls off the bus when the file FAKE_LOST appears: NVML then answers 15 to whatever is asked of the device.
 */
static int lost(void)
{
    const char *path = getenv("FAKE_LOST");
    FILE *file = path != NULL ? fopen(path, "r") : NULL;
    if (file != NULL)
        fclose(file);
    return file != NULL ? 15 : 0;
}

/* ---- NVML ---- */
int nvmlInit_v2(void)
{
    return setting("FAKE_NVML", 0);
}
const char *nvmlErrorString(int result)
{
    (void)result;
    return "fake error";
}
int nvmlSystemGetDriverVersion(char *out, unsigned bytes)
{
    snprintf(out, bytes, "999.1");
    return 0;
}
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
    *device = &handle;
    return strncmp(uuid, "GPU-a0a1a2a3-", 13) == 0 ? 0 : 6;
}
int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *celsius)
{
    (void)d, (void)sensor;
    *celsius = 41;
    return lost();
}
int nvmlDeviceGetTotalEnergyConsumption(void *d, unsigned long long *mj)
{
    (void)d, (void)mj;
    return 3;
}
int nvmlDeviceGetPowerUsage(void *d, unsigned *mw)
{
    (void)d;
    *mw = 120000;
    return lost();
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *mask)
{
    (void)d;
    *mask = 5;
    return 0;
}
int nvmlDeviceGetMaxClockInfo(void *d, int type, unsigned *mhz)
{
    (void)d;
    *mhz = type == 1 ? 1600 : 2100;
    return 0;
}

/* ---- NVML: who uses it ---- */
int nvmlSystemGetNVMLVersion(char *out, unsigned bytes)
{
    snprintf(out, bytes, "13.999.1");
    return 0;
}
int nvmlDeviceGetUtilizationRates(void *d, unsigned out[2])
{
    (void)d;
    out[0] = 87;
    out[1] = 42;
    return lost() ? lost() : setting("FAKE_UTILISATION", 0);
}
int nvmlDeviceGetMemoryInfo(void *d, unsigned long long out[3])
{
    (void)d;
    out[0] = 1ull << 30;
    out[1] = 1ull << 29;
    out[2] = (1ull << 30) - (1ull << 29);
    return 0;
}
int nvmlDeviceGetEnforcedPowerLimit(void *d, unsigned *mw)
{
    (void)d;
    *mw = 700000;
    return 0;
}
int nvmlDeviceGetMigMode(void *d, unsigned *now, unsigned *later)
{
    (void)d;
    *now = *later = (unsigned)setting("FAKE_MIG", 0);
    return 0;
}
int nvmlDeviceGetVirtualizationMode(void *d, unsigned *mode)
{
    (void)d;
    *mode = 1;
    return 0;
}

struct process {
    unsigned pid;
    unsigned long long memory;
    unsigned instance[2];
};

/* FAKE_PID with 5 MiB, and one whose memory is not told. */
int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *count, struct process *out)
{
    (void)d;
    *count = 2;
    out[0] = (struct process){4000001, ~0ull, {0, 0}};
    out[1] = (struct process){(unsigned)setting("FAKE_PID", 1), 5 << 20, {0, 0}};
    return lost() ? lost() : setting("FAKE_PROCESSES", 0);
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *d, unsigned *count, struct process *out)
{
    (void)d;
    *count = 1;
    out[0] = (struct process){(unsigned)setting("FAKE_PID", 1), 3 << 20, {0, 0}};
    return setting("FAKE_PROCESSES", 0);
}

/* ---- NVML: traffic. Counters are of bytes in the field's unit: NVLink's rise by 1000 and 2000 KiB a call, PCIe's are
 * there with FAKE_PCIE_COUNTS and rise by 3 and 4 million bytes ---- */
struct field_value {
    unsigned field, scope;
    long long times[2];
    int type, result;
    unsigned long long value;
};

int nvmlDeviceGetFieldValues(void *d, int count, struct field_value *values)
{
    static unsigned long long calls = 7;
    (void)d;
    calls++;
    for (int i = 0; i < count; i++) {
        struct field_value *v = &values[i];
        unsigned field = v->field;
        v->type = 3;
        v->result = v->scope != ~0u ? 2 : 3;
        if ((field == 138 || field == 139) && setting("FAKE_NVLINK", 1))
            v->result = 0;
        if ((field == 197 || field == 198) && setting("FAKE_PCIE_COUNTS", 0))
            v->result = 0;
        v->value = calls * (field == 139 ? 1000 : field == 138 ? 2000 : field == 198 ? 3000000 : 4000000);
        if (setting("FAKE_COUNTS_RESET", 0))
            v->value = 1;
    }
    return 0;
}
int nvmlDeviceGetPcieThroughput(void *d, int counter, unsigned *kilobytes_per_s)
{
    (void)d;
    *kilobytes_per_s = counter == 0 ? 11 : 22;
    return 0;
}

/* ---- NVML: GPM. Metric N is 3 N, but 13 is not supported, and DRAM (10) is no number when idle ---- */
int fake_gpm_samples;

int nvmlGpmQueryDeviceSupport(void *d, unsigned out[2])
{
    (void)d;
    out[1] = (unsigned)setting("FAKE_GPM", 1);
    return out[0] == 1 ? 0 : 25;
}
int nvmlGpmSampleAlloc(void **sample)
{
    fake_gpm_samples++;
    *sample = calloc(1, sizeof(int));
    return 0;
}
int nvmlGpmSampleFree(void *sample)
{
    fake_gpm_samples--;
    free(sample);
    return 0;
}
int nvmlGpmSampleGet(void *d, int *sample)
{
    static int taken;
    (void)d;
    *sample = ++taken;
    return lost() ? lost() : setting("FAKE_GPM_TAKE", 0);
}

struct metric {
    unsigned id;
    int result;
    double value;
    char *about[3];
};

struct request {
    unsigned version, count;
    int *older, *newer;
    struct metric metric[64];
};

int nvmlGpmMetricsGet(struct request *request)
{
    if (request->version != 1 || *request->older >= *request->newer)
        return 2;
    for (unsigned i = 0; i < request->count; i++) {
        struct metric *m = &request->metric[i];
        m->result = m->id == 13 ? 3 : 0;
        m->value = m->id == 10 && setting("FAKE_GPM_IDLE", 0) ? (double)NAN : 3.0 * m->id;
    }
    return 0;
}
