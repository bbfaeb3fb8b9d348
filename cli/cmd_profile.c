/* cmd_profile.c: `nntune profile -- COMMAND`: runs any CUDA program with the recording library inside, stores what its
 * GPU did and sums it up; `--import FILE` does the same with an export of Nsight Systems. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/command_line.h"
#include "cli/database.h"
#include "cli/profile_count.h"
#include "cli/profile_run.h"
#include "cli/profile_view.h"
#include "cli/warn.h"
#include "core/clock.h"
#include "core/mem.h"
#include "db/db.h"
#include "profiler/chrome_trace.h"
#include "profiler/spool.h"
#include "profiler/spool_format.h"

enum { STORE_EVERY_S = 1, MOST_ARGUMENTS = 4095, NO_PERMISSION = 35 /* of CUPTI */ };

static const nt_option rows[] = {
    {.name = "trace",
     .kind = NT_OPTION_TEXT,
     .argument = "FILE",
     .help = "write a timeline that Perfetto and chrome://tracing open"},
    {.name = "top",
     .kind = NT_OPTION_INTEGER,
     .argument = "N",
     .min = 1,
     .max = 1000000,
     .help = "rows of each table (default 20)"},
    {.name = "counters",
     .kind = NT_OPTION_TEXT,
     .argument = "REGEX",
     .help =
         "hardware counters of kernels whose name matches this extended regular expression: achieved occupancy, DRAM "
         "bytes and others"},
    {.name = "metrics",
     .kind = NT_OPTION_LIST,
     .argument = "LIST",
     .help =
         "counters instead of t1, which needs one pass: sets, columns and CUPTI's own names as for sweep --metrics"},
    {.name = "launches",
     .kind = NT_OPTION_INTEGER,
     .argument = "N",
     .min = 1,
     .max = 100000,
     .help = "of each kernel count the first N launches (default 5)"},
    {.name = "import",
     .kind = NT_OPTION_TEXT,
     .argument = "FILE",
     .help = "take an SQLite export of Nsight Systems instead of running a command"},
    {.name = NULL},
};

/* A profile being made. */
typedef struct profile {
    const nt_args *args;
    nt_profile_sink *sink;
    nt_profile_run run;
    nt_trace trace;
    nt_spools *spools;
    nt_profile_counts counts;
    double stored_s;
    nt_status status; /* of storing: the command goes on in any case */
    nt_error err;
} profile;

/* ---- storing ---------------------------------------------------------------------------------------------------------- */

static nt_status begin(profile *p, const char *command, const char *source, nt_error *err)
{
    char path[NT_PATH_BYTES];
    nt_status status = nt_database_path(p->args, path, err);
    if (status == NT_OK)
        status = nt_db_profile_open(path, &p->sink, err);
    if (status != NT_OK)
        return status;
    p->run = (nt_profile_run){
        .command = command, .started_unix_s = nt_unix_s(), .ended_unix_s = (double)NAN, .exit_code = NT_UNKNOWN};
    nt_copy(p->run.source, sizeof p->run.source, source);
    nt_copy(p->run.nntune_version, sizeof p->run.nntune_version, NT_VERSION);
    nt_copy(p->run.state, sizeof p->run.state, "running");
    gethostname(p->run.host, sizeof p->run.host - 1);
    return p->sink->begin(p->sink, &p->run, err);
}

static void store(profile *p)
{
    if (p->status == NT_OK)
        p->status = p->sink->put(p->sink, &p->trace, &p->err);
}

static void tick(void *context)
{
    profile *p = context;
    nt_spools_read(p->spools, NULL);
    double now = nt_now_s();
    if (now - p->stored_s < STORE_EVERY_S)
        return;
    store(p);
    p->stored_s = now;
}

static nt_status end(profile *p, const char *state, nt_error *err)
{
    nt_copy(p->run.state, sizeof p->run.state, state);
    p->run.ended_unix_s = nt_unix_s();
    store(p);
    nt_status status = p->status;
    if (status == NT_OK)
        status = p->sink->end(p->sink, &p->run, err);
    else if (err != NULL)
        *err = p->err;
    return status;
}

/* ---- showing ------------------------------------------------------------------------------------------------------------ */

static void warn_of_losses(const profile *p, const nt_trace_summary *s)
{
    if (s->dropped > 0)
        nt_warn(p->args, "profile-dropped", "CUPTI dropped %lld records for want of buffers; counts are too small",
                (long long)s->dropped);
    if (s->lost_bytes > 0)
        nt_warn(p->args, "profile-cut", "a process ended in the middle of a write: %lld bytes of its records are lost",
                (long long)s->lost_bytes);
    if (s->backwards > 0)
        nt_warn(p->args, "clock-backwards", "%lld records end before they begin; their times are left out",
                (long long)s->backwards);
    if (s->open_ranges > 0)
        nt_warn(p->args, "range-open", "%lld NVTX ranges were never closed", (long long)s->open_ranges);
}

static nt_status show(profile *p, nt_error *err)
{
    nt_trace_summary summary;
    nt_status status = NT_OK;
    const char *file = nt_args_text(p->args, "trace", NULL);
    int most = (int)nt_args_integer(p->args, "top", 20);
    nt_count_summary counts;
    nt_trace_summarise(&p->trace, &summary);
    nt_count_summarise(&p->trace, &counts);
    warn_of_losses(p, &summary);
    if (nt_args_flag(p->args, "json")) {
        nt_profile_print_json(&p->run, &p->trace, &summary, p->counts.regex != NULL ? &counts : NULL);
    } else {
        nt_profile_print(p->args, &p->run, &p->trace, &summary, most);
        nt_profile_counts_print(p->args, &p->trace, &counts, most);
    }
    nt_count_summary_done(&counts);
    if (file != NULL)
        status = nt_chrome_trace_write(&p->trace, file, err);
    nt_trace_summary_done(&summary);
    return status;
}

/* Why there is nothing to show, or not all of it. NT_OK when the program simply left the GPU alone. */
static nt_status explain(const profile *p, nt_error *err)
{
    bool used = false;
    for (size_t i = 0; i < p->trace.process_count; i++) {
        const nt_trace_process *process = &p->trace.process[i];
        used = used || process->used_cuda || process->problem != 0;
        if (process->problem == 0)
            continue;
        nt_status status = process->problem == NO_PERMISSION ? NT_NO_PERMISSION : NT_BUSY;
        nt_fail(err, process->problem < 0 ? NT_NO_DEVICE : status, "process %lld was not recorded: %s",
                (long long)process->pid, process->problem_text);
        return nt_hint(err, "`nntune doctor` says what holds or hides the profiling of this machine");
    }
    if (!used)
        nt_warn(p->args, "no-cuda", "the command never used CUDA: there is nothing to profile");
    return NT_OK;
}

/* ---- a command -------------------------------------------------------------------------------------------------------------- */

static nt_status refuse_nesting(nt_error *err)
{
    static const char *const variables[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", NT_SPOOL_FOLDER_VARIABLE};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i]);
        if (value == NULL || value[0] == '\0')
            continue;
        nt_fail(err, NT_BUSY, "%s is set to %s: another profiler is already around this command", variables[i], value);
        return nt_hint(err,
                       "CUDA lets one tool record at a time; run this outside of the other, or unset the variable");
    }
    return NT_OK;
}

static nt_status make_folder(char out[NT_PATH_BYTES], nt_error *err)
{
    const char *base = getenv("TMPDIR");
    int needed =
        snprintf(out, NT_PATH_BYTES, "%s/nntune-profile-XXXXXX", base != NULL && base[0] != '\0' ? base : "/tmp");
    if (needed >= NT_PATH_BYTES || mkdtemp(out) == NULL)
        return nt_fail(err, NT_IO, "cannot make a folder for records in %s: %s", base != NULL ? base : "/tmp",
                       strerror(errno));
    return NT_OK;
}

static char **arguments(const nt_args *args)
{
    int count = nt_args_positional_count(args);
    char **argv = nt_alloc_zero((size_t)count + 1, sizeof *argv);
    for (int i = 0; i < count; i++)
        argv[i] = nt_strdup(nt_args_positional(args, i));
    return argv;
}

static void free_arguments(char **argv)
{
    for (int i = 0; argv[i] != NULL; i++)
        free(argv[i]);
    free(argv);
}

static nt_status run_recorded(profile *p, const char *library, const char *folder, int *exit_code, nt_error *err)
{
    char **argv = arguments(p->args);
    p->spools = nt_spools_open(folder, &p->trace);
    const char *const counting[][2] = {{NT_COUNT_REGEX_VARIABLE, p->counts.regex},
                                       {NT_COUNT_LAUNCHES_VARIABLE, p->counts.launches},
                                       {NT_COUNT_METRICS_VARIABLE, nt_str_text(&p->counts.metrics)},
                                       {NULL, NULL}};
    nt_profile_command command = {.argv = argv,
                                  .folder = folder,
                                  .library = library,
                                  .stdout_to_stderr = nt_args_flag(p->args, "json"),
                                  .variables = p->counts.regex != NULL ? counting : NULL,
                                  .tick = tick,
                                  .context = p};
    fflush(stdout);
    nt_status status = nt_profile_run_command(&command, exit_code, err);
    nt_status reading = nt_spools_read(p->spools, status == NT_OK ? err : NULL);
    nt_spools_close(p->spools);
    free_arguments(argv);
    p->run.exit_code = *exit_code >= 0 ? *exit_code : NT_UNKNOWN;
    return status == NT_OK ? reading : status;
}

/* What was typed behind the dashes. */
static const char *typed_command(void)
{
    const char *line = nt_command_line(), *dashes = strstr(line, " -- ");
    return dashes != NULL ? dashes + 4 : line;
}

static nt_status profile_command(profile *p, int *exit_code, nt_error *err)
{
    char library[NT_PATH_BYTES], folder[NT_PATH_BYTES];
    nt_status status = refuse_nesting(err);
    if (status == NT_OK)
        status = nt_profile_library(library, err);
    if (status == NT_OK)
        status = nt_profile_counts_ask(p->args, &p->counts, err);
    if (status == NT_OK)
        status = make_folder(folder, err);
    if (status != NT_OK)
        return status;
    status = begin(p, typed_command(), "measured", err);
    if (status == NT_OK) {
        status = run_recorded(p, library, folder, exit_code, err);
        nt_status ended = end(p, status == NT_OK ? "done" : "failed", status == NT_OK ? err : NULL);
        status = status == NT_OK ? ended : status;
    }
    nt_spools_remove(folder);
    if (status == NT_OK)
        status = show(p, err);
    if (status == NT_OK)
        status = explain(p, err);
    if (status == NT_OK)
        status = nt_profile_counts_explain(p->args, &p->counts, &p->trace, err);
    /* The command's own code, unless it went well and the profile did not. */
    if (status != NT_OK && *exit_code == 0)
        *exit_code = -1;
    return status;
}

/* ---- an import ------------------------------------------------------------------------------------------------------------- */

static nt_status import(profile *p, const char *file, nt_error *err)
{
    nt_status status = nt_db_nsys_read(file, &p->trace, err);
    if (status == NT_OK)
        status = begin(p, file, "imported", err);
    if (status == NT_OK)
        status = end(p, "done", err);
    return status == NT_OK ? show(p, err) : status;
}

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    profile p = {.args = args};
    const char *file = nt_args_text(args, "import", NULL);
    nt_status status;
    if (file != NULL && nt_args_positional_count(args) > 0)
        status = nt_fail(err, NT_USAGE, "--import takes the place of a command: give one of the two");
    else if (file != NULL && nt_args_text(args, "counters", NULL) != NULL)
        status = nt_fail(err, NT_USAGE, "--counters needs a command that runs: an import has what it has");
    else if (file == NULL && nt_args_positional_count(args) == 0)
        status = nt_fail(err, NT_USAGE, "profile needs a command: nntune profile -- python3 model.py");
    else
        status = file != NULL ? import(&p, file, err) : profile_command(&p, exit_code, err);
    if (p.sink != NULL)
        p.sink->close(p.sink);
    nt_trace_done(&p.trace);
    nt_profile_counts_done(&p.counts);
    return status;
}

const nt_command nt_command_profile = {
    .name = "profile",
    .group = "Look",
    .summary = "run any CUDA program and see what its GPU did, by kernel and by NVTX range",
    .usage = "-- PROGRAM [ARGUMENT]...",
    .example = "nntune profile -- python3 model.py\n"
               "nntune profile --trace timeline.json -- ./program --its-own-options\n"
               "nntune profile --counters 'gemm|conv' -- python3 model.py",
    .description =
        "The program runs as it is, with a library inside it that records kernels, copies and NVTX ranges; "
        "everything is stored in the database while it runs. A kernel belongs to the range that was open on the "
        "thread that launched it. The exit code is the command's, 127 when it is not found. With --json the "
        "command's own standard output goes to standard error. With --counters the first launches of each chosen "
        "kernel run one by one under the hardware counters, which costs some 15 ms each and pass.",
    .options = rows,
    .uses = NT_USES_JSON | NT_USES_DB | NT_USES_WARNINGS | NT_USES_COLOR,
    .least_positional = 0,
    .most_positional = MOST_ARGUMENTS,
    .run = run,
};
