/* cpu_check.c: each thread judges a range of elements; ranges are joined in their order, so the result does not depend
 * on which thread is quick. */
#include "device/cpu_check.h"

#include "core/convert.h"
#include "core/mem.h"

#include <math.h>
#include <stdlib.h>

/* ---- reading an element of any type ---------------------------------------------------------------------------------- */

static double read_f64(const void *from, size_t i)
{
    return ((const double *)from)[i];
}
static double read_f32(const void *from, size_t i)
{
    return (double)((const float *)from)[i];
}
static double read_f16(const void *from, size_t i)
{
    return (double)nt_f16_to_f32(((const uint16_t *)from)[i]);
}
static double read_bf16(const void *from, size_t i)
{
    return (double)nt_bf16_to_f32(((const uint16_t *)from)[i]);
}
static double read_e4m3(const void *from, size_t i)
{
    return (double)nt_e4m3_to_f32(((const uint8_t *)from)[i]);
}
static double read_i32(const void *from, size_t i)
{
    return (double)((const int32_t *)from)[i];
}
static double read_i8(const void *from, size_t i)
{
    return (double)((const int8_t *)from)[i];
}

static double read_u8(const void *from, size_t i)
{
    return (double)((const uint8_t *)from)[i];
}
static double read_i16(const void *from, size_t i)
{
    return (double)((const int16_t *)from)[i];
}
static double read_u16(const void *from, size_t i)
{
    return (double)((const uint16_t *)from)[i];
}
static double read_u32(const void *from, size_t i)
{
    return (double)((const uint32_t *)from)[i];
}
static double read_i64(const void *from, size_t i)
{
    return (double)((const int64_t *)from)[i];
}
static double read_u64(const void *from, size_t i)
{
    return (double)((const uint64_t *)from)[i];
}

static double (*const read_of[NT_DTYPE_COUNT])(const void *from, size_t i) = {
    [NT_F64] = read_f64, [NT_F32] = read_f32, [NT_F16] = read_f16, [NT_BFLOAT16] = read_bf16, [NT_F8E4M3] = read_e4m3,
    [NT_I32] = read_i32, [NT_I8] = read_i8,   [NT_U8] = read_u8,   [NT_I16] = read_i16,       [NT_U16] = read_u16,
    [NT_U32] = read_u32, [NT_I64] = read_i64, [NT_U64] = read_u64,
};

/* Types that f64 would round: their reference has the type itself. */
static bool is_wide(nt_dtype type)
{
    return type == NT_I64 || type == NT_U64;
}

static nt_dtype type_of_reference(nt_dtype type)
{
    return is_wide(type) ? type : NT_F64;
}

/* |a - b| of 64-bit integers, rounded once. */
static double wide_distance(nt_dtype type, uint64_t a, uint64_t b)
{
    bool above = type == NT_I64 ? (int64_t)a > (int64_t)b : a > b;
    return (double)(above ? a - b : b - a);
}

/* ---- comparison -------------------------------------------------------------------------------------------------------- */

typedef struct compare_job {
    const nt_compare_request *request;
    nt_compare_result *part; /* [threads] */
} compare_job;

/* |out - ref| / bound. NaN and Inf on either side are infinitely wrong, whatever the bound: the difference is then NaN
 * or Inf, and Inf / Inf is NaN again. With a bound of 0 only equality is right. */
static double ratio_of(double difference, double bound)
{
    double ratio = difference == 0 ? 0 : difference / bound;
    return isnan(ratio) ? INFINITY : ratio;
}

static double ratio_at(const nt_compare_request *request, size_t i, double out, double ref)
{
    const void *outs = (const void *)(uintptr_t)request->out, *refs = (const void *)(uintptr_t)request->ref;
    double bound = request->unit_out * fabs(ref) + request->tiny;
    if (is_wide(request->out_type))
        return ratio_of(wide_distance(request->out_type, ((const uint64_t *)outs)[i], ((const uint64_t *)refs)[i]),
                        bound);
    return ratio_of(fabs(out - ref), request->gamma * ((const double *)(uintptr_t)request->abs)[i] + bound);
}

static void judge_range(const nt_compare_request *request, size_t begin, size_t end, nt_compare_result *part)
{
    double (*read)(const void *, size_t) = read_of[request->out_type];
    double (*read_ref)(const void *, size_t) = read_of[type_of_reference(request->out_type)];
    const void *outs = (const void *)(uintptr_t)request->out, *refs = (const void *)(uintptr_t)request->ref;
    for (size_t i = begin; i < end; i++) {
        double out = read(outs, i), ref = read_ref(refs, i);
        double ratio = ratio_at(request, i, out, ref);
        part->max_ratio = ratio > part->max_ratio ? ratio : part->max_ratio;
        if (ratio <= 1)
            continue;
        if (part->violations++ == 0) {
            part->first_bad = i;
            part->first_out = out;
            part->first_ref = ref;
        }
    }
}

static void sum_range(const nt_compare_request *request, size_t begin, size_t end, nt_compare_result *part)
{
    double (*read)(const void *, size_t) = read_of[request->out_type];
    double (*read_original)(const void *, size_t) = read_of[type_of_reference(request->out_type)];
    const void *outs = (const void *)(uintptr_t)request->out;
    const void *originals = (const void *)(uintptr_t)request->original;
    const double *scales = (const double *)(uintptr_t)request->channel_scale;
    for (size_t i = begin; i < end; i++) {
        double scale = scales != NULL ? scales[i / request->channel_stride % request->channels] : 1.0;
        double original = read_original(originals, i), difference = read(outs, i) * scale - original;
        part->sum_sq_diff += difference * difference;
        part->sum_sq_ref += original * original;
    }
}

static void compare_part(void *context, int thread, int threads)
{
    const compare_job *job = context;
    const nt_compare_request *request = job->request;
    size_t each = (request->count + (size_t)threads - 1) / (size_t)threads;
    size_t begin = each * (size_t)thread, end = begin + each;
    nt_compare_result part = {.first_bad = request->count};
    end = end < request->count ? end : request->count;
    if (begin < end) {
        judge_range(request, begin, end, &part);
        if (request->original != 0)
            sum_range(request, begin, end, &part);
    }
    job->part[thread] = part;
}

nt_status nt_cpu_compare(nt_cpu_pool *pool, const nt_compare_request *request, nt_compare_result *out, nt_error *err)
{
    int threads = nt_cpu_pool_threads(pool);
    if (request->out == 0 || request->ref == 0 || request->abs == 0 ||
        (request->channel_scale != 0 && (request->channels == 0 || request->channel_stride == 0)))
        return nt_fail(err, NT_FAILED, "a comparison needs out, ref and abs, and with channel scales the channels");
    compare_job job = {request, nt_alloc_zero((size_t)threads, sizeof *job.part)};
    nt_cpu_pool_run(pool, compare_part, &job);
    *out = (nt_compare_result){.first_bad = request->count};
    for (int t = 0; t < threads; t++) {
        const nt_compare_result *part = &job.part[t];
        out->max_ratio = part->max_ratio > out->max_ratio ? part->max_ratio : out->max_ratio;
        if (out->violations == 0 && part->violations > 0) {
            out->first_bad = part->first_bad;
            out->first_out = part->first_out;
            out->first_ref = part->first_ref;
        }
        out->violations += part->violations;
        out->sum_sq_diff += part->sum_sq_diff;
        out->sum_sq_ref += part->sum_sq_ref;
    }
    if (request->original == 0)
        out->sum_sq_diff = out->sum_sq_ref = NAN;
    free(job.part);
    return NT_OK;
}

size_t nt_cpu_count_changed(const unsigned char *at, unsigned char byte, size_t bytes)
{
    size_t changed = 0;
    for (size_t i = 0; i < bytes; i++)
        changed += at[i] != byte;
    return changed;
}
