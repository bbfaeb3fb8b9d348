/* kernel_tuner.c: Kernel Tuner's cache file: a header and {"cache": {"32,1": {..}, ..}}, one line a result, so that a
 * file that was cut off after any of them still counts. Times are milliseconds. A failure is a word, in `__error__` or,
 * in older files, in the place of the time; still older ones wrote the time 1e20. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "db/formats/format.h"
#include "db/formats/spell.h"

static const double unit_ns = 1e6;
static const double failed_time_ms = 1e20;

static const nt_outcome_word words[] = {
    {"RuntimeFailedConfig", NT_OUTCOME_LAUNCH_FAILED},
    {"CompilationFailedConfig", NT_OUTCOME_COMPILE_FAILED},
    {"InvalidConfig", NT_OUTCOME_PRUNED},
    {"RuntimeFailedConfig", NT_OUTCOME_WRONG_RESULT},
    {"RuntimeFailedConfig", NT_OUTCOME_TIMED_OUT},
    {"RuntimeFailedConfig", NT_OUTCOME_CRASHED},
    {"RuntimeFailedConfig", NT_OUTCOME_ABANDONED},
    {NULL, NT_OUTCOME_OK},
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static nt_status read_keys(const json_t *keys, nt_foreign_run *run, nt_error *err)
{
    const json_t *key;
    size_t i;
    if (!json_is_array(keys) || json_array_size(keys) == 0)
        return nt_fail(err, NT_CORRUPT, "tune_params_keys is no list of names");
    json_array_foreach (keys, i, key) {
        if (!json_is_string(key))
            return nt_fail(err, NT_CORRUPT, "tune_params_keys[%zu] is no name", i);
    }
    run->params = json_deep_copy(keys);
    return NT_OK;
}

static nt_status read_header(const json_t *header, nt_foreign_run *run, nt_error *err)
{
    const char *version = nt_json_get_text(header, "schema_version");
    if (version != NULL && strncmp(version, "1.", 2) != 0) {
        nt_fail(err, NT_CORRUPT, "schema_version is '%.40s'", version);
        return nt_hint(err, "files without one and versions 1.x are read");
    }
    nt_foreign_device(run, nt_json_get_text(header, "device_name"));
    nt_foreign_kernel(run, nt_json_get_text(header, "kernel_name"));
    nt_foreign_problem(run, json_object_get(header, "problem_size"));
    return read_keys(json_object_get(header, "tune_params_keys"), run, err);
}

/* The word that says why a result has no time; NULL when it has one. Any text in place of the time counts. */
static const char *error_word(const json_t *entry)
{
    const char *word = nt_json_get_text(entry, "__error__");
    return word != NULL ? word : nt_json_get_text(entry, "time");
}

static nt_status read_outcome(const json_t *entry, nt_foreign *out, nt_error *err)
{
    nt_trial *trial = &out->trial;
    const char *word = error_word(entry);
    double time_ms = nt_json_get_real(entry, "time");
    if (word != NULL) {
        const nt_outcome_word *row = nt_outcome_word_find(words, word);
        trial->outcome = row != NULL ? row->outcome : NT_OUTCOME_CRASHED;
        nt_copy(trial->reason, sizeof trial->reason, word);
    } else if (time_ms >= failed_time_ms) {
        trial->outcome = NT_OUTCOME_LAUNCH_FAILED;
        nt_copy(trial->reason, sizeof trial->reason, "time 1e20");
    } else if (time_ms >= 0) {
        trial->outcome = NT_OUTCOME_OK;
        trial->time_ns = time_ms * unit_ns;
    } else {
        nt_fail(err, NT_CORRUPT, "time is missing");
        return nt_hint(err, "it must be a number of milliseconds or the name of a failure");
    }
    return NT_OK;
}

static nt_status read_entry(const json_t *entry, const nt_foreign_run *run, nt_foreign *out, nt_error *err)
{
    nt_status status = nt_foreign_params(out, run, entry, err);
    if (status == NT_OK)
        status = nt_foreign_samples(out, json_object_get(entry, "times"), "times", unit_ns, err);
    if (status == NT_OK)
        status = read_outcome(entry, out, err);
    out->trial.compile_ms = nt_json_get_real(entry, "compile_time");
    out->trial.verify_ms = nt_json_get_real(entry, "verification_time");
    out->trial.measure_ms = nt_json_get_real(entry, "benchmark_time");
    out->search_ms = nt_json_get_real(entry, "strategy_time");
    out->framework_ms = nt_json_get_real(entry, "framework_time");
    const char *timestamp = nt_json_get_text(entry, "timestamp");
    nt_copy(out->timestamp, sizeof out->timestamp, timestamp != NULL ? timestamp : "");
    return status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static json_t *header_json(const nt_foreign_run *run)
{
    json_t *header = json_object(), *size = nt_foreign_problem_json(run);
    json_object_set_new(header, "device_name", nt_json_text(run->run.device.name));
    json_object_set_new(header, "kernel_name", nt_json_text(run->kernel));
    json_object_set_new(header, "problem_size", size != NULL ? size : json_string("callable"));
    if (run->params != NULL)
        json_object_set_new(header, "tune_params_keys", json_deep_copy(run->params));
    if (run->values != NULL)
        json_object_set_new(header, "tune_params", json_deep_copy(run->values));
    json_object_set_new(header, "objective", json_string("time"));
    return header;
}

static json_t *entry_json(const nt_foreign_run *run, const nt_foreign *result)
{
    const nt_trial *trial = &result->trial;
    json_t *entry = json_deep_copy(result->params);
    (void)run;
    json_object_set_new(entry, "time",
                        trial->outcome == NT_OUTCOME_OK ? nt_json_real(trial->time_ns / unit_ns)
                                                        : json_string(nt_outcome_word_of(words, trial)));
    if (trial->samples.count > 0)
        json_object_set_new(entry, "times", nt_samples_in(&trial->samples, unit_ns));
    nt_set_ms(entry, "compile_time", trial->compile_ms, unit_ns);
    nt_set_ms(entry, "verification_time", trial->verify_ms, unit_ns);
    nt_set_ms(entry, "benchmark_time", trial->measure_ms, unit_ns);
    nt_set_ms(entry, "strategy_time", result->search_ms, unit_ns);
    nt_set_ms(entry, "framework_time", result->framework_ms, unit_ns);
    if (result->timestamp[0] != '\0')
        json_object_set_new(entry, "timestamp", nt_json_text(result->timestamp));
    return entry;
}

/* The values as Python prints them, with commas. */
static void entry_key(nt_str *out, const nt_foreign_run *run, const nt_foreign *result)
{
    const char *name;
    json_t *value;
    bool first = true;
    (void)run;
    json_object_foreach (result->params, name, value) {
        nt_str_add(out, first ? "" : ",");
        if (json_is_string(value))
            nt_str_add(out, json_string_value(value));
        else if (json_is_boolean(value))
            nt_str_add(out, json_is_true(value) ? "True" : "False");
        else
            nt_spell(out, value);
        first = false;
    }
}

const nt_format nt_format_kernel_tuner = {
    .name = "kernel-tuner",
    .title = "Kernel Tuner cache",
    .words = words,
    .carries = 1 << NT_COMMON_DEVICE | 1 << NT_COMMON_KERNEL | 1 << NT_COMMON_PROBLEM | 1 << NT_COMMON_SAMPLES |
               1 << NT_COMMON_COMPILE | 1 << NT_COMMON_VERIFY | 1 << NT_COMMON_MEASURE | 1 << NT_COMMON_SEARCH |
               1 << NT_COMMON_FRAMEWORK | 1 << NT_COMMON_TIMESTAMP,
    .container = "cache",
    .keyed = true,
    .may_be_cut = true,
    .read_header = read_header,
    .read_entry = read_entry,
    .header_json = header_json,
    .entry_json = entry_json,
    .entry_key = entry_key,
};
