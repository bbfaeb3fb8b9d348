/* cmd_top.c: `nntune top`: what the devices do right now, whoever works on them, a line a frame until Ctrl-C. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/color.h"
#include "cli/output.h"
#include "cli/top_screen.h"
#include "cli/top_view.h"
#include "core/json.h"
#include "core/mem.h"
#include "device/device.h"
#include "profiler/live.h"
#include "tui/dump.h"

enum { MOST_DEVICES = 17 };
static const double default_interval_s = 1;

typedef struct watched {
    char name[32];
    nt_device_info info;
} watched;

typedef struct top {
    const nt_args *args;
    watched device[MOST_DEVICES];
    nt_live *live[MOST_DEVICES];
    int count;
    nt_top_view *view; /* NULL with --json */
    FILE *log;         /* NULL without --log */
} top;

static atomic_bool stop_asked;

static void ask_to_stop(int signal_number)
{
    (void)signal_number;
    stop_asked = true;
}

/* ---- which devices --------------------------------------------------------------------------------------------------- */

static void add_devices(top *t, nt_device_kind kind, const nt_device_listing *listing, int only)
{
    for (int i = 0; i < listing->count && t->count < MOST_DEVICES; i++) {
        const nt_device_info *info = &listing->info[i];
        if (only >= 0 && info->ordinal != only)
            continue;
        watched *w = &t->device[t->count++];
        w->info = *info;
        if (kind == NT_DEVICE_CUDA)
            snprintf(w->name, sizeof w->name, "cuda:%d", info->ordinal);
        else
            nt_copy(w->name, sizeof w->name, nt_device_kind_name(kind));
    }
}

static void list(top *t, nt_device_kind kind, int only, nt_device_listing *listing)
{
    nt_device_ops_of(kind)->list(listing);
    add_devices(t, kind, listing, only);
}

static nt_status none(const char *asked, const nt_device_listing *listing, nt_error *err)
{
    if (listing->count > 0)
        nt_fail(err, NT_NO_DEVICE, "there is no %s here", asked);
    else
        nt_fail(err, NT_NO_DEVICE, "no GPU to watch: %s", listing->missing);
    return nt_hint(err, "%s", listing->hint[0] != '\0' ? listing->hint : "`nntune devices` lists what is here");
}

/* Every GPU, else the cpu; `all` is both; a name is that one. */
static nt_status choose(top *t, nt_error *err)
{
    const char *asked = nt_args_text(t->args, "device", NULL);
    nt_device_listing *listing = nt_alloc_zero(1, sizeof *listing);
    nt_device_kind kind = NT_DEVICE_CUDA;
    int ordinal = 0;
    nt_status status = NT_OK;
    bool every = asked == NULL || strcmp(asked, "all") == 0;
    bool gpu_alone = asked == NULL && nt_args_get(t->args, "source") != NULL;
    if (every) {
        list(t, NT_DEVICE_CUDA, -1, listing);
        if (gpu_alone && t->count == 0)
            status = none("cuda", listing, err);
        else if (t->count == 0 || asked != NULL)
            list(t, NT_DEVICE_CPU, -1, listing);
    } else {
        status = nt_device_parse(asked, &kind, &ordinal, err);
        if (status == NT_OK)
            list(t, kind, kind == NT_DEVICE_CUDA && strchr(asked, ':') != NULL ? ordinal : -1, listing);
        if (status == NT_OK && t->count == 0)
            status = none(asked, listing, err);
    }
    free(listing);
    return status;
}

/* ---- watching -------------------------------------------------------------------------------------------------------- */

static nt_status open_all(top *t, nt_error *err)
{
    const char *source = nt_args_text(t->args, "source", NULL);
    nt_status status = NT_OK;
    for (int i = 0; i < t->count && status == NT_OK; i++)
        status = nt_live_open(&t->device[i].info, source != NULL ? nt_live_kind_find(source) : -1, &t->live[i], err);
    return status;
}

static void say_notes(top *t)
{
    for (int i = 0; i < t->count; i++) {
        nt_str note = {0};
        nt_live_note(t->live[i], &note);
        if (note.length > 0 && !nt_args_flag(t->args, "quiet"))
            fprintf(stderr, "nntune: %s: %s\n", t->device[i].name, nt_str_text(&note));
        nt_str_done(&note);
    }
}

static nt_status write_log(FILE *log, const json_t *line, nt_error *err)
{
    char *text = nt_json_dump(line);
    bool written = log == NULL || (fprintf(log, "%s\n", text) >= 0 && fflush(log) == 0);
    free(text);
    return written ? NT_OK : nt_fail(err, NT_IO, "cannot write the log: %s", strerror(errno));
}

static nt_status show(top *t, int i, nt_error *err)
{
    nt_live_frame frame;
    nt_status status = nt_live_read(t->live[i], &frame, err);
    if (status != NT_OK)
        return status;
    nt_live_kind source = nt_live_source_now(t->live[i]);
    json_t *line = nt_top_frame_json(t->device[i].name, &t->device[i].info, source, &frame);
    status = write_log(t->log, line, err);
    if (t->view != NULL) {
        nt_top_view_frame(t->view, t->device[i].name, source, &frame);
        json_decref(line);
    } else {
        nt_output_json(line);
    }
    return status;
}

static nt_status watch(top *t, nt_error *err)
{
    double interval_s = nt_args_real(t->args, "interval", default_interval_s);
    int64_t frames = nt_args_integer(t->args, "frames", INT64_MAX);
    for (int64_t frame = 0; frame < frames && nt_output_wanted(); frame++) {
        nt_status status = nt_live_wait(t->live, t->count, interval_s, &stop_asked, NULL, err);
        say_notes(t);
        if (status != NT_OK)
            return status == NT_TIMED_OUT && stop_asked ? NT_OK : status;
        for (int i = 0; i < t->count && status == NT_OK; i++)
            status = show(t, i, err);
        if (status != NT_OK)
            return status;
    }
    return NT_OK;
}

/* ---- the command ------------------------------------------------------------------------------------------------------- */

static nt_status open_log(top *t, nt_error *err)
{
    const char *path = nt_args_text(t->args, "log", NULL);
    if (path == NULL)
        return NT_OK;
    t->log = fopen(path, "ae");
    if (t->log != NULL)
        return NT_OK;
    nt_fail(err, NT_IO, "cannot open the log %s: %s", path, strerror(errno));
    return nt_hint(err, "name a file in a folder that may be written");
}

static void open_view(top *t)
{
    bool gpu = false;
    for (int i = 0; i < t->count; i++)
        gpu = gpu || t->device[i].info.kind == NT_DEVICE_CUDA;
    if (nt_args_flag(t->args, "json"))
        return;
    const char *why;
    if (!nt_top_screen_possible(t->args, &why) && why != NULL && isatty(STDOUT_FILENO) &&
        !nt_args_flag(t->args, "quiet"))
        fprintf(stderr, "nntune: no full screen, because %s: lines as with --plain\n", why);
    t->view = nt_top_view_new(stdout, gpu, nt_color_wanted(t->args, stdout));
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = ask_to_stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* A database was asked for, or what can show one; everything else is lines about the devices. */
static nt_status show_run(top *t, const char *database, int *exit_code, nt_error *err)
{
    nt_top_device devices[MOST_DEVICES];
    const char *why;
    for (int i = 0; i < t->count; i++)
        devices[i] = (nt_top_device){t->device[i].name, &t->device[i].info, t->live[i]};
    nt_top_source source = {.database = database,
                            .run = nt_args_integer(t->args, "run", 0),
                            .devices = devices,
                            .device_count = t->count,
                            .log = t->log};
    if (nt_args_get(t->args, "play") != NULL)
        source.speed = nt_args_real(t->args, "speed", 1);
    if (nt_top_dump_asked(t->args) || nt_top_screen_possible(t->args, &why))
        return nt_top_screen(t->args, &source, exit_code, err);
    catch_signals();
    return nt_top_run_lines(t->args, &source, &stop_asked, err);
}

/* Options that only a run or a view can obey. */
static nt_status check_options(const nt_args *args, const char *database, nt_error *err)
{
    static const char *const of_runs[] = {"run", "sort", "filter", "trial", "tag", NULL};
    if (nt_args_get(args, "db") != NULL && nt_args_get(args, "play") != NULL)
        return nt_fail(err, NT_USAGE, "--db and --play exclude each other");
    if (nt_args_get(args, "speed") != NULL && nt_args_get(args, "play") == NULL)
        return nt_fail(err, NT_USAGE, "--speed belongs to --play FILE");
    for (int i = 0; of_runs[i] != NULL && database == NULL; i++)
        if (nt_args_get(args, of_runs[i]) != NULL) {
            nt_fail(err, NT_USAGE, "--%s belongs to a run, and no sweep is running here", of_runs[i]);
            return nt_hint(err, "name a database with --db FILE");
        }
    return NT_OK;
}

static nt_status open_devices(top *t, bool beside_run, nt_error *err)
{
    bool asked = nt_args_get(t->args, "device") != NULL || nt_args_get(t->args, "source") != NULL;
    nt_status status = NT_OK;
    /* A run can be looked at where its device is not. */
    if (nt_args_get(t->args, "play") == NULL || asked)
        status = choose(t, beside_run && !asked ? NULL : err);
    if (status == NT_OK)
        status = open_all(t, err);
    if (status != NT_OK && beside_run && !asked) {
        for (int i = 0; i < t->count; i++)
            nt_live_close(t->live[i]);
        t->count = 0;
        status = NT_OK;
    }
    return status;
}

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    top *t = nt_alloc_zero(1, sizeof *t);
    char database[NT_PATH_BYTES];
    const char *why;
    t->args = args;
    bool view = nt_top_dump_asked(args) || nt_top_screen_possible(args, &why);
    bool named = nt_args_get(args, "db") != NULL || nt_args_get(args, "play") != NULL;
    bool has_database = (view || named) && nt_top_database(args, database);
    nt_status status = check_options(args, has_database ? database : NULL, err);
    if (status == NT_OK)
        status = open_log(t, err);
    if (status == NT_OK && !view)
        catch_signals();
    if (status == NT_OK)
        status = open_devices(t, has_database, err);
    if (status == NT_OK && (view || has_database)) {
        status = show_run(t, has_database ? database : NULL, exit_code, err);
    } else if (status == NT_OK) {
        open_view(t);
        say_notes(t);
        status = watch(t, err);
    }
    for (int i = 0; i < t->count; i++)
        nt_live_close(t->live[i]);
    nt_top_view_free(t->view);
    if (t->log != NULL && fclose(t->log) != 0 && status == NT_OK)
        status = nt_fail(err, NT_IO, "cannot write the log: %s", strerror(errno));
    free(t);
    return status;
}

static const char *const view_names[] = {
#define X(id, name, summary) #name,
    NT_VIEWS(X)
#undef X
        NULL};

static const char *const source_names[] = {"gpm", "pm", "nvml", NULL};

static const nt_option options[] = {
    {.name = "device",
     .kind = NT_OPTION_TEXT,
     .argument = "NAME",
     .help = "cuda, cuda:N, cpu, or all (default: every GPU, else the cpu)"},
    {.name = "source",
     .kind = NT_OPTION_CHOICE,
     .argument = "SOURCE",
     .choices = source_names,
     .help = "where a GPU's values come from: gpm holds nothing (Hopper and newer), pm samples counters and needs "
             "their permission, nvml is everywhere (default gpm, else nvml)"},
    {.name = "interval",
     .kind = NT_OPTION_REAL,
     .argument = "SECONDS",
     .min_real = 0.1,
     .max_real = 3600,
     .help = "time between frames, 0.1 at least (default 1)"},
    {.name = "frames",
     .kind = NT_OPTION_INTEGER,
     .argument = "N",
     .min = 1,
     .max = 1000000000,
     .help = "end after so many frames (default: Ctrl-C ends it)"},
    {.name = "log", .kind = NT_OPTION_TEXT, .argument = "FILE", .help = "append every frame to a file, JSON lines"},
    {.name = "plain", .kind = NT_OPTION_FLAG, .help = "one line a frame, nothing redrawn"},
    {.name = "db",
     .kind = NT_OPTION_TEXT,
     .argument = "FILE",
     .help = "show the newest run of this database (default: that of a sweep running here, else devices alone)"},
    {.name = "play", .kind = NT_OPTION_TEXT, .argument = "FILE", .help = "play a run of this database from its start"},
    {.name = "speed",
     .kind = NT_OPTION_REAL,
     .argument = "N",
     .min_real = 0.01,
     .max_real = 1e6,
     .help = "play so many times as fast (default 1)"},
    {.name = "run", .kind = NT_OPTION_INTEGER, .argument = "N", .min = 1, .max = INT64_MAX, .help = "this run of it"},
    {.name = "view",
     .kind = NT_OPTION_CHOICE,
     .argument = "VIEW",
     .choices = view_names,
     .help = "begin with this view: overview, trials, trial, heat, what_if, compare, devices, log, help"},
    {.name = "dump",
     .kind = NT_OPTION_CHOICE,
     .argument = "FORMAT",
     .choices = nt_dump_names,
     .help = "write the view once as text, csv or json, and end"},
    {.name = "size",
     .kind = NT_OPTION_TEXT,
     .argument = "WxH",
     .help = "columns and rows of --dump text (default 120x40)"},
    {.name = "sort",
     .kind = NT_OPTION_LIST,
     .argument = "COLUMN,..",
     .help = "order of the trials by one or two columns or parameters; -COLUMN is down"},
    {.name = "filter",
     .kind = NT_OPTION_TEXT,
     .argument = "TEXT",
     .help = "show trials that meet all of these: 'tile_m=64 occ>50 time<20us outcome!=ok'"},
    {.name = "trial",
     .kind = NT_OPTION_INTEGER,
     .argument = "N",
     .min = 1,
     .max = INT64_MAX,
     .help = "trial of the view trial"},
    {.name = "tag",
     .kind = NT_OPTION_INTEGER_LIST,
     .argument = "N,..",
     .min = 1,
     .max = INT64_MAX,
     .help = "trials of the view compare, eight at most"},
    {.name = "glyphs",
     .kind = NT_OPTION_CHOICE,
     .argument = "SET",
     .choices = nt_glyphs_names,
     .help = "braille, block or ascii (default: what the terminal shows)"},
    {.name = "ascii", .kind = NT_OPTION_FLAG, .help = "the same as --glyphs ascii"},
    {.name = NULL},
};

const nt_command nt_command_top = {
    .name = "top",
    .group = "Look",
    .summary = "watch the devices live: occupancy, bandwidth, clocks, power, processes",
    .usage = "",
    .example = "nntune top\nnntune top --source pm --interval 0.1 --json",
    .description =
        "Watches the whole device, whoever uses it. Percentages are averages over the frame. gpm and nvml hold "
        "nothing. pm "
        "holds the hardware counters, so it waits while a sweep is running, and lets go within a second when a sweep "
        "wants the device; it comes back when the sweep has ended.",
    .options = options,
    .uses = NT_USES_JSON | NT_USES_QUIET | NT_USES_COLOR,
    .run = run,
};
