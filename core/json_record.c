/* json_record.c: the records' tables: which member has which name in JSON. The names are the columns of the database's
 * contract views; changing one is changing the contract. */
#include "core/json.h"

#include "core/json_field.h"
#include "core/mem.h"

#include <string.h>

static const char *name_of_precision(int value)
{
    return value >= 0 && value < NT_PRECISION_COUNT ? nt_precisions[value].name : "unknown";
}

static const char *name_of_layout(int value)
{
    return nt_layout_name((nt_layout)value);
}

static const char *name_of_fill(int value)
{
    return nt_fill_name((nt_fill)value);
}

static const char *name_of_cache(int value)
{
    return nt_cache_mode_name((nt_cache_mode)value);
}

static const char *name_of_kind(int value)
{
    return nt_device_kind_name((nt_device_kind)value);
}

static const char *name_of_outcome(int value)
{
    return nt_outcome_name((nt_outcome)value);
}

static const char *name_of_status(int value)
{
    return nt_status_text((nt_status)value);
}

/* One row a line. */
/* clang-format off */

/* Rows. RECORD is the struct that the table is about. */
#define INT(key, member) {key, &nt_json_kind_int, offsetof(RECORD, member), 0, false, NULL, 0}
#define INT_NEEDED(key, member) {key, &nt_json_kind_int, offsetof(RECORD, member), 0, true, NULL, 0}
#define REAL(key, member) {key, &nt_json_kind_real, offsetof(RECORD, member), 0, false, NULL, 0}
#define BOOL(key, member) {key, &nt_json_kind_bool, offsetof(RECORD, member), 0, false, NULL, 0}
#define TEXT_ROW(key, member, needed) \
    {key, &nt_json_kind_text, offsetof(RECORD, member), sizeof((RECORD *)0)->member, needed, NULL, 0}
#define TEXT(key, member) TEXT_ROW(key, member, false)
#define TEXT_NEEDED(key, member) TEXT_ROW(key, member, true)
#define ENUM(key, member, name, count) {key, &nt_json_kind_enum, offsetof(RECORD, member), 0, true, name, count}
#define OTHER(key, member, kind) {key, &nt_json_kind_##kind, offsetof(RECORD, member), 0, false, NULL, 0}
#define END {NULL, NULL, 0, 0, false, NULL, 0}

#define PROBLEM_ROWS(prefix)                                                                        \
    TEXT_NEEDED("layer", prefix layer),                                                             \
    {"shape", &nt_json_kind_shape, offsetof(RECORD, prefix shape), 0, true, NULL, 0},               \
    INT_NEEDED("batch", prefix batch),                                                              \
    ENUM("precision", prefix precision, name_of_precision, NT_PRECISION_COUNT),                     \
    ENUM("layout", prefix layout, name_of_layout, NT_LAYOUT_COUNT),                                 \
    ENUM("fill", prefix fill, name_of_fill, NT_FILL_COUNT)

#define RECORD nt_problem
static const nt_json_field problem_fields[] = {PROBLEM_ROWS(), END};
#undef RECORD

#define RECORD nt_device_info
static const nt_json_field device_fields[] = {
    ENUM("kind", kind, name_of_kind, NT_DEVICE_KIND_COUNT),
    TEXT_NEEDED("name", name),
    TEXT("uuid", uuid),
    TEXT("arch", arch),
    TEXT("driver", driver),
    TEXT("compiler", compiler),
    TEXT("features", features),
    INT("compute_capability", compute_capability),
    INT("sm_count", sm_count),
    INT("memory_bytes", memory_bytes),
    INT("l2_bytes", l2_bytes),
    INT("smem_per_block_bytes", smem_per_block_bytes),
    INT("smem_per_sm_bytes", smem_per_sm_bytes),
    INT("smem_reserved_bytes", smem_reserved_bytes),
    INT("regs_per_block", regs_per_block),
    INT("regs_per_sm", regs_per_sm),
    INT("max_threads_per_block", max_threads_per_block),
    INT("max_threads_per_sm", max_threads_per_sm),
    INT("max_blocks_per_sm", max_blocks_per_sm),
    INT("warp_size", warp_size),
    REAL("sm_clock_max_mhz", sm_clock_max_mhz),
    REAL("mem_clock_max_mhz", mem_clock_max_mhz),
    REAL("dram_peak_bytes_per_s", dram_peak_bytes_per_s),
    TEXT("peak_source", peak_source),
    END};

/* The nested object "peak_flops": one row a precision, made by the same machine. */
#define PEAK(precision) {NULL, &nt_json_kind_real, offsetof(RECORD, peak_flops[precision]), 0, false, NULL, 0}
static const nt_json_field peak_rows[NT_PRECISION_COUNT] = {
    PEAK(NT_FP32), PEAK(NT_TF32),        PEAK(NT_FP16),        PEAK(NT_BF16),       PEAK(NT_INT8),
    PEAK(NT_FP8),  PEAK(NT_FP16_SPARSE), PEAK(NT_BF16_SPARSE), PEAK(NT_INT8_SPARSE)};
#undef PEAK
#undef RECORD

#define RECORD nt_artefact
static const nt_json_field artefact_fields[] = {
    TEXT("key", key),
    TEXT("path", path),
    INT("registers", registers),
    INT("smem_static_bytes", smem_static_bytes),
    INT("spill_bytes", spill_bytes),
    REAL("compile_ms", compile_ms),
    BOOL("cached", cached),
    END};
#undef RECORD

#define RECORD nt_samples
static const nt_json_field samples_fields[] = {
    INT("launches_per_sample", launches_per_sample),
    {"sample_ns", &nt_json_kind_reals, 0, 0, true, NULL, 0},
    END};
#undef RECORD

#define RECORD nt_trial
static const nt_json_field trial_fields[] = {
    INT("trial", id),
    INT("run", run_id),
    PROBLEM_ROWS(problem.),
    TEXT_NEEDED("kernel", kernel),
    TEXT("source_hash", source_hash),
    OTHER("params", params_json, object),
    BOOL("vendor", vendor),
    TEXT("rule", rule),
    ENUM("outcome", outcome, name_of_outcome, NT_OUTCOME_COUNT),
    TEXT("reason", reason),
    REAL("time_ns", time_ns),
    REAL("time_lo_ns", time_lo_ns),
    REAL("time_hi_ns", time_hi_ns),
    REAL("probe_ns", probe_ns),
    REAL("floor_ns", floor_ns),
    OTHER("samples", samples, count),
    BOOL("converged", converged),
    BOOL("reused", reused),
    ENUM("cache", cache, name_of_cache, NT_HOT + 1),
    REAL("error_impl", error_impl),
    REAL("error_prec", error_prec),
    INT("registers", artefact.registers),
    INT("smem_bytes", smem_bytes),
    INT("smem_static_bytes", artefact.smem_static_bytes),
    INT("spill_bytes", artefact.spill_bytes),
    INT("threads_per_block", threads_per_block),
    INT("grid_blocks", grid_blocks),
    REAL("occupancy_limit_pct", occupancy_limit_pct),
    TEXT("occupancy_limiter", occupancy_limiter),
    REAL("sm_clock_mhz", conditions.sm_clock_mhz),
    REAL("temperature_c", conditions.temperature_c),
    REAL("power_mw", conditions.power_mw),
    REAL("energy_mj", conditions.energy_mj),
    INT("throttle_mask", conditions.throttle_mask),
    REAL("prepare_ns", prepare_ns),
    REAL("compile_ms", compile_ms),
    REAL("verify_ms", verify_ms),
    REAL("measure_ms", measure_ms),
    TEXT("artefact_key", artefact.key),
    TEXT("artefact_path", artefact.path),
    REAL("artefact_compile_ms", artefact.compile_ms),
    BOOL("artefact_cached", artefact.cached),
    INT("launches_per_sample", samples.launches_per_sample),
    OTHER("sample_ns", samples, reals),
    END};
#undef RECORD

#define RECORD nt_run
static const nt_json_field run_fields[] = {
    INT("run", id),
    OTHER("command", command, owned),
    OTHER("options", options_json, object),
    TEXT("nntune_version", nntune_version),
    OTHER("seed", seed, seed),
    TEXT("strategy", strategy),
    TEXT("host", host),
    REAL("started_unix_s", started_unix_s),
    REAL("ended_unix_s", ended_unix_s),
    TEXT("state", state),
    REAL("compile_s", compile_s),
    REAL("verify_s", verify_s),
    REAL("measure_s", measure_s),
    REAL("idle_s", idle_s),
    REAL("total_s", total_s),
    END};
#undef RECORD

#define RECORD nt_error
static const nt_json_field error_fields[] = {
    ENUM("status", status, name_of_status, NT_STATUS_COUNT),
    TEXT("what", what),
    TEXT("hint", hint),
    END};
#undef RECORD

/* clang-format on */

/* ---- problems, artefacts, samples, errors ----------------------------------------------------------------------- */

json_t *nt_json_problem(const nt_problem *problem)
{
    return nt_json_write(problem_fields, problem);
}

static nt_status check_batch(const char *what, const nt_problem *problem, nt_error *err)
{
    if (problem->batch >= 1)
        return NT_OK;
    return nt_fail(err, NT_CORRUPT, "%s: batch is %lld, which is not a whole number from 1", what,
                   (long long)problem->batch);
}

nt_status nt_json_to_problem(const json_t *json, nt_problem *out, nt_error *err)
{
    nt_problem problem = {0};
    nt_status status = nt_json_read("problem", problem_fields, json, &problem, err);
    if (status == NT_OK)
        status = check_batch("problem", &problem, err);
    if (status == NT_OK)
        *out = problem;
    return status;
}

json_t *nt_json_artefact(const nt_artefact *artefact)
{
    return nt_json_write(artefact_fields, artefact);
}

nt_status nt_json_to_artefact(const json_t *json, nt_artefact *out, nt_error *err)
{
    nt_trial unknown;
    nt_trial_init(&unknown);
    *out = unknown.artefact;
    return nt_json_read("artefact", artefact_fields, json, out, err);
}

json_t *nt_json_samples(const nt_samples *samples)
{
    return nt_json_write(samples_fields, samples);
}

nt_status nt_json_to_samples(const json_t *json, nt_samples *out, nt_error *err)
{
    *out = (nt_samples){.launches_per_sample = NT_UNKNOWN};
    nt_status status = nt_json_read("samples", samples_fields, json, out, err);
    if (status != NT_OK)
        nt_samples_done(out);
    return status;
}

json_t *nt_json_error(const nt_error *error)
{
    return nt_json_write(error_fields, error);
}

nt_status nt_json_to_error(const json_t *json, nt_error *out, nt_error *err)
{
    *out = (nt_error){0};
    return nt_json_read("error", error_fields, json, out, err);
}

/* ---- devices, trials, runs -------------------------------------------------------------------------------------- */

/* The peak rows get their keys from the precision table, which is the only place that names precisions. */
static void peak_fields(nt_json_field fields[NT_PRECISION_COUNT + 1])
{
    memcpy(fields, peak_rows, sizeof peak_rows);
    for (int i = 0; i < NT_PRECISION_COUNT; i++)
        fields[i].key = nt_precisions[i].name;
    fields[NT_PRECISION_COUNT] = (nt_json_field)END;
}

#define RECORD nt_vendor_library
static const nt_json_field library_fields[] = {TEXT("version", version), TEXT("missing", missing), END};
#undef RECORD

/* Libraries that were looked for, by name. */
static json_t *json_libraries(const nt_device_info *device)
{
    json_t *json = json_object();
    for (int i = 1; i < NT_VENDOR_COUNT; i++)
        if (device->library[i].version[0] != '\0' || device->library[i].missing[0] != '\0')
            json_object_set_new(json, nt_vendor_name((nt_vendor)i), nt_json_write(library_fields, &device->library[i]));
    return json;
}

static nt_status read_libraries(const json_t *json, nt_device_info *out, nt_error *err)
{
    nt_status status = NT_OK;
    for (int i = 1; i < NT_VENDOR_COUNT && status == NT_OK; i++) {
        const json_t *library = json_object_get(json, nt_vendor_name((nt_vendor)i));
        if (library != NULL)
            status = nt_json_read("library", library_fields, library, &out->library[i], err);
    }
    return status;
}

json_t *nt_json_device(const nt_device_info *device)
{
    nt_json_field peaks[NT_PRECISION_COUNT + 1];
    peak_fields(peaks);
    json_t *json = nt_json_write(device_fields, device);
    json_object_set_new(json, "ordinal", json_integer(device->ordinal));
    json_object_set_new(json, "peak_flops", nt_json_write(peaks, device));
    json_t *libraries = json_libraries(device);
    if (json_object_size(libraries) > 0)
        json_object_set(json, "libraries", libraries);
    json_decref(libraries);
    return json;
}

nt_status nt_json_to_device(const json_t *json, nt_device_info *out, nt_error *err)
{
    nt_device_info_init(out, NT_DEVICE_CPU);
    nt_status status = nt_json_read("device", device_fields, json, out, err);
    const json_t *ordinal = json_object_get(json, "ordinal"), *flops = json_object_get(json, "peak_flops");
    if (status == NT_OK && ordinal != NULL && !json_is_integer(ordinal))
        status = nt_fail(err, NT_CORRUPT, "device: ordinal is not a whole number");
    out->ordinal = (int)json_integer_value(ordinal);
    if (status == NT_OK)
        status = read_libraries(json_object_get(json, "libraries"), out, err);
    if (status == NT_OK && flops != NULL) {
        nt_json_field peaks[NT_PRECISION_COUNT + 1];
        peak_fields(peaks);
        status = nt_json_read("device: peak_flops", peaks, flops, out, err);
    }
    return status;
}

json_t *nt_json_trial(const nt_trial *trial)
{
    return nt_json_write(trial_fields, trial);
}

nt_status nt_json_to_trial(const json_t *json, nt_trial *out, nt_error *err)
{
    nt_trial_init(out);
    nt_status status = nt_json_read("trial", trial_fields, json, out, err);
    if (status == NT_OK)
        status = check_batch("trial", &out->problem, err);
    if (status != NT_OK)
        nt_trial_done(out);
    return status;
}

json_t *nt_json_run(const nt_run *run)
{
    json_t *json = nt_json_write(run_fields, run);
    json_object_set_new(json, "device", nt_json_device(&run->device));
    return json;
}

nt_status nt_json_to_run(const json_t *json, nt_run *out, nt_error *err)
{
    nt_run_init(out);
    nt_status status = nt_json_read("run", run_fields, json, out, err);
    const json_t *device = json_object_get(json, "device");
    if (status == NT_OK && device != NULL)
        status = nt_json_to_device(device, &out->device, err);
    if (status != NT_OK)
        nt_run_done(out);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static const nt_json_kind *kind_of_column(const char *name)
{
    for (const nt_json_field *field = trial_fields; field->key != NULL; field++)
        if (strcmp(field->key, name) == 0)
            return field->kind;
    return NULL;
}

static json_t *cell_json(const char *name, const nt_cell *cell)
{
    const nt_json_kind *kind = kind_of_column(name);
    if (cell->kind == NT_CELL_INT)
        return kind == &nt_json_kind_bool ? json_boolean(cell->i != 0) : json_integer(cell->i);
    if (cell->kind == NT_CELL_REAL)
        return nt_json_real(cell->r);
    json_t *json = NULL;
    if (cell->kind == NT_CELL_TEXT)
        json = kind == &nt_json_kind_object ? json_loads(cell->text, 0, NULL) : NULL;
    if (cell->kind == NT_CELL_TEXT && json == NULL)
        json = nt_json_text(cell->text);
    return json != NULL ? json : json_null();
}

json_t *nt_json_row(const nt_row *row)
{
    json_t *object = json_object();
    for (int i = 0; i < row->count; i++)
        json_object_set_new(object, row->name[i], cell_json(row->name[i], &row->cell[i]));
    return object;
}
