/* top_rows.c: sheets of trials for the screen: the table's window, one trial, tagged ones beside each other, pairs of
 * parameters. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/present.h"
#include "cli/row.h"
#include "cli/show.h"
#include "cli/top_feed.h"
#include "core/json.h"
#include "core/mem.h"

/* Columns of the table beside the parameters, in the order they are shown. */
typedef struct shown_column {
    const char *name, *heading;
    nt_sheet_kind kind;
    bool wanted;
} shown_column;

static const shown_column before[] = {{"trial", "trial", NT_SHEET_WHOLE, true}};
static const shown_column problem[] = {
    {"shape", "shape", NT_SHEET_TEXT, false},         {"batch", "batch", NT_SHEET_WHOLE, false},
    {"precision", "precision", NT_SHEET_TEXT, false}, {"layout", "layout", NT_SHEET_TEXT, false},
    {"cache", "cache", NT_SHEET_TEXT, false},         {"kernel", "kernel", NT_SHEET_TEXT, false},
};
static const shown_column after[] = {
    {"first_time_ns", "time", NT_SHEET_TIME_NS, true},   {"noise_pct", "+-%", NT_SHEET_REAL, false},
    {"outcome", "outcome", NT_SHEET_TEXT, true},         {"occupancy_limit_pct", "occ%", NT_SHEET_PCT, true},
    {"occupancy_pct", "achieved%", NT_SHEET_PCT, false}, {"occupancy_limiter", "limiter", NT_SHEET_TEXT, false},
    {"registers", "regs", NT_SHEET_WHOLE, false},        {"smem_bytes", "smem", NT_SHEET_BYTES, false},
    {"spill_bytes", "spill", NT_SHEET_WHOLE, false},     {"rank", "rank", NT_SHEET_WHOLE, false},
    {"reason", "reason", NT_SHEET_TEXT, false},
};
#define LENGTH(array) (int)(sizeof(array) / sizeof((array)[0]))

static void add_columns(nt_sheet *sheet, const shown_column *columns, int count)
{
    for (int i = 0; i < count; i++)
        nt_sheet_add_column(sheet, columns[i].name, columns[i].heading, columns[i].kind, columns[i].wanted);
}

/* Whether the problems of the run differ in a column. */
static bool varies(const nt_sheet *units, const char *name)
{
    int column = nt_sheet_find(units, name);
    for (int r = 1; r < units->rows && column >= 0; r++) {
        const nt_sheet_cell *a = nt_sheet_at(units, 0, column), *b = nt_sheet_at(units, r, column);
        bool same = a->text != NULL && b->text != NULL
                        ? strcmp(a->text, b->text) == 0
                        : a->text == NULL && b->text == NULL &&
                              (a->number == b->number || (isnan(a->number) && isnan(b->number)));
        if (!same)
            return true;
    }
    return false;
}

static void table_columns(nt_sheet *sheet, const nt_facts *facts)
{
    add_columns(sheet, before, LENGTH(before));
    for (int i = 0; i < LENGTH(problem); i++)
        if (varies(&facts->units, problem[i].name))
            add_columns(sheet, &problem[i], 1);
    for (int i = 0; i < facts->params; i++)
        if (facts->varies[i])
            nt_sheet_add_column(sheet, facts->param[i], facts->param[i], NT_SHEET_WHOLE, false);
    add_columns(sheet, after, LENGTH(after));
}

static void set_json(nt_sheet *sheet, int column, const json_t *value)
{
    if (json_is_number(value))
        nt_sheet_set_number(sheet, column, json_number_value(value));
    else if (json_is_string(value))
        nt_sheet_set_text(sheet, column, json_string_value(value));
    else if (json_is_boolean(value))
        nt_sheet_set_text(sheet, column, json_is_true(value) ? "true" : "false");
}

static void add_table_row(nt_sheet *sheet, const nt_row *row)
{
    json_t *params = NULL, *value;
    const char *key;
    nt_sheet_add_row(sheet);
    for (int i = 0; i < row->count; i++) {
        int column = nt_sheet_find(sheet, row->name[i]);
        if (row->cell[i].kind == NT_CELL_TEXT)
            nt_sheet_set_text(sheet, column, row->cell[i].text);
        else
            nt_sheet_set_number(sheet, column, nt_row_real(row, row->name[i]));
    }
    double lo = nt_row_real(row, "first_time_lo_ns"), hi = nt_row_real(row, "first_time_hi_ns");
    nt_sheet_set_number(sheet, nt_sheet_find(sheet, "noise_pct"),
                        (hi - lo) / 2 / nt_row_real(row, "first_time_ns") * 100);
    if (nt_json_parse(nt_row_text(row, "params"), &params, NULL) == NT_OK)
        json_object_foreach (params, key, value)
            set_json(sheet, nt_sheet_find(sheet, key), value);
    json_decref(params);
}

static bool keep_row(void *context, const nt_row *row)
{
    add_table_row(context, row);
    return true;
}

nt_status nt_top_trials(nt_reader *reader, const nt_facts *facts, const nt_window *window, nt_sheet *out, nt_error *err)
{
    nt_sheet_clear(out);
    table_columns(out, facts);
    return reader->window(reader, window, keep_row, out, err);
}

/* ---- pairs of parameters ----------------------------------------------------------------------------------------------- */

static void set_axis(nt_sheet *sheet, int column, const nt_row *row, const char *name)
{
    char text[32];
    double number = nt_row_real(row, name);
    snprintf(text, sizeof text, "%.12g", number);
    nt_sheet_set_text(sheet, column, isnan(number) ? nt_row_text(row, name) : text);
}

static bool keep_pair(void *context, const nt_row *row)
{
    nt_sheet *sheet = context;
    nt_sheet_add_row(sheet);
    set_axis(sheet, 0, row, "x");
    set_axis(sheet, 1, row, "y");
    nt_sheet_set_number(sheet, 2, nt_row_real(row, "least_time_ns"));
    nt_sheet_set_number(sheet, 3, nt_row_real(row, "trials"));
    return true;
}

nt_status nt_top_heat(nt_reader *reader, const nt_window *window, nt_sheet *out, nt_error *err)
{
    nt_sheet_clear(out);
    nt_sheet_add_column(out, window->key[0].name, window->key[0].name, NT_SHEET_TEXT, true);
    nt_sheet_add_column(out, window->key[1].name, window->key[1].name, NT_SHEET_TEXT, true);
    nt_sheet_add_column(out, "least_time_ns", "least time", NT_SHEET_TIME_NS, true);
    nt_sheet_add_column(out, "trials", "trials", NT_SHEET_WHOLE, true);
    return reader->heat(reader, window, keep_pair, out, err);
}

/* ---- tagged trials ------------------------------------------------------------------------------------------------------- */

static const shown_column against[] = {
    {"ratio", "ratio", NT_SHEET_REAL, true},
    {"verdict", "verdict", NT_SHEET_TEXT, true},
};

typedef struct comparison {
    nt_sheet *sheet;
    double time_ns, lo_ns, hi_ns; /* of the first */
} comparison;

/* Intervals that overlap cannot be told apart. */
static const char *verdict(const comparison *c, double lo, double hi)
{
    if (isnan(c->time_ns) || isnan(lo) || isnan(hi))
        return "unclear";
    return lo > c->hi_ns ? "- slower" : hi < c->lo_ns ? "+ faster" : "= same";
}

static bool keep_compared(void *context, const nt_row *row)
{
    comparison *c = context;
    double time_ns = nt_row_real(row, "first_time_ns"), lo = nt_row_real(row, "first_time_lo_ns"),
           hi = nt_row_real(row, "first_time_hi_ns");
    add_table_row(c->sheet, row);
    if (c->sheet->rows == 1)
        *c = (comparison){c->sheet, time_ns, lo, hi};
    nt_sheet_set_number(c->sheet, nt_sheet_find(c->sheet, "ratio"), time_ns / c->time_ns);
    nt_sheet_set_text(c->sheet, nt_sheet_find(c->sheet, "verdict"), verdict(c, lo, hi));
    return false;
}

nt_status nt_top_compare(nt_reader *reader, const nt_facts *facts, const int64_t *trial, int count, nt_sheet *out,
                         nt_error *err)
{
    comparison c = {.sheet = out};
    nt_status status = NT_OK;
    nt_sheet_clear(out);
    table_columns(out, facts);
    add_columns(out, against, LENGTH(against));
    for (int i = 0; i < count && status == NT_OK; i++)
        status = reader->trial(reader, trial[i], keep_compared, &c, err);
    return status;
}

/* ---- one trial ----------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *source;
    nt_sheet_kind kind;
} sheet_rows[] = {
    {"outcome", "", NT_SHEET_TEXT},
    {"reason", "", NT_SHEET_TEXT},
    {"layer", "", NT_SHEET_TEXT},
    {"shape", "", NT_SHEET_TEXT},
    {"batch", "", NT_SHEET_WHOLE},
    {"precision", "", NT_SHEET_TEXT},
    {"layout", "", NT_SHEET_TEXT},
    {"kernel", "", NT_SHEET_TEXT},
    {"params", "", NT_SHEET_TEXT},
    {"rule", "", NT_SHEET_TEXT},
    {"time_ns", "timed", NT_SHEET_TIME_NS},
    {"time_lo_ns", "timed", NT_SHEET_TIME_NS},
    {"time_hi_ns", "timed", NT_SHEET_TIME_NS},
    {"floor_ns", "timed", NT_SHEET_TIME_NS},
    {"samples", "timed", NT_SHEET_WHOLE},
    {"cache", "timed", NT_SHEET_TEXT},
    {"rank", "finals", NT_SHEET_WHOLE},
    {"ratio", "finals", NT_SHEET_REAL},
    {"occupancy_limit_pct", "model", NT_SHEET_PCT},
    {"occupancy_limiter", "model", NT_SHEET_TEXT},
    {"registers", "compiler", NT_SHEET_WHOLE},
    {"smem_bytes", "compiler", NT_SHEET_BYTES},
    {"spill_bytes", "compiler", NT_SHEET_WHOLE},
    {"threads_per_block", "plan", NT_SHEET_WHOLE},
    {"grid_blocks", "plan", NT_SHEET_WHOLE},
    {"error_impl", "verified", NT_SHEET_REAL},
    {"error_prec", "verified", NT_SHEET_REAL},
    {"sm_clock_mhz", "device", NT_SHEET_WHOLE},
    {"temperature_c", "device", NT_SHEET_WHOLE},
    {"power_mw", "device", NT_SHEET_WHOLE},
    {"prepare_ns", "timed", NT_SHEET_TIME_NS},
    {"compile_ms", "clock", NT_SHEET_REAL},
    {"verify_ms", "clock", NT_SHEET_REAL},
    {"measure_ms", "clock", NT_SHEET_REAL},
    {"device", "", NT_SHEET_TEXT},
    {"driver", "", NT_SHEET_TEXT},
    {"compiler", "", NT_SHEET_TEXT},
};

/* A value as text for people in its own unit; numbers of this sheet are of many kinds, so each cell is written here. */
static void set_value(nt_sheet *sheet, nt_sheet_kind kind, const json_t *value)
{
    nt_sheet one = {0};
    nt_str text = {0};
    if (json_is_object(value)) {
        char *dumped = nt_json_dump(value);
        nt_present_params(&text, dumped);
        nt_sheet_set_text(sheet, 1, nt_str_text(&text));
        nt_str_done(&text);
        free(dumped);
        return;
    }
    nt_sheet_add_column(&one, "v", "v", kind, true);
    nt_sheet_add_row(&one);
    set_json(&one, 0, value);
    nt_sheet_cell_text(&one, 0, 0, &text);
    nt_sheet_set_text(sheet, 1, strcmp(nt_str_text(&text), "-") == 0 ? NULL : nt_str_text(&text));
    nt_sheet_set_number(sheet, 2, json_is_number(value) ? json_number_value(value) : NAN);
    nt_str_done(&text);
    nt_sheet_done(&one);
}

static void fill_sheet(const nt_shown *shown, nt_sheet *sheet)
{
    nt_sheet_clear(sheet);
    nt_sheet_add_column(sheet, "name", "name", NT_SHEET_TEXT, true);
    nt_sheet_add_column(sheet, "value", "value", NT_SHEET_TEXT, true);
    nt_sheet_add_column(sheet, "number", "number", NT_SHEET_REAL, false);
    nt_sheet_add_column(sheet, "source", "source", NT_SHEET_TEXT, true);
    sheet->column[2].hidden = true; /* people read the value with its unit */
    for (int i = 0; i < LENGTH(sheet_rows); i++) {
        const json_t *value = json_object_get(shown->row, sheet_rows[i].name);
        if (value == NULL || json_is_null(value))
            continue;
        nt_sheet_add_row(sheet);
        nt_sheet_set_text(sheet, 0, sheet_rows[i].name);
        set_value(sheet, sheet_rows[i].kind, value);
        nt_sheet_set_text(sheet, 3, sheet_rows[i].source);
    }
    for (size_t i = 0; i < json_array_size(shown->counters); i++) {
        const json_t *one = json_array_get(shown->counters, i);
        nt_sheet_add_row(sheet);
        nt_sheet_set_text(sheet, 0, nt_json_get_text(one, "name"));
        set_value(sheet, NT_SHEET_REAL, json_object_get(one, "value"));
        nt_sheet_set_text(sheet, 3, nt_json_get_text(one, "source"));
    }
}

static bool keep_json(void *context, const nt_row *row)
{
    json_t **out = context;
    *out = nt_json_row(row);
    return false;
}

nt_status nt_top_trial(nt_reader *reader, const char *database, int64_t id, nt_trial_view *out, nt_error *err)
{
    nt_shown *shown = nt_alloc_zero(1, sizeof *shown);
    nt_trial_init(&shown->trial);
    nt_status status = reader->trial(reader, id, keep_json, &shown->row, err);
    if (status == NT_OK)
        status = nt_row_trial(shown->row, &shown->trial, err);
    if (status == NT_OK)
        status = nt_show_read_counters(reader, shown, err);
    if (status == NT_OK && shown->trial.outcome == NT_OUTCOME_OK)
        status = reader->samples(reader, id, &out->samples, err);
    if (status == NT_OK) {
        out->trial = id;
        fill_sheet(shown, &out->sheet);
        nt_show_advice(shown, &out->advice);
        out->use =
            (nt_block_use){shown->trial.threads_per_block, shown->trial.artefact.registers, shown->trial.smem_bytes, 1};
        snprintf(out->command, sizeof out->command, "again: nntune rerun %lld --db %s", (long long)id, database);
    }
    json_decref(shown->row);
    json_decref(shown->counters);
    nt_trial_done(&shown->trial);
    free(shown);
    return status;
}
