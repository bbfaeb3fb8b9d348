/* nvml_traffic.c: see nvml_traffic.h. Field values as NVML documents them: each is asked for by its number and answered
 * with a code of its own. */
#include "device/nvml_traffic.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>

#include "core/clock.h"
#include "device/cuda_library.h"

enum { NVML_OK = 0, VALUE_UNSIGNED = 1, PCIE_SENT = 0, PCIE_RECEIVED = 1, KIBIBYTE = 1024 };

typedef struct field_value {
    unsigned field, scope; /* UINT_MAX: all links together */
    long long timestamp_us, latency_us;
    int type, result;
    union {
        double real;
        unsigned small;
        unsigned long long whole;
    } value;
} field_value;

static const struct {
    unsigned field;
    int64_t unit_bytes;
} counters[NT_NVML_COUNTERS] = {
    [NT_NVML_NVLINK_READ] = {139, KIBIBYTE},  /* NVLINK_THROUGHPUT_DATA_RX */
    [NT_NVML_NVLINK_WRITE] = {138, KIBIBYTE}, /* NVLINK_THROUGHPUT_DATA_TX */
    [NT_NVML_PCIE_READ] = {198, 1},           /* PCIE_COUNT_RX_BYTES */
    [NT_NVML_PCIE_WRITE] = {197, 1},          /* PCIE_COUNT_TX_BYTES */
};

static struct api {
    int (*fields)(nt_nvml_device device, int count, field_value *values);
    int (*pcie)(nt_nvml_device device, int counter, unsigned *kilobytes_per_s);
} api;

static const nt_symbol symbols[] = {
    {"nvmlDeviceGetFieldValues", offsetof(struct api, fields), true},
    {"nvmlDeviceGetPcieThroughput", offsetof(struct api, pcie), true},
};

static void bind_once(void)
{
    void *library = nt_nvml_library();
    if (library != NULL)
        nt_library_bind(library, &api, symbols, sizeof symbols / sizeof symbols[0]);
}

static void bind(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (nt_nvml_library() != NULL)
        pthread_once(&once, bind_once);
}

static void read_counts(nt_nvml_device device, nt_nvml_counts *out)
{
    field_value values[NT_NVML_COUNTERS] = {{0}};
    for (int i = 0; i < NT_NVML_COUNTERS; i++) {
        values[i].field = counters[i].field;
        values[i].scope = UINT_MAX;
    }
    bool answered = api.fields != NULL && api.fields(device, NT_NVML_COUNTERS, values) == NVML_OK;
    out->at_s = nt_now_s();
    for (int i = 0; i < NT_NVML_COUNTERS; i++) {
        const field_value *v = &values[i];
        int64_t whole = v->type == VALUE_UNSIGNED ? (int64_t)v->value.small : (int64_t)v->value.whole;
        out->bytes[i] = answered && v->result == NVML_OK ? whole * counters[i].unit_bytes : NT_UNKNOWN;
    }
}

static double rate(const nt_nvml_counts *before, const nt_nvml_counts *now, int counter)
{
    int64_t from = before->bytes[counter], to = now->bytes[counter];
    double span_s = now->at_s - before->at_s;
    if (before->at_s <= 0 || span_s <= 0 || from == NT_UNKNOWN || to == NT_UNKNOWN || to < from)
        return NAN;
    return (double)(to - from) / span_s;
}

void nt_nvml_read_traffic(nt_nvml_device device, nt_nvml_counts *counts, nt_nvml_traffic *out)
{
    nt_nvml_counts now;
    *out = (nt_nvml_traffic){NAN, NAN, NAN, NAN};
    bind();
    if (device == NULL)
        return;
    read_counts(device, &now);
    out->nvlink_read_bytes_per_s = rate(counts, &now, NT_NVML_NVLINK_READ);
    out->nvlink_write_bytes_per_s = rate(counts, &now, NT_NVML_NVLINK_WRITE);
    out->pcie_read_bytes_per_s = rate(counts, &now, NT_NVML_PCIE_READ);
    out->pcie_write_bytes_per_s = rate(counts, &now, NT_NVML_PCIE_WRITE);
    *counts = now;
}

void nt_nvml_sample_pcie(nt_nvml_device device, nt_nvml_traffic *out)
{
    unsigned value;
    bind();
    if (device == NULL || api.pcie == NULL)
        return;
    if (isnan(out->pcie_read_bytes_per_s) && api.pcie(device, PCIE_RECEIVED, &value) == NVML_OK)
        out->pcie_read_bytes_per_s = 1e3 * value;
    if (isnan(out->pcie_write_bytes_per_s) && api.pcie(device, PCIE_SENT, &value) == NVML_OK)
        out->pcie_write_bytes_per_s = 1e3 * value;
}
