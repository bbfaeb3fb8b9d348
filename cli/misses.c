#include "cli/misses.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/text_file.h"
#include "kernels/layer.h"

enum { MOST_BYTES = 1 << 26 };

/* Appends "act=silu": programs give the number of a word. */
static void add_size(nt_str *text, const nt_layer *layer, const char *key, size_t length, long long size)
{
    bool is_word =
        layer->word_key != NULL && strlen(layer->word_key) == length && strncmp(layer->word_key, key, length) == 0;
    const char *word = is_word ? nt_shape_word(size) : NULL;
    nt_str_addf(text, "%s%.*s=", text->length > 0 ? "," : "", (int)length, key);
    if (word != NULL)
        nt_str_add(text, word);
    else
        nt_str_addf(text, "%lld", size);
}

/* Sizes in the layer's own order, as the shape that the layer makes of them; the last keys may be optional ones. */
static bool read_shape(const json_t *json, const nt_layer *layer, nt_shape *out)
{
    const json_t *sizes = json_object_get(json, "size");
    const char *key = layer->shape_keys;
    nt_str text = {0};
    size_t i = 0;
    for (; *key != '\0' && i < json_array_size(sizes); i++) {
        size_t length = strcspn(key, ",");
        add_size(&text, layer, key, length, (long long)json_integer_value(json_array_get(sizes, i)));
        key += length + (key[length] == ',');
    }
    bool ok = i > 0 && i == json_array_size(sizes) && layer->parse_shape(nt_str_text(&text), out, NULL) == NT_OK;
    nt_str_done(&text);
    return ok;
}

static bool read_miss(const char *line, nt_problem *out)
{
    json_t *json = NULL;
    if (nt_json_parse(line, &json, NULL) != NT_OK)
        return false;
    const char *layer_name = nt_json_get_text(json, "layer"), *precision = nt_json_get_text(json, "precision"),
               *layout = nt_json_get_text(json, "layout");
    const nt_layer *layer = layer_name != NULL ? nt_layer_find(layer_name) : NULL;
    int p = precision != NULL ? nt_precision_find(precision) : -1, l = layout != NULL ? nt_layout_find(layout) : -1;
    *out = (nt_problem){.batch = nt_json_get_int(json, "batch"), .precision = (nt_precision)p, .layout = (nt_layout)l};
    bool ok = layer != NULL && p >= 0 && l >= 0 && out->batch >= 1 && read_shape(json, layer, &out->shape);
    if (ok)
        nt_copy(out->layer, sizeof out->layer, layer->name);
    json_decref(json);
    return ok;
}

static void keep(nt_problem **list, size_t *count, size_t *capacity, const nt_problem *problem)
{
    for (size_t i = 0; i < *count; i++)
        if (nt_problem_equal(&(*list)[i], problem))
            return;
    nt_grow((void **)list, capacity, *count + 1, sizeof **list);
    (*list)[(*count)++] = *problem;
}

nt_status nt_misses_read(const char *path, const char *layer, nt_problem **out, size_t *count, nt_error *err)
{
    char *text, *rest;
    size_t length, capacity = 0;
    int number = 0;
    *out = NULL;
    *count = 0;
    nt_status status = nt_text_file_read(path, MOST_BYTES, &text, &length, err);
    if (status != NT_OK)
        return status;
    rest = text;
    for (char *line = strsep(&rest, "\n"); status == NT_OK && line != NULL; line = strsep(&rest, "\n")) {
        nt_problem problem;
        number++;
        if (line[0] == '\0')
            continue;
        if (!read_miss(line, &problem)) {
            nt_fail(err, NT_CORRUPT, "%s: line %d is no problem of a layer that this program has", path, number);
            status =
                nt_hint(err, "a line is as NNTUNE_MISS_LOG writes it (docs/TABLES.md), with the layer's extents in "
                             "their order: 'nntune layers LAYER' shows them; correct it or take it out");
        } else if (layer == NULL || strcmp(layer, problem.layer) == 0)
            keep(out, count, &capacity, &problem);
    }
    free(text);
    if (status == NT_OK && *count == 0)
        status = nt_fail(err, NT_NOT_FOUND, "%s holds no missed problem%s%s", path, layer != NULL ? " of " : "",
                         layer != NULL ? layer : "");
    if (status != NT_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}
