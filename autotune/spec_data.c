/* spec_data.c: what the buffers of a spec hold: values from the seed, constants, .npy and raw files; and the values of
 * any element type as doubles. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/spec_read.h"
#include "core/convert.h"
#include "core/hash.h"
#include "core/mem.h"
#include "core/paths.h"
#include "core/random.h"

enum { STREAM = 16, PART = 65536 };
static const size_t most_file_bytes = (size_t)1 << 36;

/* ---- elements ----------------------------------------------------------------------------------------------------------- */

static int64_t load_integer(const void *at, size_t bytes, bool is_signed)
{
    uint64_t bits = 0;
    memcpy(&bits, at, bytes); /* little-endian, as every machine that CUDA runs on */
    unsigned unused = (unsigned)(64 - 8 * bytes);
    return is_signed ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

static double load(const nt_spec_type *type, const void *at)
{
    double f64;
    float f32;
    uint16_t half;
    if (type->is_integer)
        return (double)load_integer(at, type->bytes, type->low < 0);
    if (type->dtype == NT_F64)
        return memcpy(&f64, at, sizeof f64), f64;
    if (type->dtype == NT_F32)
        return memcpy(&f32, at, sizeof f32), (double)f32;
    if (type->dtype == NT_F8E4M3)
        return (double)nt_e4m3_to_f32(*(const uint8_t *)at);
    memcpy(&half, at, sizeof half);
    return (double)(type->dtype == NT_F16 ? nt_f16_to_f32(half) : nt_bf16_to_f32(half));
}

static void store(const nt_spec_type *type, double value, void *at)
{
    float f32 = (float)value;
    if (type->is_integer) {
        int64_t i = value >= 0x1p63 ? INT64_MAX : (int64_t)value;
        memcpy(at, &i, type->bytes);
    } else if (type->dtype == NT_F64) {
        memcpy(at, &value, sizeof value);
    } else if (type->dtype == NT_F32) {
        memcpy(at, &f32, sizeof f32);
    } else if (type->dtype == NT_F8E4M3) {
        *(uint8_t *)at = nt_f32_to_e4m3(f32);
    } else {
        uint16_t half = type->dtype == NT_F16 ? nt_f32_to_f16(f32) : nt_f32_to_bf16(f32);
        memcpy(at, &half, sizeof half);
    }
}

void nt_spec_to_reference(const nt_spec_type *type, const void *from, int64_t count, void *to)
{
    double *values = to;
    if (type->is_integer && type->bytes == sizeof(double)) {
        memcpy(to, from, (size_t)count * type->bytes);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        values[i] = load(type, (const char *)from + (size_t)i * type->bytes);
}

/* ---- files -------------------------------------------------------------------------------------------------------------- */

/* Data of a file: all of a raw one, what follows the header of a .npy one. */
typedef struct data {
    char *file;
    const char *begin;
    size_t bytes;
} data;

static const struct {
    const char *descr;
    const char *type;
} npy_types[] = {{"<f8", "f64"}, {"<f4", "f32"}, {"<f2", "f16"}, {"|i1", "i8"},  {"|u1", "u8"},  {"|b1", "u8"},
                 {"<i2", "i16"}, {"<u2", "u16"}, {"<i4", "i32"}, {"<u4", "u32"}, {"<i8", "i64"}, {"<u8", "u64"}};

static bool same_type(const char *descr, size_t length, const nt_spec_type *type)
{
    for (size_t i = 0; i < sizeof npy_types / sizeof npy_types[0]; i++)
        if (strlen(npy_types[i].descr) == length && strncmp(npy_types[i].descr, descr, length) == 0)
            return strcmp(npy_types[i].type, type->name) == 0;
    return false;
}

/* The text behind 'key': in the header's dictionary. */
static const char *npy_value(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    return at != NULL ? at + strlen(key) + strspn(at + strlen(key), " ") : "";
}

static nt_status read_npy(const char *path, const nt_spec_type *type, data *out, nt_error *err)
{
    const unsigned char *bytes = (const unsigned char *)out->begin;
    size_t prefix = bytes[6] >= 2 ? 12 : 10, length = 0;
    for (size_t i = prefix; i > 8; i--)
        length = length * 256 + (out->bytes >= prefix ? bytes[i - 1] : 0);
    if (out->bytes < prefix || length > out->bytes - prefix)
        return nt_fail(err, NT_CORRUPT, "%s: the .npy header is cut off", path);
    char *header = nt_strndup(out->begin + prefix, length);
    const char *descr = npy_value(header, "'descr':"), *shape = npy_value(header, "'shape':");
    size_t descr_length = *descr == '\'' ? strcspn(descr + 1, "'") : 0;
    size_t dims = strcspn(shape, ")"), commas = 0;
    for (size_t i = 1; i + 1 < dims; i++)
        commas += shape[i] == ',';
    nt_status status = NT_OK;
    if (!same_type(descr + (*descr == '\''), descr_length, type))
        status = nt_fail(err, NT_USAGE, "%s holds elements of type %.*s, not %s", path, (int)descr_length,
                         descr + (*descr == '\''), type->name);
    else if (strncmp(npy_value(header, "'fortran_order':"), "False", 5) != 0 && commas > 0)
        status = nt_fail(err, NT_USAGE, "%s is in Fortran order; save it in C order", path);
    free(header);
    out->begin += prefix + length;
    out->bytes -= prefix + length;
    return status;
}

static nt_status read_data(const char *path, const nt_spec_type *type, int64_t count, data *out, nt_error *err)
{
    *out = (data){NULL, NULL, 0};
    nt_status status = nt_read_file(path, most_file_bytes, &out->file, &out->bytes, err);
    if (status != NT_OK)
        return status;
    out->begin = out->file;
    if (out->bytes >= 10 && memcmp(out->begin, "\x93NUMPY", 6) == 0)
        status = read_npy(path, type, out, err);
    if (status == NT_OK && count >= 0 && out->bytes != (size_t)count * type->bytes)
        status = nt_fail(err, NT_USAGE, "%s holds %zu bytes of data, not the %" PRId64 " elements of %s (%zu bytes)",
                         path, out->bytes, count, type->name, (size_t)count * type->bytes);
    if (status != NT_OK) {
        free(out->file);
        *out = (data){NULL, NULL, 0};
    }
    return status;
}

nt_status nt__spec_check_data(nt__reader *r, const char *path, const char *where, const nt_spec_type *type,
                              int64_t count)
{
    data d;
    char key[NT_KEY_BYTES];
    nt_error why = {0};
    if (read_data(path, type, count, &d, &why) != NT_OK)
        return nt__spec_fail(r, where, "%s", why.what);
    nt_hash_bytes(d.file, (size_t)(d.begin - d.file) + d.bytes, key);
    nt_str_addf(&r->seen, "data %s\n", key);
    free(d.file);
    return NT_OK;
}

nt_status nt_spec_expected(const nt_spec *spec, int argument, int64_t count, void *to, nt_error *err)
{
    const nt_spec_argument *a = &spec->argument[argument];
    data d;
    nt_status status = read_data(a->reference, a->type, count, &d, err);
    if (status != NT_OK)
        return status;
    nt_spec_to_reference(a->type, d.begin, count, to);
    free(d.file);
    return NT_OK;
}

/* ---- fills -------------------------------------------------------------------------------------------------------------- */

static void fill_random(const nt_spec_argument *a, uint64_t seed, int64_t count, char *to)
{
    float *part = nt_alloc(PART * sizeof *part);
    nt_fill fill = a->fill == NT_SPEC_NORMAL ? NT_FILL_NORMAL : NT_FILL_UNIFORM;
    double span = a->high - a->low + (a->type->is_integer ? 1 : 0);
    for (int64_t first = 0; first < count; first += PART) {
        size_t n = count - first < PART ? (size_t)(count - first) : PART;
        nt_random_fill(fill, seed, STREAM + (uint64_t)a->buffer, (size_t)first, part, n);
        for (size_t i = 0; i < n; i++) {
            double value = (double)part[i];
            if (a->fill == NT_SPEC_UNIFORM)
                value = a->low + (value + 1) / 2 * span;
            if (a->type->is_integer)
                value = fmin(floor(value), a->high);
            store(a->type, value, to + ((size_t)first + i) * a->type->bytes);
        }
    }
    free(part);
}

nt_status nt_spec_fill_buffer(const nt_spec *spec, int argument, uint64_t seed, int64_t count, void *to, nt_error *err)
{
    const nt_spec_argument *a = &spec->argument[argument];
    if (a->fill == NT_SPEC_FILE) {
        data d;
        nt_status status = read_data(a->file, a->type, count, &d, err);
        if (status == NT_OK)
            memcpy(to, d.begin, (size_t)count * a->type->bytes);
        free(d.file);
        return status;
    }
    if (a->fill == NT_SPEC_NORMAL || a->fill == NT_SPEC_UNIFORM)
        fill_random(a, seed, count, to);
    else
        for (int64_t i = 0; i < count; i++)
            store(a->type, a->fill == NT_SPEC_INDEX ? (double)i : a->constant, (char *)to + (size_t)i * a->type->bytes);
    return NT_OK;
}
