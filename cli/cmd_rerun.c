/* cmd_rerun.c: `nntune rerun TRIAL`: one stored configuration again, as a new run of one trial, beside what it took
 * before. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/command_line.h"
#include "cli/database.h"
#include "cli/row.h"
#include "cli/stored_spec.h"
#include "cli/sweep_view.h"
#include "cli/warn.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/units.h"
#include "db/db.h"
#include "device/device.h"

static const nt_option rows[] = {
    {.name = "device",
     .kind = NT_OPTION_TEXT,
     .argument = "DEVICE",
     .help = "cpu, cuda or cuda:N (default: the kind it ran on)"},
    {.name = "seed",
     .kind = NT_OPTION_INTEGER,
     .argument = "N",
     .min = 0,
     .max = INT64_MAX,
     .help = "seed of the inputs (default 1)"},
    {.name = "wait", .kind = NT_OPTION_FLAG, .help = "wait while a sweep holds the device"},
    {.name = "verbose", .letter = 'v', .kind = NT_OPTION_FLAG, .help = "a line on stderr for each trial"},
    {.name = NULL},
};

/* The stored trial, from a row of the view. */
typedef struct stored {
    nt_trial trial;
    char device_kind[16];
    bool spec_changed;
    nt_error err;
    nt_status status;
} stored;

static bool read_row(void *context, const nt_row *row)
{
    stored *s = context;
    json_t *object = nt_json_row(row);
    s->status = nt_row_trial(object, &s->trial, &s->err);
    json_decref(object);
    nt_copy(s->device_kind, sizeof s->device_kind, nt_row_text(row, "device_kind"));
    s->trial.run_id = nt_row_int(row, "run");
    return false;
}

static nt_status find(const char *path, int64_t id, stored *s, nt_error *err)
{
    nt_reader *reader;
    nt_status status = nt_db_reader_open(path, &reader, err);
    if (status != NT_OK)
        return status;
    status = reader->trial(reader, id, read_row, s, err);
    if (status == NT_OK && s->status == NT_OK)
        status = nt_stored_spec_load(reader, s->trial.problem.layer, s->trial.run_id, &s->spec_changed, err);
    reader->close(reader);
    if (status == NT_OK && s->status != NT_OK)
        *err = s->err;
    return status == NT_OK ? s->status : status;
}

static nt_status again(const nt_args *args, const stored *s, const char *path, int *exit_code, nt_error *err)
{
    nt_str shape = {0};
    nt_shape_print(&shape, &s->trial.problem.shape);
    nt_sweep_options options = {.layer = s->trial.problem.layer,
                                .shape = {nt_str_text(&shape)},
                                .shape_count = 1,
                                .batch = {s->trial.problem.batch},
                                .batch_count = 1,
                                .precision = {s->trial.problem.precision},
                                .precision_count = 1,
                                .layout = {s->trial.problem.layout},
                                .layout_count = 1,
                                .cache = {s->trial.cache},
                                .cache_count = 1,
                                .fill = s->trial.problem.fill,
                                .kernel = s->trial.kernel,
                                .seed = (uint64_t)nt_args_integer(args, "seed", 1),
                                .ci_rel = 0.001, /* one configuration is worth a closer look than each of a sweep */
                                .max_error = INFINITY,
                                .wait = nt_args_flag(args, "wait"),
                                .command = nt_command_line()};
    nt_status status =
        nt_device_parse(nt_args_text(args, "device", s->device_kind), &options.device, &options.ordinal, err);
    nt_sink *sink = NULL;
    if (status == NT_OK)
        status = nt_db_sink_open(path, &sink, err);
    if (status == NT_OK) {
        nt_sweep_view *view = nt_sweep_view_open(args, path, false);
        nt_sweep_events events = nt_sweep_view_events(view);
        nt_sweep_result result;
        status = nt_sweep_rerun(&options, &s->trial, sink, &events, &result, err);
        nt_sweep_view_finish(view, &result, status, err);
        if (status == NT_OK && !nt_args_flag(args, "json"))
            printf("trial %lld took %s before\n", (long long)s->trial.id, nt_text_time_ns(s->trial.time_ns).s);
        if (result.interrupted_by != 0)
            *exit_code = 128 + result.interrupted_by;
        else if (status == NT_OK && result.unit_count > 0 && result.unit[0].outcome[NT_OUTCOME_WRONG_RESULT] > 0)
            *exit_code = nt_status_exit_code(NT_WRONG_RESULT);
        nt_sweep_view_close(view);
        nt_sweep_result_done(&result);
    }
    nt_sink_close(sink);
    nt_str_done(&shape);
    return status;
}

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    char path[NT_PATH_BYTES];
    int64_t id;
    stored s = {0};
    nt_trial_init(&s.trial);
    nt_status status = nt_trial_argument(args, &id, err);
    if (status == NT_OK)
        status = nt_database_path(args, path, err);
    if (status == NT_OK)
        status = find(path, id, &s, err);
    if (status == NT_OK && s.spec_changed)
        nt_warn(args, "spec-changed", "the spec of %s has changed since this trial was measured",
                s.trial.problem.layer);
    if (status == NT_OK)
        status = again(args, &s, path, exit_code, err);
    nt_trial_done(&s.trial);
    return status;
}

const nt_command nt_command_rerun = {
    .name = "rerun",
    .group = "Tune",
    .summary = "measure one stored trial's configuration again",
    .usage = "TRIAL",
    .example = "nntune rerun 42",
    .options = rows,
    .uses = NT_USES_JSON | NT_USES_DB | NT_USES_QUIET | NT_USES_PROGRESS | NT_USES_WARNINGS | NT_USES_COLOR,
    .least_positional = 1,
    .most_positional = 1,
    .run = run,
};
