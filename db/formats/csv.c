/* csv.c: recorded spaces, as `nntune replay` reads them: '# key=value' lines, '# param NAME=v1,v2', then a header and a
 * row a result: the parameters, status, time_ms, compile_ms, bench_ms, samples_ms (separated by ';').
 *
 * Parameters of one value are '# const NAME=v' and no columns. A field may stand in double quotes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "db/formats/format.h"
#include "db/formats/spell.h"

enum { MAX_FIELDS = 256, FIELDS_BESIDE = 5 };

static const char *const beside[FIELDS_BESIDE] = {"status", "time_ms", "compile_ms", "bench_ms", "samples_ms"};

static const nt_outcome_word words[] = {
    {"ok", NT_OUTCOME_OK},
    {"compile_failed", NT_OUTCOME_COMPILE_FAILED},
    {"run_failed", NT_OUTCOME_LAUNCH_FAILED},
    {"invalid", NT_OUTCOME_PRUNED},
    {"error", NT_OUTCOME_CRASHED},
    {"run_failed", NT_OUTCOME_WRONG_RESULT},
    {"run_failed", NT_OUTCOME_TIMED_OUT},
    {"run_failed", NT_OUTCOME_ABANDONED},
    {NULL, NT_OUTCOME_OK},
};

typedef struct reader {
    const char *name;
    nt_foreign_run *run;
    const nt_import_target *target;
    nt_import_report *report;
    nt_error *err;
    json_t *constants;
    size_t line;
    char *column[MAX_FIELDS]; /* of the header */
    int columns;
} reader;

static nt_status fail(const reader *r, const char *what, const char *text)
{
    return nt_fail(r->err, NT_CORRUPT, "%s, line %zu: %s%s%.80s%s", r->name, r->line, what, text[0] != '\0' ? " '" : "",
                   text, text[0] != '\0' ? "'" : "");
}

/* What a function that knows no file found wrong, with the place. */
static nt_status place(const reader *r, nt_status status)
{
    if (status == NT_OK || r->err == NULL)
        return status;
    nt_error inner = *r->err;
    nt_fail(r->err, status, "%s, line %zu: %s", r->name, r->line, inner.what);
    return nt_hint(r->err, "%s", inner.hint);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* Splits a line in place; -1 when it has too many fields. */
static int split(char *line, char *field[MAX_FIELDS])
{
    int count = 0;
    for (char *at = line;;) {
        if (count == MAX_FIELDS)
            return -1;
        if (*at == '"') {
            char *to = field[count++] = ++at;
            while (*at != '\0' && (*at != '"' || at[1] == '"')) {
                at += *at == '"';
                *to++ = *at++;
            }
            at += *at == '"';
            bool more = *at == ',';
            *to = '\0';
            if (!more)
                return count;
            at++;
        } else {
            field[count++] = at;
            char *comma = strchr(at, ',');
            if (comma == NULL)
                return count;
            *comma = '\0';
            at = comma + 1;
        }
    }
}

static json_t *value_of(const char *text)
{
    long long whole;
    double real;
    if (nt_parse_i64(text, &whole))
        return json_integer(whole);
    if (nt_parse_double(text, &real))
        return json_real(real);
    if (strcmp(text, "True") == 0 || strcmp(text, "true") == 0)
        return json_true();
    if (strcmp(text, "False") == 0 || strcmp(text, "false") == 0)
        return json_false();
    return json_string(text);
}

/* ---- the head ---------------------------------------------------------------------------------------------------- */

static void read_problem(nt_foreign_run *run, const char *text)
{
    json_t *size = json_array();
    for (const char *at = text; at != NULL; at = strchr(at, 'x')) {
        at += *at == 'x';
        char *end;
        long long extent = strtoll(at, &end, 10);
        json_array_append_new(size, end > at && (*end == 'x' || *end == '\0') ? json_integer(extent) : json_null());
    }
    nt_foreign_problem(run, size);
    json_decref(size);
}

static nt_status read_constant(reader *r, char *text)
{
    char *equals = strchr(text, '=');
    if (equals == NULL || equals == text)
        return fail(r, "expected '# const NAME=value', not", text);
    *equals = '\0';
    json_t *value = value_of(equals + 1);
    if (value == NULL || json_object_set_new(r->constants, text, value) != 0)
        return fail(r, "no UTF-8:", "");
    return NT_OK;
}

static nt_status read_comment(reader *r, char *line)
{
    line += 1 + strspn(line + 1, " ");
    if (strncmp(line, "const ", 6) == 0)
        return read_constant(r, line + 6);
    if (strncmp(line, "device=", 7) == 0)
        nt_foreign_device(r->run, line + 7);
    else if (strncmp(line, "kernel=", 7) == 0)
        nt_foreign_kernel(r->run, line + 7);
    else if (strncmp(line, "problem=", 8) == 0)
        read_problem(r->run, line + 8);
    return NT_OK;
}

static nt_status read_columns(reader *r, char *line)
{
    char *field[MAX_FIELDS];
    int count = split(line, field);
    if (count <= FIELDS_BESIDE)
        return fail(r, "the header has no parameters before status, time_ms, compile_ms, bench_ms, samples_ms", "");
    for (int i = 0; i < FIELDS_BESIDE; i++)
        if (strcmp(field[count - FIELDS_BESIDE + i], beside[i]) != 0)
            return fail(r, "the header must end in status,time_ms,compile_ms,bench_ms,samples_ms, not in",
                        field[count - FIELDS_BESIDE + i]);
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < i; j++)
            if (strcmp(field[i], field[j]) == 0)
                return fail(r, "a column stands twice:", field[i]);
        r->column[i] = nt_strdup(field[i]);
        r->columns = i + 1;
    }
    return NT_OK;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static bool read_ms(const char *text, double *out)
{
    *out = NAN;
    return text[0] == '\0' || (nt_parse_double(text, out) && *out >= 0);
}

static nt_status read_samples(const reader *r, char *text, nt_foreign *out)
{
    json_t *list = json_array();
    nt_status status = NT_OK;
    char *save = NULL;
    for (char *word = strtok_r(text, ";", &save); status == NT_OK && word != NULL; word = strtok_r(NULL, ";", &save)) {
        double ms;
        status = read_ms(word, &ms) ? NT_OK : fail(r, "no time in milliseconds:", word);
        json_array_append_new(list, nt_json_real(ms));
    }
    if (status == NT_OK)
        status = place(r, nt_foreign_samples(out, list, "samples_ms", 1e6, r->err));
    json_decref(list);
    return status;
}

static nt_status fill(reader *r, char *const *field, nt_foreign *out)
{
    nt_trial *trial = &out->trial;
    int params = r->columns - FIELDS_BESIDE;
    char *const *rest = field + params;
    const nt_outcome_word *row = nt_outcome_word_find(words, rest[0]);
    double time_ms;
    json_t *values = json_object();
    for (int i = 0; i < params; i++)
        json_object_set_new(values, r->column[i], value_of(field[i]));
    json_object_update(values, r->constants);
    bool utf8 = json_object_size(values) == (size_t)params + json_object_size(r->constants);
    nt_status status = utf8 ? place(r, nt_foreign_params(out, r->run, values, r->err))
                            : fail(r, "a parameter is no UTF-8 or also a constant", "");
    json_decref(values);
    if (status != NT_OK)
        return status;
    if (row == NULL)
        return place(r, nt_outcome_word_unknown(words, "status", rest[0], r->err));
    if (!read_ms(rest[1], &time_ms) || !read_ms(rest[2], &trial->compile_ms) || !read_ms(rest[3], &trial->measure_ms))
        return fail(r, "no time in milliseconds", "");
    trial->outcome = row->outcome;
    if (row->outcome != NT_OUTCOME_OK)
        nt_copy(trial->reason, sizeof trial->reason, row->word);
    else if (isnan(time_ms))
        return fail(r, "a row that is ok has no time_ms", "");
    else
        trial->time_ns = time_ms * 1e6;
    return read_samples(r, rest[4], out);
}

static nt_status read_row(reader *r, char *line)
{
    char *field[MAX_FIELDS];
    nt_foreign result;
    if (split(line, field) != r->columns)
        return fail(r, "the row has not as many fields as the header", "");
    if (r->report->results == NT_IMPORT_MAX_RESULTS)
        return fail(r, "too many rows", "");
    nt_foreign_init(&result, r->run);
    nt_status status = fill(r, field, &result);
    if (status == NT_OK)
        status = r->target->put(r->target->context, &result, r->err);
    nt_foreign_done(&result);
    r->report->results++;
    return status;
}

static nt_status read_line(reader *r, char *line)
{
    if (line[0] == '\0')
        return NT_OK;
    if (r->columns > 0)
        return read_row(r, line);
    if (line[0] == '#')
        return read_comment(r, line);
    nt_status status = read_columns(r, line);
    return status == NT_OK ? r->target->begin(r->target->context, r->run, r->err) : status;
}

static bool recognise(const char *text, size_t length)
{
    const char *end = memchr(text, '\n', length);
    size_t line = end != NULL ? (size_t)(end - text) : length;
    return line > 0 && (text[0] == '#' || memmem(text, line, ",status,time_ms,", 16) != NULL);
}

static nt_status read(const char *name, const char *text, size_t length, nt_foreign_run *run,
                      const nt_import_target *target, nt_import_report *report, nt_error *err)
{
    reader r = {name, run, target, report, err, json_object(), 0, {NULL}, 0};
    nt_status status = NT_OK;
    for (size_t at = 0; status == NT_OK && at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t bytes = end != NULL ? (size_t)(end - text) - at : length - at;
        r.line++;
        if (bytes > NT_IMPORT_MAX_ENTRY_BYTES) {
            status = fail(&r, "the line is longer than 1 MiB", "");
            break;
        }
        char *line = nt_strndup(text + at, bytes);
        line[strcspn(line, "\r")] = '\0';
        status = read_line(&r, line);
        free(line);
        at += bytes + 1;
    }
    if (status == NT_OK && r.columns == 0)
        status = fail(&r, "there is no header of columns", "");
    for (int i = 0; i < r.columns; i++)
        free(r.column[i]);
    json_decref(r.constants);
    return status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void add_value(nt_str *out, const json_t *value)
{
    const char *text = json_string_value(value);
    if (json_is_boolean(value)) {
        nt_str_add(out, json_is_true(value) ? "True" : "False");
    } else if (text == NULL) {
        nt_spell(out, value);
    } else if (text[strcspn(text, ",\"\r\n")] == '\0') {
        nt_str_add(out, text);
    } else {
        nt_str_add(out, "\"");
        for (; *text != '\0'; text++) {
            nt_str_add(out, *text == '"' ? "\"" : "");
            nt_str_add_n(out, *text == '\n' || *text == '\r' ? " " : text, 1);
        }
        nt_str_add(out, "\"");
    }
}

static void add_ms(nt_str *out, double ms)
{
    if (!isnan(ms))
        nt_spell_real(out, ms);
}

static bool is_constant(const nt_foreign_run *run, const char *name)
{
    return json_array_size(json_object_get(run->values, name)) == 1;
}

/* A space whose every parameter has one value still needs a column. */
static bool all_constant(const nt_foreign_run *run)
{
    const char *name;
    json_t *values;
    json_object_foreach (run->values, name, values) {
        if (!is_constant(run, name))
            return false;
    }
    return true;
}

static void add_param(nt_str *out, const char *name, const json_t *values, bool constant)
{
    const json_t *value;
    size_t i;
    nt_str_addf(out, "# %s %s=", constant ? "const" : "param", name);
    json_array_foreach (values, i, value) {
        nt_str_add(out, i > 0 ? "," : "");
        add_value(out, value);
    }
    nt_str_add(out, "\n");
}

static void write_header(nt_str *out, const nt_foreign_run *run)
{
    const char *name;
    json_t *values;
    bool every = all_constant(run);
    nt_str_addf(out, "# space=%s\n# kernel=%s\n# device=%s\n", run->kernel, run->kernel, run->run.device.name);
    for (int i = 0; i < run->problem.shape.count; i++)
        nt_str_addf(out, "%s%lld", i > 0 ? "x" : "# problem=", (long long)run->problem.shape.dim[i].size);
    nt_str_add(out, run->problem.shape.count > 0 ? "\n" : "");
    json_object_foreach (run->values, name, values) {
        add_param(out, name, values, !every && is_constant(run, name));
    }
    json_object_foreach (run->values, name, values) {
        if (every || !is_constant(run, name))
            nt_str_addf(out, "%s,", name);
    }
    nt_str_add(out, "status,time_ms,compile_ms,bench_ms,samples_ms\n");
}

static void write_entry(nt_str *out, const nt_foreign_run *run, const nt_foreign *result)
{
    const nt_trial *trial = &result->trial;
    const char *name;
    json_t *values;
    bool every = all_constant(run);
    json_object_foreach (run->values, name, values) {
        if (!every && is_constant(run, name))
            continue;
        add_value(out, json_object_get(result->params, name));
        nt_str_add(out, ",");
    }
    nt_str_addf(out, "%s,", nt_outcome_word_of(words, trial));
    add_ms(out, trial->outcome == NT_OUTCOME_OK ? trial->time_ns / 1e6 : (double)NAN);
    nt_str_add(out, ",");
    add_ms(out, trial->compile_ms);
    nt_str_add(out, ",");
    add_ms(out, trial->measure_ms);
    nt_str_add(out, ",");
    for (size_t i = 0; i < trial->samples.count; i++) {
        nt_str_add(out, i > 0 ? ";" : "");
        add_ms(out, trial->samples.sample_ns[i] / 1e6);
    }
    nt_str_add(out, "\n");
}

const nt_format nt_format_csv = {
    .name = "csv",
    .title = "CSV of a recorded space",
    .words = words,
    .carries = 1 << NT_COMMON_DEVICE | 1 << NT_COMMON_KERNEL | 1 << NT_COMMON_PROBLEM | 1 << NT_COMMON_SAMPLES |
               1 << NT_COMMON_COMPILE | 1 << NT_COMMON_MEASURE,
    .recognise = recognise,
    .read = read,
    .write_header = write_header,
    .write_entry = write_entry,
};
