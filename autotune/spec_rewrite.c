#include "autotune/spec_rewrite.h"

#include <ctype.h>
#include <string.h>

/* Calls `take` with each part of an expression: a name, or what stands between names. Texts in quotes are no names. */
static void each_part(const char *text, void (*take)(void *context, const char *part, size_t length, bool is_name),
                      void *context)
{
    while (*text != '\0') {
        size_t length = 1;
        bool is_name = isalpha((unsigned char)*text) || *text == '_';
        if (is_name)
            while (isalnum((unsigned char)text[length]) || text[length] == '_')
                length++;
        else if (isdigit((unsigned char)*text))
            while (isalnum((unsigned char)text[length]) || text[length] == '.') /* 1e9, 0x10: no names inside */
                length++;
        else if (*text == '\'' || *text == '"')
            length += strcspn(text + 1, *text == '"' ? "\"" : "'") + 1;
        if (length > strlen(text))
            length = strlen(text);
        take(context, text, length, is_name);
        text += length;
    }
}

static bool same(const char *name, const char *part, size_t length)
{
    return strlen(name) == length && memcmp(name, part, length) == 0;
}

static void note_param(json_t *params, const char *name)
{
    for (size_t i = 0; i < json_array_size(params); i++)
        if (strcmp(json_string_value(json_array_get(params, i)), name) == 0)
            return;
    json_array_append_new(params, json_string(name));
}

static void take_part(void *context, const char *part, size_t length, bool is_name)
{
    nt__spec_rewrite *r = context;
    const nt_spec *spec = r->spec;
    for (int i = 0; is_name && i < spec->symbol_count; i++) {
        if (!same(spec->symbol[i], part, length))
            continue;
        int size = i - spec->param_count;
        if (size < 0)
            note_param(r->params, spec->symbol[i]);
        else if (size >= spec->sizes.count)
            r->limits = true;
        else {
            nt_str_addf(&r->text, "%lld", (long long)spec->sizes.dim[size].size);
            return;
        }
    }
    nt_str_add_n(&r->text, part, length);
}

nt__spec_rewrite nt__spec_with_sizes(const nt_spec *spec, const char *text)
{
    nt__spec_rewrite r = {.spec = spec, .params = json_array()};
    each_part(text, take_part, &r);
    return r;
}

void nt__spec_rewrite_done(nt__spec_rewrite *r)
{
    json_decref(r->params);
    nt_str_done(&r->text);
}
