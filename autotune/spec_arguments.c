/* spec_arguments.c: the arguments of a spec: scalars, buffers with their contents before and after, tolerance. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/spec_read.h"
#include "core/mem.h"

const nt_spec_type nt_spec_types[] = {
    {"f64", "double", 8, NT_F64, false, 0, 0},
    {"f32", "float", 4, NT_F32, false, 0, 0},
    {"f16", "uint16_t", 2, NT_F16, false, 0, 0},
    {"bf16", "uint16_t", 2, NT_BFLOAT16, false, 0, 0},
    {"f8e4m3", "uint8_t", 1, NT_F8E4M3, false, 0, 0},
    {"i8", "int8_t", 1, NT_I8, true, INT8_MIN, INT8_MAX},
    {"u8", "uint8_t", 1, NT_U8, true, 0, UINT8_MAX},
    {"i16", "int16_t", 2, NT_I16, true, INT16_MIN, INT16_MAX},
    {"u16", "uint16_t", 2, NT_U16, true, 0, UINT16_MAX},
    {"i32", "int32_t", 4, NT_I32, true, INT32_MIN, INT32_MAX},
    {"u32", "uint32_t", 4, NT_U32, true, 0, UINT32_MAX},
    {"i64", "int64_t", 8, NT_I64, true, -0x1p63, 0x1.fffffffffffffp62},
    {"u64", "uint64_t", 8, NT_U64, true, 0, 0x1.fffffffffffffp62},
};
const int nt_spec_type_count = sizeof nt_spec_types / sizeof nt_spec_types[0];

static nt_status get_type(const nt__reader *r, const json_t *json, const char *where, const nt_spec_type **out)
{
    const char *names[sizeof nt_spec_types / sizeof nt_spec_types[0] + 1] = {NULL};
    int index;
    for (int i = 0; i < nt_spec_type_count; i++)
        names[i] = nt_spec_types[i].name;
    nt_status status = nt__spec_get_choice(r, json, where, "type", names, -1, &index);
    if (status == NT_OK && index < 0) {
        char path[NT__WHERE];
        return nt__spec_fail(r, nt__spec_path(path, sizeof path, where, "type"), "is missing; f32, i32 and so on");
    }
    *out = index >= 0 ? &nt_spec_types[index] : NULL;
    return status;
}

/* ---- buffers ------------------------------------------------------------------------------------------------------- */

static nt_status get_fill(const nt__reader *r, const json_t *json, const char *where, nt_spec_argument *a)
{
    static const char *const fills[] = {"normal", "uniform", "constant", "index", NULL};
    const char *file;
    char path[NT__WHERE];
    int fill;
    bool integer = a->type->is_integer;
    nt_status status =
        nt__spec_get_choice(r, json, where, "fill", fills, integer ? NT_SPEC_UNIFORM : NT_SPEC_NORMAL, &fill);
    if (status == NT_OK)
        status = nt__spec_get_number(r, json, where, "low", integer ? fmax(a->type->low, -100) : -1, &a->low);
    if (status == NT_OK)
        status = nt__spec_get_number(r, json, where, "high", integer ? 100 : 1, &a->high);
    if (status == NT_OK)
        status = nt__spec_get_number(r, json, where, "constant", 0, &a->constant);
    if (status == NT_OK)
        status = nt__spec_get_text(r, json, where, "file", false, &file);
    if (status != NT_OK)
        return status;
    a->fill = (nt_spec_fill)fill;
    if (integer && a->fill == NT_SPEC_NORMAL)
        return nt__spec_fail(r, nt__spec_path(path, sizeof path, where, "fill"),
                             "integers have no normal values; uniform with low and high, constant, index");
    if (!(a->low <= a->high))
        return nt__spec_fail(r, nt__spec_path(path, sizeof path, where, "low"), "is above high");
    double least = fmin(a->low, a->constant), most = fmax(a->high, a->constant);
    if (integer && (least < a->type->low || most > a->type->high))
        return nt__spec_fail(r, where, "values from %g to %g do not fit the type %s", least, most, a->type->name);
    if (file != NULL) {
        a->fill = NT_SPEC_FILE;
        a->file = nt__spec_file(r, file);
    }
    return NT_OK;
}

static nt_status read_buffer(nt__reader *r, const json_t *json, const char *where, nt_spec_argument *a)
{
    static const char *const accesses[] = {"read", "write", "readwrite", NULL};
    char path[NT__WHERE];
    const char *symbol, *text;
    int access;
    nt_spec *spec = r->spec;
    nt_status status =
        nt__spec_keys(r, json, where, "name,type,count,access,fill,low,high,constant,file,symbol,tolerance");
    if (status == NT_OK)
        status = nt__spec_get_expr(r, json_object_get(json, "count"), nt__spec_path(path, sizeof path, where, "count"),
                                   nt__spec_size_symbols(spec), &a->count);
    if (status == NT_OK)
        status = nt__spec_get_choice(r, json, where, "access", accesses, 0, &access);
    if (status == NT_OK)
        status = nt__spec_get_text(r, json, where, "symbol", false, &symbol);
    if (status != NT_OK)
        return status;
    a->read = access != 1;
    a->written = access != 0;
    a->buffer = spec->buffer_count++;
    if (spec->buffer_count > NT_USER_BUFFERS)
        return nt__spec_fail(r, where, "is one buffer too many; at most %d are possible", NT_USER_BUFFERS);
    if (a->written && symbol != NULL)
        return nt__spec_fail(r, where, "has a symbol and is written; a symbol can only be read");
    a->symbol = symbol != NULL ? nt__spec_text(spec, symbol) : NULL;
    static const char *const only_read[] = {"fill", "low", "high", "constant", "file"};
    for (size_t i = 0; !a->read && i < sizeof only_read / sizeof only_read[0]; i++)
        if (nt__spec_get_text(r, json, where, only_read[i], false, &text) != NT_OK || text != NULL)
            return nt__spec_fail(r, nt__spec_path(path, sizeof path, where, only_read[i]),
                                 "has no meaning: the buffer is only written, and filled with NaN before; access "
                                 "readwrite keeps what it holds");
    return a->read ? get_fill(r, json, where, a) : NT_OK;
}

/* ---- scalars, tolerance ------------------------------------------------------------------------------------------------ */

static nt_status read_scalar(nt__reader *r, const json_t *json, const char *where, nt_spec_argument *a)
{
    char path[NT__WHERE];
    a->buffer = -1;
    a->read = true;
    nt_status status = nt__spec_keys(r, json, where, "name,type,value");
    if (status == NT_OK)
        status = nt__spec_get_expr(r, json_object_get(json, "value"), nt__spec_path(path, sizeof path, where, "value"),
                                   r->spec->symbol_count, &a->value);
    if (status == NT_OK && a->type->bytes < 4 && !a->type->is_integer)
        status =
            nt__spec_fail(r, where, "scalars of type %s are not possible; pass f32 or a buffer of one", a->type->name);
    return status;
}

static nt_status get_tolerance(const nt__reader *r, const json_t *json, const char *where, double *absolute,
                               double *relative)
{
    char path[NT__WHERE];
    const json_t *tolerance = json_object_get(json, "tolerance");
    if (tolerance == NULL)
        return NT_OK;
    nt__spec_path(path, sizeof path, where, "tolerance");
    nt_status status = nt__spec_keys(r, tolerance, path, "absolute,relative");
    if (status == NT_OK)
        status = nt__spec_get_number(r, tolerance, path, "absolute", 0, absolute);
    if (status == NT_OK)
        status = nt__spec_get_number(r, tolerance, path, "relative", 0, relative);
    if (status == NT_OK && (*absolute < 0 || *relative < 0))
        status = nt__spec_fail(r, path, "is negative");
    return status;
}

/* What a type can be expected to keep when nothing is said. */
static double usual_relative(const nt_spec_type *type)
{
    return type->is_integer ? 0 : type->bytes >= 8 ? 1e-9 : type->bytes == 4 ? 1e-5 : type->bytes == 2 ? 1e-2 : 1e-1;
}

static nt_status read_argument(nt__reader *r, const json_t *root, const json_t *json, int index)
{
    nt_spec *spec = r->spec;
    nt_spec_argument *a = &spec->argument[index];
    char where[NT__WHERE];
    const char *name;
    snprintf(where, sizeof where, "arguments[%d]", index);
    a->buffer = -1;
    if (!json_is_object(json))
        return nt__spec_fail(r, where, "must be an object");
    nt_status status = nt__spec_get_text(r, json, where, "name", true, &name);
    for (int i = 0; status == NT_OK && i < index; i++)
        if (strcmp(spec->argument[i].name, name) == 0)
            status = nt__spec_fail(r, where, "'%s' is the name of another argument", name);
    if (status == NT_OK)
        status = get_type(r, json, where, &a->type);
    if (status != NT_OK)
        return status;
    a->name = nt__spec_text(spec, name);
    bool scalar = json_object_get(json, "value") != NULL, buffer = json_object_get(json, "count") != NULL;
    if (scalar == buffer)
        return nt__spec_fail(r, where, "needs either a count (then it is a buffer) or a value (a scalar)");
    if (scalar)
        return read_scalar(r, json, where, a);
    status = read_buffer(r, json, where, a);
    if (status != NT_OK || !a->written)
        return status;
    a->relative = a->absolute = usual_relative(a->type);
    status = get_tolerance(r, root, "", &a->absolute, &a->relative);
    return status == NT_OK ? get_tolerance(r, json, where, &a->absolute, &a->relative) : status;
}

static nt_status check_counts(nt__reader *r)
{
    nt_spec *spec = r->spec;
    nt_problem problem = {.shape = spec->sizes};
    int64_t counts[NT_SPEC_ARGUMENTS];
    nt_error why = {0};
    if (nt_spec_counts(spec, &problem, counts, &why) != NT_OK)
        return nt__spec_fail(r, "arguments", "%s", why.what);
    nt_status status = NT_OK;
    for (int i = 0; status == NT_OK && i < spec->argument_count; i++) {
        char where[NT__WHERE];
        snprintf(where, sizeof where, "arguments[%d].file", i);
        if (spec->argument[i].fill == NT_SPEC_FILE)
            status = nt__spec_check_data(r, spec->argument[i].file, where, spec->argument[i].type, counts[i]);
    }
    return status;
}

nt_status nt__spec_read_arguments(nt__reader *r, const json_t *root)
{
    const json_t *list = json_object_get(root, "arguments");
    if (!json_is_array(list) || json_array_size(list) == 0)
        return nt__spec_fail(r, "arguments", "must be a list of at least one argument");
    if (json_array_size(list) > NT_SPEC_ARGUMENTS)
        return nt__spec_fail(r, "arguments", "%zu arguments; at most %d are possible", json_array_size(list),
                             NT_SPEC_ARGUMENTS);
    nt_status status = NT_OK;
    bool written = false;
    for (size_t i = 0; status == NT_OK && i < json_array_size(list); i++) {
        r->spec->argument_count = (int)i + 1;
        status = read_argument(r, root, json_array_get(list, i), (int)i);
        written = written || r->spec->argument[i].written;
    }
    if (status == NT_OK && !written)
        status = nt__spec_fail(r, "arguments", "none has access write or readwrite, so there is nothing to check");
    return status == NT_OK ? check_counts(r) : status;
}
