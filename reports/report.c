/* report.c: the formats as rows, and the two that are all rows of the database: CSV and JSON. */
#include "reports/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"

const nt_report_format nt_report_formats[] = {
    {"html", ".html", nt_report_html},
    {"markdown", ".md", nt_report_markdown},
    {"csv", ".csv", nt_report_csv},
    {"json", ".json", nt_report_json},
};
const int nt_report_format_count = sizeof nt_report_formats / sizeof nt_report_formats[0];

nt_status nt_report_format_find(const char *name, const char *path, const nt_report_format **out, nt_error *err)
{
    size_t length = strlen(path);
    for (int i = 0; i < nt_report_format_count; i++) {
        const nt_report_format *format = &nt_report_formats[i];
        size_t cut = strlen(format->suffix);
        bool fits = name != NULL ? strcmp(name, format->name) == 0
                                 : length > cut && strcmp(path + length - cut, format->suffix) == 0;
        if (fits) {
            *out = format;
            return NT_OK;
        }
    }
    nt_fail(err, NT_USAGE, "'%s' does not say which format the report is to have", name != NULL ? name : path);
    return nt_hint(err, "end it in .html, .md, .csv or .json, or give --format html, markdown, csv or json");
}

nt_status nt_report_write(const nt_report_source *source, const nt_result_filter *filter,
                          const nt_report_format *format, FILE *out, bool *no_gnuplot, nt_error *err)
{
    nt_result result;
    nt_answer *answers;
    *no_gnuplot = false;
    nt_status status = nt_result_read(&result, source, filter, err);
    if (status != NT_OK)
        return status;
    status = nt_answers_make(&result, &answers, err);
    if (status == NT_OK) {
        nt_report report = {.result = &result, .answers = answers, .filter = filter};
        status = format->write(&report, out, err);
        *no_gnuplot = report.no_gnuplot;
        nt_answers_free(answers, result.groups);
    }
    nt_result_done(&result);
    if (status == NT_OK && (fflush(out) != 0 || ferror(out)))
        status = nt_fail(err, NT_IO, "cannot write the report, or not all of it");
    return status;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

typedef struct rows {
    nt_report *report;
    FILE *out;
    size_t next; /* trial of the result that is written next: both are in the order of their numbers */
    bool headed;
    void (*head)(struct rows *, const nt_row *);
    void (*write)(struct rows *, const nt_row *);
} rows;

/* The database may have grown since it was read: only what the answers speak of is written. */
static bool each_row(void *context, const nt_row *row)
{
    rows *w = context;
    const nt_result *r = w->report->result;
    int64_t id = -1;
    for (int i = 0; i < row->count && id < 0; i++)
        if (strcmp(row->name[i], "trial") == 0)
            id = row->cell[i].i;
    if (w->next >= r->trials)
        return false;
    if (r->trial[w->next].id != id)
        return true;
    if (!w->headed && w->head != NULL)
        w->head(w, row);
    w->write(w, row);
    w->headed = true;
    w->next++;
    return !ferror(w->out);
}

static nt_status each_trial(rows *w, nt_error *err)
{
    const nt_result_filter *f = w->report->filter;
    nt_reader *reader = w->report->result->source.reader;
    return reader->trials(reader, f->run, f->layer, each_row, w, err);
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

/* RFC 4180: a field with a comma, a quote or a line break stands in quotes, quotes doubled. */
static void csv_text(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void csv_head(rows *w, const nt_row *row)
{
    for (int i = 0; i < row->count; i++)
        fprintf(w->out, "%s%s", i > 0 ? "," : "", row->name[i]);
    fputs("\r\n", w->out);
}

static void csv_row(rows *w, const nt_row *row)
{
    for (int i = 0; i < row->count; i++) {
        const nt_cell *cell = &row->cell[i];
        if (i > 0)
            fputc(',', w->out);
        if (cell->kind == NT_CELL_INT)
            fprintf(w->out, "%lld", (long long)cell->i);
        else if (cell->kind == NT_CELL_REAL)
            fprintf(w->out, "%.17g", cell->r);
        else if (cell->kind == NT_CELL_TEXT)
            csv_text(w->out, cell->text);
    }
    fputs("\r\n", w->out);
}

nt_status nt_report_csv(nt_report *report, FILE *out, nt_error *err)
{
    rows w = {.report = report, .out = out, .head = csv_head, .write = csv_row};
    return each_trial(&w, err);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void json_row(rows *w, const nt_row *row)
{
    char *text = nt_json_dump_done(nt_json_row(row));
    fprintf(w->out, "%s%s", w->headed ? ",\n" : "", text);
    free(text);
}

static json_t *trial_number(const nt_result_trial *trial)
{
    return trial != NULL ? nt_json_int(trial->id) : json_null();
}

static json_t *advice_json(const nt_answer *a)
{
    json_t *list = json_array();
    for (int i = 0; i < a->advice.count; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s}", "rule", a->advice.line[i].rule, "text", a->advice.line[i].sentence));
    return list;
}

static json_t *failures_json(const nt_answer *a)
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->failures; i++)
        json_array_append_new(list,
                              json_pack("{s:s, s:o, s:I, s:I}", "outcome", nt_outcome_name(a->failure[i].outcome),
                                        "reason", nt_json_text(a->failure[i].reason), "trials",
                                        (json_int_t)a->failure[i].count, "example", (json_int_t)a->failure[i].example));
    return list;
}

static json_t *answer_json(const nt_result *r, const nt_answer *a)
{
    json_t *object = nt_json_problem(&a->group->problem);
    const nt_result_trial *best = a->best;
    json_object_set_new(object, "cache", json_string(nt_cache_mode_name(a->group->cache)));
    json_object_set_new(object, "device", json_string(r->device[a->group->device].info.name));
    json_object_set_new(object, "device_uuid", json_string(r->device[a->group->device].info.uuid));
    json_object_set_new(object, "best_trial", trial_number(best));
    json_object_set_new(object, "time_ns", nt_json_real(best != NULL ? best->time_ns : NAN));
    json_object_set_new(object, "time_lo_ns", nt_json_real(best != NULL ? best->lo_ns : NAN));
    json_object_set_new(object, "time_hi_ns", nt_json_real(best != NULL ? best->hi_ns : NAN));
    json_object_set_new(object, "flop_per_s", nt_json_real(a->flop_per_s));
    json_object_set_new(object, "images_per_s", nt_json_real(a->images_per_s));
    json_object_set_new(object, "roof_pct", nt_json_real(a->roof_pct));
    json_object_set_new(object, "error_prec", nt_json_real(best != NULL ? best->error_prec : NAN));
    json_object_set_new(object, "rule_trial", trial_number(a->rule));
    json_object_set_new(object, "rule_ratio", nt_json_real(a->rule_ratio));
    json_object_set_new(object, "vendor_trial", trial_number(a->vendor));
    json_object_set_new(object, "vendor_ratio", nt_json_real(a->vendor_ratio));
    json_object_set_new(object, "first_ns", nt_json_real(a->first_ns));
    json_object_set_new(object, "p50_ns", nt_json_real(a->p50_ns));
    json_object_set_new(object, "p90_ns", nt_json_real(a->p90_ns));
    json_object_set_new(object, "p99_ns", nt_json_real(a->p99_ns));
    json_object_set_new(object, "inference_mj", nt_json_real(a->inference_mj));
    json_object_set_new(object, "ok", nt_json_int(a->ok));
    json_object_set_new(object, "failed", nt_json_int(a->failed));
    json_object_set_new(object, "advice", advice_json(a));
    json_object_set_new(object, "not_ok", failures_json(a));
    return object;
}

static void json_list(FILE *out, const char *name, json_t *list)
{
    char *text = nt_json_dump_done(list);
    fprintf(out, ",\n\"%s\":%s", name, text);
    free(text);
}

static bool keep_run(void *context, const nt_row *row)
{
    json_array_append_new(context, nt_json_row(row));
    return true;
}

static json_t *runs_wanted(const nt_result *r, json_t *all)
{
    json_t *kept = json_array(), *run;
    size_t i;
    json_array_foreach (all, i, run)
        for (size_t j = 0; j < r->runs; j++)
            if (r->run[j].id == nt_json_get_int(run, "run"))
                json_array_append(kept, run);
    json_decref(all);
    return kept;
}

nt_status nt_report_json(nt_report *report, FILE *out, nt_error *err)
{
    const nt_result *r = report->result;
    json_t *devices = json_array(), *runs = json_array(), *problems = json_array();
    for (size_t i = 0; i < r->devices; i++)
        json_array_append_new(devices, nt_json_device(&r->device[i].info));
    for (size_t i = 0; i < r->groups; i++)
        json_array_append_new(problems, answer_json(r, &report->answers[i]));
    nt_status status = r->source.reader->runs(r->source.reader, keep_run, runs, err);
    json_t *database = json_string(r->source.database);
    char *name = json_dumps(database, JSON_ENCODE_ANY);
    fprintf(out, "{\"type\":\"report\",\"schema_version\":1,\"database\":%s", name != NULL ? name : "null");
    free(name);
    json_decref(database);
    json_list(out, "devices", devices);
    json_list(out, "runs", runs_wanted(r, runs));
    json_list(out, "problems", problems);
    fputs(",\n\"trials\":[\n", out);
    rows w = {.report = report, .out = out, .write = json_row};
    if (status == NT_OK)
        status = each_trial(&w, err);
    fputs("\n]}\n", out);
    return status;
}
