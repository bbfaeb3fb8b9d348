#include "cli/compare_recorded.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/recorded_space.h"
#include "cli/color.h"
#include "cli/output.h"
#include "cli/table.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/units.h"
#include "reports/compare_portability.h"

enum { MOST = 16 };

typedef struct spaces {
    int count;
    const char *path[MOST];
    nt_recorded *recorded[MOST];
    double *time[MOST]; /* by the configurations of the first */
    nt_portability matrix;
} spaces;

bool nt_compare_is_recorded(const char *word)
{
    size_t length = strlen(word);
    return (length > 4 && strcmp(word + length - 4, ".csv") == 0) ||
           (length > 7 && strcmp(word + length - 7, ".csv.gz") == 0);
}

/* The configuration of `to` with the same printed values as one of `from`. */
static bool translate(const nt_kernel *from, const nt_config *config, const nt_kernel *to, nt_config *out)
{
    nt_str text = {0};
    bool ok = from->param_count == to->param_count;
    out->count = to->param_count;
    for (int i = 0; ok && i < from->param_count; i++) {
        int at = nt_param_find(to->params, to->param_count, from->params[i].name);
        nt_str_clear(&text);
        nt_value_print(&text, nt_param_value(&from->params[i], config->index[i]));
        int value = at < 0 ? -1 : nt_param_value_find(&to->params[at], nt_str_text(&text));
        ok = value >= 0;
        if (ok)
            out->index[at] = (uint16_t)value;
    }
    nt_str_done(&text);
    return ok;
}

/* Returns how many configurations both have. */
static size_t align(spaces *s, int which)
{
    nt_recorded *first = s->recorded[0], *is = s->recorded[which];
    size_t common = 0;
    s->time[which] = nt_alloc(first->row_count * sizeof *s->time[which]);
    for (size_t i = 0; i < first->row_count; i++) {
        nt_config config, same = {0};
        uint64_t index;
        nt_space_config(first->space, i, &config);
        s->time[which][i] = NAN;
        if (!translate(&first->kernel, &config, &is->kernel, &same) || !nt_space_index(is->space, &same, &index))
            continue;
        s->time[which][i] = is->row[index].time_ms;
        common++;
    }
    return common;
}

static nt_status open_all(const nt_args *args, spaces *s, nt_error *err)
{
    s->count = nt_args_positional_count(args);
    if (s->count < 2 || s->count > MOST)
        return nt_fail(err, NT_USAGE, "2 to %d recorded spaces can be compared, not %d", MOST, s->count);
    for (int i = 0; i < s->count; i++) {
        s->path[i] = nt_args_positional(args, i);
        if (!nt_compare_is_recorded(s->path[i])) {
            nt_fail(err, NT_USAGE, "'%s' is no recorded space, while '%s' is one", s->path[i], s->path[0]);
            return nt_hint(err, "import the recording into a database to compare it with runs");
        }
        nt_status status = nt_recorded_open(s->path[i], &s->recorded[i], err);
        if (status != NT_OK)
            return status;
        if (align(s, i) == 0)
            return nt_fail(err, NT_NOT_FOUND,
                           "%s and %s have no configuration in common: they are of different kernels", s->path[0],
                           s->path[i]);
    }
    s->matrix = (nt_portability){s->count, s->recorded[0]->row_count, (const double *const *)(const void *)s->time};
    return NT_OK;
}

static void print_config(const spaces *s, size_t index, nt_str *out)
{
    nt_config config;
    nt_space_config(s->recorded[0]->space, index, &config);
    nt_config_print(out, s->recorded[0]->kernel.params, &config);
}

static double sensitivity(const spaces *s, int device, int param)
{
    nt_recorded *first = s->recorded[0];
    int *value = nt_alloc(first->row_count * sizeof *value);
    for (size_t i = 0; i < first->row_count; i++) {
        nt_config config;
        nt_space_config(first->space, i, &config);
        value[i] = config.index[param];
    }
    double result = nt_portability_sensitivity(&s->matrix, device, value, first->kernel.params[param].count);
    free(value);
    return result;
}

/* ---- showing --------------------------------------------------------------------------------------------------------- */

static void print_matrix(const spaces *s, bool bold)
{
    nt_table *table = nt_table_new_empty();
    nt_table_column(table, "best of", false);
    for (int d = 0; d < s->count; d++)
        nt_table_column(table, s->recorded[d]->name, true);
    for (int of = 0; of < s->count; of++) {
        nt_table_cell(table, "%s", s->recorded[of]->name);
        for (int on = 0; on < s->count; on++)
            nt_table_cell(table, "%.1f %%", 100 * nt_portability_speed(&s->matrix, of, on));
    }
    printf("recorded elsewhere: speed of each device's best configuration on each device, of that device's best\n\n");
    nt_table_print(table, stdout, bold);
    nt_table_free(table);
}

static void print_single(const spaces *s)
{
    double mean;
    nt_str text = {0};
    size_t single = nt_portability_single(&s->matrix, &mean);
    if (single == s->matrix.configs) {
        printf("\nno configuration works on all of them\n");
        return;
    }
    print_config(s, single, &text);
    printf("\nbest single configuration: harmonic mean %.3f: %s\n", mean, nt_str_text(&text));
    nt_str_done(&text);
}

static void print_sensitivities(const spaces *s, bool bold)
{
    nt_table *table = nt_table_new_empty();
    nt_table_column(table, "most lost by holding", false);
    for (int d = 0; d < s->count; d++)
        nt_table_column(table, s->recorded[d]->name, true);
    for (int p = 0; p < s->recorded[0]->kernel.param_count; p++) {
        nt_table_cell(table, "%s", s->recorded[0]->kernel.params[p].name);
        for (int d = 0; d < s->count; d++)
            nt_table_cell(table, "%.1f %%", 100 * sensitivity(s, d, p));
    }
    printf("\n");
    nt_table_print(table, stdout, bold);
    nt_table_free(table);
}

static void print_json(const spaces *s)
{
    double mean;
    size_t single = nt_portability_single(&s->matrix, &mean);
    json_t *document = nt_output_document("portability"), *devices = json_array(), *speeds = json_array(),
           *parameters = json_array();
    for (int of = 0; of < s->count; of++) {
        json_t *row = json_array();
        nt_str best = {0};
        size_t index = nt_portability_best(&s->matrix, of);
        if (index < s->matrix.configs)
            print_config(s, index, &best);
        json_array_append_new(devices, json_pack("{ss so so}", "name", s->recorded[of]->name, "best",
                                                 nt_json_text(nt_str_text(&best)), "best_ms",
                                                 nt_json_real(s->recorded[of]->best_ms)));
        for (int on = 0; on < s->count; on++)
            json_array_append_new(row, nt_json_real(nt_portability_speed(&s->matrix, of, on)));
        json_array_append_new(speeds, row);
        nt_str_done(&best);
    }
    for (int p = 0; p < s->recorded[0]->kernel.param_count; p++) {
        json_t *row = json_array();
        for (int d = 0; d < s->count; d++)
            json_array_append_new(row, nt_json_real(100 * sensitivity(s, d, p)));
        json_array_append_new(
            parameters, json_pack("{ss so}", "param", s->recorded[0]->kernel.params[p].name, "most_lost_pct", row));
    }
    nt_str text = {0};
    if (single < s->matrix.configs)
        print_config(s, single, &text);
    json_object_set_new(document, "source", json_string("recorded"));
    json_object_set_new(document, "devices", devices);
    json_object_set_new(document, "speed", speeds);
    json_object_set_new(document, "single", nt_json_text(nt_str_text(&text)));
    json_object_set_new(document, "single_harmonic_mean", nt_json_real(mean));
    json_object_set_new(document, "sensitivity", parameters);
    nt_output_json(document);
    nt_str_done(&text);
}

nt_status nt_compare_recorded(const nt_args *args, nt_error *err)
{
    spaces s = {0};
    bool bold = nt_color_wanted(args, stdout);
    nt_status status = open_all(args, &s, err);
    if (status == NT_OK && nt_args_flag(args, "json"))
        print_json(&s);
    else if (status == NT_OK) {
        print_matrix(&s, bold);
        print_single(&s);
        print_sensitivities(&s, bold);
    }
    for (int i = 0; i < s.count && i < MOST; i++) {
        nt_recorded_free(s.recorded[i]);
        free(s.time[i]);
    }
    return status;
}
