/* cmd_import.c: `nntune import FILE..`: results of other tuners and machines into the database, as recorded runs. */
#include <stdio.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/command_line.h"
#include "cli/database.h"
#include "cli/output.h"
#include "cli/warn.h"
#include "core/json.h"
#include "db/import.h"

static const nt_option rows[] = {
    {.name = "device",
     .kind = NT_OPTION_TEXT,
     .argument = "NAME",
     .help = "name of the device the results are of (default: the file's; T4 files may have none)"},
    {.name = "kernel",
     .kind = NT_OPTION_TEXT,
     .argument = "NAME",
     .help = "name of the kernel (default: the file's, else made from the file's name)"},
    {.name = NULL},
};

static void warn(const nt_args *args, const char *file, const nt_import_report *report)
{
    if (report->cut)
        nt_warn(args, "import-cut", "%s was cut off: its whole results were taken, up to the last one before the end",
                file);
    if (report->repeated > 0)
        nt_warn(args, "import-repeated",
                "%s: %zu results are of a configuration that stood there before; the first counts", file,
                report->repeated);
    if (report->not_numbers > 0)
        nt_warn(args, "import-not-numbers", "%s: %zu NaN or infinite values, which JSON does not have, became unknown",
                file, report->not_numbers);
}

static void print(const nt_args *args, const char *file, int64_t run, const nt_import_report *report)
{
    size_t results = report->results - report->repeated;
    if (!nt_args_flag(args, "json")) {
        printf("run %lld: %zu recorded results from %s (%s)\n", (long long)run, results, file, report->format->title);
        return;
    }
    json_t *document = nt_output_document("import");
    json_object_set_new(document, "file", nt_json_text(file));
    json_object_set_new(document, "format", json_string(report->format->name));
    json_object_set_new(document, "run", json_integer(run));
    json_object_set_new(document, "source", json_string("recorded"));
    json_object_set_new(document, "results", json_integer((json_int_t)results));
    json_object_set_new(document, "repeated", json_integer((json_int_t)report->repeated));
    json_object_set_new(document, "cut", json_boolean(report->cut));
    nt_output_json(document);
}

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    char path[NT_PATH_BYTES];
    nt_sink *sink = NULL;
    nt_import_options options = {.names = {nt_args_text(args, "device", NULL), nt_args_text(args, "kernel", NULL)},
                                 .command = nt_command_line()};
    (void)exit_code;
    nt_status status = nt_database_path(args, path, err);
    if (status == NT_OK)
        status = nt_db_sink_open(path, &sink, err);
    for (int i = 0; status == NT_OK && i < nt_args_positional_count(args); i++) {
        const char *file = nt_args_positional(args, i);
        nt_import_report report;
        int64_t id;
        status = nt_db_import(sink, file, &options, &id, &report, err);
        if (status != NT_OK)
            break;
        warn(args, file, &report);
        print(args, file, id, &report);
    }
    nt_sink_close(sink);
    return status;
}

const nt_command nt_command_import = {
    .name = "import",
    .group = "Exchange",
    .summary = "put results of other tuners into the database, as recorded",
    .usage = "FILE..",
    .example = "nntune import pnpoly-RTX_3090.json.gz --db recorded.db\n"
               "nntune best --db recorded.db",
    .description =
        "Reads T4 results, Kernel Tuner caches (also cut off), KTT results, CSV of recorded spaces and JSON of 'nntune "
        "export', plain or gzip, told by their content. Each file becomes one run of source 'recorded' on a device of "
        "its own, all of it or, where the file is damaged, nothing. What the file says beyond the database's columns "
        "is kept, so that 'nntune export' in the same format gives it back.",
    .options = rows,
    .uses = NT_USES_JSON | NT_USES_DB | NT_USES_WARNINGS,
    .least_positional = 1,
    .most_positional = 64,
    .run = run,
};
