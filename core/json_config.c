/* json_config.c: configurations as JSON objects, name to value, checked against the kernel's table when read. */
#include "core/json.h"

#include <stdlib.h>
#include <string.h>

static json_t *value_json(nt_value value)
{
    if (value.kind == NT_VALUE_STRING)
        return json_string(value.s);
    if (value.kind == NT_VALUE_REAL)
        return nt_json_real(value.r);
    return value.kind == NT_VALUE_BOOL ? json_boolean(value.i != 0) : json_integer(value.i);
}

json_t *nt_json_config(const nt_param *params, const nt_config *config)
{
    json_t *object = json_object();
    for (int i = 0; i < config->count; i++)
        json_object_set_new(object, params[i].name, value_json(nt_param_value(&params[i], config->index[i])));
    return object;
}

/* A real parameter may be written as a whole number; nothing else is converted. */
static bool matches(nt_value value, const json_t *json)
{
    if (value.kind == NT_VALUE_STRING)
        return json_is_string(json) && strcmp(json_string_value(json), value.s) == 0;
    if (value.kind == NT_VALUE_REAL)
        return json_is_number(json) && json_number_value(json) == value.r;
    if (value.kind == NT_VALUE_BOOL)
        return json_is_boolean(json) && json_is_true(json) == (value.i != 0);
    return json_is_integer(json) && json_integer_value(json) == value.i;
}

static int listed_index(const nt_param *param, const json_t *json)
{
    for (int i = 0; i < param->count; i++)
        if (matches(nt_param_value(param, i), json))
            return i;
    return -1;
}

static nt_status refuse_value(const nt_param *param, const json_t *json, nt_error *err)
{
    nt_str listed = {0};
    for (int i = 0; i < param->count; i++) {
        nt_str_add(&listed, i ? ", " : "");
        nt_value_print(&listed, nt_param_value(param, i));
    }
    char *found = nt_json_dump(json);
    nt_fail(err, NT_CORRUPT, "parameter %s is %.80s, which is not listed (%.400s)", param->name, found,
            nt_str_text(&listed));
    free(found);
    nt_str_done(&listed);
    return NT_CORRUPT;
}

static nt_status refuse_name(const char *name, const nt_param *params, int count, nt_error *err)
{
    nt_str known = {0};
    const char *names[NT_MAX_PARAMS];
    for (int i = 0; i < count; i++) {
        names[i] = params[i].name;
        nt_str_addf(&known, "%s%s", i ? ", " : "", names[i]);
    }
    int near = nt_nearest(name, names, count);
    nt_fail(err, NT_CORRUPT, "there is no parameter %.60s (%.600s)", name, nt_str_text(&known));
    if (near >= 0)
        nt_hint(err, "did you mean %s?", names[near]);
    nt_str_done(&known);
    return NT_CORRUPT;
}

nt_status nt_json_to_config(const json_t *json, const nt_param *params, int count, nt_config *out, nt_error *err)
{
    if (!json_is_object(json))
        return nt_fail(err, NT_CORRUPT, "a configuration is a JSON object of parameters");
    nt_config config = {.count = count};
    for (int i = 0; i < count; i++) {
        const json_t *value = json_object_get(json, params[i].name);
        if (value == NULL)
            return nt_fail(err, NT_CORRUPT, "parameter %s is missing", params[i].name);
        int index = listed_index(&params[i], value);
        if (index < 0)
            return refuse_value(&params[i], value, err);
        config.index[i] = (uint16_t)index;
    }
    if (json_object_size(json) > (size_t)count) {
        const char *name;
        json_t *value;
        json_object_foreach ((json_t *)json, name, value)
            if (nt_param_find(params, count, name) < 0)
                return refuse_name(name, params, count, err);
    }
    *out = config;
    return NT_OK;
}
