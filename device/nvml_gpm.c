/* nvml_gpm.c: see nvml_gpm.h. Two samples, the older and the newer, change places at each reading. */
#include "device/nvml_gpm.h"

#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "device/cuda_library.h"

/* NVML's header has grown the array of metrics from release to release under one structure version; the library writes
 * as many as were asked for. Room for more than any release has keeps a library that clears all of it inside. */
enum { NVML_OK = 0, STRUCT_VERSION = 1, ROOM = 1024, MEBIBYTE = 1 << 20 };

const double nt_gpm_shortest_s = 0.1;

typedef struct gpm_sample_s *gpm_sample;

typedef struct metric {
    unsigned id;
    int result;
    double value;
    struct {
        char *name, *long_name, *unit;
    } about;
} metric;

typedef struct request {
    unsigned version, count;
    gpm_sample older, newer;
    metric metric[ROOM];
} request;

typedef struct support {
    unsigned version, supported;
} support;

static struct api {
    int (*query)(nt_nvml_device device, support *out);
    int (*alloc)(gpm_sample *out);
    int (*release)(gpm_sample sample);
    int (*take)(nt_nvml_device device, gpm_sample sample);
    int (*values)(request *request);
} api;

#define SYMBOL(field, symbol)                      \
    {                                              \
        symbol, offsetof(struct api, field), false \
    }

static const nt_symbol symbols[] = {
    SYMBOL(query, "nvmlGpmQueryDeviceSupport"), SYMBOL(alloc, "nvmlGpmSampleAlloc"),
    SYMBOL(release, "nvmlGpmSampleFree"),       SYMBOL(take, "nvmlGpmSampleGet"),
    SYMBOL(values, "nvmlGpmMetricsGet"),
};

/* One row a metric: NVML's number, where it goes, what one of NVML's units is in ours. */
static const struct row {
    unsigned id;
    size_t offset;
    double unit;
} rows[] = {
    {2, offsetof(nt_gpm_reading, sm_active_pct), 1},
    {3, offsetof(nt_gpm_reading, occupancy_pct), 1},
    {4, offsetof(nt_gpm_reading, integer_pct), 1},
    {5, offsetof(nt_gpm_reading, tensor_pct), 1},
    {10, offsetof(nt_gpm_reading, dram_pct), 1},
    {11, offsetof(nt_gpm_reading, fp64_pct), 1},
    {12, offsetof(nt_gpm_reading, fp32_pct), 1},
    {13, offsetof(nt_gpm_reading, fp16_pct), 1},
    {20, offsetof(nt_gpm_reading, pcie_write_bytes_per_s), MEBIBYTE}, /* MiB/s, sent by the GPU */
    {21, offsetof(nt_gpm_reading, pcie_read_bytes_per_s), MEBIBYTE},
    {60, offsetof(nt_gpm_reading, nvlink_read_bytes_per_s), MEBIBYTE},
    {61, offsetof(nt_gpm_reading, nvlink_write_bytes_per_s), MEBIBYTE},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

struct nt_gpm {
    nt_nvml_device device;
    gpm_sample older, newer;
    double older_s;
    request request;
};

static nt_status bind(nt_error *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    nt_status status = nt_nvml_start(err);
    if (status != NT_OK)
        return status;
    pthread_mutex_lock(&lock);
    const char *missing = nt_library_bind(nt_nvml_library(), &api, symbols, sizeof symbols / sizeof symbols[0]);
    pthread_mutex_unlock(&lock);
    if (missing == NULL)
        return NT_OK;
    nt_fail(err, NT_NO_DEVICE, "the driver has no GPM: its management library lacks %s", missing);
    nt_hint(err, "GPM came with driver 520; plain NVML (--source nvml) and PM sampling (--source pm) need none");
    return NT_NO_DEVICE;
}

static nt_status failed(nt_error *err, int result, const char *doing)
{
    return nt_fail(err, NT_FAILED, "%s: NVML says '%s' (%d)", doing, nt_nvml_error_text(result), result);
}

static nt_status check_support(nt_nvml_device device, nt_error *err)
{
    support answer = {.version = STRUCT_VERSION};
    int result = api.query(device, &answer);
    if (result == NVML_OK && answer.supported)
        return NT_OK;
    if (result == NVML_OK)
        nt_fail(err, NT_NO_DEVICE, "this GPU has no GPM, which came with Hopper");
    else
        nt_fail(err, NT_NO_DEVICE, "this GPU has no GPM: NVML says '%s' (%d)", nt_nvml_error_text(result), result);
    nt_hint(err, "use --source pm, which needs the counters, or --source nvml");
    return NT_NO_DEVICE;
}

nt_status nt_gpm_open(nt_nvml_device device, nt_gpm **out, nt_error *err)
{
    *out = NULL;
    nt_status status = bind(err);
    if (status == NT_OK)
        status = check_support(device, err);
    if (status != NT_OK)
        return status;
    nt_gpm *gpm = nt_alloc_zero(1, sizeof *gpm);
    gpm->device = device;
    int result = api.alloc(&gpm->older);
    if (result == NVML_OK)
        result = api.alloc(&gpm->newer);
    if (result == NVML_OK)
        result = api.take(device, gpm->older);
    if (result != NVML_OK) {
        nt_gpm_close(gpm);
        return failed(err, result, "taking the first GPM sample");
    }
    gpm->older_s = nt_now_s();
    *out = gpm;
    return NT_OK;
}

static double *slot(nt_gpm_reading *reading, size_t offset)
{
    return (double *)(void *)((char *)reading + offset);
}

static void ask(nt_gpm *gpm)
{
    request *r = &gpm->request;
    memset(r, 0, offsetof(request, metric) + ROWS * sizeof r->metric[0]);
    r->version = STRUCT_VERSION;
    r->count = ROWS;
    r->older = gpm->older;
    r->newer = gpm->newer;
    for (int i = 0; i < ROWS; i++)
        r->metric[i].id = rows[i].id;
}

/* Values that NVML could not make are NAN there too; below zero or absurd is no share of anything. */
static double value_of(const metric *m, double unit)
{
    bool good = m->result == NVML_OK && isfinite(m->value) && m->value >= 0 && m->value < 1e9;
    return good ? m->value * unit : (double)NAN;
}

nt_status nt_gpm_read(nt_gpm *gpm, nt_gpm_reading *out, nt_error *err)
{
    double now_s = nt_now_s();
    for (int i = 0; i < ROWS; i++)
        *slot(out, rows[i].offset) = NAN;
    out->span_s = now_s - gpm->older_s;
    if (out->span_s < nt_gpm_shortest_s * 0.98) /* a caller's timer may come a little early */
        return nt_fail(err, NT_TIMED_OUT, "the last GPM sample is only %.0f ms old", out->span_s * 1e3);
    int result = api.take(gpm->device, gpm->newer);
    if (result != NVML_OK)
        return failed(err, result, "taking a GPM sample");
    ask(gpm);
    result = api.values(&gpm->request);
    for (int i = 0; result == NVML_OK && i < ROWS; i++)
        *slot(out, rows[i].offset) = value_of(&gpm->request.metric[i], rows[i].unit);
    gpm_sample newest = gpm->newer;
    gpm->newer = gpm->older;
    gpm->older = newest;
    gpm->older_s = now_s;
    return result == NVML_OK ? NT_OK : failed(err, result, "comparing two GPM samples");
}

void nt_gpm_close(nt_gpm *gpm)
{
    if (gpm == NULL)
        return;
    if (gpm->older != NULL)
        api.release(gpm->older);
    if (gpm->newer != NULL)
        api.release(gpm->newer);
    free(gpm);
}
