#include "kernels/common/shape.h"

#include "core/mem.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_TEXT = 200 };

static int64_t least_of(const nt_shape_key *key)
{
    return key->least > 0 ? key->least : 1;
}

static int64_t most_of(const nt_shape_key *key)
{
    return key->most > 0 ? key->most : INT32_MAX;
}

static int find_key(const nt_shape_table *table, const char *name)
{
    for (int i = 0; i < table->key_count; i++)
        if (strcmp(table->keys[i].key, name) == 0)
            return i;
    return -1;
}

/* ---- errors ---------------------------------------------------------------------------------------------------------- */

/* c input channels, k output channels: --shape ... after an optional beginning. */
static nt_status hint_keys(const nt_shape_table *table, const char *before, nt_error *err)
{
    nt_str text = {0};
    for (int i = 0; i < table->key_count; i++)
        nt_str_addf(&text, "%s%s %s", i ? ", " : "", table->keys[i].key, table->keys[i].meaning);
    nt_status status = nt_hint(err, "%s%s: --shape %s", before, nt_str_text(&text), table->example);
    nt_str_done(&text);
    return status;
}

static nt_status wrong_word(const char *shape, const nt_shape_key *key, const char *text, nt_error *err)
{
    nt_str words = {0};
    for (int64_t i = least_of(key); i <= most_of(key); i++)
        nt_str_addf(&words, "%s%s", words.length ? ", " : "", nt_shape_word(i));
    nt_fail(err, NT_USAGE, "shape '%s': %s is '%s', not one of %s", shape, key->key, text, nt_str_text(&words));
    nt_str_done(&words);
    const char *word = nt_shape_word(most_of(key));
    return nt_hint(err, "%s is a word: %s=%s", key->key, key->key, word);
}

static nt_status wrong_size(const nt_shape_table *table, const char *shape, const nt_shape_key *key, const char *text,
                            nt_error *err)
{
    long long value = 0;
    if (nt_parse_i64(text, &value) && value > most_of(key))
        nt_fail(err, NT_USAGE, "shape '%s': %s is %lld, more than %lld", shape, key->key, value,
                (long long)most_of(key));
    else
        nt_fail(err, NT_USAGE, "shape '%s': %s is '%s', not a whole number from %lld up to %lld", shape, key->key, text,
                (long long)least_of(key), (long long)most_of(key));
    return hint_keys(table, "", err);
}

static nt_status unknown_key(const nt_shape_table *table, const char *shape, const char *word, nt_error *err)
{
    const char *names[NT_MAX_DIMS];
    nt_str all = {0};
    char before[64] = "";
    for (int i = 0; i < table->key_count; i++) {
        names[i] = table->keys[i].key;
        nt_str_addf(&all, "%s%s", i ? ", " : "", names[i]);
    }
    nt_fail(err, NT_USAGE, "shape '%s': %s has no key '%s'; its keys are %s", shape, table->layer, word,
            nt_str_text(&all));
    nt_str_done(&all);
    if (strcmp(word, "n") == 0 || strcmp(word, "b") == 0 || strcmp(word, "batch") == 0)
        return nt_hint(err, "the batch is an option of its own: --batch 8");
    int near = nt_nearest(word, names, table->key_count);
    if (near >= 0)
        snprintf(before, sizeof before, "did you mean '%s'? ", names[near]);
    return hint_keys(table, before, err);
}

static nt_status unknown_name(const nt_shape_table *table, const char *text, nt_error *err)
{
    nt_str all = {0};
    for (int i = 0; i < table->shape_count; i++)
        nt_str_addf(&all, "%s%s", i == 0 ? "" : i + 1 < table->shape_count ? ", " : " and ", table->shapes[i].name);
    nt_fail(err, NT_USAGE, "shape '%s' is unknown; %s names %s", text, table->layer, nt_str_text(&all));
    nt_str_done(&all);
    return nt_hint(err, "any other: --shape %s", table->example);
}

/* ---- sizes, 0 where none was given ----------------------------------------------------------------------------------- */

static nt_status read_size(const nt_shape_table *table, const char *shape, int key, const char *text, int64_t *sizes,
                           nt_error *err)
{
    const nt_shape_key *row = &table->keys[key];
    long long value = row->is_word ? nt_shape_word_find(text) : 0;
    bool is_read = row->is_word || nt_parse_i64(text, &value);
    if (!is_read || value < least_of(row) || value > most_of(row))
        return row->is_word ? wrong_word(shape, row, text, err) : wrong_size(table, shape, row, text, err);
    sizes[key] = value;
    return NT_OK;
}

static nt_status read_pair(const nt_shape_table *table, const char *shape, char *word, int64_t *sizes, nt_error *err)
{
    char *sign = strchr(word, '=');
    if (sign == NULL) {
        nt_fail(err, NT_USAGE, "shape '%s': '%s' is not key=size", shape, word);
        return hint_keys(table, "", err);
    }
    *sign = '\0';
    int key = find_key(table, word);
    if (key < 0)
        return unknown_key(table, shape, word, err);
    if (sizes[key] != 0)
        return nt_fail(err, NT_USAGE, "shape '%s' gives %s twice", shape, word);
    return read_size(table, shape, key, sign + 1, sizes, err);
}

static nt_status read_pairs(const nt_shape_table *table, const char *shape, char *text, int64_t *sizes, nt_error *err)
{
    char *rest = NULL;
    for (char *word = strtok_r(text, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
        nt_status status = read_pair(table, shape, word, sizes, err);
        if (status != NT_OK)
            return status;
    }
    for (int i = 0; i < table->key_count; i++)
        if (sizes[i] == 0 && !table->keys[i].is_optional) {
            nt_fail(err, NT_USAGE, "shape '%s' leaves out %s", shape, table->keys[i].key);
            return hint_keys(table, "", err);
        }
    return NT_OK;
}

/* Cuts a text at its first 'x'; what follows, NULL at the end. */
static char *cut(char *text)
{
    char *end = text != NULL ? strchr(text, 'x') : NULL;
    if (end != NULL)
        *end++ = '\0';
    return end;
}

static int form_key(const nt_shape_table *table, const char *word)
{
    char key[16] = "";
    for (size_t i = 0; word[i] != '\0' && i + 1 < sizeof key; i++)
        key[i] = (char)tolower((unsigned char)word[i]);
    int found = find_key(table, key);
    assert(found >= 0 && "a form names keys of its table");
    return found;
}

static int words_of(const char *text)
{
    int count = 1;
    for (; *text != '\0'; text++)
        count += *text == 'x';
    return count;
}

/* Sizes in the order of the form; keys it does not name are those they stand with. */
static nt_status read_form(const nt_shape_table *table, const char *shape, char *text, int64_t *sizes, nt_error *err)
{
    if (words_of(text) != words_of(table->form)) {
        nt_fail(err, NT_USAGE, "shape '%s' is not of the form %s", shape, table->form);
        return hint_keys(table, "", err);
    }
    char *form = nt_strdup(table->form), *name = form, *size = text;
    nt_status status = NT_OK;
    while (name != NULL && status == NT_OK) {
        char *next_name = cut(name), *next_size = cut(size);
        status = read_size(table, shape, form_key(table, name), size, sizes, err);
        name = next_name;
        size = next_size;
    }
    free(form);
    for (int i = 0; i < table->key_count && status == NT_OK; i++)
        if (sizes[i] == 0 && !table->keys[i].is_optional)
            sizes[i] = sizes[find_key(table, table->keys[i].same_as)];
    return status;
}

/* ---- the shape ------------------------------------------------------------------------------------------------------- */

static int64_t left_out(const nt_shape_table *table, const int64_t *sizes, int key)
{
    const char *same = table->keys[key].same_as;
    return same != NULL ? sizes[find_key(table, same)] : table->keys[key].dflt;
}

/* Optional keys are stored up to the last that says something. */
static nt_status store(const nt_shape_table *table, const char *text, int64_t *sizes, nt_shape *out, nt_error *err)
{
    int stored = 0;
    for (int i = 0; i < table->key_count; i++)
        if (!table->keys[i].is_optional || (sizes[i] != 0 && sizes[i] != left_out(table, sizes, i)))
            stored = i + 1;
    *out = (nt_shape){.count = stored};
    for (int i = 0; i < stored; i++) {
        int64_t size = sizes[i] != 0 ? sizes[i] : left_out(table, sizes, i);
        if (size == 0) {
            nt_fail(err, NT_USAGE, "shape '%s' gives %s without %s", text, table->keys[stored - 1].key,
                    table->keys[i].key);
            return hint_keys(table, "", err);
        }
        nt_copy(out->dim[i].key, sizeof out->dim[i].key, table->keys[i].key);
        out->dim[i].size = size;
        out->dim[i].is_word = table->keys[i].is_word;
    }
    return NT_OK;
}

static const char *named(const nt_shape_table *table, const char *text)
{
    for (int i = 0; i < table->shape_count; i++)
        if (strcmp(table->shapes[i].name, text) == 0)
            return table->shapes[i].dims;
    return text;
}

nt_status nt_shape_table_parse(const nt_shape_table *table, const char *text, nt_shape *out, nt_error *err)
{
    assert(table->key_count <= NT_MAX_DIMS);
    if (strlen(text) > LONGEST_TEXT)
        return nt_fail(err, NT_USAGE, "a shape of %zu characters; a shape is %s", strlen(text), table->example);
    const char *dims = named(table, text);
    bool by_keys = strchr(dims, '=') != NULL, is_word = words_of(table->form) > 1 && strchr(dims, 'x') == NULL;
    if (dims[0] == '\0' || (!by_keys && (is_word || !isdigit((unsigned char)dims[0]))))
        return unknown_name(table, text, err);
    int64_t sizes[NT_MAX_DIMS] = {0};
    char *copy = nt_strdup(dims);
    nt_status status = by_keys ? read_pairs(table, text, copy, sizes, err) : read_form(table, text, copy, sizes, err);
    free(copy);
    return status == NT_OK ? store(table, text, sizes, out, err) : status;
}

int64_t nt_shape_get_or(const nt_shape *shape, const char *key, int64_t otherwise)
{
    for (int i = 0; i < shape->count; i++)
        if (strcmp(shape->dim[i].key, key) == 0)
            return shape->dim[i].size;
    return otherwise;
}

/* ---- sizes and work of a problem ----------------------------------------------------------------------------------- */

bool nt_product(int64_t *out, int count, const int64_t *factors)
{
    *out = 1;
    for (int i = 0; i < count; i++)
        if (__builtin_mul_overflow(*out, factors[i], out) || *out > (INT64_MAX >> 4))
            return false;
    return true;
}

nt_status nt_problem_too_large(const nt_problem *problem, nt_error *err)
{
    nt_str text = {0}, keys = {0};
    nt_problem_print(&text, problem);
    for (int i = 0; i < problem->shape.count; i++)
        nt_str_addf(&keys, "%s%s", i ? ", " : "", problem->shape.dim[i].key);
    nt_fail(err, NT_USAGE, "%s is too large: a tensor has more elements than 64 bits can address", nt_str_text(&text));
    nt_hint(err, "make %s or the batch smaller", nt_str_text(&keys));
    nt_str_done(&text);
    nt_str_done(&keys);
    return NT_USAGE;
}

nt_status nt_problem_batch_check(const nt_problem *problem, nt_error *err)
{
    if (problem->batch >= 1)
        return NT_OK;
    return nt_fail(err, NT_USAGE, "batch is %lld, but the least is 1", (long long)problem->batch);
}

double nt_extents_tensor_bytes(const nt_problem *problem, const nt_extents *extents)
{
    const nt_precision_row *row = &nt_precisions[problem->precision];
    double weight_bytes = (double)nt_dtype_bytes(row->weight);
    if (nt_precision_is_pruned(problem->precision)) /* two of four, and where they were: 2 bits each */
        weight_bytes = (weight_bytes + 0.25) / 2;
    return (double)extents->in * (double)nt_dtype_bytes(row->in) + (double)extents->weight * weight_bytes +
           (double)extents->out * (double)nt_dtype_bytes(row->out);
}
