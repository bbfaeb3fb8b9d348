/* value.c: parameters and configurations: values behind indices, their one printed form, and finding by name.
 *
 * The printed form is what people type after --param and what tables and JSON show, so parsing is comparing with the
 * printed form of each listed value: there is no second grammar that could disagree. */
#include "core/value.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

nt_value nt_param_value(const nt_param *param, int index)
{
    assert(index >= 0 && index < param->count);
    if (param->strings != NULL)
        return (nt_value){.kind = NT_VALUE_STRING, .s = param->strings[index]};
    if (param->reals != NULL)
        return (nt_value){.kind = NT_VALUE_REAL, .r = param->reals[index]};
    return (nt_value){.kind = param->is_bool ? NT_VALUE_BOOL : NT_VALUE_INT, .i = param->ints[index]};
}

bool nt_value_equal(nt_value a, nt_value b)
{
    if (a.kind != b.kind)
        return false;
    if (a.kind == NT_VALUE_STRING)
        return strcmp(a.s, b.s) == 0;
    if (a.kind == NT_VALUE_REAL)
        return a.r == b.r;
    return a.i == b.i;
}

/* The fewest digits that read back as the same number: 0.5 stays 0.5, and nothing is lost. */
static void print_real(nt_str *out, double value)
{
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    nt_str_add(out, text);
}

void nt_value_print(nt_str *out, nt_value value)
{
    if (value.kind == NT_VALUE_STRING)
        nt_str_add(out, value.s);
    else if (value.kind == NT_VALUE_REAL)
        print_real(out, value.r);
    else if (value.kind == NT_VALUE_BOOL)
        nt_str_add(out, value.i ? "true" : "false");
    else
        nt_str_addf(out, "%" PRId64, value.i);
}

int nt_param_find(const nt_param *params, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(params[i].name, name) == 0)
            return i;
    return -1;
}

int nt_param_value_find(const nt_param *param, const char *text)
{
    nt_str printed = {0};
    int found = -1;
    for (int i = 0; i < param->count && found < 0; i++) {
        nt_str_clear(&printed);
        nt_value_print(&printed, nt_param_value(param, i));
        if (strcmp(nt_str_text(&printed), text) == 0)
            found = i;
    }
    nt_str_done(&printed);
    return found;
}

int64_t nt_config_int(const nt_param *params, const nt_config *config, const char *name)
{
    int at = nt_param_find(params, config->count, name);
    assert(at >= 0 && params[at].ints != NULL);
    return nt_param_value(&params[at], config->index[at]).i;
}

void nt_config_print(nt_str *out, const nt_param *params, const nt_config *config)
{
    for (int i = 0; i < config->count; i++) {
        nt_str_addf(out, "%s%s=", i ? " " : "", params[i].name);
        nt_value_print(out, nt_param_value(&params[i], config->index[i]));
    }
}

bool nt_config_equal(const nt_config *a, const nt_config *b)
{
    return a->count == b->count && memcmp(a->index, b->index, (size_t)a->count * sizeof a->index[0]) == 0;
}
