/* write.c: a run as a file: the header and each result as the format makes them, patched with what the original had
 * beyond that where it was of the same format. What cannot be held is noted by name. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "db/formats/format.h"
#include "db/formats/patch.h"
#include "db/formats/spell.h"

static const char *const common_names[NT_COMMON_COUNT] = {
#define X(name, text) [NT_COMMON_##name] = text,
    NT_COMMON_MAP(X)
#undef X
};

/* ---- what is dropped --------------------------------------------------------------------------------------------- */

static void drop(nt_format_writer *writer, nt_common what, bool is_there)
{
    if (is_there && (writer->format->carries & 1u << what) == 0)
        json_object_set_new(writer->dropped, common_names[what], json_true());
}

static bool known(int64_t value)
{
    return value != NT_UNKNOWN;
}

/* Whether the format's word for the outcome, read again, gives the outcome. */
static bool has_word(const nt_outcome_word *words, const nt_trial *trial)
{
    if (words == NULL || trial->outcome == NT_OUTCOME_OK)
        return true;
    const nt_outcome_word *row = nt_outcome_word_find(words, nt_outcome_word_of(words, trial));
    return row != NULL && row->outcome == trial->outcome;
}

static void note_run(nt_format_writer *writer)
{
    const nt_foreign_run *run = writer->run;
    if (run->format == writer->format)
        return;
    drop(writer, NT_COMMON_DEVICE, run->run.device.name[0] != '\0');
    drop(writer, NT_COMMON_KERNEL, run->kernel[0] != '\0');
    drop(writer, NT_COMMON_PROBLEM, run->problem.shape.count > 0);
    drop(writer, NT_COMMON_LAYER, !nt_layer_is_users(run->problem.layer));
    if (run->format != NULL && run->format->header_json != NULL) {
        nt_foreign_run plain = *run;
        plain.values = NULL; /* those of the results, not the file's */
        json_t *ours = run->format->header_json(&plain);
        nt_patch_names(ours, run->extra, writer->dropped);
        json_decref(ours);
    }
}

static void note_result(nt_format_writer *writer, const nt_foreign *result)
{
    const nt_trial *trial = &result->trial;
    const nt_format *origin = writer->run->format;
    if (origin == writer->format)
        return;
    drop(writer, NT_COMMON_OUTCOME, !has_word(writer->format->words, trial));
    drop(writer, NT_COMMON_SAMPLES, trial->samples.count > 0);
    drop(writer, NT_COMMON_INTERVAL, !isnan(trial->time_lo_ns));
    drop(writer, NT_COMMON_COMPILE, !isnan(trial->compile_ms));
    drop(writer, NT_COMMON_VERIFY, !isnan(trial->verify_ms));
    drop(writer, NT_COMMON_MEASURE, !isnan(trial->measure_ms));
    drop(writer, NT_COMMON_SEARCH, !isnan(result->search_ms));
    drop(writer, NT_COMMON_FRAMEWORK, !isnan(result->framework_ms));
    drop(writer, NT_COMMON_TIMESTAMP, result->timestamp[0] != '\0');
    drop(writer, NT_COMMON_REGISTERS, known(trial->artefact.registers) || known(trial->smem_bytes));
    drop(writer, NT_COMMON_LAUNCH, known(trial->threads_per_block) || known(trial->grid_blocks));
    drop(writer, NT_COMMON_OTHER,
         !isnan(trial->error_impl) || !isnan(trial->conditions.sm_clock_mhz) || !isnan(trial->occupancy_limit_pct) ||
             !isnan(trial->floor_ns));
    if (origin != NULL && origin->entry_json != NULL && result->extra != NULL) {
        json_t *ours = origin->entry_json(writer->run, result);
        nt_patch_names(ours, result->extra, writer->dropped);
        json_decref(ours);
    }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void add_name(nt_str *out, const char *name)
{
    json_t *json = json_string(name);
    nt_spell(out, json);
    nt_str_add(out, ": ");
    json_decref(json);
}

/* The results come last, so that a file that is cut off has its header. */
static void begin_json(nt_format_writer *writer)
{
    const nt_format *format = writer->format;
    const char *key;
    json_t *value, *header = format->header_json(writer->run);
    if (writer->run->format == format)
        nt_patch_apply(header, writer->run->extra);
    nt_str_add(&writer->out, "{\n");
    json_object_foreach (header, key, value) {
        add_name(&writer->out, key);
        nt_spell(&writer->out, value);
        nt_str_add(&writer->out, ",\n");
    }
    add_name(&writer->out, format->container);
    nt_str_add(&writer->out, format->keyed ? "{" : "[");
    json_decref(header);
}

static void put_json(nt_format_writer *writer, const nt_foreign *result)
{
    const nt_format *format = writer->format;
    bool same = writer->run->format == format;
    json_t *entry = format->entry_json(writer->run, result);
    if (same)
        nt_patch_apply(entry, result->extra);
    nt_str_add(&writer->out, writer->results > 0 ? ",\n" : "\n");
    if (format->keyed) {
        nt_str key = {0};
        const char *kept = same ? nt_json_get_text(result->extra, "key") : NULL;
        format->entry_key(&key, writer->run, result);
        add_name(&writer->out, kept != NULL ? kept : nt_str_text(&key));
        nt_str_done(&key);
    }
    nt_spell(&writer->out, entry);
    json_decref(entry);
}

/* ---- any format -------------------------------------------------------------------------------------------------- */

void nt_format_begin(nt_format_writer *writer, const nt_format *format, const nt_foreign_run *run)
{
    *writer = (nt_format_writer){.format = format, .run = run, .dropped = json_object()};
    note_run(writer);
    if (format->container != NULL)
        begin_json(writer);
    else
        format->write_header(&writer->out, run);
}

void nt_format_put(nt_format_writer *writer, const nt_foreign *result)
{
    note_result(writer, result);
    if (writer->format->container != NULL)
        put_json(writer, result);
    else
        writer->format->write_entry(&writer->out, writer->run, result);
    writer->results++;
}

void nt_format_end(nt_format_writer *writer)
{
    if (writer->format->container != NULL)
        nt_str_add(&writer->out, writer->format->keyed ? "}\n}\n" : "\n]\n}\n");
}

void nt_format_writer_done(nt_format_writer *writer)
{
    nt_str_done(&writer->out);
    json_decref(writer->dropped);
    *writer = (nt_format_writer){0};
}
