/* spec_params.c: the sizes, parameters and constraints of a spec, as a kernel row has them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/spec_read.h"
#include "core/mem.h"

enum { MOST_VALUES = 4096, MOST_CONSTRAINTS = 64 };

static bool is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    if (text[0] == '\0' || strchr(letters, text[0]) == NULL)
        return false;
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")] == '\0';
}

static const char *const limit_names[] = {"smem_per_block", "max_threads", "regs_per_block", "regs_per_sm", "warp_size",
                                          "sm_count",       "cc"};

static nt_status check_name(const nt__reader *r, const char *where, const char *name)
{
    if (!is_name(name))
        return nt__spec_fail(r, where, "'%s' is no name: letters, digits and _, no digit first", name);
    for (int i = 0; i < r->spec->symbol_count; i++)
        if (strcmp(r->spec->symbol[i], name) == 0)
            return nt__spec_fail(r, where, "'%s' is the name of another parameter or size", name);
    for (size_t i = 0; i < sizeof limit_names / sizeof limit_names[0]; i++)
        if (strcmp(limit_names[i], name) == 0)
            return nt__spec_fail(r, where, "'%s' is the name of a limit of the device", name);
    return NT_OK;
}

/* ---- sizes -------------------------------------------------------------------------------------------------------- */

static nt_status read_sizes(nt__reader *r, const json_t *root)
{
    nt_spec *spec = r->spec;
    const json_t *sizes = json_object_get(root, "sizes");
    const char *key;
    json_t *value;
    if (!json_is_object(sizes) || json_object_size(sizes) == 0)
        return nt__spec_fail(r, "sizes", "must be an object of at least one size, such as {\"n\": 1000000}");
    if (json_object_size(sizes) > NT_MAX_DIMS)
        return nt__spec_fail(r, "sizes", "has more than %d sizes", NT_MAX_DIMS);
    json_object_foreach ((json_t *)sizes, key, value) {
        char where[NT__WHERE];
        nt__spec_path(where, sizeof where, "sizes", key);
        nt_status status = check_name(r, where, key);
        if (status != NT_OK)
            return status;
        if (strlen(key) >= sizeof spec->sizes.dim[0].key)
            return nt__spec_fail(r, where, "the name has more than %zu characters", sizeof spec->sizes.dim[0].key - 1);
        if (!json_is_integer(value) || json_integer_value(value) < 1)
            return nt__spec_fail(r, where, "must be a whole number of 1 or more");
        nt_copy(spec->sizes.dim[spec->sizes.count].key, sizeof spec->sizes.dim[0].key, key);
        spec->sizes.dim[spec->sizes.count].size = json_integer_value(value);
        spec->symbol[spec->symbol_count++] = spec->sizes.dim[spec->sizes.count++].key;
    }
    nt_str text = {0};
    nt_shape_print(&text, &spec->sizes);
    spec->sizes_text = nt__spec_keep(spec, text.data);
    return NT_OK;
}

/* ---- values of a parameter ------------------------------------------------------------------------------------------ */

typedef struct values {
    nt_expr_value *item;
    size_t count;
} values;

static nt_status list_item(const nt__reader *r, const char *where, const json_t *json, nt_expr_value *out)
{
    if (json_is_boolean(json))
        *out = (nt_expr_value){.kind = NT_EXPR_BOOL, .i = json_is_true(json)};
    else if (json_is_integer(json))
        *out = (nt_expr_value){.kind = NT_EXPR_INT, .i = json_integer_value(json)};
    else if (json_is_real(json))
        *out = (nt_expr_value){.kind = NT_EXPR_REAL, .r = json_real_value(json)};
    else if (json_is_string(json))
        *out = (nt_expr_value){.kind = NT_EXPR_STRING, .s = json_string_value(json)};
    else
        return nt__spec_fail(r, where, "values are numbers, true, false and texts");
    return NT_OK;
}

/* A list, or an expression that makes one: "range(1, 9)". */
static nt_status get_values(const nt__reader *r, const char *where, const json_t *json, values *out)
{
    out->item = nt__spec_keep(r->spec, nt_alloc_zero(MOST_VALUES, sizeof *out->item));
    if (json_is_string(json)) {
        nt_expr *expr = NULL;
        nt_expr_fault fault = {0};
        nt_status status = nt__spec_get_expr(r, json, where, 0, &expr);
        if (status == NT_OK && !nt_expr_eval_list(expr, NULL, out->item, MOST_VALUES, &out->count, &fault))
            status = nt__spec_fail(r, where, "'%s' makes no list of values: %s at column %d", nt_expr_text(expr),
                                   nt_expr_fault_text(fault.code), fault.column);
        if (status == NT_OK && out->count > MOST_VALUES)
            status = nt__spec_fail(r, where, "%zu values; at most %d are possible", out->count, MOST_VALUES);
        for (size_t i = 0; status == NT_OK && i < out->count; i++) /* text in it belongs to the expression */
            if (out->item[i].kind == NT_EXPR_STRING)
                out->item[i].s = nt__spec_text(r->spec, out->item[i].s);
        nt_expr_free(expr);
        return status;
    }
    if (!json_is_array(json))
        return nt__spec_fail(r, where, "must be a list of values or an expression such as \"range(1, 9)\"");
    if (json_array_size(json) > MOST_VALUES)
        return nt__spec_fail(r, where, "%zu values; at most %d are possible", json_array_size(json), MOST_VALUES);
    for (; out->count < json_array_size(json); out->count++) {
        nt_status status = list_item(r, where, json_array_get(json, out->count), &out->item[out->count]);
        if (status != NT_OK)
            return status;
        if (out->item[out->count].kind == NT_EXPR_STRING)
            out->item[out->count].s = nt__spec_text(r->spec, out->item[out->count].s);
    }
    return NT_OK;
}

/* One kind for all; whole numbers among reals become reals. */
static nt_status unify(const nt__reader *r, const char *where, values *v, uint32_t *kind)
{
    *kind = v->count > 0 ? v->item[0].kind : NT_EXPR_INT;
    if (v->count == 0)
        return nt__spec_fail(r, where, "has no value");
    for (size_t i = 1; i < v->count; i++) {
        uint32_t a = *kind, b = v->item[i].kind;
        bool numbers = (a == NT_EXPR_INT || a == NT_EXPR_REAL) && (b == NT_EXPR_INT || b == NT_EXPR_REAL);
        if (a != b && !numbers)
            return nt__spec_fail(r, where, "value %zu is of another kind than those before it", i + 1);
        *kind = a != b ? NT_EXPR_REAL : a;
    }
    for (size_t i = 0; *kind == NT_EXPR_REAL && i < v->count; i++)
        if (v->item[i].kind == NT_EXPR_INT)
            v->item[i] = (nt_expr_value){.kind = NT_EXPR_REAL, .r = (double)v->item[i].i};
    return NT_OK;
}

static void set_values(nt_spec *spec, nt_param *param, const values *v, uint32_t kind)
{
    param->count = (int)v->count;
    param->is_bool = kind == NT_EXPR_BOOL;
    int64_t *ints = nt__spec_keep(spec, nt_alloc_zero(v->count, sizeof *ints));
    double *reals = nt__spec_keep(spec, nt_alloc_zero(v->count, sizeof *reals));
    const char **strings = nt__spec_keep(spec, nt_alloc_zero(v->count, sizeof *strings));
    for (size_t i = 0; i < v->count; i++) {
        if (kind == NT_EXPR_REAL)
            reals[i] = v->item[i].r;
        else if (kind == NT_EXPR_STRING)
            strings[i] = v->item[i].s;
        else
            ints[i] = v->item[i].i;
    }
    param->ints = kind == NT_EXPR_INT || kind == NT_EXPR_BOOL ? ints : NULL;
    param->reals = kind == NT_EXPR_REAL ? reals : NULL;
    param->strings = kind == NT_EXPR_STRING ? strings : NULL;
}

static nt_status check_values(const nt__reader *r, const char *where, const nt_param *param)
{
    for (int i = 0; i < param->count; i++) {
        if (param->strings != NULL && param->strings[i][strcspn(param->strings[i], " \t\n")] != '\0')
            return nt__spec_fail(r, where, "'%s' has blanks, which no compiler option can hold", param->strings[i]);
        for (int j = 0; j < i; j++)
            if (nt_value_equal(nt_param_value(param, i), nt_param_value(param, j)))
                return nt__spec_fail(r, where, "value %d is there twice", i + 1);
    }
    return NT_OK;
}

static nt_status find_default(const nt__reader *r, const char *where, const json_t *json, nt_param *param)
{
    nt_expr_value wanted;
    if (json == NULL)
        return NT_OK;
    nt_status status = list_item(r, where, json, &wanted);
    for (int i = 0; status == NT_OK && i < param->count; i++) {
        nt_expr_value v = nt_expr_of_value(nt_param_value(param, i));
        bool number = v.kind != NT_EXPR_STRING && wanted.kind != NT_EXPR_STRING;
        double a = v.kind == NT_EXPR_REAL ? v.r : (double)v.i;
        double b = wanted.kind == NT_EXPR_REAL ? wanted.r : (double)wanted.i;
        if (number ? a == b : v.kind == wanted.kind && strcmp(v.s, wanted.s) == 0) {
            param->dflt = i;
            return NT_OK;
        }
    }
    /* in T1 files the default is often a remark from other machines, and not among the values */
    return status != NT_OK || r->spec->is_t1 ? status : nt__spec_fail(r, where, "is none of the parameter's values");
}

/* ---- parameters ------------------------------------------------------------------------------------------------------ */

static nt_status read_param(nt__reader *r, const json_t *json, int index)
{
    static const char *const uses[] = {"macro", "launch", NULL};
    nt_param *param = &r->spec->param[index];
    char where[NT__WHERE], path[NT__WHERE];
    const char *name, *help;
    int use;
    values v = {NULL, 0};
    uint32_t kind;
    snprintf(where, sizeof where, "parameters[%d]", index);
    nt_status status = nt__spec_keys(r, json, where, "name,values,default,use,help");
    if (status == NT_OK)
        status = nt__spec_get_text(r, json, where, "name", true, &name);
    if (status == NT_OK)
        status = check_name(r, nt__spec_path(path, sizeof path, where, "name"), name);
    if (status == NT_OK)
        status = nt__spec_get_text(r, json, where, "help", false, &help);
    if (status == NT_OK)
        status = nt__spec_get_choice(r, json, where, "use", uses, NT_PARAM_MACRO, &use);
    nt__spec_path(path, sizeof path, where, "values");
    if (status == NT_OK)
        status = get_values(r, path, json_object_get(json, "values"), &v);
    if (status == NT_OK)
        status = unify(r, path, &v, &kind);
    if (status != NT_OK)
        return status;
    *param = (nt_param){.name = nt__spec_text(r->spec, name),
                        .help = help != NULL ? nt__spec_text(r->spec, help) : "",
                        .use = (nt_param_use)use};
    set_values(r->spec, param, &v, kind);
    r->spec->values_of[index] = (nt_expr_value){.kind = NT_EXPR_LIST, .count = (uint32_t)v.count, .item = v.item};
    r->spec->symbol[r->spec->symbol_count++] = param->name;
    r->spec->param_count++;
    status = check_values(r, path, param);
    return status == NT_OK ? find_default(r, nt__spec_path(path, sizeof path, where, "default"),
                                          json_object_get(json, "default"), param)
                           : status;
}

static nt_status read_all_params(nt__reader *r, const json_t *root)
{
    const json_t *list = json_object_get(root, "parameters");
    if (!json_is_array(list) || json_array_size(list) == 0)
        return nt__spec_fail(r, "parameters", "must be a list of at least one parameter");
    if (json_array_size(list) > NT_MAX_PARAMS)
        return nt__spec_fail(r, "parameters", "%zu parameters; at most %d are possible", json_array_size(list),
                             NT_MAX_PARAMS);
    r->spec->param = nt__spec_keep(r->spec, nt_alloc_zero(json_array_size(list), sizeof *r->spec->param));
    nt_status status = NT_OK;
    for (size_t i = 0; status == NT_OK && i < json_array_size(list); i++)
        status = read_param(r, json_array_get(list, i), (int)i);
    return status;
}

/* ---- constraints ------------------------------------------------------------------------------------------------------ */

static nt_status read_constraint(nt__reader *r, const json_t *json, int index)
{
    char where[NT__WHERE];
    const char *text = json_string_value(json), *why = NULL;
    nt_expr *expr = NULL;
    snprintf(where, sizeof where, "constraints[%d]", index);
    nt_status status = NT_OK;
    if (text == NULL) {
        status = nt__spec_keys(r, json, where, "expression,why");
        if (status == NT_OK)
            status = nt__spec_get_text(r, json, where, "expression", true, &text);
        if (status == NT_OK)
            status = nt__spec_get_text(r, json, where, "why", false, &why);
    }
    if (status != NT_OK)
        return status;
    json_t *copy = json_string(text);
    status = nt__spec_get_expr(r, copy, where, r->spec->symbol_count, &expr);
    json_decref(copy);
    nt_expr_free(expr); /* the space compiles it again, among names of its own */
    r->spec->constraint[r->spec->constraint_count++] = (nt_constraint){
        nt__spec_text(r->spec, text), why != NULL ? nt__spec_text(r->spec, why) : "a constraint of the spec"};
    return status;
}

static nt_status read_constraints(nt__reader *r, const json_t *root)
{
    const json_t *list = json_object_get(root, "constraints");
    if (list == NULL)
        return NT_OK;
    if (!json_is_array(list) || json_array_size(list) > MOST_CONSTRAINTS)
        return nt__spec_fail(r, "constraints", "must be a list of at most %d expressions", MOST_CONSTRAINTS);
    r->spec->constraint = nt__spec_keep(r->spec, nt_alloc_zero(json_array_size(list) + 1, sizeof *r->spec->constraint));
    nt_status status = NT_OK;
    for (size_t i = 0; status == NT_OK && i < json_array_size(list); i++)
        status = read_constraint(r, json_array_get(list, i), (int)i);
    return status;
}

nt_status nt__spec_read_params(nt__reader *r, const json_t *root)
{
    nt_status status = read_all_params(r, root);
    if (status == NT_OK)
        status = read_sizes(r, root);
    for (size_t i = 0; status == NT_OK && i < sizeof limit_names / sizeof limit_names[0]; i++)
        r->spec->symbol[r->spec->symbol_count++] = limit_names[i];
    return status == NT_OK ? read_constraints(r, root) : status;
}
