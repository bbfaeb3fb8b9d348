/* t1.c: the machine that walks the tables of t1_table.c: an object of the file into the struct of its table, and back.
 * A key of the table that holds null counts as absent, and is kept among the unknown ones. */
#include "core/t1.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/str.h"
#include "core/t1_table.h"
#include "core/text_file.h"

enum { SHOWN_BYTES = 60, PATH_BYTES = 160 };

typedef struct reader {
    const char *name;
    nt_t1 *t1;
    nt_error *err;
} reader;

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static nt_status refuse(const reader *r, const char *path, const json_t *value, const char *right)
{
    char *shown = value != NULL ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    if (value == NULL)
        nt_fail(r->err, NT_USAGE, "%s: %s is missing", r->name, path);
    else
        nt_fail(r->err, NT_USAGE, "%s: %s is %.*s%s", r->name, path, SHOWN_BYTES, shown != NULL ? shown : "?",
                shown != NULL && strlen(shown) > SHOWN_BYTES ? ".." : "");
    free(shown);
    return nt_hint(r->err, "it must be %s", right);
}

static nt_status refuse_word(const reader *r, const char *path, const json_t *value, const char *const *words)
{
    nt_str right = {0};
    for (int i = 0; words[i] != NULL; i++)
        nt_str_addf(&right, "%s%s", i > 0 ? ", " : "one of ", words[i]);
    nt_status status = refuse(r, path, value, nt_str_text(&right));
    nt_str_done(&right);
    return status;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void add_python(nt_str *out, const json_t *json)
{
    size_t i;
    const json_t *item;
    if (json_is_boolean(json)) {
        nt_str_add(out, json_is_true(json) ? "True" : "False");
    } else if (json_is_array(json)) {
        nt_str_add(out, "[");
        json_array_foreach (json, i, item) {
            nt_str_add(out, i > 0 ? ", " : "");
            add_python(out, item);
        }
        nt_str_add(out, "]");
    } else {
        char *text = json_dumps(json, JSON_ENCODE_ANY);
        nt_str_add(out, text != NULL ? text : "\"\"");
        free(text);
    }
}

/* The text an expression is read from. Made ones live in an array of texts beside the file's own. */
static const char *expression_text(const reader *r, const json_t *json)
{
    if (json_is_string(json))
        return json_string_value(json);
    nt_str text = {0};
    add_python(&text, json);
    json_t *made = json_string(nt_str_text(&text));
    nt_str_done(&text);
    json_array_append_new(r->t1->made, made);
    return json_string_value(made);
}

static bool is_expression(const json_t *json, bool list)
{
    return json_is_string(json) || json_is_number(json) || json_is_boolean(json) || (list && json_is_array(json));
}

static nt_status read_expressions(const reader *r, const char *path, const json_t *value, nt_t1_exprs *out)
{
    out->alone = !json_is_array(value);
    out->count = out->alone ? 1 : json_array_size(value);
    if (out->count > NT_T1_MAX_ITEMS)
        return nt_fail(r->err, NT_USAGE, "%s: %s has %zu items; at most %d are read", r->name, path, out->count,
                       NT_T1_MAX_ITEMS);
    out->item = nt_alloc_zero(out->count + 1, sizeof *out->item);
    for (size_t i = 0; i < out->count; i++) {
        const json_t *item = out->alone ? value : json_array_get(value, i);
        if (!is_expression(item, false))
            return refuse(r, path, value, "a text, a number or a list of them");
        out->item[i] = (nt_t1_expr){expression_text(r, item), item};
    }
    return NT_OK;
}

static nt_status read_object(const reader *r, const char *path, const nt_t1_row *rows, const json_t *json,
                             void *record);

static nt_status read_list(const reader *r, const char *path, const nt_t1_row *row, const json_t *value, char *record)
{
    size_t count = json_array_size(value);
    if (!json_is_array(value))
        return refuse(r, path, value, "a list of objects");
    if (count > NT_T1_MAX_ITEMS)
        return nt_fail(r->err, NT_USAGE, "%s: %s has %zu items; at most %d are read", r->name, path, count,
                       NT_T1_MAX_ITEMS);
    char *items = nt_alloc_zero(count + 1, row->bytes);
    memcpy(record + row->offset, &items, sizeof items);
    nt_status status = NT_OK;
    for (size_t i = 0; status == NT_OK && i < count; i++) {
        char inner[PATH_BYTES];
        nt_str text = {0};
        nt_str_addf(&text, "%s[%zu]", path, i);
        nt_copy(inner, sizeof inner, nt_str_text(&text));
        nt_str_done(&text);
        size_t ready = i + 1; /* what is to be freed */
        memcpy(record + row->count_offset, &ready, sizeof ready);
        status = read_object(r, inner, row->rows, json_array_get(value, i), items + i * row->bytes);
    }
    return status;
}

static nt_status read_flag(const reader *r, const char *path, const json_t *value, int *out)
{
    *out = json_is_true(value) || (json_is_integer(value) && json_integer_value(value) != 0);
    return json_is_boolean(value) || json_is_integer(value) ? NT_OK : refuse(r, path, value, "true, false, 0 or 1");
}

static nt_status read_text(const reader *r, const char *path, const nt_t1_row *row, const json_t *value, char *at)
{
    const char *text = json_string_value(value);
    if (text == NULL)
        return row->words != NULL ? refuse_word(r, path, value, row->words) : refuse(r, path, value, "a text");
    for (int i = 0; row->words != NULL; i++) {
        if (row->words[i] == NULL)
            return refuse_word(r, path, value, row->words);
        if (strcmp(row->words[i], text) == 0)
            break;
    }
    memcpy(at, &text, sizeof text);
    return NT_OK;
}

static nt_status read_value(const reader *r, const char *path, const nt_t1_row *row, const json_t *value, char *record)
{
    char *at = record + row->offset;
    switch (row->kind) {
    case NT_T1_TEXT:
        return read_text(r, path, row, value, at);
    case NT_T1_INT:
        *(int64_t *)at = json_integer_value(value);
        return json_is_integer(value) ? NT_OK : refuse(r, path, value, "a whole number");
    case NT_T1_FLAG:
        return read_flag(r, path, value, (int *)at);
    case NT_T1_EXPR:
    case NT_T1_VALUES:
        if (!is_expression(value, row->kind == NT_T1_VALUES))
            return refuse(r, path, value, row->kind == NT_T1_VALUES ? "a text or a list" : "a text or a number");
        *(nt_t1_expr *)at = (nt_t1_expr){expression_text(r, value), value};
        return NT_OK;
    case NT_T1_EXPRS:
        return read_expressions(r, path, value, (nt_t1_exprs *)at);
    case NT_T1_ANY:
        memcpy(at, &value, sizeof value);
        return NT_OK;
    case NT_T1_OBJECT:
        return read_object(r, path, row->rows, value, at);
    case NT_T1_LIST:
        return read_list(r, path, row, value, record);
    }
    return NT_OK;
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

static void set_absent(const nt_t1_row *rows, char *record)
{
    for (const nt_t1_row *row = rows; row->key != NULL; row++)
        if (row->kind == NT_T1_INT)
            *(int64_t *)(record + row->offset) = NT_UNKNOWN;
        else if (row->kind == NT_T1_FLAG)
            *(int *)(record + row->offset) = -1;
}

static const nt_t1_row *find_row(const nt_t1_row *rows, const char *key)
{
    while (rows->key != NULL && strcmp(rows->key, key) != 0)
        rows++;
    return rows; /* the last row holds the place of `extra` */
}

static json_t *value_json(const nt_t1_row *row, const char *record);

/* Not a null, and not a flag in the other of its two spellings: those are written back from `extra`. */
static bool stands_in_record(const nt_t1_row *row, const json_t *value, const char *record)
{
    json_t *again = value_json(row, record);
    bool same = row->kind == NT_T1_FLAG ? json_equal(again, value) : again != NULL;
    json_decref(again);
    return same;
}

static nt_status read_object(const reader *r, const char *path, const nt_t1_row *rows, const json_t *json, void *record)
{
    set_absent(rows, record);
    if (!json_is_object(json))
        return refuse(r, path, json, "an object");
    char inner[PATH_BYTES];
    json_t **extra = (json_t **)((char *)record + find_row(rows, "")->offset);
    for (const nt_t1_row *row = rows; row->key != NULL; row++) {
        const json_t *value = json_object_get(json, row->key);
        nt_str text = {0};
        nt_str_addf(&text, "%s%s%s", path, path[0] != '\0' ? "." : "", row->key);
        nt_copy(inner, sizeof inner, nt_str_text(&text));
        nt_str_done(&text);
        if (value == NULL || (json_is_null(value) && row->kind != NT_T1_ANY)) {
            if (row->needed)
                return refuse(r, inner, value, row->kind == NT_T1_OBJECT ? "an object" : "there");
            continue;
        }
        if (row->present_offset != 0)
            *(bool *)((char *)record + row->present_offset) = true;
        nt_status status = read_value(r, inner, row, value, record);
        if (status != NT_OK)
            return status;
    }
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)json, key, value) {
        const nt_t1_row *row = find_row(rows, key);
        if (row->key != NULL && stands_in_record(row, value, record))
            continue;
        if (*extra == NULL)
            *extra = json_object();
        json_object_set(*extra, key, value);
    }
    return NT_OK;
}

/* ---- back -------------------------------------------------------------------------------------------------------- */

static json_t *expression_json(const nt_t1_expr *expr)
{
    return expr->json != NULL ? json_deep_copy(expr->json) : expr->text != NULL ? json_string(expr->text) : NULL;
}

static json_t *expressions_json(const nt_t1_exprs *exprs)
{
    if (exprs->item == NULL || exprs->alone)
        return exprs->item != NULL ? expression_json(&exprs->item[0]) : NULL;
    json_t *list = json_array();
    for (size_t i = 0; i < exprs->count; i++)
        json_array_append_new(list, expression_json(&exprs->item[i]));
    return list;
}

static json_t *object_json(const nt_t1_row *rows, const char *record);

static json_t *list_json(const nt_t1_row *row, const char *record)
{
    const char *items = *(char *const *)(record + row->offset);
    if (items == NULL)
        return NULL;
    json_t *list = json_array();
    for (size_t i = 0; i < *(const size_t *)(record + row->count_offset); i++)
        json_array_append_new(list, object_json(row->rows, items + i * row->bytes));
    return list;
}

/* NULL when absent. */
static json_t *value_json(const nt_t1_row *row, const char *record)
{
    const char *at = record + row->offset;
    switch (row->kind) {
    case NT_T1_TEXT:
        return *(const char *const *)at != NULL ? json_string(*(const char *const *)at) : NULL;
    case NT_T1_INT:
        return *(const int64_t *)at != NT_UNKNOWN ? json_integer(*(const int64_t *)at) : NULL;
    case NT_T1_FLAG:
        if (*(const int *)at < 0)
            return NULL;
        return row->number ? json_integer(*(const int *)at) : json_boolean(*(const int *)at);
    case NT_T1_EXPR:
    case NT_T1_VALUES:
        return expression_json((const nt_t1_expr *)at);
    case NT_T1_EXPRS:
        return expressions_json((const nt_t1_exprs *)at);
    case NT_T1_ANY:
        return *(json_t *const *)at != NULL ? json_deep_copy(*(json_t *const *)at) : NULL;
    case NT_T1_OBJECT:
        if (row->present_offset != 0 && !*(const bool *)(record + row->present_offset))
            return NULL;
        return object_json(row->rows, at);
    case NT_T1_LIST:
        return list_json(row, record);
    }
    return NULL;
}

static json_t *object_json(const nt_t1_row *rows, const char *record)
{
    json_t *object = json_object();
    const nt_t1_row *row = rows;
    for (; row->key != NULL; row++) {
        json_t *value = value_json(row, record);
        if (value != NULL)
            json_object_set_new(object, row->key, value);
    }
    json_t *extra = *(json_t *const *)(record + row->offset);
    if (extra != NULL)
        json_object_update(object, extra);
    return object;
}

json_t *nt_t1_json(const nt_t1 *t1)
{
    return object_json(nt_t1_rows, (const char *)t1);
}

/* ---- freeing ----------------------------------------------------------------------------------------------------- */

static void free_object(const nt_t1_row *rows, char *record)
{
    const nt_t1_row *row = rows;
    for (; row->key != NULL; row++) {
        char *at = record + row->offset;
        if (row->kind == NT_T1_OBJECT)
            free_object(row->rows, at);
        else if (row->kind == NT_T1_EXPRS)
            free(((nt_t1_exprs *)at)->item);
        else if (row->kind == NT_T1_LIST) {
            char *items = *(char **)at;
            size_t count = items != NULL ? *(size_t *)(record + row->count_offset) : 0;
            for (size_t i = 0; i < count; i++)
                free_object(row->rows, items + i * row->bytes);
            free(items);
        }
    }
    json_decref(*(json_t **)(record + row->offset));
}

void nt_t1_done(nt_t1 *t1)
{
    free_object(nt_t1_rows, (char *)t1);
    json_decref(t1->root);
    json_decref(t1->made);
    *t1 = (nt_t1){0};
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

nt_status nt_t1_parse(const char *name, const char *text, size_t length, nt_t1 *out, nt_error *err)
{
    json_error_t where;
    *out = (nt_t1){0};
    if (length > NT_T1_MAX_BYTES)
        return nt_fail(err, NT_USAGE, "%s holds more than %d MiB of text", name, NT_T1_MAX_BYTES >> 20);
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
    if (root == NULL)
        return nt_fail(err, NT_USAGE, "%s, line %d, column %d: %s", name, where.line, where.column, where.text);
    *out = (nt_t1){.root = root, .made = json_array()};
    nt_status status;
    if (json_object_get(root, "ConfigurationSpace") == NULL && json_object_get(root, "KernelSpecification") == NULL) {
        nt_fail(err, NT_USAGE, "%s is no T1 file", name);
        status = nt_hint(err, "a T1 file has the keys ConfigurationSpace and KernelSpecification");
    } else {
        status = read_object(&(reader){name, out, err}, "", nt_t1_rows, root, out);
    }
    if (status != NT_OK)
        nt_t1_done(out);
    return status;
}

nt_status nt_t1_read(const char *path, nt_t1 *out, nt_error *err)
{
    char *text;
    size_t length;
    *out = (nt_t1){0};
    nt_status status = nt_text_file_read(path, NT_T1_MAX_BYTES, &text, &length, err);
    if (status != NT_OK)
        return status;
    status = nt_t1_parse(path, text, length, out, err);
    free(text);
    return status;
}
