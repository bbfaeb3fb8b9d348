/* recorded_space.c: from lines to a space and what was recorded of it. A row is a configuration of a plain table; the
 * order of the rows in the file is kept beside the space, whose own order is that of nested loops. */
#include "autotune/recorded_space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/recorded_lines.h"
#include "core/mem.h"

/* Values of one parameter, as one block so that one free releases them. */
typedef struct values {
    char *name;
    char *text;         /* "16,32": the commas are ends now */
    const char **spelt; /* [count] in text */
    int64_t *ints;
    double *reals;
} values;

typedef struct reader {
    nt_lines lines;
    nt_recorded *out;
    nt_error *err;
    values *value;
    nt_param *param;
    nt_config *config; /* of each row */
    size_t config_capacity, row_capacity, sample_capacity;
    int recent[NT_MAX_PARAMS]; /* value found last: rows repeat it */
} reader;

enum { FIELDS_BESIDE = 5 };
static const char *const beside[FIELDS_BESIDE] = {"status", "time_ms", "compile_ms", "bench_ms", "samples_ms"};

static const struct {
    const char *word;
    nt_outcome outcome;
} status_words[] = {
    {"ok", NT_OUTCOME_OK},
    {"compile_failed", NT_OUTCOME_COMPILE_FAILED},
    {"run_failed", NT_OUTCOME_LAUNCH_FAILED},
    {"invalid", NT_OUTCOME_WRONG_RESULT},
    {"error", NT_OUTCOME_CRASHED},
};

static nt_status fail(reader *r, const char *problem, const char *what)
{
    return nt_fail(r->err, NT_CORRUPT, "%s, line %llu: %s%s%.80s%s", r->lines.path, (unsigned long long)r->lines.number,
                   problem, what[0] != '\0' ? " '" : "", what, what[0] != '\0' ? "'" : "");
}

/* ---- the head --------------------------------------------------------------------------------------------------- */

static bool fill_ints(values *v, int count)
{
    v->ints = nt_alloc_zero((size_t)count, sizeof *v->ints);
    for (int i = 0; i < count; i++) {
        long long whole;
        if (!nt_parse_i64(v->spelt[i], &whole))
            return false;
        v->ints[i] = whole;
    }
    return true;
}

static bool fill_reals(values *v, int count)
{
    v->reals = nt_alloc_zero((size_t)count, sizeof *v->reals);
    for (int i = 0; i < count; i++)
        if (!nt_parse_double(v->spelt[i], &v->reals[i]))
            return false;
    return true;
}

/* All whole numbers, or all numbers, or text. */
static void set_kind(nt_param *param, values *v)
{
    if (fill_ints(v, param->count)) {
        param->ints = v->ints;
    } else if (fill_reals(v, param->count)) {
        param->reals = v->reals;
    } else {
        param->strings = v->spelt;
    }
}

static nt_status split_values(reader *r, nt_param *param, values *v)
{
    size_t capacity = 1;
    for (const char *at = v->text; *at != '\0'; at++)
        capacity += *at == ',';
    if (capacity > UINT16_MAX)
        return fail(r, "too many values of parameter", v->name);
    v->spelt = nt_alloc_zero(capacity, sizeof *v->spelt);
    for (char *at = v->text, *next; at != NULL; at = next) {
        next = strchr(at, ',');
        if (next != NULL)
            *next++ = '\0';
        if (*at == '\0')
            return fail(r, "an empty value of parameter", v->name);
        for (int i = 0; i < param->count && param->count <= 4096; i++)
            if (strcmp(v->spelt[i], at) == 0)
                return fail(r, "a value listed twice:", at);
        v->spelt[param->count++] = at;
    }
    return NT_OK;
}

static nt_status read_param(reader *r, const char *text)
{
    const char *equals = strchr(text, '=');
    int count = r->out->kernel.param_count;
    if (equals == NULL || equals == text)
        return fail(r, "expected '# param NAME=v1,v2,..'", "");
    if (count == NT_MAX_PARAMS)
        return fail(r, "more than 24 parameters", "");
    values *v = &r->value[count];
    nt_param *param = &r->param[count];
    r->out->kernel.param_count++;
    v->name = nt_strndup(text, (size_t)(equals - text));
    v->text = nt_strdup(equals + 1);
    *param = (nt_param){.name = v->name, .help = ""};
    if (nt_param_find(r->param, count, v->name) >= 0)
        return fail(r, "a parameter given twice:", v->name);
    nt_status status = split_values(r, param, v);
    if (status == NT_OK)
        set_kind(param, v);
    return status;
}

/* "# key=value"; keys that are not used here are no error. */
static nt_status read_comment(reader *r, char *line)
{
    line += 1 + strspn(line + 1, " ");
    if (strncmp(line, "param ", 6) == 0)
        return read_param(r, line + 6);
    if (strncmp(line, "space=", 6) == 0 && line[6] != '\0') {
        free(r->out->name);
        r->out->name = nt_strdup(line + 6);
    }
    return NT_OK;
}

static nt_status check_header(reader *r, char *line)
{
    char *save = NULL;
    int count = r->out->kernel.param_count, at = 0;
    if (count == 0)
        return fail(r, "no '# param NAME=v1,v2,..' line comes before the header", "");
    for (char *field = strtok_r(line, ",", &save); field != NULL; field = strtok_r(NULL, ",", &save), at++) {
        const char *want = at < count ? r->param[at].name : at < count + FIELDS_BESIDE ? beside[at - count] : "";
        if (strcmp(field, want) != 0)
            return fail(r,
                        "the header does not list the parameters, then status, time_ms, compile_ms, bench_ms, "
                        "samples_ms: it has",
                        field);
    }
    return at == count + FIELDS_BESIDE ? NT_OK : fail(r, "the header ends early", "");
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static char *next_field(char **at)
{
    char *field = *at;
    if (field == NULL)
        return NULL;
    char *comma = strchr(field, ',');
    if (comma != NULL)
        *comma++ = '\0';
    *at = comma;
    return field;
}

static int find_value(reader *r, int param, const char *text)
{
    const values *v = &r->value[param];
    if (strcmp(v->spelt[r->recent[param]], text) == 0)
        return r->recent[param];
    for (int i = 0; i < r->param[param].count; i++)
        if (strcmp(v->spelt[i], text) == 0)
            return r->recent[param] = i;
    return -1;
}

/* Unknown where empty; a time below 0 is none. */
static bool read_ms(const char *text, double *out)
{
    *out = NAN;
    return text[0] == '\0' || (nt_parse_double(text, out) && *out >= 0);
}

static nt_status read_samples(reader *r, nt_recorded_row *row, char *text)
{
    nt_recorded *out = r->out;
    char *save = NULL;
    row->first_sample = (uint32_t)out->sample_count;
    for (char *word = strtok_r(text, ";", &save); word != NULL; word = strtok_r(NULL, ";", &save)) {
        double ms;
        if (!nt_parse_double(word, &ms) || ms < 0)
            return fail(r, "no time in milliseconds:", word);
        void *memory = out->sample_ms;
        nt_grow(&memory, &r->sample_capacity, out->sample_count + 1, sizeof *out->sample_ms);
        out->sample_ms = memory;
        out->sample_ms[out->sample_count++] = (float)ms;
    }
    row->sample_count = (uint32_t)(out->sample_count - row->first_sample);
    return NT_OK;
}

static nt_status read_status(reader *r, nt_recorded_row *row, const char *word)
{
    for (size_t i = 0; i < sizeof status_words / sizeof status_words[0]; i++)
        if (strcmp(status_words[i].word, word) == 0) {
            row->outcome = status_words[i].outcome;
            return NT_OK;
        }
    return fail(r, "the status must be ok, compile_failed, run_failed, invalid or error, not", word);
}

static nt_status read_measures(reader *r, nt_recorded_row *row, char *at)
{
    char *field[FIELDS_BESIDE];
    for (int i = 0; i < FIELDS_BESIDE; i++)
        if ((field[i] = next_field(&at)) == NULL)
            return fail(r, "the row ends before", beside[i]);
    if (at != NULL)
        return fail(r, "the row has more fields than the header", "");
    double *into[] = {&row->time_ms, &row->compile_ms, &row->bench_ms};
    for (int i = 0; i < 3; i++)
        if (!read_ms(field[1 + i], into[i]))
            return fail(r, "no time in milliseconds:", field[1 + i]);
    nt_status status = read_status(r, row, field[0]);
    if (status == NT_OK && (row->outcome == NT_OUTCOME_OK) != (row->time_ms > 0))
        return fail(r, "a row has a time above 0 when its status is ok, and only then", "");
    return status == NT_OK ? read_samples(r, row, field[4]) : status;
}

static nt_status read_row(reader *r, char *line)
{
    nt_recorded *out = r->out;
    if (out->row_count == NT_RECORDED_MOST_ROWS)
        return fail(r, "more than 4000000 rows", "");
    void *configs = r->config, *rows = out->row;
    nt_grow(&configs, &r->config_capacity, out->row_count + 1, sizeof *r->config);
    nt_grow(&rows, &r->row_capacity, out->row_count + 1, sizeof *out->row);
    r->config = configs;
    out->row = rows;
    nt_config *config = &r->config[out->row_count];
    nt_recorded_row *row = &out->row[out->row_count];
    *config = (nt_config){.count = out->kernel.param_count};
    *row = (nt_recorded_row){0};
    char *at = line;
    for (int i = 0; i < config->count; i++) {
        const char *field = next_field(&at);
        int value = field == NULL ? -1 : find_value(r, i, field);
        if (field == NULL)
            return fail(r, "the row ends before parameter", r->param[i].name);
        if (value < 0)
            return fail(r, "a value that the parameter's line does not list:", field);
        config->index[i] = (uint16_t)value;
    }
    nt_status status = read_measures(r, row, at);
    out->row_count += status == NT_OK;
    return status;
}

static nt_status read_lines(reader *r)
{
    bool in_rows = false;
    nt_status status = NT_OK;
    for (char *line; status == NT_OK && (line = nt_lines_next(&r->lines, r->err)) != NULL;) {
        if (!in_rows && line[0] == '#') {
            status = read_comment(r, line);
        } else if (!in_rows) {
            status = check_header(r, line);
            in_rows = true;
        } else if (line[0] != '\0') {
            status = read_row(r, line);
        }
    }
    if (status == NT_OK)
        status = r->lines.status;
    if (status == NT_OK && !in_rows)
        return fail(r, "ends before the header", "");
    return status;
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

/* Puts the rows in the order of the space and remembers where each stood. */
static void arrange(reader *r)
{
    nt_recorded *out = r->out;
    nt_recorded_row *row = nt_alloc_zero(out->row_count, sizeof *row);
    out->file_row = nt_alloc_zero(out->row_count, sizeof *out->file_row);
    out->best_ms = INFINITY;
    for (size_t i = 0; i < out->row_count; i++) {
        uint64_t index = 0;
        nt_space_index(out->space, &r->config[i], &index);
        row[index] = out->row[i];
        out->file_row[index] = (uint32_t)i;
        if (row[index].outcome != NT_OUTCOME_OK)
            continue;
        out->ok_count++;
        out->best_ms = fmin(out->best_ms, row[index].time_ms);
        out->worst_ms = fmax(out->worst_ms, row[index].time_ms);
    }
    free(out->row);
    out->row = row;
}

static nt_status build(reader *r)
{
    nt_recorded *out = r->out;
    size_t twice = 0;
    if (out->row_count == 0)
        return fail(r, "no row follows the header", "");
    nt_error inner = {0};
    if (nt_space_build_listed(&out->kernel, r->config, out->row_count, &twice, &out->space, &inner) != NT_OK)
        return nt_fail(r->err, NT_CORRUPT, "%s: %s (row %zu of the file)", r->lines.path, inner.what, twice + 1);
    arrange(r);
    if (out->ok_count == 0)
        return nt_fail(r->err, NT_CORRUPT, "%s: no row is ok", r->lines.path);
    return NT_OK;
}

static char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = nt_strdup(slash == NULL ? path : slash + 1);
    name[strcspn(name, ".")] = '\0';
    return name;
}

nt_status nt_recorded_open(const char *path, nt_recorded **out, nt_error *err)
{
    *out = NULL;
    reader r = {.err = err};
    nt_status status = nt_lines_open(path, NT_RECORDED_MOST_LINE, NT_RECORDED_MOST_BYTES, &r.lines, err);
    if (status != NT_OK)
        return status;
    r.out = nt_alloc_zero(1, sizeof *r.out);
    r.out->name = name_of(path);
    r.out->memory = r.value = nt_alloc_zero(NT_MAX_PARAMS, sizeof *r.value);
    r.param = nt_alloc_zero(NT_MAX_PARAMS, sizeof *r.param);
    r.out->kernel.params = r.param;
    status = read_lines(&r);
    r.out->kernel.name = r.out->name;
    if (status == NT_OK)
        status = build(&r);
    free(r.config);
    nt_lines_close(&r.lines);
    if (status != NT_OK) {
        nt_recorded_free(r.out);
        return status;
    }
    *out = r.out;
    return NT_OK;
}

void nt_recorded_free(nt_recorded *recorded)
{
    if (recorded == NULL)
        return;
    values *v = recorded->memory;
    for (int i = 0; i < NT_MAX_PARAMS; i++) {
        free(v[i].name);
        free(v[i].text);
        free(v[i].spelt);
        free(v[i].ints);
        free(v[i].reals);
    }
    nt_space_free(recorded->space);
    free((nt_param *)recorded->kernel.params);
    free(recorded->memory);
    free(recorded->name);
    free(recorded->row);
    free(recorded->file_row);
    free(recorded->sample_ms);
    free(recorded);
}
