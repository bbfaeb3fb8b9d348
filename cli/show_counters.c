/* show_counters.c: a trial's hardware counters and the advice that follows from them, as part of `nntune show`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/row.h"
#include "cli/show.h"
#include "cli/table.h"
#include "core/advice.h"
#include "core/json.h"
#include "core/mem.h"

static bool keep_counter(void *context, const nt_row *row)
{
    json_array_append_new(context, nt_json_row(row));
    return true;
}

static bool keep_device(void *context, const nt_row *row)
{
    json_t **out = context;
    *out = nt_row_run_json(row); /* peak_flops as an object */
    return false;
}

nt_status nt_show_read_counters(nt_reader *reader, nt_shown *out, nt_error *err)
{
    json_t *device = NULL;
    out->counters = json_array();
    nt_device_info_init(&out->device, NT_DEVICE_CPU);
    nt_status status = reader->counters(reader, out->trial.id, keep_counter, out->counters, err);
    if (status == NT_OK)
        status = reader->device(reader, out->trial.run_id, keep_device, &device, err);
    if (status == NT_OK && device != NULL && nt_json_to_device(device, &out->device, NULL) != NT_OK)
        nt_device_info_init(&out->device, NT_DEVICE_CPU); /* a device of another version: nothing known of it */
    json_decref(device);
    return status;
}

/* The records that the rules read; their texts live in out->counters. */
static nt_counter *records(const nt_shown *shown, size_t *count)
{
    *count = json_array_size(shown->counters);
    nt_counter *list = nt_alloc_zero(*count, sizeof *list);
    for (size_t i = 0; i < *count; i++) {
        const json_t *one = json_array_get(shown->counters, i);
        list[i] = (nt_counter){.trial_id = shown->trial.id,
                               .name = nt_json_get_text(one, "name"),
                               .value = nt_json_get_real(one, "value"),
                               .unit = nt_json_get_text(one, "unit"),
                               .passes = (int)nt_json_get_int(one, "passes"),
                               .cache = shown->trial.cache};
    }
    return list;
}

void nt_show_advice(const nt_shown *shown, nt_advice *out)
{
    const nt_layer *layer = nt_layer_find(shown->trial.problem.layer);
    nt_extents extents = {.flop = NAN, .bytes = NAN};
    if (layer == NULL || layer->extents(&shown->trial.problem, &extents, NULL) != NT_OK)
        extents.flop = extents.bytes = NAN;
    size_t count;
    nt_counter *counters = records(shown, &count);
    nt_advice_input input = {.device = &shown->device,
                             .trial = &shown->trial,
                             .counters = counters,
                             .counter_count = count,
                             .flop = extents.flop,
                             .bytes = extents.bytes};
    nt_advice_of(&input, out);
    free(counters);
}

void nt_show_counters_text(const nt_shown *shown)
{
    nt_advice advice = {0};
    nt_show_advice(shown, &advice);
    for (int i = 0; i < advice.count; i++)
        printf("%-12s %s\n", i == 0 ? "advice" : "", advice.line[i].sentence);
    size_t count = json_array_size(shown->counters);
    if (count == 0)
        return;
    const json_t *first = json_array_get(shown->counters, 0);
    printf("%-12s %zu, %s, %s caches\n", "counters", count, nt_json_get_text(first, "source"),
           nt_json_get_text(first, "cache"));
    nt_table *table = nt_table_new("             counter|>value|unit|>passes");
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(shown->counters, i);
        double value = nt_json_get_real(one, "value");
        const char *unit = nt_json_get_text(one, "unit");
        nt_table_cell(table, "             %s", nt_json_get_text(one, "name"));
        if (isnan(value))
            nt_table_cell(table, "-");
        else
            nt_table_cell(table, "%.6g", value);
        nt_table_cell(table, "%s", unit != NULL ? unit : "");
        nt_table_cell(table, "%lld", (long long)nt_json_get_int(one, "passes"));
    }
    nt_table_print(table, stdout, false);
    nt_table_free(table);
}

json_t *nt_show_advice_json(const nt_shown *shown)
{
    nt_advice advice = {0};
    json_t *list = json_array();
    nt_show_advice(shown, &advice);
    for (int i = 0; i < advice.count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s}", "rule", advice.line[i].rule, "text", advice.line[i].sentence));
    return list;
}
