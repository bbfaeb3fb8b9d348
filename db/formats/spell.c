/* spell.c: recursion is bounded by the readers, which refuse what is nested deeper than NT_SCAN_MAX_DEPTH. */
#include "db/formats/spell.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fewest significant digits that read back the same. */
static int digits_of(double value)
{
    char text[40];
    for (int digits = 15; digits < 17; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, value);
        if (strtod(text, NULL) == value)
            return digits;
    }
    return 17;
}

void nt_spell_real(nt_str *out, double value)
{
    char text[40];
    if (!isfinite(value)) { /* JSON has none */
        nt_str_add(out, "null");
        return;
    }
    int digits = digits_of(value), exponent = value != 0 ? (int)floor(log10(fabs(value))) : 0;
    /* Python writes an exponent from 1e16 on; %g would do so as soon as the digits no longer suffice. */
    if (exponent >= 0 && exponent < 16)
        snprintf(text, sizeof text, "%.*f", digits > exponent + 1 ? digits - exponent - 1 : 0, value);
    else
        snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) != value)
        snprintf(text, sizeof text, "%.17g", value);
    char *point = strchr(text, '.');
    if (point != NULL && strchr(text, 'e') == NULL) {
        char *last = text + strlen(text) - 1;
        while (last > point + 1 && *last == '0')
            *last-- = '\0';
    }
    nt_str_add(out, text);
    if (strpbrk(text, ".e") == NULL)
        nt_str_add(out, ".0");
}

static void spell_text(nt_str *out, const json_t *string)
{
    char *text = json_dumps(string, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    nt_str_add(out, text != NULL ? text : "\"\"");
    free(text);
}

void nt_spell(nt_str *out, const json_t *json)
{
    size_t i;
    const char *key;
    json_t *value;
    bool first = true;
    if (json_is_object(json)) {
        nt_str_add(out, "{");
        json_object_foreach ((json_t *)(uintptr_t)json, key, value) {
            json_t *name = json_string(key);
            nt_str_add(out, first ? "" : ", ");
            spell_text(out, name);
            nt_str_add(out, ": ");
            nt_spell(out, value);
            json_decref(name);
            first = false;
        }
        nt_str_add(out, "}");
    } else if (json_is_array(json)) {
        nt_str_add(out, "[");
        json_array_foreach (json, i, value) {
            nt_str_add(out, i > 0 ? ", " : "");
            nt_spell(out, value);
        }
        nt_str_add(out, "]");
    } else if (json_is_real(json)) {
        nt_spell_real(out, json_real_value(json));
    } else {
        spell_text(out, json);
    }
}
