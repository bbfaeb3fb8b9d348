/* patch.c: two trees of JSON compared member by member; where their forms differ, the whole is replaced. */
#include "db/formats/patch.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parts {
    json_t *more, *instead, *without;
} parts;

static void keep(json_t *tree, const char *key, json_t *value)
{
    json_object_set_new(tree, key, value);
}

static bool is_inner(const json_t *json)
{
    return json_is_object(json) || json_is_array(json);
}

static parts parts_new(void)
{
    return (parts){json_object(), json_object(), json_object()};
}

static void graft(json_t *tree, const char *key, json_t *branch)
{
    if (json_object_size(branch) > 0)
        json_object_set(tree, key, branch);
    json_decref(branch);
}

static void replace(const parts *out, const char *key, const json_t *theirs)
{
    keep(out->without, key, json_true());
    keep(out->more, key, json_deep_copy(theirs));
}

static void compare(const parts *out, const json_t *ours, const json_t *theirs);

/* Positions can be compared when both sides hold the same kinds of values there, and none is missing. */
static bool same_form(const json_t *ours, const json_t *theirs)
{
    if (json_typeof(ours) != json_typeof(theirs))
        return false;
    for (size_t i = 0; json_is_array(ours) && i < json_array_size(ours); i++) {
        const json_t *a = json_array_get(ours, i), *b = json_array_get(theirs, i);
        if (b == NULL || ((is_inner(a) || is_inner(b)) && !same_form(a, b)))
            return false;
    }
    return true;
}

static void compare_member(const parts *out, const char *key, const json_t *ours, const json_t *theirs)
{
    if (json_equal(ours, theirs))
        return;
    if (!is_inner(ours) && !is_inner(theirs)) {
        keep(out->instead, key, json_deep_copy(theirs));
    } else if (!same_form(ours, theirs)) {
        replace(out, key, theirs);
    } else {
        parts inner = parts_new();
        compare(&inner, ours, theirs);
        graft(out->more, key, inner.more);
        graft(out->instead, key, inner.instead);
        graft(out->without, key, inner.without);
    }
}

static void compare(const parts *out, const json_t *ours, const json_t *theirs)
{
    const char *key;
    json_t *value;
    char position[24];
    for (size_t i = 0; json_is_array(theirs) && i < json_array_size(theirs); i++) {
        snprintf(position, sizeof position, "%zu", i);
        if (i < json_array_size(ours))
            compare_member(out, position, json_array_get(ours, i), json_array_get(theirs, i));
        else
            keep(out->more, position, json_deep_copy(json_array_get(theirs, i)));
    }
    if (!json_is_object(theirs))
        return;
    json_object_foreach ((json_t *)(uintptr_t)theirs, key, value) {
        const json_t *known = json_object_get(ours, key);
        if (known != NULL)
            compare_member(out, key, known, value);
        else
            keep(out->more, key, json_deep_copy(value));
    }
    json_object_foreach ((json_t *)(uintptr_t)ours, key, value) {
        if (json_object_get(theirs, key) == NULL)
            keep(out->without, key, json_true());
    }
}

json_t *nt_patch_make(const json_t *ours, const json_t *theirs)
{
    parts all = parts_new();
    json_t *patch = json_object();
    compare(&all, ours, theirs);
    graft(patch, "more", all.more);
    graft(patch, "instead", all.instead);
    graft(patch, "without", all.without);
    if (json_object_size(patch) > 0)
        return patch;
    json_decref(patch);
    return NULL;
}

/* ---- applying ---------------------------------------------------------------------------------------------------- */

static json_t *child(const json_t *json, const char *key)
{
    return json_is_array(json) ? json_array_get(json, strtoul(key, NULL, 10)) : json_object_get(json, key);
}

static void set(json_t *json, const char *key, const json_t *value)
{
    size_t position = strtoul(key, NULL, 10);
    if (json_is_object(json))
        json_object_set_new(json, key, json_deep_copy(value));
    else if (json_is_array(json) && position < json_array_size(json))
        json_array_set_new(json, position, json_deep_copy(value));
    else if (json_is_array(json))
        json_array_append_new(json, json_deep_copy(value));
}

static void take_away(json_t *json, const json_t *without)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)without, key, value) {
        if (json_is_object(value))
            take_away(child(json, key), value);
        else
            json_object_del(json, key);
    }
}

static void put_in(json_t *json, const json_t *tree)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)tree, key, value) {
        json_t *there = child(json, key);
        if (json_is_object(value) && is_inner(there))
            put_in(there, value);
        else
            set(json, key, value);
    }
}

void nt_patch_apply(json_t *ours, const json_t *patch)
{
    take_away(ours, json_object_get(patch, "without"));
    put_in(ours, json_object_get(patch, "instead"));
    put_in(ours, json_object_get(patch, "more"));
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

enum { NAME_BYTES = 200, NAMES = 200 };

static bool is_position(const char *key)
{
    return key[0] != '\0' && key[strspn(key, "0123456789")] == '\0';
}

/* What only the file has counts as one name, however much it holds. `without` tells what was replaced as a whole: its
 * name is known to the record, only its form is the file's. */
static void add_names(const json_t *ours, const json_t *more, const json_t *without, const char *path, json_t *names)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)more, key, value) {
        char name[NAME_BYTES];
        const json_t *replaced = json_object_get(without, key), *known = child(ours, key);
        if (json_is_true(replaced) || json_object_size(names) >= NAMES)
            continue;
        snprintf(name, sizeof name, "%s%s%s", path,
                 is_position(key)  ? "[]"
                 : path[0] != '\0' ? "."
                                   : "",
                 is_position(key) ? "" : key);
        if (json_is_object(value) && is_inner(known))
            add_names(known, value, replaced, name, names);
        else
            json_object_set_new(names, name, json_true());
    }
}

void nt_patch_names(const json_t *ours, const json_t *patch, json_t *names)
{
    add_names(ours, json_object_get(patch, "more"), json_object_get(patch, "without"), "", names);
}
