/* cmd_best.c: `nntune best [LAYER]`: the winner of each problem and device, from the view of that name. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/cmd.h"
#include "cli/color.h"
#include "cli/database.h"
#include "cli/layer_argument.h"
#include "cli/output.h"
#include "cli/present.h"
#include "cli/row.h"
#include "cli/run_objective.h"
#include "cli/stored_spec.h"
#include "cli/table.h"
#include "cli/vs_vendor.h"
#include "core/json.h"

static const nt_option rows[] = {
    {.name = "device",
     .kind = NT_OPTION_TEXT,
     .argument = "NAME",
     .help = "only winners on this device: its name, its UUID, cpu or cuda"},
    {.name = "vs-vendor",
     .kind = NT_OPTION_FLAG,
     .help = "the vendors' time over ours for each problem that a run measured both for, and the geometric means"},
    {.name = NULL},
};

typedef struct winners {
    const char *device; /* NULL: any */
    nt_table *table;
    json_t *rows; /* NULL for people */
    nt_run_objectives objectives;
    char device_now[192];
    nt_str devices; /* names of all devices seen, for messages */
    char device_seen[64];
    int count;
} winners;

/* "NVIDIA H200", its UUID, or cuda. */
static bool is_wanted(const winners *w, const nt_row *row)
{
    static const char *const names[] = {"device", "device_uuid", "device_kind"};
    for (size_t i = 0; w->device != NULL && i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(nt_row_text(row, names[i]), w->device) == 0)
            return true;
    return w->device == NULL;
}

/* Rows come sorted by device. */
static void note_device(winners *w, const nt_row *row)
{
    const char *uuid = nt_row_text(row, "device_uuid");
    if (strcmp(uuid, w->device_seen) == 0)
        return;
    nt_copy(w->device_seen, sizeof w->device_seen, uuid);
    nt_str_addf(&w->devices, "%s'%s' (%s)", w->devices.length > 0 ? ", " : "", nt_row_text(row, "device"), uuid);
}

static void head_device(winners *w, const nt_row *row)
{
    char device[sizeof w->device_now];
    snprintf(device, sizeof device, "%s (%s)", nt_row_text(row, "device"), nt_row_text(row, "device_uuid"));
    if (strcmp(device, w->device_now) == 0)
        return;
    nt_copy(w->device_now, sizeof w->device_now, device);
    nt_table_line(w->table, "%s", device);
}

static void add_row(winners *w, const nt_row *row)
{
    nt_problem problem;
    nt_str text = {0}, params = {0};
    nt_extents extents = {.flop = NAN, .bytes = NAN};
    nt_device_info unknown;
    nt_device_info_init(&unknown, NT_DEVICE_CPU);
    double time_ns = nt_row_real(row, "time_ns");
    if (nt_row_problem(row, &problem, NULL) != NT_OK)
        return;
    const nt_layer *layer = nt_layer_find(problem.layer);
    if (layer != NULL && layer->extents(&problem, &extents, NULL) != NT_OK)
        extents.flop = NAN;
    nt_speed speed = nt_speed_of(&unknown, &problem, &extents, time_ns);
    nt_present_problem(&text, &problem, (nt_cache_mode)nt_cache_mode_find(nt_row_text(row, "cache")));
    nt_present_params(&params, nt_row_text(row, "params"));
    head_device(w, row);
    nt_table_cell(w->table, "  %s", nt_str_text(&text));
    nt_table_cell(w->table, "%lld", (long long)nt_row_int(row, "trial"));
    nt_table_cell(w->table, "%s", nt_text_time_ns(time_ns).s);
    nt_table_cell(w->table, "%s..%s", nt_text_time_ns(nt_row_real(row, "time_lo_ns")).s,
                  nt_text_time_ns(nt_row_real(row, "time_hi_ns")).s);
    nt_table_cell(w->table, "%s",
                  isnan(speed.flop_per_s) && !isnan(speed.bytes_per_s)
                      ? nt_text_rate(speed.bytes_per_s).s
                      : nt_present_rate(problem.precision, speed.flop_per_s).s);
    nt_table_cell(w->table, "%s", nt_text_count(speed.images_per_s).s);
    nt_table_cell(w->table, "%s", nt_row_text(row, "kernel"));
    nt_table_cell(w->table, "%s", nt_str_text(&params));
    double value;
    const char *objective = nt_run_objective_of(&w->objectives, row, &value);
    if (objective != NULL && !isnan(value)) /* a sweep ends at the first trial that has none */
        nt_table_line(w->table, "    first by %s: %.6g", objective, value);
    nt_str_done(&text);
    nt_str_done(&params);
}

static json_t *json_row(const winners *w, const nt_row *row)
{
    double value;
    json_t *object = nt_json_row(row);
    const char *objective = nt_run_objective_of(&w->objectives, row, &value);
    if (objective != NULL) {
        json_object_set_new(object, "objective", json_string(objective));
        json_object_set_new(object, "objective_value", nt_json_real(value));
    }
    return object;
}

static bool take(void *context, const nt_row *row)
{
    winners *w = context;
    note_device(w, row);
    if (!is_wanted(w, row))
        return true;
    w->count++;
    if (w->rows != NULL)
        json_array_append_new(w->rows, json_row(w, row));
    else
        add_row(w, row);
    return true;
}

/* Nothing to show is a failure that says what there is. */
static nt_status nothing(const winners *w, const char *path, const char *layer, nt_error *err)
{
    const char *what = layer != NULL ? layer : nt_layers[0]->name;
    if (w->device != NULL && w->devices.length > 0) {
        nt_fail(err, NT_NOT_FOUND, "%s has no winner on device '%s'%s%s", path, w->device, layer != NULL ? " for " : "",
                layer != NULL ? layer : "");
        return nt_hint(err, "it has winners on %s", nt_str_text(&w->devices));
    }
    nt_fail(err, NT_NOT_FOUND, "%s has no winner yet%s%s", path, layer != NULL ? " for " : "",
            layer != NULL ? layer : "");
    return nt_hint(err, "'nntune sweep %s' finds some; 'nntune runs' shows what was tried", what);
}

static void print(winners *w, const char *path, bool bold)
{
    if (w->rows == NULL) {
        nt_table_print(w->table, stdout, bold);
        return;
    }
    json_t *document = nt_output_document("best");
    json_object_set_new(document, "database", json_string(path));
    json_object_set(document, "best", w->rows);
    nt_output_json(document);
}

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    char path[NT_PATH_BYTES];
    const char *name = nt_args_positional(args, 0);
    const nt_layer *layer = NULL;
    nt_reader *reader = NULL;
    (void)exit_code;
    nt_status status = name != NULL && !nt_layer_is_users(name) ? nt_layer_argument(name, &layer, err) : NT_OK;
    if (status == NT_OK)
        status = nt_database_read(args, path, &reader, err);
    if (status != NT_OK)
        return status;
    if (nt_args_flag(args, "vs-vendor")) {
        status = nt_vs_vendor_print(reader, path, name, nt_args_text(args, "device", NULL), nt_args_flag(args, "json"),
                                    nt_color_wanted(args, stdout), err);
        reader->close(reader);
        return status;
    }
    winners w = {.device = nt_args_text(args, "device", NULL),
                 .table = nt_table_new("problem|>trial|>time|>95 % interval|>rate|>images/s|kernel|parameters"),
                 .rows = nt_args_flag(args, "json") ? json_array() : NULL};
    nt_stored_specs_load(reader); /* for the work of users' kernels */
    status = nt_run_objectives_read(reader, &w.objectives, err);
    if (status == NT_OK)
        status = reader->best(reader, name, NULL, take, &w, err);
    reader->close(reader);
    nt_run_objectives_done(&w.objectives);
    if (status == NT_OK && w.count == 0)
        status = nothing(&w, path, name, err);
    if (status == NT_OK)
        print(&w, path, nt_color_wanted(args, stdout));
    nt_table_free(w.table);
    nt_str_done(&w.devices);
    json_decref(w.rows);
    return status;
}

const nt_command nt_command_best = {
    .name = "best",
    .group = "Look",
    .summary = "show the winner of each problem and device",
    .usage = "[LAYER]",
    .example = "nntune best conv3x3",
    .description =
        "A problem's winner is the first of the final rounds of its newest finished run; cold trials go before hot "
        "ones. 'nntune show TRIAL' tells all about one.",
    .options = rows,
    .uses = NT_USES_JSON | NT_USES_DB | NT_USES_COLOR,
    .most_positional = 1,
    .run = run,
};
