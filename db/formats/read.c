/* read.c: the walk over a file of any format: what stands beside the results first, wherever it stands, then result by
 * result, each parsed alone. What our records do not keep of the header and of each result becomes a patch. */
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "db/formats/format.h"
#include "db/formats/patch.h"
#include "db/formats/scan.h"

typedef struct walk {
    const char *name;
    const nt_import_names *names;
    const nt_import_target *target;
    nt_import_report *report;
    nt_error *err;
    nt_scan scan;
    const nt_format *format;
    nt_foreign_run run;
    json_t *header;
    size_t header_bytes;
    nt_scan container; /* where the results begin; begin is NULL before they were found */
} walk;

/* ---- which format ------------------------------------------------------------------------------------------------ */

static nt_status no_format(const walk *w, const char *what)
{
    nt_str all = {0};
    nt_formats_list(&all);
    nt_fail(w->err, NT_USAGE, "%s is %s", w->name, what);
    nt_hint(w->err, "formats that are read: %s; plain or gzip", nt_str_text(&all));
    nt_str_done(&all);
    return NT_USAGE;
}

static bool has_magic(const char *text, size_t length, const char *magic)
{
    return length >= strlen(magic) && memcmp(text, magic, strlen(magic)) == 0;
}

/* Files that people may well name here, and what to do with them. */
static nt_status not_json(const walk *w, const char *text, size_t length)
{
    if (has_magic(text, length, "SQLite format 3")) {
        nt_fail(w->err, NT_USAGE, "%s is an SQLite database", w->name);
        return nt_hint(w->err, "results of nntune: 'nntune merge A.db B.db -o C.db'; a profile of Nsight Systems: "
                               "'nntune profile --import FILE'");
    }
    if (length == 0)
        return no_format(w, "empty");
    return no_format(w, "no results in a format known here");
}

static const nt_format *format_of_container(const char *key)
{
    for (int i = 0; nt_formats[i] != NULL; i++)
        if (nt_formats[i]->container != NULL && strcmp(nt_formats[i]->container, key) == 0)
            return nt_formats[i];
    return NULL;
}

static nt_status no_container(const walk *w)
{
    if (json_object_get(w->header, "ConfigurationSpace") != NULL) {
        nt_fail(w->err, NT_USAGE, "%s is a T1 file: a kernel to tune, without results", w->name);
        return nt_hint(w->err, "'nntune sweep --spec %s' tunes it", w->name);
    }
    if (json_object_get(w->header, "metadata") != NULL)
        return no_format(w, "T4 metadata without results");
    return no_format(w, "JSON without results in a format known here");
}

/* ---- the header -------------------------------------------------------------------------------------------------- */

static nt_status keep_member(walk *w, nt_piece key, nt_piece value)
{
    json_t *name = NULL, *json = NULL;
    w->header_bytes += key.length + value.length;
    if (w->header_bytes > NT_IMPORT_MAX_HEADER_BYTES)
        return nt_fail(w->err, NT_CORRUPT, "%s: more than %d MiB stand beside the results", w->name,
                       NT_IMPORT_MAX_HEADER_BYTES >> 20);
    nt_status status = nt_scan_parse(&w->scan, w->name, key, &w->report->not_numbers, &name, w->err);
    if (status == NT_OK)
        status = nt_scan_parse(&w->scan, w->name, value, &w->report->not_numbers, &json, w->err);
    if (status == NT_OK && json_object_get(w->header, json_string_value(name)) != NULL)
        status = nt_fail(w->err, NT_CORRUPT, "%s: the key '%.80s' stands twice", w->name, json_string_value(name));
    if (status == NT_OK)
        json_object_set(w->header, json_string_value(name), json);
    json_decref(name);
    json_decref(json);
    return status;
}

static bool starts_container(walk *w, nt_piece key)
{
    char name[40];
    if (key.length < 3 || key.length - 2 >= sizeof name)
        return false;
    memcpy(name, key.text + 1, key.length - 2);
    name[key.length - 2] = '\0';
    const nt_format *format = format_of_container(name);
    nt_scan at = w->scan;
    if (format == NULL || w->format != NULL || !nt_scan_enter(&at, format->keyed ? '{' : '['))
        return false;
    w->format = format;
    w->container = w->scan;
    return true;
}

/* The results are stepped over; a file cut inside them has no more header. */
static nt_status read_members(walk *w)
{
    bool first = true;
    nt_piece key, value;
    while (nt_scan_next(&w->scan, '{', &first) && nt_scan_key(&w->scan, &key)) {
        bool results = starts_container(w, key);
        if (!nt_scan_value(&w->scan, &value))
            break;
        nt_status status = results ? NT_OK : keep_member(w, key, value);
        if (status != NT_OK)
            return status;
    }
    if (w->scan.state == NT_SCAN_GOES_ON && nt_scan_ended(&w->scan))
        return w->format != NULL ? NT_OK : no_container(w);
    w->report->cut = w->scan.state == NT_SCAN_CUT && w->format != NULL && w->format->may_be_cut;
    return w->report->cut ? NT_OK : nt_scan_error(&w->scan, w->name, w->err);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static const char *base_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash != NULL ? slash + 1 : name;
}

/* A file that names no kernel is called after itself. */
static void complete_names(walk *w)
{
    nt_foreign_run *run = &w->run;
    const char *base = base_of(w->name);
    if (run->kernel[0] == '\0') {
        char *stem = nt_strndup(base, strcspn(base, "."));
        nt_foreign_kernel(run, stem[0] != '\0' ? stem : "unknown");
        free(stem);
    }
    if (run->run.device.name[0] == '\0')
        nt_foreign_device(run, "unknown");
    nt_foreign_device(run, w->names != NULL ? w->names->device : NULL);
    nt_foreign_kernel(run, w->names != NULL ? w->names->kernel : NULL);
    nt_copy(run->file, sizeof run->file, base);
}

static nt_status begin(walk *w)
{
    nt_status status = w->format->read_header(w->header, &w->run, w->err);
    if (status != NT_OK && w->err != NULL) {
        nt_error inner = *w->err;
        nt_fail(w->err, inner.status, "%s: %s", w->name, inner.what);
        return nt_hint(w->err, "%s", inner.hint);
    }
    complete_names(w);
    w->run.format = w->format;
    w->run.cut = w->report->cut;
    nt_foreign_run plain = w->run; /* a writer knows the unit by the patch alone */
    if (w->format->unit_word != NULL)
        nt_copy(plain.unit_word, sizeof plain.unit_word, w->format->unit_word);
    json_t *ours = w->format->header_json(&plain);
    w->run.extra = nt_patch_make(ours, w->header);
    json_decref(ours);
    return status == NT_OK ? w->target->begin(w->target->context, &w->run, w->err) : status;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static nt_status entry_error(const walk *w, const char *key, nt_status status)
{
    if (w->err == NULL)
        return status;
    nt_error inner = *w->err;
    nt_fail(w->err, status, "%s: %s[%.80s]: %s", w->name, w->format->container, key, inner.what);
    return nt_hint(w->err, "%s", inner.hint);
}

static void keep_rest(const walk *w, nt_foreign *result, const json_t *entry, const char *key)
{
    json_t *ours = w->format->entry_json(&w->run, result);
    result->extra = nt_patch_make(ours, entry);
    json_decref(ours);
    if (!w->format->keyed)
        return;
    nt_str own = {0};
    w->format->entry_key(&own, &w->run, result);
    if (strcmp(nt_str_text(&own), key) != 0) {
        if (result->extra == NULL)
            result->extra = json_object();
        json_object_set_new(result->extra, "key", json_string(key));
    }
    nt_str_done(&own);
}

static nt_status read_result(walk *w, const char *key, nt_piece piece)
{
    nt_foreign result;
    json_t *entry = NULL;
    if (piece.length > NT_IMPORT_MAX_ENTRY_BYTES)
        return nt_fail(w->err, NT_CORRUPT, "%s: %s[%.80s] is longer than %d KiB", w->name, w->format->container, key,
                       NT_IMPORT_MAX_ENTRY_BYTES >> 10);
    nt_status status = nt_scan_parse(&w->scan, w->name, piece, &w->report->not_numbers, &entry, w->err);
    if (status != NT_OK)
        return status;
    nt_foreign_init(&result, &w->run);
    if (!json_is_object(entry))
        status = nt_fail(w->err, NT_CORRUPT, "this is no object");
    else
        status = w->format->read_entry(entry, &w->run, &result, w->err);
    if (status != NT_OK) {
        status = entry_error(w, key, status);
    } else {
        keep_rest(w, &result, entry, key);
        status = w->target->put(w->target->context, &result, w->err);
    }
    json_decref(entry);
    nt_foreign_done(&result);
    return status;
}

/* The key of a result: its own, or its position. */
static nt_status key_of(walk *w, nt_piece piece, char **out)
{
    json_t *json = NULL;
    nt_str position = {0};
    if (piece.text == NULL) {
        nt_str_addf(&position, "%zu", w->report->results);
        *out = position.data;
        return NT_OK;
    }
    nt_status status = nt_scan_parse(&w->scan, w->name, piece, &w->report->not_numbers, &json, w->err);
    *out = status == NT_OK ? nt_strdup(json_string_value(json)) : NULL;
    json_decref(json);
    return status;
}

static nt_status read_results(walk *w)
{
    char bracket = w->format->keyed ? '{' : '[';
    bool first = true;
    nt_piece key = {NULL, 0}, value;
    nt_status status = NT_OK;
    w->scan = w->container;
    nt_scan_enter(&w->scan, bracket);
    while (status == NT_OK && nt_scan_next(&w->scan, bracket, &first) &&
           (!w->format->keyed || nt_scan_key(&w->scan, &key)) && nt_scan_value(&w->scan, &value)) {
        char *text = NULL;
        if (w->report->results == NT_IMPORT_MAX_RESULTS)
            return nt_fail(w->err, NT_CORRUPT, "%s holds more than %d results", w->name, NT_IMPORT_MAX_RESULTS);
        status = key_of(w, key, &text);
        if (status == NT_OK)
            status = read_result(w, text, value);
        free(text);
        w->report->results++;
    }
    if (status == NT_OK && w->scan.state != NT_SCAN_GOES_ON && !w->report->cut)
        status = nt_scan_error(&w->scan, w->name, w->err);
    return status;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static nt_status read_json(walk *w)
{
    if (!nt_scan_enter(&w->scan, '{'))
        return not_json(w, w->scan.begin, (size_t)(w->scan.end - w->scan.begin));
    nt_status status = read_members(w);
    if (status == NT_OK)
        status = begin(w);
    return status == NT_OK ? read_results(w) : status;
}

static nt_status read_other(walk *w, const nt_format *format, const char *text, size_t length)
{
    w->format = format;
    w->run.format = format;
    complete_names(w);
    return format->read(w->name, text, length, &w->run, w->target, w->report, w->err);
}

nt_status nt_format_read(const char *name, const char *text, size_t length, const nt_import_names *names,
                         const nt_import_target *target, nt_import_report *report, nt_error *err)
{
    walk w = {.name = name, .names = names, .target = target, .report = report, .err = err};
    const nt_format *other = NULL;
    *report = (nt_import_report){0};
    w.scan = nt_scan_of(text, length);
    w.header = json_object();
    nt_foreign_run_init(&w.run);
    for (int i = 0; nt_formats[i] != NULL; i++)
        if (nt_formats[i]->recognise != NULL && nt_formats[i]->recognise(text, length))
            other = nt_formats[i];
    nt_status status = other != NULL ? read_other(&w, other, text, length) : read_json(&w);
    report->format = w.format;
    json_decref(w.header);
    nt_foreign_run_done(&w.run);
    return status;
}
