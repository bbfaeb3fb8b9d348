/* record.c: the names of the vocabulary, the precision table, and the life of shapes, problems and trials.
 *
 * Rounding units. A type with p significand bits (the hidden one counted) rounds to nearest within half the spacing:
 * relative error at most u = 2^-p. fp32 has p = 24, fp16 11, bf16 8. Where hardware may truncate, the error is a whole
 * spacing, 2^-(p-1): 2^-23 for the fp32 sums of tensor cores, 2^-10 for an operand cut to tf32 (p = 11). */
#include "core/record.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
} dtypes[NT_DTYPE_COUNT] = {
    [NT_F64] = {"f64", 8},       [NT_F32] = {"f32", 4}, [NT_F16] = {"f16", 2}, [NT_BFLOAT16] = {"bf16", 2},
    [NT_F8E4M3] = {"f8e4m3", 1}, [NT_I32] = {"i32", 4}, [NT_I8] = {"i8", 1},   [NT_U8] = {"u8", 1},
    [NT_I16] = {"i16", 2},       [NT_U16] = {"u16", 2}, [NT_U32] = {"u32", 4}, [NT_I64] = {"i64", 8},
    [NT_U64] = {"u64", 8},
};

size_t nt_dtype_bytes(nt_dtype type)
{
    assert((unsigned)type < NT_DTYPE_COUNT);
    return dtypes[type].bytes;
}

const char *nt_dtype_name(nt_dtype type)
{
    return (unsigned)type < NT_DTYPE_COUNT ? dtypes[type].name : "unknown";
}

/* Rows that are there twice, with dense and with pruned weights. int32 sums are exact below 2^31. */
#define FP16(name)                                                                             \
    {                                                                                          \
        (name), NT_F16, NT_F16, NT_F16, NT_F32, 0x1p-23, .unit_out = 0x1p-11, .dense = NT_FP16 \
    }
#define BF16(name)                                                                                           \
    {                                                                                                        \
        (name), NT_BFLOAT16, NT_BFLOAT16, NT_BFLOAT16, NT_F32, 0x1p-23, .unit_out = 0x1p-8, .dense = NT_BF16 \
    }
#define INT8(name)                                                      \
    {                                                                   \
        (name), NT_I8, NT_I8, NT_I32, NT_I32, 0, 0, 0, .dense = NT_INT8 \
    }

const nt_precision_row nt_precisions[NT_PRECISION_COUNT] = {
    [NT_FP32] = {"fp32", NT_F32, NT_F32, NT_F32, NT_F32, .unit_accumulate = 0x1p-24, .dense = NT_FP32},
    [NT_TF32] = {"tf32", NT_F32, NT_F32, NT_F32, NT_F32, 0x1p-23, .unit_multiply = 0x1p-10, .dense = NT_TF32},
    [NT_FP16] = FP16("fp16"),
    [NT_BF16] = BF16("bf16"),
    [NT_INT8] = INT8("int8"),
    [NT_FP8] = {"fp8", NT_F8E4M3, NT_F8E4M3, NT_BFLOAT16, NT_F32, 0x1p-23, .unit_step = 0x1p-13, .unit_out = 0x1p-8,
                .dense = NT_FP8},
    [NT_FP16_SPARSE] = FP16("fp16_sparse"),
    [NT_BF16_SPARSE] = BF16("bf16_sparse"),
    [NT_INT8_SPARSE] = INT8("int8_sparse"),
};

bool nt_precision_is_pruned(nt_precision precision)
{
    return nt_precisions[precision].dense != precision;
}

int nt_precision_find(const char *name)
{
    for (int i = 0; i < NT_PRECISION_COUNT; i++)
        if (strcmp(nt_precisions[i].name, name) == 0)
            return i;
    return -1;
}

/* ---- vendors ---------------------------------------------------------------------------------------------------- */

const char *nt_vendor_name(nt_vendor vendor)
{
    static const char *const names[NT_VENDOR_COUNT] = {[NT_VENDOR_NONE] = "none",
                                                       [NT_VENDOR_ONEDNN] = "oneDNN",
                                                       [NT_VENDOR_OPENBLAS] = "OpenBLAS",
                                                       [NT_VENDOR_CUBLASLT] = "cuBLASLt",
                                                       [NT_VENDOR_CUDNN] = "cuDNN"};
    return (unsigned)vendor < NT_VENDOR_COUNT ? names[vendor] : "unknown";
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

static const char *const layout_names[NT_LAYOUT_COUNT] = {[NT_NHWC] = "nhwc", [NT_NCHW] = "nchw"};
static const char *const fill_names[NT_FILL_COUNT] = {
    [NT_FILL_NORMAL] = "normal", [NT_FILL_UNIFORM] = "uniform", [NT_FILL_FILE] = "file"};
static const char *const cache_names[] = {[NT_COLD] = "cold", [NT_HOT] = "hot"};
static const char *const kind_names[NT_DEVICE_KIND_COUNT] = {
    [NT_DEVICE_CPU] = "cpu", [NT_DEVICE_CUDA] = "cuda", [NT_DEVICE_FAKE] = "fake"};
static const char *const outcome_names[NT_OUTCOME_COUNT] = {
#define X(name, text) [NT_OUTCOME_##name] = (text),
    NT_OUTCOME_MAP(X)
#undef X
};

enum { CACHE_COUNT = sizeof cache_names / sizeof cache_names[0] };

static const char *name_at(const char *const *names, int count, int index)
{
    return index >= 0 && index < count ? names[index] : "unknown";
}

static int find_name(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

const char *nt_layout_name(nt_layout layout)
{
    return name_at(layout_names, NT_LAYOUT_COUNT, (int)layout);
}

int nt_layout_find(const char *name)
{
    return find_name(layout_names, NT_LAYOUT_COUNT, name);
}

const char *nt_fill_name(nt_fill fill)
{
    return name_at(fill_names, NT_FILL_COUNT, (int)fill);
}

int nt_fill_find(const char *name)
{
    return find_name(fill_names, NT_FILL_COUNT, name);
}

const char *nt_cache_mode_name(nt_cache_mode mode)
{
    return name_at(cache_names, CACHE_COUNT, (int)mode);
}

int nt_cache_mode_find(const char *name)
{
    return find_name(cache_names, CACHE_COUNT, name);
}

const char *nt_device_kind_name(nt_device_kind kind)
{
    return name_at(kind_names, NT_DEVICE_KIND_COUNT, (int)kind);
}

int nt_device_kind_find(const char *name)
{
    return find_name(kind_names, NT_DEVICE_KIND_COUNT, name);
}

const char *nt_outcome_name(nt_outcome outcome)
{
    return name_at(outcome_names, NT_OUTCOME_COUNT, (int)outcome);
}

int nt_outcome_find(const char *name)
{
    return find_name(outcome_names, NT_OUTCOME_COUNT, name);
}

/* ---- shapes and problems ---------------------------------------------------------------------------------------- */

int64_t nt_shape_get(const nt_shape *shape, const char *key)
{
    for (int i = 0; i < shape->count; i++)
        if (strcmp(shape->dim[i].key, key) == 0)
            return shape->dim[i].size;
    assert(false && "the shape has this key");
    return NT_UNKNOWN;
}

const char *nt_shape_word(int64_t number)
{
    switch (number) {
#define X(word, of_word) \
    case of_word:        \
        return #word;
        NT_SHAPE_WORD_MAP(X)
#undef X
    default:
        return NULL;
    }
}

int64_t nt_shape_word_find(const char *word)
{
#define X(name, of_word)          \
    if (strcmp(word, #name) == 0) \
        return of_word;
    NT_SHAPE_WORD_MAP(X)
#undef X
    return 0;
}

void nt_shape_print(nt_str *out, const nt_shape *shape)
{
    for (int i = 0; i < shape->count; i++) {
        const char *word = shape->dim[i].is_word ? nt_shape_word(shape->dim[i].size) : NULL;
        nt_str_addf(out, "%s%s=", i ? "," : "", shape->dim[i].key);
        if (word != NULL)
            nt_str_add(out, word);
        else
            nt_str_addf(out, "%" PRId64, shape->dim[i].size);
    }
}

bool nt_shape_equal(const nt_shape *a, const nt_shape *b)
{
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->dim[i].size != b->dim[i].size || strcmp(a->dim[i].key, b->dim[i].key) != 0)
            return false;
    return true;
}

/* One "key=size" of `length` bytes. */
static nt_status parse_dim(const char *part, size_t length, nt_shape *shape, nt_error *err)
{
    char text[40];
    const size_t key_bytes = sizeof shape->dim[0].key;
    const char *equals = memchr(part, '=', length);
    size_t key_length = equals != NULL ? (size_t)(equals - part) : 0;
    if (key_length == 0 || key_length >= key_bytes || length >= sizeof text)
        return nt_fail(err, NT_USAGE, "'%.*s' in a shape is not a key of at most %zu letters, '=' and a size",
                       (int)(length < 80 ? length : 80), part, key_bytes - 1);
    memcpy(text, part, length);
    text[length] = '\0';
    text[key_length] = '\0';
    long long size = nt_shape_word_find(text + key_length + 1);
    bool is_word = size > 0;
    if (!is_word && (!nt_parse_i64(text + key_length + 1, &size) || size < 1))
        return nt_fail(err, NT_USAGE, "'%s' is not a size for %s in a shape (a whole number from 1)",
                       text + key_length + 1, text);
    for (int i = 0; i < shape->count; i++)
        if (strcmp(shape->dim[i].key, text) == 0)
            return nt_fail(err, NT_USAGE, "%s stands twice in a shape", text);
    if (shape->count == NT_MAX_DIMS)
        return nt_fail(err, NT_USAGE, "a shape has more than %d extents", NT_MAX_DIMS);
    nt_copy(shape->dim[shape->count].key, key_bytes, text);
    shape->dim[shape->count].is_word = is_word;
    shape->dim[shape->count++].size = size;
    return NT_OK;
}

nt_status nt_shape_parse(const char *text, nt_shape *out, nt_error *err)
{
    nt_shape shape = {0};
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        nt_status status = parse_dim(at, length, &shape, err);
        if (status != NT_OK)
            return status;
        at += length;
        if (*at == '\0')
            break;
    }
    *out = shape;
    return NT_OK;
}

bool nt_layer_is_users(const char *layer)
{
    return strncmp(layer, NT_USER_PREFIX, strlen(NT_USER_PREFIX)) == 0;
}

void nt_problem_print(nt_str *out, const nt_problem *problem)
{
    nt_str_addf(out, "%s ", problem->layer);
    nt_shape_print(out, &problem->shape);
    nt_str_addf(out, " batch %" PRId64 " %s %s", problem->batch, nt_precisions[problem->precision].name,
                nt_layout_name(problem->layout));
}

bool nt_problem_equal(const nt_problem *a, const nt_problem *b)
{
    return strcmp(a->layer, b->layer) == 0 && nt_shape_equal(&a->shape, &b->shape) && a->batch == b->batch &&
           a->precision == b->precision && a->layout == b->layout && a->fill == b->fill;
}

/* ---- devices and trials ----------------------------------------------------------------------------------------- */

void nt_device_info_init(nt_device_info *info, nt_device_kind kind)
{
    *info = (nt_device_info){.kind = kind,
                             .compute_capability = NT_UNKNOWN,
                             .sm_count = NT_UNKNOWN,
                             .memory_bytes = NT_UNKNOWN,
                             .l2_bytes = NT_UNKNOWN,
                             .smem_per_block_bytes = NT_UNKNOWN,
                             .smem_per_sm_bytes = NT_UNKNOWN,
                             .smem_reserved_bytes = NT_UNKNOWN,
                             .regs_per_block = NT_UNKNOWN,
                             .regs_per_sm = NT_UNKNOWN,
                             .max_threads_per_block = NT_UNKNOWN,
                             .max_threads_per_sm = NT_UNKNOWN,
                             .max_blocks_per_sm = NT_UNKNOWN,
                             .warp_size = NT_UNKNOWN,
                             .sm_clock_max_mhz = NAN,
                             .mem_clock_max_mhz = NAN,
                             .dram_peak_bytes_per_s = NAN};
    for (int i = 0; i < NT_PRECISION_COUNT; i++)
        info->peak_flops[i] = NAN;
}

void nt_samples_done(nt_samples *samples)
{
    free(samples->sample_ns);
    *samples = (nt_samples){.launches_per_sample = NT_UNKNOWN};
}

void nt_trial_init(nt_trial *trial)
{
    *trial = (nt_trial){
        .outcome = NT_OUTCOME_CRASHED, /* until somebody knows better: a forgotten trial must never look ok */
        .time_ns = NAN,
        .time_lo_ns = NAN,
        .time_hi_ns = NAN,
        .probe_ns = NAN,
        .floor_ns = NAN,
        .samples.launches_per_sample = NT_UNKNOWN,
        .conditions = {NAN, NAN, NAN, NAN, NT_UNKNOWN},
        .error_impl = NAN,
        .error_prec = NAN,
        .artefact = {.registers = NT_UNKNOWN,
                     .smem_static_bytes = NT_UNKNOWN,
                     .spill_bytes = NT_UNKNOWN,
                     .compile_ms = NAN},
        .smem_bytes = NT_UNKNOWN,
        .threads_per_block = NT_UNKNOWN,
        .grid_blocks = NT_UNKNOWN,
        .occupancy_limit_pct = NAN,
        .prepare_ns = NAN,
        .compile_ms = NAN,
        .verify_ms = NAN,
        .measure_ms = NAN,
    };
}

void nt_trial_done(nt_trial *trial)
{
    free(trial->params_json);
    nt_samples_done(&trial->samples);
    nt_trial_init(trial);
}
