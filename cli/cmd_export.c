/* cmd_export.c: `nntune export --format NAME`: a run as a file of another tuner, of `nntune replay`, or of our own. */
#include <stdio.h>
#include <string.h>

#include "autotune/spec_export.h"
#include "cli/cmd.h"
#include "cli/database.h"
#include "cli/output.h"
#include "cli/stored_spec.h"
#include "cli/warn.h"
#include "core/json.h"
#include "core/text_file.h"
#include "db/export.h"

static const char *const formats[] = {"t1", "t4", "kernel-tuner", "ktt", "csv", "json", NULL};

static const nt_option rows[] = {
    {.name = "format",
     .kind = NT_OPTION_CHOICE,
     .argument = "NAME",
     .choices = formats,
     .help =
         "t4, kernel-tuner (cache), ktt, csv (a space for 'nntune replay'), json (default json); t1: not results, but "
         "the kernel, for others to tune"},
    {.name = "spec",
     .kind = NT_OPTION_TEXT,
     .argument = "FILE",
     .help = "with --format t1: the spec to write (default: that of the run)"},
    {.name = "output",
     .letter = 'o',
     .kind = NT_OPTION_TEXT,
     .argument = "FILE",
     .help = "where to write; packed with gzip when it ends in .gz (default: stdout)"},
    {.name = "run",
     .kind = NT_OPTION_INTEGER,
     .argument = "ID",
     .min = 1,
     .max = INT64_MAX,
     .help = "the run (default: the newest)"},
    {.name = "kernel", .kind = NT_OPTION_TEXT, .argument = "NAME", .help = "only trials of this kernel"},
    {.name = "problem",
     .kind = NT_OPTION_TEXT,
     .argument = "TEXT",
     .help = "only trials of this problem, as 'conv3x3 c=64,k=64,h=56,w=56 batch 8 fp32 nhwc'"},
    {.name = NULL},
};

static void warn(const nt_args *args, const nt_format *format, const json_t *dropped)
{
    nt_str all = {0};
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)dropped, name, value) {
        nt_str_addf(&all, "%s%s", all.length > 0 ? ", " : "", name);
    }
    if (all.length > 0)
        nt_warn(args, "export-dropped", "%s cannot hold, and the file lacks: %s", format->title, nt_str_text(&all));
    nt_str_done(&all);
}

static nt_status write_out(const nt_str *text, const char *file, nt_error *err)
{
    if (file != NULL)
        return nt_text_file_write(file, nt_str_text(text), text->length, err);
    fwrite(nt_str_text(text), 1, text->length, stdout);
    return NT_OK;
}

static nt_status spec_of_run(const nt_args *args, char path[NT_PATH_BYTES], nt_error *err)
{
    char database[NT_PATH_BYTES];
    nt_reader *reader = NULL;
    nt_status status = nt_database_read(args, database, &reader, err);
    if (status != NT_OK)
        return status;
    status = nt_stored_spec_path(reader, nt_args_integer(args, "run", 0), path, err);
    reader->close(reader);
    return status;
}

/* A spec instead of results. */
static nt_status run_t1(const nt_args *args, const char *spec, nt_error *err)
{
    char path[NT_PATH_BYTES];
    const char *file = nt_args_text(args, "output", NULL);
    nt_str text = {0}, dropped = {0};
    nt_status status = NT_OK;
    if (spec == NULL)
        status = spec_of_run(args, path, err);
    if (status == NT_OK)
        status = nt_spec_export_t1(spec != NULL ? spec : path, &text, &dropped, err);
    if (status == NT_OK)
        status = write_out(&text, file, err);
    if (status == NT_OK && dropped.length > 0)
        nt_warn(args, "export-dropped", "T1 cannot hold, and the file lacks: %s", nt_str_text(&dropped));
    if (status == NT_OK && file != NULL)
        printf("%s: %s (T1)\n", file, spec != NULL ? spec : path);
    nt_str_done(&text);
    nt_str_done(&dropped);
    return status;
}

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    const char *format = nt_args_text(args, "format", "json"), *spec = nt_args_text(args, "spec", NULL);
    (void)exit_code;
    if (strcmp(format, "t1") == 0)
        return run_t1(args, spec, err);
    if (spec != NULL)
        return nt_fail(err, NT_USAGE, "--spec has a meaning with --format t1 alone: the other formats hold results");
    char path[NT_PATH_BYTES];
    const char *file = nt_args_text(args, "output", NULL);
    nt_export_options options = {.format = nt_format_find(format),
                                 .run_id = nt_args_integer(args, "run", 0),
                                 .kernel = nt_args_text(args, "kernel", NULL),
                                 .problem = nt_args_text(args, "problem", NULL)};
    nt_export_report report;
    nt_str text = {0};
    nt_status status = nt_database_path(args, path, err);
    if (status == NT_OK)
        status = nt_db_export(path, &options, &text, &report, err);
    if (status != NT_OK) {
        nt_str_done(&text);
        return status;
    }
    status = write_out(&text, file, err);
    if (status == NT_OK)
        warn(args, options.format, report.dropped);
    if (status == NT_OK && file != NULL)
        printf("%s: %zu results of run %lld (%s)\n", file, report.results, (long long)report.run_id,
               options.format->title);
    nt_str_done(&text);
    json_decref(report.dropped);
    return status;
}

const nt_command nt_command_export = {
    .name = "export",
    .group = "Exchange",
    .summary = "write a run as a file that other tuners read",
    .usage = "",
    .example = "nntune export --format kernel-tuner -o cache.json\n"
               "nntune export --run 3 --format csv -o space.csv.gz && nntune replay space.csv.gz\n"
               "nntune export --format t1 --spec mine.json -o mine.T1.json",
    .description =
        "A run that was imported and is written in its own format again is equal to the file it came from, with keys "
        "that nntune does not know. In another format the fields that both have arrive; the rest is listed on stderr.",
    .options = rows,
    .uses = NT_USES_DB | NT_USES_WARNINGS,
    .run = run,
};
