/* own_json.c: a run of nntune with all that its records hold: {"type": "run", "schema_version", "run", "trials": [..]}.
 * Times are nanoseconds. Read again it is a recorded run: its device keeps its name and gives up its identity. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "db/formats/format.h"

enum { SCHEMA_VERSION = 1 };

static nt_status read_header(const json_t *header, nt_foreign_run *run, nt_error *err)
{
    json_int_t version = json_integer_value(json_object_get(header, "schema_version"));
    nt_run read;
    if (version != SCHEMA_VERSION) {
        nt_fail(err, NT_CORRUPT, "schema_version is %lld", (long long)version);
        return nt_hint(err, "this nntune %s reads version %d", NT_VERSION, SCHEMA_VERSION);
    }
    nt_status status = nt_json_to_run(json_object_get(header, "run"), &read, err);
    if (status != NT_OK)
        return status;
    nt_run_done(&run->run);
    run->run = read;
    run->run.id = 0;
    run->run.recorded = true;
    nt_device_kind kind = read.device.kind;
    nt_foreign_device(run, read.device.name);
    run->run.device.kind = kind; /* said, not guessed */
    return NT_OK;
}

static nt_status read_entry(const json_t *entry, const nt_foreign_run *run, nt_foreign *out, nt_error *err)
{
    nt_trial trial;
    const json_t *params = json_object_get(entry, "params");
    nt_status status = nt_json_to_trial(entry, &trial, err);
    if (status != NT_OK)
        return status;
    if (trial.samples.count > NT_IMPORT_MAX_SAMPLES)
        status = nt_fail(err, NT_CORRUPT, "sample_ns has more than %d items", NT_IMPORT_MAX_SAMPLES);
    else if ((trial.outcome == NT_OUTCOME_OK) != (isfinite(trial.time_ns) && trial.time_ns >= 0))
        status =
            nt_fail(err, NT_CORRUPT, "outcome is %s and time_ns does not go with it", nt_outcome_name(trial.outcome));
    if (status != NT_OK) {
        nt_trial_done(&trial);
        return status;
    }
    nt_trial_done(&out->trial);
    free(trial.params_json);
    trial.params_json = NULL;
    out->trial = trial;
    const char *timestamp = nt_json_get_text(entry, "timestamp");
    nt_copy(out->timestamp, sizeof out->timestamp, timestamp != NULL ? timestamp : "");
    out->framework_ms = nt_json_get_real(entry, "framework_ms");
    out->search_ms = nt_json_get_real(entry, "search_ms");
    return nt_foreign_params(out, run, params, err);
}

static json_t *header_json(const nt_foreign_run *run)
{
    return json_pack("{s:s, s:i, s:s, s:o}", "type", "run", "schema_version", SCHEMA_VERSION, "source",
                     run->run.recorded ? "recorded" : "measured", "run", nt_json_run(&run->run));
}

static json_t *entry_json(const nt_foreign_run *run, const nt_foreign *result)
{
    json_t *entry = nt_json_trial(&result->trial);
    (void)run;
    if (result->timestamp[0] != '\0')
        json_object_set_new(entry, "timestamp", nt_json_text(result->timestamp));
    if (!isnan(result->framework_ms))
        json_object_set_new(entry, "framework_ms", nt_json_real(result->framework_ms));
    if (!isnan(result->search_ms))
        json_object_set_new(entry, "search_ms", nt_json_real(result->search_ms));
    return entry;
}

const nt_format nt_format_json = {
    .name = "json",
    .title = "JSON of nntune",
    .carries = ~0u,
    .container = "trials",
    .read_header = read_header,
    .read_entry = read_entry,
    .header_json = header_json,
    .entry_json = entry_json,
};
