/* cmd_report.c: `nntune report -o FILE`: everything that a database says, in one file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/database.h"
#include "cli/report_source.h"
#include "reports/report.h"

static const char *const formats[] = {"html", "markdown", "csv", "json", NULL};

static const nt_option rows[] = {
    {.name = "output",
     .letter = 'o',
     .kind = NT_OPTION_TEXT,
     .argument = "FILE",
     .help =
         "file to write: .html, .md, .csv or .json; - is standard output, in Markdown unless --format says otherwise "
         "(default report.html)"},
    {.name = "format",
     .kind = NT_OPTION_CHOICE,
     .argument = "NAME",
     .choices = formats,
     .help = "html, markdown, csv, json (default by the end of the file's name)"},
    NT_REPORT_FILTER_OPTIONS,
    {.name = NULL},
};

/* The file is replaced at the end, whole: until then, and after a failure, the old one stands. */
static nt_status open_beside(const char *path, char temporary[NT_PATH_BYTES], FILE **out, nt_error *err)
{
    if (snprintf(temporary, NT_PATH_BYTES, "%s.%ld.tmp", path, (long)getpid()) >= NT_PATH_BYTES)
        return nt_fail(err, NT_USAGE, "--output: the path is too long");
    *out = fopen(temporary, "wxe");
    if (*out == NULL)
        return nt_fail(err, NT_IO, "cannot write %s: %s", path, strerror(errno));
    return NT_OK;
}

static nt_status settle(nt_status status, FILE *out, const char *temporary, const char *path, nt_error *err)
{
    bool written = fflush(out) == 0 && fsync(fileno(out)) == 0;
    int cause = errno;
    if (fclose(out) != 0 || !written) {
        if (status == NT_OK)
            status = nt_fail(err, NT_IO, "cannot write %s: %s", path, strerror(cause));
    }
    if (status == NT_OK && rename(temporary, path) != 0)
        status = nt_fail(err, NT_IO, "cannot replace %s: %s", path, strerror(errno));
    if (status != NT_OK)
        unlink(temporary);
    return status;
}

static nt_status write_file(const nt_report_source *source, const nt_result_filter *filter,
                            const nt_report_format *format, const char *path, bool *no_gnuplot, nt_error *err)
{
    char temporary[NT_PATH_BYTES];
    FILE *out;
    nt_status status = open_beside(path, temporary, &out, err);
    if (status != NT_OK)
        return status;
    status = nt_report_write(source, filter, format, out, no_gnuplot, err);
    return settle(status, out, temporary, path, err);
}

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    char database[NT_PATH_BYTES];
    const nt_report_format *format = NULL;
    nt_reader *reader = NULL;
    bool no_gnuplot = false;
    (void)exit_code;
    nt_result_filter filter = nt_report_filter(args);
    const char *path = nt_args_text(args, "output", "report.html"), *name = nt_args_text(args, "format", NULL);
    bool to_stdout = strcmp(path, "-") == 0;
    nt_status status = nt_report_format_find(name == NULL && to_stdout ? "markdown" : name, path, &format, err);
    if (status == NT_OK)
        status = nt_database_read(args, database, &reader, err);
    if (status != NT_OK)
        return status;
    nt_report_source source = nt_report_source_of(reader, database);
    status = to_stdout ? nt_report_write(&source, &filter, format, stdout, &no_gnuplot, err)
                       : write_file(&source, &filter, format, path, &no_gnuplot, err);
    reader->close(reader);
    if (status == NT_OK && no_gnuplot)
        fputs("nntune: gnuplot is not installed (apt-get install gnuplot-nox): the report describes its pictures in "
              "words\n",
              stderr);
    if (status == NT_OK && !to_stdout && !nt_args_flag(args, "quiet"))
        fprintf(stderr, "%s\n", path);
    return status;
}

const nt_command nt_command_report = {
    .name = "report",
    .group = "Look",
    .summary = "write a report of what was found: HTML, Markdown, CSV or JSON",
    .usage = "",
    .example = "nntune report -o report.html\nnntune report -o trials.csv --layer conv3x3",
    .description =
        "One file that needs nothing else: the best of each problem and why, what the rule of thumb and each "
        "precision cost, latency, energy, what failed. The same database gives the same bytes. CSV and JSON "
        "hold every trial.",
    .options = rows,
    .uses = NT_USES_DB | NT_USES_QUIET,
    .most_positional = 0,
    .run = run,
};
