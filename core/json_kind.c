/* json_kind.c: the kinds of fields: how each lies in memory and in JSON. Enums are read and written as int through
 * memcpy, which is how the compilers we support store them. */
#include "core/json_field.h"

#include "core/json.h"
#include "core/mem.h"
#include "core/record.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(nt_precision) == sizeof(int) && sizeof(nt_outcome) == sizeof(int), "enums are ints in memory");

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static json_t *write_int(const nt_json_field *field, const void *at)
{
    (void)field;
    return nt_json_int(*(const int64_t *)at);
}

static bool read_int(const nt_json_field *field, const json_t *value, void *at)
{
    (void)field;
    *(int64_t *)at = json_is_integer(value) ? json_integer_value(value) : NT_UNKNOWN;
    return json_is_integer(value) || (json_is_null(value) && !field->required);
}

const nt_json_kind nt_json_kind_int = {"a whole number", write_int, read_int};

static bool real_of(const json_t *value, double *out)
{
    double real = json_is_number(value) ? json_number_value(value) : NAN;
    *out = fabs(real) == DBL_MAX ? copysign(INFINITY, real) : real;
    return json_is_number(value) || json_is_null(value);
}

static json_t *write_real(const nt_json_field *field, const void *at)
{
    (void)field;
    return nt_json_real(*(const double *)at);
}

static bool read_real(const nt_json_field *field, const json_t *value, void *at)
{
    (void)field;
    return real_of(value, at);
}

const nt_json_kind nt_json_kind_real = {"a number or null", write_real, read_real};

static json_t *write_bool(const nt_json_field *field, const void *at)
{
    (void)field;
    return json_boolean(*(const bool *)at);
}

static bool read_bool(const nt_json_field *field, const json_t *value, void *at)
{
    (void)field;
    *(bool *)at = json_is_true(value);
    return json_is_boolean(value);
}

const nt_json_kind nt_json_kind_bool = {"true or false", write_bool, read_bool};

/* 64 bits without sign: a text where the number is too large for JSON readers that know only signed ones. */
static json_t *write_seed(const nt_json_field *field, const void *at)
{
    (void)field;
    uint64_t seed = *(const uint64_t *)at;
    if (seed <= INT64_MAX)
        return json_integer((json_int_t)seed);
    return json_sprintf("%" PRIu64, seed);
}

static bool read_seed(const nt_json_field *field, const json_t *value, void *at)
{
    (void)field;
    uint64_t *seed = at;
    if (json_is_integer(value)) {
        *seed = (uint64_t)json_integer_value(value);
        return json_integer_value(value) >= 0;
    }
    const char *text = json_string_value(value);
    if (text == NULL || text[0] == '\0' || strspn(text, "0123456789") != strlen(text) || strlen(text) > 20)
        return false;
    char again[24];
    *seed = strtoull(text, NULL, 10);
    snprintf(again, sizeof again, "%" PRIu64, *seed);
    return strcmp(again, text) == 0; /* not when it was out of range */
}

const nt_json_kind nt_json_kind_seed = {"a whole number from 0 to 2^64 - 1", write_seed, read_seed};

/* ---- texts ------------------------------------------------------------------------------------------------------ */

static json_t *write_text(const nt_json_field *field, const void *at)
{
    (void)field;
    return nt_json_text(at);
}

static bool read_text(const nt_json_field *field, const json_t *value, void *at)
{
    if (json_is_null(value) && !field->required) {
        *(char *)at = '\0';
        return true;
    }
    return json_is_string(value) && nt_copy(at, field->bytes, json_string_value(value));
}

const nt_json_kind nt_json_kind_text = {"a text", write_text, read_text};

static json_t *write_owned(const nt_json_field *field, const void *at)
{
    (void)field;
    return nt_json_text(*(char *const *)at);
}

static void replace_owned(void *at, char *text)
{
    free(*(char **)at);
    *(char **)at = text;
}

static bool read_owned(const nt_json_field *field, const json_t *value, void *at)
{
    (void)field;
    replace_owned(at, json_is_string(value) ? nt_strdup(json_string_value(value)) : NULL);
    return json_is_string(value) || json_is_null(value);
}

const nt_json_kind nt_json_kind_owned = {"a text or null", write_owned, read_owned};

/* A member that holds JSON as text stands in the record's JSON as what it is. */
static json_t *write_object(const nt_json_field *field, const void *at)
{
    (void)field;
    const char *text = *(char *const *)at;
    json_t *object = text != NULL ? json_loads(text, 0, NULL) : NULL;
    return object != NULL ? object : json_null();
}

static bool read_object(const nt_json_field *field, const json_t *value, void *at)
{
    (void)field;
    replace_owned(at, json_is_object(value) ? nt_json_dump(value) : NULL);
    return json_is_object(value) || json_is_null(value);
}

const nt_json_kind nt_json_kind_object = {"an object or null", write_object, read_object};

/* ---- words of the vocabulary ------------------------------------------------------------------------------------ */

static json_t *write_enum(const nt_json_field *field, const void *at)
{
    int value;
    memcpy(&value, at, sizeof value);
    return json_string(field->name(value));
}

static bool read_enum(const nt_json_field *field, const json_t *value, void *at)
{
    const char *text = json_string_value(value);
    for (int i = 0; text != NULL && i < field->count; i++)
        if (strcmp(field->name(i), text) == 0) {
            memcpy(at, &i, sizeof i);
            return true;
        }
    return false;
}

const nt_json_kind nt_json_kind_enum = {"one of", write_enum, read_enum};

static json_t *write_shape(const nt_json_field *field, const void *at)
{
    (void)field;
    nt_str text = {0};
    nt_shape_print(&text, at);
    json_t *json = nt_json_text(nt_str_text(&text));
    nt_str_done(&text);
    return json;
}

static bool read_shape(const nt_json_field *field, const json_t *value, void *at)
{
    (void)field;
    const char *text = json_string_value(value);
    if (json_is_null(value) || (text != NULL && text[0] == '\0')) { /* a recorded problem may have no extents */
        *(nt_shape *)at = (nt_shape){0};
        return true;
    }
    return text != NULL && nt_shape_parse(text, at, NULL) == NT_OK;
}

const nt_json_kind nt_json_kind_shape = {"a shape such as c=64,k=64,h=56,w=56", write_shape, read_shape};

/* ---- samples ---------------------------------------------------------------------------------------------------- */

/* How many there are: written for readers of a stream, told by the array when read. */
static json_t *write_count(const nt_json_field *field, const void *at)
{
    (void)field;
    return json_integer((json_int_t)((const nt_samples *)at)->count);
}

static bool read_count(const nt_json_field *field, const json_t *value, void *at)
{
    (void)field;
    (void)at;
    return json_is_integer(value) || json_is_null(value);
}

const nt_json_kind nt_json_kind_count = {"a whole number", write_count, read_count};

static json_t *write_reals(const nt_json_field *field, const void *at)
{
    (void)field;
    const nt_samples *samples = at;
    json_t *array = json_array();
    for (size_t i = 0; i < samples->count; i++)
        json_array_append_new(array, nt_json_real(samples->sample_ns[i]));
    return array;
}

static bool read_reals(const nt_json_field *field, const json_t *value, void *at)
{
    (void)field;
    nt_samples *samples = at;
    size_t count = json_array_size(value);
    if (!json_is_array(value))
        return json_is_null(value);
    free(samples->sample_ns);
    samples->sample_ns = count > 0 ? nt_realloc_array(NULL, count, sizeof *samples->sample_ns) : NULL;
    samples->count = count;
    for (size_t i = 0; i < count; i++)
        if (!real_of(json_array_get(value, i), &samples->sample_ns[i]))
            return false;
    return true;
}

const nt_json_kind nt_json_kind_reals = {"an array of numbers", write_reals, read_reals};
