/* cuda_compare.c: guard zones and outputs judged on the device, so that only a few numbers come back. The kernels are
 * in cuda_support.cu. */
#include "device/cuda_device.h"

#ifdef NT_HAVE_CUDA_H

#include <math.h>
#include <string.h>

#include "core/convert.h"

enum { THREADS = 256, MOST_BLOCKS = 1024 };

/* Laid out as `tally` and `compare_args` of cuda_support.cu. */
typedef struct tally {
    double max_ratio, sum_sq_diff, sum_sq_ref;
    uint64_t violations, first_bad;
} tally;

typedef struct compare_args {
    uint64_t out, ref, abs, original, scale;
    uint64_t count, channels, stride;
    double gamma, unit_out, tiny;
    int32_t type;
} compare_args;

static uint32_t blocks_for(uint64_t items)
{
    uint64_t blocks = (items + THREADS - 1) / THREADS;
    return blocks < MOST_BLOCKS ? (uint32_t)blocks : MOST_BLOCKS;
}

static nt_status support_function(nt_device *device, const char *entry, CUfunction *out, nt_error *err)
{
    nt_module *support = NULL;
    nt_cuda_function *function = NULL;
    nt_status status = nt_cuda_support(device, &support, err);
    if (status == NT_OK)
        status = nt_cuda_function_get(device, support, entry, 0, &function, err);
    if (status == NT_OK)
        *out = function->handle;
    return status;
}

nt_status nt_cuda_count_changed(nt_device *device, nt_mem at, unsigned char byte, size_t bytes, size_t *changed,
                                nt_error *err)
{
    CUfunction function = NULL;
    nt_mem counter = 0;
    uint64_t found = 0;
    *changed = 0;
    nt_status status = bytes > 0 ? support_function(device, "nt_count_changed", &function, err) : NT_OK;
    if (status != NT_OK || bytes == 0)
        return status;
    status = nt_cuda_scratch(device, sizeof found, &counter, err);
    if (status == NT_OK)
        status = nt_cuda_fill(device, counter, 0, sizeof found, err);
    if (status != NT_OK)
        return status;
    uint32_t value = byte;
    uint64_t total = bytes;
    void *args[] = {&at, &value, &total, &counter};
    CUresult result = nt_cuda_support_launch(device, function, blocks_for(bytes), THREADS, args);
    if (result != CUDA_SUCCESS)
        return nt_cuda_fail(err, (int)result, "looking for changed bytes");
    status = nt_cuda_download(device, &found, counter, sizeof found, err);
    *changed = (size_t)found;
    return status;
}

static void add_up(const tally *blocks, uint32_t count, const nt_compare_request *request, nt_compare_result *out)
{
    double diff = 0, ref = 0;
    for (uint32_t i = 0; i < count; i++) {
        out->max_ratio = blocks[i].max_ratio > out->max_ratio ? blocks[i].max_ratio : out->max_ratio;
        out->violations += (size_t)blocks[i].violations;
        out->first_bad = blocks[i].first_bad < out->first_bad ? (size_t)blocks[i].first_bad : out->first_bad;
        diff += blocks[i].sum_sq_diff;
        ref += blocks[i].sum_sq_ref;
    }
    out->sum_sq_diff = request->original != 0 ? diff : NAN;
    out->sum_sq_ref = request->original != 0 ? ref : NAN;
}

/* Types that a float would round are read as they are. */
static double to_double(nt_dtype type, const void *bytes)
{
    union {
        double f64;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        uint64_t u64;
    } value;
    float real;
    memcpy(&value, bytes, nt_dtype_bytes(type));
    switch (type) {
    case NT_F64:
        return value.f64;
    case NT_I32:
        return value.i32;
    case NT_U32:
        return value.u32;
    case NT_I64:
        return (double)value.i64;
    case NT_U64:
        return (double)value.u64;
    default:
        nt_unpack(type, bytes, 1, &real);
        return (double)real;
    }
}

static nt_status fetch_first_bad(nt_device *device, const nt_compare_request *request, nt_compare_result *out,
                                 nt_error *err)
{
    union {
        double aligned;
        unsigned char bytes[8];
    } element = {0};
    nt_dtype type = request->out_type;
    size_t size = nt_dtype_bytes(type), at = out->first_bad;
    nt_status status = nt_cuda_download(device, element.bytes, request->out + at * size, size, err);
    if (status != NT_OK)
        return status;
    out->first_out = to_double(type, element.bytes);
    status = nt_cuda_download(device, element.bytes, request->ref + at * sizeof(double), sizeof(double), err);
    if (status == NT_OK)
        out->first_ref = to_double(type == NT_I64 || type == NT_U64 ? type : NT_F64, element.bytes);
    return status;
}

static nt_status launch_compare(nt_device *device, const nt_compare_request *r, uint32_t blocks, nt_mem results,
                                nt_error *err)
{
    CUfunction function = NULL;
    nt_status status = support_function(device, "nt_compare", &function, err);
    if (status != NT_OK)
        return status;
    compare_args a = {
        .out = r->out,
        .ref = r->ref,
        .abs = r->abs,
        .original = r->original,
        .scale = r->channel_scale,
        .count = r->count,
        .channels = r->channels > 0 ? r->channels : 1,
        .stride = r->channel_stride > 0 ? r->channel_stride : 1,
        .gamma = r->gamma,
        .unit_out = r->unit_out,
        .tiny = r->tiny,
        .type = (int32_t)r->out_type,
    };
    void *args[] = {&a, &results};
    CUresult result = nt_cuda_support_launch(device, function, blocks, THREADS, args);
    return result == CUDA_SUCCESS ? NT_OK : nt_cuda_fail(err, (int)result, "comparing an output with its reference");
}

nt_status nt_cuda_compare(nt_device *device, const nt_compare_request *request, nt_compare_result *out, nt_error *err)
{
    tally blocks[MOST_BLOCKS];
    uint32_t count = blocks_for(request->count);
    nt_mem results = 0;
    *out = (nt_compare_result){.first_bad = request->count, .first_out = NAN, .first_ref = NAN};
    nt_status status = NT_OK;
    if (count > 0)
        status = nt_cuda_scratch(device, sizeof blocks, &results, err);
    if (status == NT_OK && count > 0)
        status = launch_compare(device, request, count, results, err);
    if (status == NT_OK && count > 0)
        status = nt_cuda_download(device, blocks, results, count * sizeof blocks[0], err);
    if (status != NT_OK)
        return status;
    add_up(blocks, count, request, out);
    return out->violations > 0 ? fetch_first_bad(device, request, out, err) : NT_OK;
}

#endif
