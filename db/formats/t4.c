/* t4.c: T4, the common output of tuners: {"metadata", "results": [..], "schema_version"}.
 *
 * Two spellings of the compile time exist, `compilation_time` in the schema and `compilation` in files, and two of the
 * unit; both are read, and both times are written. Times are in the unit of the metadata. A failure also stands as a
 * word in the place of the measured time. Results name neither kernel nor device: `metadata` does where we wrote it. */
#include <math.h>
#include <string.h>

#include "core/json.h"
#include "db/formats/format.h"

static const nt_outcome_word words[] = {
    {"correct", NT_OUTCOME_OK},
    {"compile", NT_OUTCOME_COMPILE_FAILED},
    {"runtime", NT_OUTCOME_LAUNCH_FAILED},
    {"correctness", NT_OUTCOME_WRONG_RESULT},
    {"constraints", NT_OUTCOME_PRUNED},
    {"timeout", NT_OUTCOME_TIMED_OUT},
    {"timeout", NT_OUTCOME_ABANDONED},
    {"runtime", NT_OUTCOME_CRASHED},
    {NULL, NT_OUTCOME_OK},
};

/* What stands for the time of a failure. */
static const nt_outcome_word time_words[] = {
    {"RuntimeFailedConfig", NT_OUTCOME_LAUNCH_FAILED},
    {"CompilationFailedConfig", NT_OUTCOME_COMPILE_FAILED},
    {"InvalidConfig", NT_OUTCOME_PRUNED},
    {NULL, NT_OUTCOME_OK},
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static nt_status read_header(const json_t *header, nt_foreign_run *run, nt_error *err)
{
    const json_t *metadata = json_object_get(header, "metadata");
    const char *unit = nt_json_get_text(metadata, "timeunit");
    const char *version = nt_json_get_text(header, "schema_version");
    if (version != NULL && strncmp(version, "1.", 2) != 0) {
        nt_fail(err, NT_CORRUPT, "schema_version is '%.40s'", version);
        return nt_hint(err, "versions 1.x are read");
    }
    if (unit != NULL) {
        if (isnan(nt_unit_ns(unit))) {
            nt_fail(err, NT_CORRUPT, "metadata.timeunit is '%.40s'", unit);
            return nt_hint(err, "it must be one of nanoseconds, microseconds, milliseconds, seconds");
        }
        run->unit_ns = nt_unit_ns(unit);
        nt_copy(run->unit_word, sizeof run->unit_word, unit);
    }
    nt_foreign_device(run, nt_json_get_text(metadata, "device_name"));
    nt_foreign_kernel(run, nt_json_get_text(metadata, "kernel_name"));
    nt_foreign_problem(run, json_object_get(metadata, "problem_size"));
    return NT_OK;
}

static const json_t *find_measurement(const json_t *entry, const char *name)
{
    const json_t *item;
    size_t i;
    json_array_foreach (json_object_get(entry, "measurements"), i, item) {
        const char *its = nt_json_get_text(item, "name");
        if (its != NULL && strcmp(its, name) == 0)
            return json_object_get(item, "value") != NULL ? item : NULL;
    }
    return NULL;
}

static double mean(const nt_samples *samples)
{
    double sum = 0;
    for (size_t i = 0; i < samples->count; i++)
        sum += samples->sample_ns[i];
    return samples->count > 0 ? sum / (double)samples->count : (double)NAN;
}

static nt_status read_time(const json_t *entry, const nt_foreign_run *run, nt_foreign *out, nt_error *err)
{
    const json_t *time = find_measurement(entry, "time");
    const char *unit = nt_json_get_text(time, "unit");
    double unit_ns = unit != NULL && unit[0] != '\0' ? nt_unit_ns(unit) : run->unit_ns;
    if (isnan(unit_ns)) {
        nt_fail(err, NT_CORRUPT, "the unit of the measured time is '%.40s'", unit);
        return nt_hint(err, "it must be one of ns, us, ms, s or their full names");
    }
    double value = nt_json_get_real(time, "value") * unit_ns;
    out->trial.time_ns = isnan(value) ? mean(&out->trial.samples) : value;
    if (isfinite(out->trial.time_ns) && out->trial.time_ns >= 0)
        return NT_OK;
    nt_fail(err, NT_CORRUPT, "a valid result has no time");
    return nt_hint(err, "measurements must hold one named 'time', or times must hold runtimes");
}

static nt_status read_entry(const json_t *entry, const nt_foreign_run *run, nt_foreign *out, nt_error *err)
{
    const json_t *times = json_object_get(entry, "times");
    const char *word = nt_json_get_text(entry, "invalidity");
    const nt_outcome_word *row = nt_outcome_word_find(words, word);
    nt_status status = nt_foreign_params(out, run, json_object_get(entry, "configuration"), err);
    if (status == NT_OK)
        status = nt_foreign_samples(out, json_object_get(times, "runtimes"), "times.runtimes", run->unit_ns, err);
    if (status != NT_OK)
        return status;
    if (row == NULL)
        return nt_outcome_word_unknown(words, "invalidity", word, err);
    nt_trial *trial = &out->trial;
    trial->outcome = row->outcome;
    trial->compile_ms = nt_ms_of(times, "compilation_time", run->unit_ns);
    if (isnan(trial->compile_ms))
        trial->compile_ms = nt_ms_of(times, "compilation", run->unit_ns);
    trial->verify_ms = nt_ms_of(times, "validation", run->unit_ns);
    trial->measure_ms = nt_ms_of(times, "benchmark", run->unit_ns);
    out->framework_ms = nt_ms_of(times, "framework", run->unit_ns);
    out->search_ms = nt_ms_of(times, "search_algorithm", run->unit_ns);
    const char *timestamp = nt_json_get_text(entry, "timestamp");
    nt_copy(out->timestamp, sizeof out->timestamp, timestamp != NULL ? timestamp : "");
    if (row->outcome == NT_OUTCOME_OK)
        return read_time(entry, run, out, err);
    nt_copy(trial->reason, sizeof trial->reason, row->word);
    return NT_OK;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static json_t *header_json(const nt_foreign_run *run)
{
    json_t *metadata = json_pack("{s:s}", "timeunit", run->unit_word), *size = nt_foreign_problem_json(run);
    if (run->run.device.name[0] != '\0')
        json_object_set_new(metadata, "device_name", nt_json_text(run->run.device.name));
    if (run->kernel[0] != '\0')
        json_object_set_new(metadata, "kernel_name", nt_json_text(run->kernel));
    if (size != NULL)
        json_object_set_new(metadata, "problem_size", size);
    return json_pack("{s:s, s:o}", "schema_version", "1.0.0", "metadata", metadata);
}

static json_t *times_json(const nt_foreign_run *run, const nt_foreign *result)
{
    const nt_trial *trial = &result->trial;
    json_t *times = json_object();
    nt_set_ms(times, "compilation_time", trial->compile_ms, run->unit_ns);
    nt_set_ms(times, "compilation", trial->compile_ms, run->unit_ns);
    nt_set_ms(times, "benchmark", trial->measure_ms, run->unit_ns);
    nt_set_ms(times, "framework", result->framework_ms, run->unit_ns);
    nt_set_ms(times, "search_algorithm", result->search_ms, run->unit_ns);
    nt_set_ms(times, "validation", trial->verify_ms, run->unit_ns);
    if (trial->samples.count > 0)
        json_object_set_new(times, "runtimes", nt_samples_in(&trial->samples, run->unit_ns));
    return times;
}

static json_t *entry_json(const nt_foreign_run *run, const nt_foreign *result)
{
    const nt_trial *trial = &result->trial;
    bool ok = trial->outcome == NT_OUTCOME_OK;
    json_t *value =
        ok ? nt_json_real(trial->time_ns / run->unit_ns) : json_string(nt_outcome_word_of(time_words, trial));
    json_t *entry = json_object();
    if (result->timestamp[0] != '\0')
        json_object_set_new(entry, "timestamp", nt_json_text(result->timestamp));
    json_object_set(entry, "configuration", result->params);
    json_object_set_new(entry, "times", times_json(run, result));
    json_object_set_new(entry, "invalidity", json_string(nt_outcome_word_of(words, trial)));
    json_object_set_new(entry, "correctness", json_integer(ok));
    json_object_set_new(entry, "measurements",
                        json_pack("[{s:s, s:o, s:s}]", "name", "time", "value", value, "unit", run->unit_word));
    json_object_set_new(entry, "objectives", json_pack("[s]", "time"));
    return entry;
}

const nt_format nt_format_t4 = {
    .name = "t4",
    .title = "T4 results",
    .words = words,
    .carries = 1 << NT_COMMON_DEVICE | 1 << NT_COMMON_KERNEL | 1 << NT_COMMON_PROBLEM | 1 << NT_COMMON_SAMPLES |
               1 << NT_COMMON_COMPILE | 1 << NT_COMMON_VERIFY | 1 << NT_COMMON_MEASURE | 1 << NT_COMMON_SEARCH |
               1 << NT_COMMON_FRAMEWORK | 1 << NT_COMMON_TIMESTAMP,
    .container = "results",
    .unit_word = "milliseconds",
    .read_header = read_header,
    .read_entry = read_entry,
    .header_json = header_json,
    .entry_json = entry_json,
};
