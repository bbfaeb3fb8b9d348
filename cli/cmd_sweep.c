/* cmd_sweep.c: `nntune sweep LAYER`: the front door. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/spec.h"
#include "autotune/strategy.h"
#include "cli/cmd.h"
#include "cli/database.h"
#include "cli/misses.h"
#include "cli/output.h"
#include "cli/present.h"
#include "cli/sweep_fleet.h"
#include "cli/sweep_options.h"
#include "cli/sweep_view.h"
#include "cli/warm_start.h"
#include "cli/warn.h"
#include "core/json.h"
#include "core/units.h"
#include "db/db.h"
#include "device/device.h"
#include "kernels/kernel.h"

/* ---- --dry-run ------------------------------------------------------------------------------------------------------- */

static void print_rejections(const nt_space *space)
{
    for (int i = 0; i < nt_space_rejection_count(space); i++) {
        nt_space_rejection r = nt_space_rejection_of(space, i);
        if (r.pruned > 0)
            printf("    pruned %lld by %s%s%s\n", (long long)r.pruned, r.expression, r.why != NULL ? ": " : "",
                   r.why != NULL ? r.why : "");
    }
}

static json_t *dry_json(const nt_dry_unit *unit)
{
    json_t *object = nt_json_problem(&unit->problem), *pruned = json_array();
    json_object_set_new(object, "cache", json_string(nt_cache_mode_name(unit->cache)));
    json_object_set_new(object, "kernel", json_string(unit->kernel));
    json_object_set_new(object, "combinations", nt_json_real(unit->total));
    json_object_set_new(object, "legal", nt_json_real(unit->legal));
    for (int i = 0; i < nt_space_rejection_count(unit->space); i++) {
        nt_space_rejection r = nt_space_rejection_of(unit->space, i);
        json_array_append_new(pruned, json_pack("{s:s, s:s?, s:I}", "constraint", r.expression, "why", r.why, "pruned",
                                                (json_int_t)r.pruned));
    }
    json_object_set_new(object, "pruned_by", pruned);
    return object;
}

static void print_dry(const nt_dry_unit *unit, int count, const nt_device_info *device)
{
    printf("on %s\n", device->name);
    for (int i = 0; i < count; i++) {
        nt_str problem = {0};
        nt_present_problem(&problem, &unit[i].problem, unit[i].cache);
        printf("%s, kernel %s: %s legal of %s combinations\n", nt_str_text(&problem), unit[i].kernel,
               nt_text_count(unit[i].legal).s, nt_text_count(unit[i].total).s);
        print_rejections(unit[i].space);
        nt_str_done(&problem);
    }
}

static nt_status dry_run(const nt_args *args, const nt_sweep_options *options, nt_error *err)
{
    nt_device_info device = {0};
    nt_dry_unit *units;
    int count;
    nt_status status = nt_sweep_identify_for(options, &device, err);
    if (status == NT_OK)
        status = nt_sweep_dry_run(options, &device, &units, &count, err);
    if (status != NT_OK)
        return status;
    if (nt_args_flag(args, "json")) {
        json_t *list = json_array();
        for (int i = 0; i < count; i++)
            json_array_append_new(list, dry_json(&units[i]));
        json_t *document = nt_output_document("dry_run");
        json_object_set_new(document, "device", nt_json_device(&device));
        json_object_set_new(document, "spaces", list);
        nt_output_json(document);
    } else {
        print_dry(units, count, &device);
    }
    nt_sweep_dry_free(units, count);
    return NT_OK;
}

/* ---- run ---------------------------------------------------------------------------------------------------------------- */

static void print_resume(const nt_args *args, const nt_sweep_options *options)
{
    bool given = nt_args_flag(args, "resume");
    if (!nt_args_flag(args, "quiet"))
        fprintf(stderr, "interrupted; everything measured is kept. Go on with:\n  %s%s\n", options->command,
                given ? "" : " --resume");
}

/* Reads what --warm-start asks for. */
static nt_status warm_up(const nt_args *args, nt_sweep_options *options, const char *path, nt_warm_start *warm,
                         nt_error *err)
{
    options->cold_units = options->warm_from != NULL && strcmp(options->warm_from, "none") == 0;
    if (options->warm_from == NULL || options->cold_units)
        return NT_OK;
    nt_status status = nt_warm_start_read(options->warm_from, path, options->layer, warm, err);
    options->warm = warm;
    if (status == NT_OK && warm->count == 0)
        nt_warn(args, "cold-start",
                "--warm-start %s: no earlier run of %s there has a right trial; the search begins cold",
                options->warm_from, options->layer);
    return status;
}

static nt_status sweep_into(const nt_args *args, nt_sweep_options *options, const char *path, int *exit_code,
                            nt_error *err)
{
    nt_sink *sink = NULL;
    nt_warm_start warm = {0};
    nt_status status = warm_up(args, options, path, &warm, err);
    if (status == NT_OK)
        status = nt_db_sink_open(path, &sink, err);
    if (status != NT_OK) {
        nt_warm_start_done(&warm);
        return status;
    }
    nt_sweep_view *view = nt_sweep_view_open(args, path, options->resume);
    nt_sweep_events events = nt_sweep_view_events(view);
    nt_sweep_result result;
    status = nt_sweep_run(options, sink, &events, &result, err);
    nt_sweep_view_finish(view, &result, status, err);
    if (status == NT_OK && result.interrupted_by != 0) {
        print_resume(args, options);
        *exit_code = 128 + result.interrupted_by;
    }
    nt_sweep_view_close(view);
    nt_sweep_result_done(&result);
    nt_sink_close(sink);
    nt_warm_start_done(&warm);
    return status;
}

/* Without --device: the first NVIDIA GPU, otherwise the cpu, saying why. */
static nt_status choose_device(const nt_args *args, nt_sweep_options *options, nt_error *err)
{
    const char *given = nt_args_text(args, "device", NULL);
    const nt_spec *spec = nt_spec_of(options->layer);
    if (given != NULL && nt_fleet_asked(given)) /* of which one was found: as if nothing were said */
        given = NULL;
    if (given != NULL) {
        nt_status status = nt_device_parse(given, &options->device, &options->ordinal, err);
        if (status == NT_OK && spec != NULL && options->device != spec->device)
            return nt_fail(err, NT_USAGE, "--device %s: the kernels of %s are for the %s device", given, spec->path,
                           nt_device_kind_name(spec->device));
        return status;
    }
    if (spec != NULL) {
        options->device = spec->device;
        return NT_OK;
    }
    nt_device_info info;
    nt_error why = {0};
    options->device = NT_DEVICE_CUDA;
    if (nt_sweep_identify(NT_DEVICE_CUDA, 0, &info, &why) == NT_OK)
        return NT_OK;
    options->device = NT_DEVICE_CPU;
    if (!nt_args_flag(args, "quiet"))
        fprintf(stderr, "%s; tuning the cpu device\n", why.what);
    return NT_OK;
}

/* Counters are a GPU's: all of them by default there, none elsewhere. */
static void choose_profile(const nt_args *args, nt_sweep_options *options)
{
    const nt_given *given = nt_args_get(args, "profile");
    bool gpu = options->device == NT_DEVICE_CUDA;
    options->profile = given != NULL ? (nt_profile_mode)given->integer[0] : NT_PROFILE_ALL;
    if (!gpu && (given != NULL || options->metric_count > 0) && options->profile != NT_PROFILE_NONE)
        nt_warn(args, "no-counters", "the %s device has no hardware counters; the sweep goes on without",
                nt_device_kind_name(options->device));
    if (!gpu)
        options->profile = NT_PROFILE_NONE;
}

/* Each problem of a log of misses as a run of its own. One that no kernel here serves leaves the others to be tuned,
 * and is the answer at the end. */
static nt_status sweep_misses(const nt_args *args, nt_sweep_options *options, const char *path, int *exit_code,
                              nt_error *err)
{
    const char *layer = nt_args_positional_count(args) > 0 ? options->layer : NULL;
    nt_problem *problem;
    size_t count;
    nt_status status = nt_misses_read(nt_args_text(args, "from-misses", NULL), layer, &problem, &count, err);
    int before = *exit_code; /* an interrupt sets it */
    nt_error refused = {.status = NT_OK};
    for (size_t i = 0; status == NT_OK && *exit_code == before && i < count; i++) {
        nt_str shape = {0};
        nt_shape_print(&shape, &problem[i].shape);
        options->layer = problem[i].layer;
        options->shape[0] = nt_str_text(&shape);
        options->batch[0] = problem[i].batch;
        options->precision[0] = problem[i].precision;
        options->layout[0] = problem[i].layout;
        options->shape_count = options->batch_count = options->precision_count = options->layout_count = 1;
        status = sweep_into(args, options, path, exit_code, err);
        nt_str_done(&shape);
        if (status == NT_USAGE) {
            refused = refused.status == NT_OK ? *err : refused;
            status = NT_OK;
        }
    }
    free(problem);
    if (status == NT_OK && refused.status != NT_OK) {
        *err = refused;
        status = refused.status;
    }
    return status;
}

/* JSON lines and a screen cannot share a terminal. */
static nt_status check_screen(const nt_args *args, nt_error *err)
{
    if (!nt_args_flag(args, "tui") || !nt_args_flag(args, "json"))
        return NT_OK;
    nt_fail(err, NT_USAGE, "--tui and --json do not go together");
    return nt_hint(err, "let the sweep write JSON, and look at it with `nntune top` in another terminal");
}

/* What the log decides cannot be asked for as well. */
static nt_status check_misses(const nt_args *args, nt_error *err)
{
    static const char *const decided[] = {"spec", "shape", "batch", "precision", "layout", "dry-run"};
    for (size_t i = 0; i < sizeof decided / sizeof decided[0]; i++)
        if (nt_args_get(args, "from-misses") != NULL && nt_args_get(args, decided[i]) != NULL)
            return nt_fail(err, NT_USAGE, "--from-misses and --%s do not go together: the log says what is tuned",
                           decided[i]);
    return NT_OK;
}

/* --device all with one device there is a sweep like any other. */
static nt_status run_fleet(const nt_args *args, const nt_sweep_options *options, bool *done, int *exit_code,
                           nt_error *err)
{
    nt_fleet fleet;
    nt_status status = nt_fleet_find(nt_args_text(args, "device", NULL), &fleet, err);
    *done = fleet.count > 1;
    if (status == NT_OK && *done && nt_args_flag(args, "tui")) {
        nt_fail(err, NT_USAGE, "--tui shows the sweep of one device, and these are %d", fleet.count);
        return nt_hint(err, "look at them with `nntune top` in another terminal, or name one device");
    }
    if (status != NT_OK || !*done)
        return status;
    return nt_fleet_run(&fleet, nt_sweep_jobs(options), nt_args_flag(args, "json"), exit_code, err);
}

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    char path[NT_PATH_BYTES];
    bool done = false;
    nt_sweep_parts parts = {0};
    nt_sweep_options options = {0};
    nt_status status = check_misses(args, err);
    if (status == NT_OK)
        status = check_screen(args, err);
    if (status == NT_OK)
        status = nt_sweep_options_read(args, &options, &parts, err);
    if (status == NT_OK && nt_fleet_asked(nt_args_text(args, "device", NULL)))
        status = run_fleet(args, &options, &done, exit_code, err);
    if (status != NT_OK || done) {
        nt_sweep_parts_done(&parts);
        return status;
    }
    status = choose_device(args, &options, err);
    if (status == NT_OK)
        choose_profile(args, &options);
    if (status == NT_OK && nt_args_flag(args, "dry-run"))
        status = dry_run(args, &options, err);
    else if (status == NT_OK) {
        status = nt_database_path(args, path, err);
        if (status == NT_OK)
            status = (nt_args_get(args, "from-misses") != NULL ? sweep_misses : sweep_into)(args, &options, path,
                                                                                            exit_code, err);
    }
    nt_sweep_parts_done(&parts);
    return status;
}

const nt_command nt_command_sweep = {
    .name = "sweep",
    .group = "Tune",
    .summary = "try a layer's kernels and their parameters, verified and timed, into the database",
    .usage = "LAYER | --spec FILE",
    .example = "nntune sweep conv3x3\n"
               "nntune sweep conv3x3 --shape 256x14x14 --batch 1,32 --budget 2m\n"
               "nntune sweep --spec saxpy.json --budget 200",
    .description =
        "Every configuration is verified against an fp64 reference before it is timed; times are medians with "
        "distribution-free intervals; the fastest are measured again in interleaved rounds on fresh inputs. "
        "Ctrl-C finishes the trial in flight and keeps everything; --resume goes on.",
    .options = nt_sweep_option_rows,
    .uses = NT_USES_JSON | NT_USES_DB | NT_USES_QUIET | NT_USES_PROGRESS | NT_USES_WARNINGS | NT_USES_COLOR,
    .least_positional = 0,
    .most_positional = 1,
    .run = run,
};
