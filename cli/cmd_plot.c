/* cmd_plot.c: `nntune plot KIND -o FILE`: one picture of a database, with its script and data beside it, or text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/database.h"
#include "cli/report_source.h"
#include "cli/warn.h"
#include "core/mem.h"
#include "reports/kinds.h"
#include "reports/plot.h"
#include "reports/text_chart.h"

static const nt_option rows[] = {
    {.name = "output",
     .letter = 'o',
     .kind = NT_OPTION_TEXT,
     .argument = "FILE",
     .help = "picture to write: .svg, .png or .pdf, with its script (.gp) and data (.dat) beside it; - draws text "
             "(default KIND.svg)"},
    {.name = "x",
     .kind = NT_OPTION_TEXT,
     .argument = "PARAM",
     .help = "heatmap: parameter across (default the most influential)"},
    {.name = "y", .kind = NT_OPTION_TEXT, .argument = "PARAM", .help = "heatmap: parameter upward"},
    {.name = "trial",
     .kind = NT_OPTION_INTEGER,
     .argument = "N",
     .min = 1,
     .max = INT64_MAX,
     .help = "samples: of this trial (default the best)"},
    {.name = "max-latency",
     .kind = NT_OPTION_REAL,
     .argument = "MS",
     .min_real = 1e-6,
     .max_real = 1e9,
     .help = "batch: a bound on the latency of a batch, drawn and judged"},
    {.name = "link",
     .kind = NT_OPTION_REAL,
     .argument = "GB/S",
     .min_real = 1e-6,
     .max_real = 1e6,
     .help = "crossover: rate of copies between host and device (default as 'nntune profile' measured it)"},
    {.name = "log",
     .kind = NT_OPTION_TEXT,
     .argument = "FILE",
     .help = "live: frames as 'nntune top --log FILE' writes them"},
    NT_REPORT_FILTER_OPTIONS,
    {.name = NULL},
};

static int terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col - 1 : 79;
}

static void print_text(const nt_chart *chart)
{
    nt_str text = {0};
    nt_text_chart(&text, chart, terminal_columns());
    fputs(nt_str_text(&text), stdout);
    nt_str_done(&text);
}

static nt_status draw(const nt_args *args, const char *kind, const nt_chart *chart, nt_error *err)
{
    char otherwise[64];
    nt_plot_files files;
    snprintf(otherwise, sizeof otherwise, "%s.svg", kind);
    const char *path = nt_args_text(args, "output", otherwise);
    if (strcmp(path, "-") == 0) {
        print_text(chart);
        return NT_OK;
    }
    nt_status status = nt_plot_write(chart, path, &files, err);
    if (status != NT_OK)
        return status;
    if (files.drawn) {
        if (!nt_args_flag(args, "quiet"))
            fprintf(stderr, "%s; its script is %s, its data %s\n", files.picture, files.script, files.data);
        return NT_OK;
    }
    fprintf(stderr,
            "nntune: gnuplot is not installed (apt-get install gnuplot-nox), so %s is not drawn; %s and %s are "
            "ready for it\n",
            files.picture, files.script, files.data);
    print_text(chart);
    return NT_OK;
}

static nt_status plot(const nt_args *args, const nt_plot_kind *kind, const nt_result *result, nt_error *err)
{
    nt_chart chart;
    nt_plot_options options = {.group = -1,
                               .device = -1,
                               .x = nt_args_text(args, "x", NULL),
                               .y = nt_args_text(args, "y", NULL),
                               .trial = nt_args_integer(args, "trial", 0),
                               .log = nt_args_text(args, "log", NULL),
                               .log_device = nt_args_text(args, "device", NULL),
                               .max_latency_ms = nt_args_real(args, "max-latency", NAN),
                               .link_bytes_per_s = nt_args_real(args, "link", 0) * 1e9};
    nt_status status = nt_plot_make(kind, result, &options, NT_CHART_MOST_POINTS, &chart, err);
    if (status != NT_OK)
        return status;
    status = draw(args, kind->name, &chart, err);
    nt_chart_done(&chart);
    return status;
}

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    char path[NT_PATH_BYTES];
    const nt_plot_kind *kind;
    nt_reader *reader = NULL;
    nt_result result;
    (void)exit_code;
    nt_result_filter filter = nt_report_filter(args);
    nt_status status = nt_plot_kind_find(nt_args_positional(args, 0), &kind, err);
    if (status == NT_OK && kind->scope == NT_PLOT_OF_LOG)
        return plot(args, kind, NULL, err);
    if (status == NT_OK)
        status = nt_database_read(args, path, &reader, err);
    if (status != NT_OK)
        return status;
    nt_report_source source = nt_report_source_of(reader, path);
    status = nt_result_read(&result, &source, &filter, err);
    if (status == NT_OK) {
        status = plot(args, kind, &result, err);
        nt_result_done(&result);
    }
    reader->close(reader);
    return status;
}

const nt_command nt_command_plot = {
    .name = "plot",
    .group = "Look",
    .summary = "draw a picture of what was found",
    .usage = "KIND",
    .example = "nntune plot heatmap -o tiles.svg\nnntune plot roofline -o -",
    .description =
        "Kinds: heatmap (two parameters), roofline, batch (throughput and latency), precision (time and error), "
        "occupancy, convergence, budget (where the time went), samples (a histogram), devices (against each "
        "other), crossover (a cpu against a GPU, with and without copies), live (from a log). Where several problems "
        "match, the one with the most results is drawn.",
    .options = rows,
    .uses = NT_USES_DB | NT_USES_QUIET,
    .least_positional = 1,
    .most_positional = 1,
    .run = run,
};
