/* cmd_rerun.c: `nntune rerun TRIAL`: one stored configuration again, as a new run of one trial, beside what it took before. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/command_line.h"
#include "cli/sweep_view.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/paths.h"
#include "core/units.h"
#include "db/db.h"
#include "device/device.h"

static const nt_option rows[] = {
    {.name = "device", .kind = NT_OPTION_TEXT, .argument = "DEVICE", .help = "cpu, cuda or cuda:N (default: the kind it ran on)"},
    {.name = "seed", .kind = NT_OPTION_INTEGER, .argument = "N", .min = 0, .max = INT64_MAX, .help = "seed of the inputs (default 1)"},
    {.name = "wait", .kind = NT_OPTION_FLAG, .help = "wait while a sweep holds the device"},
    {.name = NULL},
};

/* The stored trial, from a row of the view. */
typedef struct stored {
    bool found;
    nt_trial trial;
    char device_kind[16];
    nt_error err;
    nt_status status;
} stored;

static const char *text_of(const nt_row *row, const char *name)
{
    for (int i = 0; i < row->count; i++)
        if (strcmp(row->name[i], name) == 0 && row->cell[i].kind == NT_CELL_TEXT)
            return row->cell[i].text;
    return "";
}

static bool read_row(void *context, const nt_row *row)
{
    stored *s = context;
    json_t *object = nt_json_row(row);
    s->found = true;
    s->status = nt_json_to_trial(object, &s->trial, &s->err);
    json_decref(object);
    nt_copy(s->device_kind, sizeof s->device_kind, text_of(row, "device_kind"));
    return false;
}

static nt_status find(const char *path, int64_t id, stored *s, nt_error *err)
{
    nt_reader *reader;
    nt_status status = nt_db_reader_open(path, &reader, err);
    if (status != NT_OK)
        return status;
    status = reader->trial(reader, id, read_row, s, err);
    reader->close(reader);
    if (status == NT_OK && !s->found) {
        nt_fail(err, NT_NOT_FOUND, "%s has no trial %lld", path, (long long)id);
        nt_hint(err, "'nntune best' lists winners with their trials");
        return NT_NOT_FOUND;
    }
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
                                .ci_rel = 0.005,
                                .max_error = INFINITY,
                                .wait = nt_args_flag(args, "wait"),
                                .command = nt_command_line()};
    nt_status status = nt_device_parse(nt_args_text(args, "device", s->device_kind), &options.device, &options.ordinal, err);
    nt_sink *sink = NULL;
    if (status == NT_OK)
        status = nt_db_sink_open(path, &sink, err);
    if (status == NT_OK) {
        nt_sweep_view *view = nt_sweep_view_open(args, path);
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
    char path[1024];
    long long id;
    stored s = {0};
    nt_trial_init(&s.trial);
    if (!nt_parse_i64(nt_args_positional(args, 0), &id) || id < 1)
        return nt_fail(err, NT_USAGE, "'%s' is not the number of a trial", nt_args_positional(args, 0));
    const char *given = nt_args_text(args, "db", NULL);
    nt_status status = given == NULL ? nt_path_database(path, sizeof path, err) : NT_OK;
    if (given != NULL && !nt_copy(path, sizeof path, given))
        status = nt_fail(err, NT_USAGE, "--db: the path is too long");
    if (status == NT_OK)
        status = find(path, id, &s, err);
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
    .least_positional = 1,
    .most_positional = 1,
    .run = run,
};
