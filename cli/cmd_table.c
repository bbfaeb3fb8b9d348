/* cmd_table.c: `nntune table build|check|lookup|merge`: deployment tables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/color.h"
#include "cli/database.h"
#include "cli/deploy.h"
#include "cli/deploy_check.h"
#include "cli/layer_argument.h"
#include "cli/output.h"
#include "cli/present.h"
#include "cli/table.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/paths.h"

static const char *const formats[] = {"json", "header", "bundle", NULL};
static const char *const precisions[] = {"fp32", "tf32",        "fp16",        "bf16",        "int8",
                                         "fp8",  "fp16_sparse", "bf16_sparse", "int8_sparse", NULL};
static const char *const layouts[] = {"nhwc", "nchw", NULL};

static const nt_option rows[] = {
    {.name = "output",
     .letter = 'o',
     .kind = NT_OPTION_TEXT,
     .argument = "FILE",
     .help = "build, merge: the table to write"},
    {.name = "format",
     .kind = NT_OPTION_CHOICE,
     .argument = "FORM",
     .choices = formats,
     .help = "build, merge: json, header (C) or bundle (with code, for libnntune); default by the name: .json, .h, "
             "else bundle"},
    {.name = "name",
     .kind = NT_OPTION_TEXT,
     .argument = "PREFIX",
     .help = "build, merge: what identifiers of a C header begin with (default nntune_table)"},
    {.name = "device",
     .kind = NT_OPTION_TEXT,
     .argument = "NAME",
     .help = "build: only winners on this device, its name, UUID or kind; check: cpu, cuda or cuda:N (default: as in "
             "the table)"},
    {.name = "default",
     .kind = NT_OPTION_TEXT,
     .argument = "NAME",
     .help = "build: this device's configurations serve every device of its kind that has none"},
    {.name = "run",
     .kind = NT_OPTION_INTEGER_LIST,
     .argument = "ID,..",
     .min = 1,
     .max = INT64_MAX,
     .help = "build: only winners of these runs"},
    {.name = "no-code", .kind = NT_OPTION_FLAG, .help = "build: leave compiled code out of a bundle"},
    {.name = "shape",
     .kind = NT_OPTION_TEXT,
     .argument = "SHAPE",
     .help = "lookup: as for sweep (default: the layer's first)"},
    {.name = "batch",
     .kind = NT_OPTION_INTEGER,
     .argument = "N",
     .min = 1,
     .max = INT32_MAX,
     .help = "lookup: batch size (default 1)"},
    {.name = "precision",
     .kind = NT_OPTION_CHOICE,
     .argument = "P",
     .choices = precisions,
     .help = "lookup: fp32, tf32, fp16, bf16, int8, fp8, fp16_sparse, bf16_sparse, int8_sparse (default fp32)"},
    {.name = "layout",
     .kind = NT_OPTION_CHOICE,
     .argument = "L",
     .choices = layouts,
     .help = "lookup: nhwc, nchw (default nhwc)"},
    {.name = "as",
     .kind = NT_OPTION_TEXT,
     .argument = "NAME",
     .help = "lookup: answer for this device of the table instead of the present one"},
    {.name = "accept-stale", .kind = NT_OPTION_FLAG, .help = "lookup: serve entries measured with another driver"},
    {.name = "threshold",
     .kind = NT_OPTION_REAL,
     .argument = "PCT",
     .min_real = 0,
     .max_real = 1000,
     .help = "check: an entry no longer holds when it is surely slower than promised by more than this (default 5)"},
    {.name = "wait", .kind = NT_OPTION_FLAG, .help = "check: wait while a sweep holds the device"},
    {.name = NULL},
};

/* ---- writing --------------------------------------------------------------------------------------------------------- */

static int format_of(const nt_args *args, const char *path)
{
    const char *dot = strrchr(path, '.');
    int otherwise = dot != NULL && strcmp(dot, ".json") == 0 ? 0 : dot != NULL && strcmp(dot, ".h") == 0 ? 1 : 2;
    return (int)nt_args_integer(args, "format", otherwise);
}

static nt_status write_bytes(const char *path, const void *data, size_t bytes, nt_error *err)
{
    if (strcmp(path, "-") != 0)
        return nt_write_file(path, data, bytes, err);
    return fwrite(data, 1, bytes, stdout) == bytes ? NT_OK : nt_fail(err, NT_IO, "stdout cannot be written");
}

static nt_status write_table(const nt_args *args, const nt_deploy *table, nt_error *err)
{
    const char *path = nt_args_text(args, "output", "-");
    int format = format_of(args, path);
    void *data = NULL;
    size_t bytes = 0;
    nt_str text = {0};
    nt_status status = NT_OK;
    if (format == 2)
        status = nt_deploy_bundle(table, &data, &bytes, err);
    else if (format == 1)
        status = nt_deploy_header(table, nt_args_text(args, "name", "nntune_table"), &text, err);
    else {
        char *json = nt_deploy_json(table);
        nt_str_addf(&text, "%s\n", json);
        free(json);
    }
    if (status == NT_OK)
        status = write_bytes(path, format == 2 ? data : nt_str_text(&text), format == 2 ? bytes : text.length, err);
    free(data);
    nt_str_done(&text);
    return status;
}

static nt_status need_output(const nt_args *args, nt_error *err)
{
    if (nt_args_get(args, "output") != NULL)
        return NT_OK;
    nt_fail(err, NT_USAGE, "the table needs a name");
    return nt_hint(err, "-o FILE: FILE.json, FILE.h (a C header) or any other name for a bundle; '-o -' is stdout");
}

/* ---- build ----------------------------------------------------------------------------------------------------------- */

static json_t *regret_json(const nt_regret *r)
{
    json_t *json = json_object();
    json_object_set_new(json, "layer", json_string(r->layer));
    json_object_set_new(json, "precision", json_string(nt_precisions[r->precision].name));
    json_object_set_new(json, "left_out", json_string(r->whole_shape ? "shape" : "batch"));
    json_object_set_new(json, "entries", json_integer(r->tried));
    json_object_set_new(json, "measured", json_integer(r->known));
    json_object_set_new(json, "mean_pct", nt_json_real(r->mean * 100));
    json_object_set_new(json, "upper_pct", nt_json_real(r->upper * 100));
    json_object_set_new(json, "p90_pct", nt_json_real(r->p90 * 100));
    json_object_set_new(json, "most_pct", nt_json_real(r->most * 100));
    return json;
}

static json_t *gaps_json(const nt_deploy_tally *tally)
{
    json_t *list = json_array();
    for (int i = 0; i < tally->gaps; i++)
        json_array_append_new(
            list, json_pack("{ss sI}", "reason", tally->gap[i].reason, "entries", (json_int_t)tally->gap[i].entries));
    return list;
}

static void show_built(const nt_args *args, const nt_deploy *table, const nt_deploy_tally *tally,
                       const nt_regret *regret, size_t regrets)
{
    size_t ranges = 0;
    int64_t lo, hi;
    const char *path = nt_args_text(args, "output", "-");
    for (size_t i = 0; i < table->entry_count; ranges++)
        i = nt_deploy_range(table, i, &lo, &hi);
    if (nt_args_flag(args, "json")) {
        json_t *document = nt_output_document("table_built"), *list = json_array();
        json_object_set_new(document, "file", json_string(path));
        json_object_set_new(document, "entries", json_integer((json_int_t)table->entry_count));
        json_object_set_new(document, "ranges", json_integer((json_int_t)ranges));
        json_object_set_new(document, "devices", json_integer((json_int_t)table->device_count));
        json_object_set_new(document, "without_code", json_integer(tally->without_code));
        json_object_set_new(document, "gaps", gaps_json(tally));
        for (size_t i = 0; i < regrets; i++)
            json_array_append_new(list, regret_json(&regret[i]));
        json_object_set_new(document, "regret", list);
        nt_output_json(document);
        return;
    }
    printf("%s: %zu entries in %zu batch ranges for %zu device%s", path, table->entry_count, ranges,
           table->device_count, table->device_count == 1 ? "" : "s");
    printf(tally->without_code > 0 ? ", %lld of them without code\n" : "\n", (long long)tally->without_code);
    for (int i = 0; i < tally->gaps; i++)
        printf("  %lld cannot be launched: %s\n", (long long)tally->gap[i].entries, tally->gap[i].reason);
    nt_table *shown = nt_table_new(
        "expected loss where the table has no entry|>left out|>measured|>mean|>mean at most|>90 % below|>most");
    for (size_t i = 0; i < regrets; i++) {
        nt_table_cell(shown, "%s %s, %s", regret[i].layer, nt_precisions[regret[i].precision].name,
                      regret[i].whole_shape ? "another shape" : "another batch");
        nt_table_cell(shown, "%lld", (long long)regret[i].tried);
        nt_table_cell(shown, "%lld", (long long)regret[i].known);
        nt_table_cell(shown, "%s", nt_text_pct(regret[i].mean * 100).s);
        nt_table_cell(shown, "%s", nt_text_pct(regret[i].upper * 100).s);
        nt_table_cell(shown, "%s", nt_text_pct(regret[i].p90 * 100).s);
        nt_table_cell(shown, "%s", nt_text_pct(regret[i].most * 100).s);
    }
    if (regrets > 0)
        nt_table_print(shown, stdout, nt_color_wanted(args, stdout));
    nt_table_free(shown);
}

/* A default that no device is would serve nobody. */
static nt_status check_default(const char *wanted, const nt_deploy *table, const nt_deploy_tally *tally, nt_error *err)
{
    bool found = wanted == NULL;
    for (size_t i = 0; i < table->device_count; i++)
        found = found || table->device[i].is_default;
    return found ? NT_OK
                 : nt_fail(err, NT_USAGE, "--default: the table has no device '%s'; it has %s", wanted,
                           nt_str_text(&tally->devices));
}

static nt_status build(const nt_args *args, int *exit_code, nt_error *err)
{
    char path[NT_PATH_BYTES];
    const nt_layer *layer = NULL;
    const nt_given *runs = nt_args_get(args, "run");
    nt_reader *reader = NULL;
    nt_deploy table = {0};
    nt_deploy_tally tally = {0};
    nt_regret *regret = NULL;
    size_t regrets = 0;
    (void)exit_code;
    nt_deploy_request request = {.layer = nt_args_positional(args, 1),
                                 .device = nt_args_text(args, "device", NULL),
                                 .dflt = nt_args_text(args, "default", NULL),
                                 .run = runs != NULL ? runs->integer : NULL,
                                 .run_count = runs != NULL ? runs->count : 0,
                                 .with_code = !nt_args_flag(args, "no-code")};
    nt_status status = need_output(args, err);
    if (status == NT_OK && request.layer != NULL)
        status = nt_layer_argument(request.layer, &layer, err);
    if (status == NT_OK)
        status = nt_database_read(args, path, &reader, err);
    if (status != NT_OK)
        return status;
    status = nt_deploy_build(reader, &request, &table, &tally, err);
    reader->close(reader);
    if (status == NT_OK)
        status = check_default(request.dflt, &table, &tally, err);
    if (status == NT_OK)
        status = nt_deploy_regret(&table, &regret, &regrets, err);
    if (status == NT_OK)
        status = write_table(args, &table, err);
    if (status == NT_OK && strcmp(nt_args_text(args, "output", "-"), "-") != 0)
        show_built(args, &table, &tally, regret, regrets);
    free(regret);
    nt_str_done(&tally.devices);
    nt_deploy_done(&table);
    return status;
}

/* ---- merge ----------------------------------------------------------------------------------------------------------- */

static nt_status merge(const nt_args *args, int *exit_code, nt_error *err)
{
    nt_deploy all = {0}, one;
    size_t replaced = 0;
    int count = nt_args_positional_count(args) - 1;
    nt_status status = need_output(args, err);
    (void)exit_code;
    if (status == NT_OK && count < 1)
        status = nt_fail(err, NT_USAGE, "no table to merge is named: nntune table merge A.json B.ntb -o C.ntb");
    for (int i = 1; status == NT_OK && i <= count; i++) {
        status = nt_deploy_read(nt_args_positional(args, i), &one, err);
        if (status != NT_OK)
            break;
        replaced += nt_deploy_merge(&all, &one);
        nt_deploy_done(&one);
    }
    if (status == NT_OK)
        status = write_table(args, &all, err);
    if (status == NT_OK && strcmp(nt_args_text(args, "output", "-"), "-") != 0) {
        if (nt_args_flag(args, "json")) {
            json_t *document = nt_output_document("table_merged");
            json_object_set_new(document, "file", json_string(nt_args_text(args, "output", "-")));
            json_object_set_new(document, "entries", json_integer((json_int_t)all.entry_count));
            json_object_set_new(document, "replaced", json_integer((json_int_t)replaced));
            nt_output_json(document);
        } else
            printf("%s: %zu entries of %d table%s, %zu replaced by later ones\n", nt_args_text(args, "output", "-"),
                   all.entry_count, count, count == 1 ? "" : "s", replaced);
    }
    nt_deploy_done(&all);
    return status;
}

/* ---- lookup ---------------------------------------------------------------------------------------------------------- */

static nt_status as_device(const nt_deploy *table, const char *name, nntune_device *out, nt_error *err)
{
    nt_str names = {0};
    for (size_t i = 0; i < table->device_count; i++) {
        const nt_deploy_device *d = &table->device[i];
        nt_str_addf(&names, "%s'%s'", i > 0 ? ", " : "", d->name);
        if (strcmp(d->name, name) != 0 && strcmp(d->uuid, name) != 0 && strcmp(nt_device_kind_name(d->kind), name) != 0)
            continue;
        *out = (nntune_device){.kind = d->kind == NT_DEVICE_CUDA ? NNTUNE_CUDA : NNTUNE_CPU, .sm_count = d->sm_count};
        nt_copy(out->name, sizeof out->name, d->name);
        nt_copy(out->arch, sizeof out->arch, d->arch);
        nt_str_done(&names);
        return NT_OK;
    }
    nt_fail(err, NT_USAGE, "--as: the table has no device '%s'; it has %s", name, nt_str_text(&names));
    nt_str_done(&names);
    return NT_USAGE;
}

static nt_status asked_problem(const nt_args *args, nt_problem *out, nt_error *err)
{
    const char *name = nt_args_positional(args, 2);
    const nt_layer *layer = NULL;
    if (name == NULL) {
        nt_fail(err, NT_USAGE, "a layer is missing");
        return nt_hint(err, "nntune table lookup FILE conv3x3 --shape 64x56x56 --batch 8 --precision fp16");
    }
    nt_status status = nt_layer_argument(name, &layer, err);
    if (status != NT_OK)
        return status;
    *out = (nt_problem){.batch = nt_args_integer(args, "batch", 1),
                        .precision = (nt_precision)nt_args_integer(args, "precision", NT_FP32),
                        .layout = (nt_layout)nt_args_integer(args, "layout", NT_NHWC)};
    nt_copy(out->layer, sizeof out->layer, name);
    return layer->parse_shape(nt_args_text(args, "shape", layer->shapes[0].name), &out->shape, err);
}

static void show_result_json(const nt_problem *problem, const nntune_result *r, const char *reason)
{
    static const char *const matches[] = {"exact", "batch", "shape"}, *const tiers[] = {"device", "architecture",
                                                                                        "default"};
    json_t *document = nt_output_document("table_lookup"), *params = NULL, *sizes = json_array();
    json_object_set_new(document, "problem", nt_json_problem(problem));
    json_object_set_new(document, "match", json_string(matches[r->match]));
    json_object_set_new(document, "tier", json_string(tiers[r->tier]));
    json_object_set_new(document, "reason", json_string(reason));
    json_object_set_new(document, "stale", json_boolean(r->stale));
    json_object_set_new(document, "kernel", json_string(r->kernel));
    json_object_set_new(document, "params", nt_json_parse(r->params, &params, NULL) == NT_OK ? params : json_null());
    for (int i = 0; i < r->size_count; i++)
        json_array_append_new(sizes, json_integer(r->size[i]));
    json_object_set_new(document, "entry_sizes", sizes);
    json_object_set_new(document, "entry_batch", json_integer(r->batch));
    json_object_set_new(document, "time_ns", nt_json_real(r->time_ns));
    json_object_set_new(document, "expected_ns", nt_json_real(r->expected_ns));
    json_object_set_new(document, "error_prec", nt_json_real(r->error_prec));
    json_object_set_new(document, "device", json_string(r->device));
    json_object_set_new(document, "driver", nt_json_text(r->driver));
    json_object_set_new(document, "compiler", nt_json_text(r->compiler));
    json_object_set_new(document, "source_hash", nt_json_text(r->source_hash));
    nt_output_json(document);
}

static void show_result(const nt_args *args, const nt_problem *problem, const nntune_result *r, const char *reason)
{
    nt_str text = {0}, params = {0};
    if (nt_args_flag(args, "json")) {
        show_result_json(problem, r, reason);
        return;
    }
    nt_present_problem(&text, problem, NT_COLD);
    nt_present_params(&params, r->params);
    printf("%s: %s %s\n", nt_str_text(&text), r->kernel, nt_str_text(&params));
    printf("expected     %s; the entry was measured at %s\n", nt_text_time_ns(r->expected_ns).s,
           nt_text_time_ns(r->time_ns).s);
    printf("why          %s\n", reason);
    printf("measured     on %s, %s, %s\n", r->device, r->driver, r->compiler);
    nt_str_done(&text);
    nt_str_done(&params);
}

static nt_status look_up(const nt_args *args, nntune_table *open, const nt_problem *problem, nt_error *err)
{
    static const nt_status statuses[] = {NT_OK,    NT_NOT_FOUND, NT_CORRUPT,   NT_NO_DEVICE, NT_REGRESSION,
                                         NT_USAGE, NT_NO_DEVICE, NT_NOT_FOUND, NT_FAILED};
    char reason[NNTUNE_WHY_BYTES];
    int64_t sizes[NT_MAX_DIMS];
    nntune_query query;
    nntune_result result;
    nt_deploy_query(problem, sizes, &query);
    nntune_status found = nntune_lookup(open, &query, &result);
    nntune_explain(open, &query, found, &result, reason, sizeof reason);
    if (found != NNTUNE_OK)
        return nt_fail(err, statuses[found], "%s: %s", nt_args_positional(args, 1), reason);
    show_result(args, problem, &result, reason);
    return NT_OK;
}

static nt_status lookup(const nt_args *args, int *exit_code, nt_error *err)
{
    nt_deploy table = {0};
    nt_problem problem;
    nntune_device device;
    nntune_table *open = NULL;
    const char *path = nt_args_positional(args, 1), *as = nt_args_text(args, "as", NULL);
    (void)exit_code;
    if (path == NULL)
        return nt_fail(err, NT_USAGE, "no table is named: nntune table lookup FILE LAYER");
    nt_status status = asked_problem(args, &problem, err);
    if (status == NT_OK)
        status = nt_deploy_read(path, &table, err);
    if (status == NT_OK && as != NULL)
        status = as_device(&table, as, &device, err);
    if (status == NT_OK) {
        table.lean = true;
        status = nt_deploy_open(&table, as != NULL ? &device : NULL,
                                nt_args_flag(args, "accept-stale") ? NNTUNE_ACCEPT_STALE : 0, &open, err);
    }
    if (status == NT_OK)
        status = look_up(args, open, &problem, err);
    nntune_table_close(open);
    nt_deploy_done(&table);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    nt_status (*run)(const nt_args *args, int *exit_code, nt_error *err);
} verbs[] = {{"build", build}, {"check", nt_deploy_check}, {"lookup", lookup}, {"merge", merge}};

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    static const char *const names[] = {"build", "check", "lookup", "merge"};
    const char *verb = nt_args_positional(args, 0);
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (strcmp(verbs[i].name, verb) == 0)
            return verbs[i].run(args, exit_code, err);
    int near = nt_nearest(verb, names, 4);
    nt_fail(err, NT_USAGE, "'nntune table' cannot %s; it can build, check, lookup and merge", verb);
    return near >= 0 ? nt_hint(err, "did you mean '%s'?", names[near]) : NT_USAGE;
}

const nt_command nt_command_table = {
    .name = "table",
    .group = "Deploy",
    .summary = "make and use tables of the best configurations for inference programs",
    .usage = "build|check|lookup|merge [ARGUMENT]..",
    .example = "nntune table build conv3x3 -o conv.ntb\n"
               "nntune table lookup conv.ntb conv3x3 --shape 64x56x56 --batch 12\n"
               "nntune table check conv.ntb\n"
               "nntune table merge conv.ntb fc.json -o all.ntb",
    .description =
        "'build [LAYER]' writes the winners of a database as JSON, a C header or a bundle with their compiled code, "
        "and prints what the table is expected to lose where it has no entry. 'lookup FILE LAYER' answers as "
        "libnntune would, with the reason. 'check FILE' measures each entry again and ends with exit code 5 when "
        "some no longer hold. 'merge FILE..' joins tables; of equal problems and devices the later stays.",
    .options = rows,
    .uses = NT_USES_JSON | NT_USES_DB | NT_USES_QUIET | NT_USES_PROGRESS | NT_USES_WARNINGS | NT_USES_COLOR,
    .least_positional = 1,
    .most_positional = 32,
    .run = run,
};
