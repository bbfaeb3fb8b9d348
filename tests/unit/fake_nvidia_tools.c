/* fake_nvidia_tools.c: NVRTC and NVML of the GPU that is not there; see fake_nvidia.c. This NVRTC is from before
 * --no-cache; this NVML knows the first GPU only, and no energy counter. */
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
    return 0;
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
    return 0;
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
