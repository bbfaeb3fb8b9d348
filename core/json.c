/* json.c: single values as JSON, and the machine that walks a table of fields. What the records look like is in
 * json_record.c, what each kind of field looks like in json_kind.c. */
#include "core/json.h"

#include "core/json_field.h"
#include "core/mem.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ----------------------------------------------------------------------------------------------------- */

json_t *nt_json_real(double value)
{
    if (isnan(value))
        return json_null();
    return json_real(isinf(value) ? copysign(DBL_MAX, value) : value);
}

json_t *nt_json_int(int64_t value)
{
    return value == NT_UNKNOWN ? json_null() : json_integer(value);
}

/* Length of the well-formed UTF-8 character at `s`, 0 when there is none: no overlong forms, no surrogates. A row says
 * which first bytes begin a character, how long it is, and what its second byte may be. */
static size_t utf8_length(const unsigned char *s)
{
    static const struct {
        unsigned char first, last, length, second_from, second_to;
    } forms[] = {{0x00, 0x7f, 1, 0, 0xff},    {0xc2, 0xdf, 2, 0x80, 0xbf}, {0xe0, 0xe0, 3, 0xa0, 0xbf},
                 {0xe1, 0xec, 3, 0x80, 0xbf}, {0xed, 0xed, 3, 0x80, 0x9f}, {0xee, 0xef, 3, 0x80, 0xbf},
                 {0xf0, 0xf0, 4, 0x90, 0xbf}, {0xf1, 0xf3, 4, 0x80, 0xbf}, {0xf4, 0xf4, 4, 0x80, 0x8f}};
    size_t form = 0, count = sizeof forms / sizeof forms[0];
    while (form < count && !(s[0] >= forms[form].first && s[0] <= forms[form].last))
        form++;
    if (form == count || (s[0] >= 0x80 && !(s[1] >= forms[form].second_from && s[1] <= forms[form].second_to)))
        return 0;
    for (size_t i = 2; i < forms[form].length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return forms[form].length;
}

/* A compiler's message cut inside a character must not cost the trial that carries it. */
static json_t *repaired_text(const char *text)
{
    char *copy = nt_strdup(text);
    for (size_t i = 0; copy[i] != '\0';) {
        size_t length = utf8_length((const unsigned char *)copy + i);
        if (length == 0)
            copy[i] = '?';
        i += length ? length : 1;
    }
    json_t *json = json_string(copy);
    free(copy);
    return json;
}

json_t *nt_json_text(const char *text)
{
    if (text == NULL || text[0] == '\0')
        return json_null();
    json_t *json = json_string(text);
    return json != NULL ? json : repaired_text(text);
}

double nt_json_get_real(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    double real = json_is_number(value) ? json_number_value(value) : NAN;
    return fabs(real) == DBL_MAX ? copysign(INFINITY, real) : real;
}

int64_t nt_json_get_int(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : NT_UNKNOWN;
}

const char *nt_json_get_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

char *nt_json_dump(const json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    assert(text != NULL); /* our own values are all representable */
    return text;
}

char *nt_json_dump_done(json_t *json)
{
    char *text = nt_json_dump(json);
    json_decref(json);
    return text;
}

nt_status nt_json_parse(const char *text, json_t **out, nt_error *err)
{
    json_error_t why;
    *out = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &why);
    if (*out == NULL)
        return nt_fail(err, NT_CORRUPT, "not JSON: %s (line %d, column %d)", why.text, why.line, why.column);
    return NT_OK;
}

/* ---- tables of fields ------------------------------------------------------------------------------------------- */

json_t *nt_json_write(const nt_json_field *fields, const void *record)
{
    json_t *object = json_object();
    for (const nt_json_field *field = fields; field->key != NULL; field++)
        json_object_set_new(object, field->key, field->kind->write(field, (const char *)record + field->offset));
    return object;
}

/* "precision is "fp33", which is not one of fp32, tf32, ..." */
static nt_status refuse(const char *what, const nt_json_field *field, const json_t *value, nt_error *err)
{
    nt_str right = {0};
    nt_str_add(&right, field->kind->name);
    if (field->bytes > 0)
        nt_str_addf(&right, " of at most %zu bytes", field->bytes - 1);
    for (int i = 0; i < field->count; i++)
        nt_str_addf(&right, "%s%s", i ? ", " : " ", field->name(i));
    char *found = nt_json_dump(value);
    nt_fail(err, NT_CORRUPT, "%s: %s is %.200s%s, which is not %s", what, field->key, found,
            strlen(found) > 200 ? "..." : "", nt_str_text(&right));
    free(found);
    nt_str_done(&right);
    return NT_CORRUPT;
}

nt_status nt_json_read(const char *what, const nt_json_field *fields, const json_t *json, void *record, nt_error *err)
{
    if (!json_is_object(json))
        return nt_fail(err, NT_CORRUPT, "%s: not a JSON object", what);
    for (const nt_json_field *field = fields; field->key != NULL; field++) {
        const json_t *value = json_object_get(json, field->key);
        if (value == NULL && field->required)
            return nt_fail(err, NT_CORRUPT, "%s: %s is missing", what, field->key);
        if (value != NULL && !field->kind->read(field, value, (char *)record + field->offset))
            return refuse(what, field, value, err);
    }
    return NT_OK;
}
