/* spec_field.c: fields of a spec, each error with the file and the key it is about. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/spec_read.h"
#include "core/mem.h"

nt_status nt__spec_fail(const nt__reader *r, const char *where, const char *format, ...)
{
    nt_str text = {0};
    va_list args;
    va_start(args, format);
    nt_str_addv(&text, format, args);
    va_end(args);
    nt_fail(r->err, NT_USAGE, "%s: %s%s%s", r->file, where, where[0] != '\0' ? ": " : "", nt_str_text(&text));
    nt_str_done(&text);
    return NT_USAGE;
}

void *nt__spec_keep(nt_spec *spec, void *memory)
{
    void *list = spec->owned;
    nt_grow(&list, &spec->owned_capacity, spec->owned_count + 1, sizeof *spec->owned);
    spec->owned = list;
    return spec->owned[spec->owned_count++] = memory;
}

char *nt__spec_text(nt_spec *spec, const char *text)
{
    return nt__spec_keep(spec, nt_strdup(text));
}

const char *nt__spec_path(char *buffer, size_t capacity, const char *where, const char *key)
{
    snprintf(buffer, capacity, "%s%s%s", where, where[0] != '\0' ? "." : "", key);
    return buffer;
}

/* ---- keys --------------------------------------------------------------------------------------------------------- */

static bool listed(const char *known, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = known; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, key, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

static nt_status unknown_key(const nt__reader *r, const char *where, const char *known, const char *key)
{
    char path[NT__WHERE], *copy = nt_strdup(known), *rest = NULL;
    const char *names[32];
    int count = 0;
    for (char *word = strtok_r(copy, ",", &rest); word != NULL && count < 32; word = strtok_r(NULL, ",", &rest))
        names[count++] = word;
    int nearest = nt_nearest(key, names, count);
    nt__spec_fail(r, nt__spec_path(path, sizeof path, where, key), "unknown key%s%s%s",
                  nearest >= 0 ? "; did you mean '" : "", nearest >= 0 ? names[nearest] : "", nearest >= 0 ? "'?" : "");
    nt_hint(r->err, "keys here: %s", known);
    free(copy);
    return NT_USAGE;
}

nt_status nt__spec_keys(const nt__reader *r, const json_t *object, const char *where, const char *known)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return nt__spec_fail(r, where, "must be an object with the keys %s", known);
    json_object_foreach ((json_t *)object, key, value)
        if (!listed(known, key))
            return unknown_key(r, where, known, key);
    return NT_OK;
}

nt_status nt__spec_get_text(const nt__reader *r, const json_t *object, const char *where, const char *key, bool needed,
                            const char **out)
{
    char path[NT__WHERE];
    const json_t *value = json_object_get(object, key);
    *out = json_string_value(value);
    if (*out != NULL && (*out)[0] != '\0')
        return NT_OK;
    if (value == NULL && !needed)
        return NT_OK;
    return nt__spec_fail(r, nt__spec_path(path, sizeof path, where, key),
                         value == NULL ? "is missing; it is a text" : "must be a text that is not empty");
}

nt_status nt__spec_get_number(const nt__reader *r, const json_t *object, const char *where, const char *key,
                              double absent, double *out)
{
    char path[NT__WHERE];
    const json_t *value = json_object_get(object, key);
    *out = value == NULL ? absent : json_number_value(value);
    if (value == NULL || (json_is_number(value) && isfinite(*out)))
        return NT_OK;
    return nt__spec_fail(r, nt__spec_path(path, sizeof path, where, key), "must be a number");
}

nt_status nt__spec_get_choice(const nt__reader *r, const json_t *object, const char *where, const char *key,
                              const char *const *choices, int absent, int *out)
{
    char path[NT__WHERE];
    const char *text;
    nt_status status = nt__spec_get_text(r, object, where, key, false, &text);
    *out = absent;
    if (status != NT_OK || text == NULL)
        return status;
    nt_str all = {0};
    for (int i = 0; choices[i] != NULL; i++) {
        if (strcmp(choices[i], text) == 0) {
            nt_str_done(&all);
            *out = i;
            return NT_OK;
        }
        nt_str_addf(&all, "%s%s", i > 0 ? ", " : "", choices[i]);
    }
    nt__spec_fail(r, nt__spec_path(path, sizeof path, where, key), "'%s' is none of %s", text, nt_str_text(&all));
    nt_str_done(&all);
    return NT_USAGE;
}

nt_status nt__spec_get_texts(const nt__reader *r, const json_t *object, const char *where, const char *key,
                             const char **out, int most, int *count)
{
    char path[NT__WHERE];
    const json_t *value = json_object_get(object, key);
    nt__spec_path(path, sizeof path, where, key);
    *count = 0;
    if (value == NULL)
        return NT_OK;
    bool single = json_is_string(value);
    if (!single && !json_is_array(value))
        return nt__spec_fail(r, path, "must be a list of texts");
    size_t length = single ? 1 : json_array_size(value);
    if (length > (size_t)most)
        return nt__spec_fail(r, path, "has %zu entries; at most %d are possible", length, most);
    for (size_t i = 0; i < length; i++) {
        const char *text = json_string_value(single ? value : json_array_get(value, i));
        if (text == NULL || text[0] == '\0')
            return nt__spec_fail(r, path, "entry %zu must be a text that is not empty", i + 1);
        out[(*count)++] = text;
    }
    return NT_OK;
}

/* ---- expressions -------------------------------------------------------------------------------------------------- */

int nt__spec_size_symbols(const nt_spec *spec)
{
    return spec->param_count + spec->sizes.count;
}

nt_status nt__spec_get_expr(const nt__reader *r, const json_t *value, const char *where, int symbols, nt_expr **out)
{
    char number[32];
    const char *text = json_string_value(value);
    *out = NULL;
    if (value == NULL)
        return NT_OK;
    if (json_is_integer(value)) {
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
        text = number;
    } else if (json_is_real(value)) {
        snprintf(number, sizeof number, "%.17g", json_real_value(value));
        text = number;
    }
    if (text == NULL)
        return nt__spec_fail(r, where, "must be an expression: a text or a number");
    nt_error why = {0};
    if (nt_expr_compile(text, r->spec->symbol, symbols, out, &why) == NT_OK)
        return NT_OK;
    nt__spec_fail(r, where, "%s", why.what);
    nt_hint(r->err, "%s", why.hint);
    return NT_USAGE;
}

char *nt__spec_file(const nt__reader *r, const char *name)
{
    nt_str path = {0};
    nt_str_addf(&path, "%s%s", name[0] == '/' ? "" : r->folder, name);
    return nt__spec_keep(r->spec, path.data);
}
