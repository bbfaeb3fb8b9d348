/* ktt.c: KTT's JSON output: {"Metadata", "Results": [{"KernelName", "Status", "Configuration": [{"Name", ..}], ..}]}.
 *
 * Times are in the unit of the metadata, one duration a result and no single samples. Resources and launch sizes come
 * from the first kernel function of a result. */
#include <math.h>
#include <string.h>

#include "core/json.h"
#include "db/formats/format.h"

static const nt_outcome_word words[] = {
    {"Ok", NT_OUTCOME_OK},
    {"ComputationFailed", NT_OUTCOME_LAUNCH_FAILED},
    {"ValidationFailed", NT_OUTCOME_WRONG_RESULT},
    {"CompilationFailed", NT_OUTCOME_COMPILE_FAILED},
    {"DeviceLimitsExceeded", NT_OUTCOME_PRUNED},
    {"ComputationFailed", NT_OUTCOME_TIMED_OUT},
    {"ComputationFailed", NT_OUTCOME_CRASHED},
    {"ComputationFailed", NT_OUTCOME_ABANDONED},
    {NULL, NT_OUTCOME_OK},
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static nt_status read_header(const json_t *header, nt_foreign_run *run, nt_error *err)
{
    const json_t *metadata = json_object_get(header, "Metadata");
    const char *unit = nt_json_get_text(metadata, "TimeUnit");
    const char *written = unit != NULL ? unit : "Milliseconds"; /* what KTT writes unless told otherwise */
    if (isnan(nt_unit_ns(written))) {
        nt_fail(err, NT_CORRUPT, "Metadata.TimeUnit is '%.40s'", written);
        return nt_hint(err, "it must be one of Nanoseconds, Microseconds, Milliseconds, Seconds");
    }
    run->unit_ns = nt_unit_ns(written);
    nt_copy(run->unit_word, sizeof run->unit_word, written);
    nt_foreign_device(run, nt_json_get_text(metadata, "Device"));
    return NT_OK;
}

/* [{"Name": "a", "Value": 1}, ..] as {"a": 1, ..}. */
static json_t *params_of(const json_t *configuration)
{
    const json_t *item;
    size_t i;
    json_t *params = json_object();
    json_array_foreach (configuration, i, item) {
        const char *name = nt_json_get_text(item, "Name");
        json_t *value = json_object_get(item, "Value");
        if (name != NULL && value != NULL)
            json_object_set(params, name, value);
    }
    return params;
}

static int64_t product(const json_t *size)
{
    static const char *const axes[] = {"X", "Y", "Z"};
    int64_t all = 1;
    for (int i = 0; i < 3; i++) {
        int64_t extent = nt_json_get_int(size, axes[i]);
        if (extent < 1 || __builtin_mul_overflow(all, extent, &all))
            return NT_UNKNOWN;
    }
    return all;
}

static void read_function(const json_t *function, nt_trial *trial)
{
    const json_t *compiled = json_object_get(function, "CompilationData");
    trial->artefact.registers = nt_json_get_int(compiled, "RegistersCount");
    trial->artefact.smem_static_bytes = nt_json_get_int(compiled, "LocalMemorySize");
    trial->threads_per_block = product(json_object_get(function, "LocalSize"));
}

static nt_status read_entry(const json_t *entry, const nt_foreign_run *run, nt_foreign *out, nt_error *err)
{
    const char *word = nt_json_get_text(entry, "Status"), *kernel = nt_json_get_text(entry, "KernelName");
    const nt_outcome_word *row = nt_outcome_word_find(words, word);
    nt_trial *trial = &out->trial;
    json_t *params = params_of(json_object_get(entry, "Configuration"));
    nt_status status = nt_foreign_params(out, run, params, err);
    json_decref(params);
    if (status != NT_OK)
        return status;
    if (row == NULL)
        return nt_outcome_word_unknown(words, "Status", word, err);
    if (kernel != NULL) {
        nt_foreign_run named = *run;
        nt_foreign_kernel(&named, kernel);
        trial->problem = named.problem;
        nt_copy(trial->kernel, sizeof trial->kernel, named.kernel);
    }
    trial->outcome = row->outcome;
    trial->compile_ms = nt_ms_of(entry, "CompilationOverhead", run->unit_ns);
    trial->verify_ms = nt_ms_of(entry, "ValidationOverhead", run->unit_ns);
    out->search_ms = nt_ms_of(entry, "SearcherOverhead", run->unit_ns);
    read_function(json_array_get(json_object_get(entry, "ComputationResults"), 0), trial);
    if (row->outcome != NT_OUTCOME_OK) {
        nt_copy(trial->reason, sizeof trial->reason, row->word);
        return NT_OK;
    }
    trial->time_ns = nt_json_get_real(entry, "TotalDuration") * run->unit_ns;
    return isfinite(trial->time_ns) && trial->time_ns >= 0
               ? NT_OK
               : nt_fail(err, NT_CORRUPT, "Status is Ok, but TotalDuration is no time");
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static json_t *header_json(const nt_foreign_run *run)
{
    return json_pack("{s:{s:o, s:s}}", "Metadata", "Device", nt_json_text(run->run.device.name), "TimeUnit",
                     run->unit_word);
}

static const char *type_of(const json_t *value)
{
    if (json_is_integer(value))
        return json_integer_value(value) >= 0 ? "UnsignedInt" : "Int";
    return json_is_real(value) ? "Double" : json_is_boolean(value) ? "Bool" : "String";
}

static json_t *configuration_json(const json_t *params)
{
    const char *name;
    json_t *value, *list = json_array();
    json_object_foreach ((json_t *)(uintptr_t)params, name, value) {
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:O}", "Name", name, "ValueType", type_of(value), "Value", value));
    }
    return list;
}

static json_t *functions_json(const nt_foreign_run *run, const nt_trial *trial)
{
    json_t *list = json_array(), *compiled = json_object();
    if (trial->outcome == NT_OUTCOME_OK) {
        json_t *function = json_pack("{s:s, s:o}", "KernelFunction", trial->kernel, "Duration",
                                     nt_json_real(trial->time_ns / run->unit_ns));
        if (trial->artefact.registers != NT_UNKNOWN)
            json_object_set_new(compiled, "RegistersCount", json_integer(trial->artefact.registers));
        if (trial->artefact.smem_static_bytes != NT_UNKNOWN)
            json_object_set_new(compiled, "LocalMemorySize", json_integer(trial->artefact.smem_static_bytes));
        if (json_object_size(compiled) > 0)
            json_object_set(function, "CompilationData", compiled);
        json_array_append_new(list, function);
    }
    json_decref(compiled);
    return list;
}

static json_t *entry_json(const nt_foreign_run *run, const nt_foreign *result)
{
    const nt_trial *trial = &result->trial;
    bool ok = trial->outcome == NT_OUTCOME_OK;
    json_t *entry = json_object();
    json_object_set_new(entry, "KernelName", nt_json_text(trial->kernel));
    json_object_set_new(entry, "Status", json_string(nt_outcome_word_of(words, trial)));
    json_object_set_new(entry, "TotalDuration", nt_json_real(ok ? trial->time_ns / run->unit_ns : 0));
    nt_set_ms(entry, "CompilationOverhead", trial->compile_ms, run->unit_ns);
    nt_set_ms(entry, "ValidationOverhead", trial->verify_ms, run->unit_ns);
    nt_set_ms(entry, "SearcherOverhead", result->search_ms, run->unit_ns);
    json_object_set_new(entry, "Configuration", configuration_json(result->params));
    json_object_set_new(entry, "ComputationResults", functions_json(run, trial));
    return entry;
}

const nt_format nt_format_ktt = {
    .name = "ktt",
    .title = "KTT results",
    .words = words,
    .carries = 1 << NT_COMMON_DEVICE | 1 << NT_COMMON_KERNEL | 1 << NT_COMMON_COMPILE | 1 << NT_COMMON_VERIFY |
               1 << NT_COMMON_SEARCH | 1 << NT_COMMON_REGISTERS,
    .container = "Results",
    .unit_word = "Microseconds",
    .read_header = read_header,
    .read_entry = read_entry,
    .header_json = header_json,
    .entry_json = entry_json,
};
