#include "cli/top_screen.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/announce.h"
#include "cli/color.h"
#include "cli/output.h"
#include "core/json.h"
#include "tui/dump.h"
#include "tui/filter.h"
#include "tui/loop.h"
#include "tui/settings.h"
#include "tui/terminal.h"

bool nt_top_dump_asked(const nt_args *args)
{
    return nt_args_get(args, "dump") != NULL;
}

bool nt_top_screen_possible(const nt_args *args, const char **why)
{
    *why = NULL;
    if (nt_args_flag(args, "plain") || nt_args_flag(args, "json"))
        return false;
    *why = nt_terminal_refusal();
    return *why == NULL;
}

bool nt_top_database(const nt_args *args, char out[NT_PATH_BYTES])
{
    nt_announced sweep[16];
    const char *given = nt_args_text(args, "play", nt_args_text(args, "db", NULL));
    if (given != NULL)
        return nt_copy(out, NT_PATH_BYTES, given);
    if (nt_args_get(args, "device") != NULL || nt_args_get(args, "source") != NULL ||
        nt_announced_sweeps(sweep, 16) == 0)
        return false;
    return nt_copy(out, NT_PATH_BYTES, sweep[0].database);
}

/* ---- the state to begin with --------------------------------------------------------------------------------------------- */

static nt_status read_size(const nt_args *args, nt_screen *screen, nt_error *err)
{
    const char *text = nt_args_text(args, "size", "120x40");
    char end;
    if (sscanf(text, "%dx%d%c", &screen->width, &screen->height, &end) == 2 && screen->width >= 1 &&
        screen->height >= 1 && screen->width <= 1000 && screen->height <= 1000)
        return NT_OK;
    nt_fail(err, NT_USAGE, "--size: '%s' is no size", text);
    return nt_hint(err, "a size is columns and rows, 1x1 to 1000x1000: 120x40");
}

static nt_status read_order(const nt_args *args, const nt_facts *facts, nt_screen *screen, nt_error *err)
{
    const nt_given *sort = nt_args_get(args, "sort");
    const char *filter = nt_args_text(args, "filter", NULL), *names[NT_PARAMS];
    int params = facts != NULL ? facts->params : 0;
    nt_status status = NT_OK;
    for (int i = 0; i < params; i++)
        names[i] = facts->param[i];
    if (filter != NULL) {
        status = nt_filter_parse(filter, names, params, &screen->window, err);
        nt_copy(screen->filter, sizeof screen->filter, filter);
    }
    for (int i = 0; sort != NULL && i < sort->count && i < NT_WINDOW_KEYS && status == NT_OK; i++) {
        const char *word = sort->text[i];
        status = nt_filter_name(word + (*word == '-'), names, params, &screen->window.key[i], err);
        screen->window.key[i].descending = *word == '-';
        screen->window.keys = i + 1;
    }
    return status;
}

static nt_status prepare(const nt_args *args, const nt_facts *facts, nt_screen *screen, nt_error *err)
{
    const nt_given *glyphs = nt_args_get(args, "glyphs"), *view = nt_args_get(args, "view");
    char settings[NT_PATH_BYTES];
    nt_screen_init(screen);
    screen->glyphs = nt_terminal_glyphs();
    if (!nt_top_dump_asked(args) && nt_settings_path(settings, sizeof settings))
        nt_settings_load(screen, settings);
    if (nt_args_flag(args, "ascii"))
        screen->glyphs = NT_GLYPHS_ASCII;
    if (glyphs != NULL)
        screen->glyphs = (nt_glyphs)glyphs->integer[0];
    if (view != NULL)
        screen->view = (nt_view_id)view->integer[0];
    screen->interval_s = nt_args_real(args, "interval", screen->interval_s);
    screen->opened = nt_args_integer(args, "trial", 0);
    const nt_given *tags = nt_args_get(args, "tag");
    for (int i = 0; tags != NULL && i < tags->count && i < NT_TAGS; i++)
        screen->tagged[screen->tags++] = tags->integer[i];
    nt_status status = read_size(args, screen, err);
    return status == NT_OK ? read_order(args, facts, screen, err) : status;
}

/* ---- a view without the screen --------------------------------------------------------------------------------------------- */

static nt_status write_view(const nt_args *args, nt_feed *feed, nt_screen *screen, nt_error *err)
{
    nt_snapshot *shown = NULL;
    nt_dump_format format = (nt_dump_format)nt_args_get(args, "dump")->integer[0];
    nt_status status = NT_OK;
    /* Twice: what the heat map wants depends on the parameters of the run. */
    for (int pass = 0; pass < 2 && status == NT_OK; pass++) {
        nt_want want;
        nt_screen_want(screen, shown, &want);
        /* Only a drawing says how many rows there are in all. */
        bool uncounted = format == NT_DUMP_TEXT && shown != NULL && shown->total == NT_UNKNOWN && shown->facts.has_run;
        if (shown != NULL && !uncounted && memcmp(&want, &shown->want, sizeof want) == 0)
            break;
        if (uncounted)
            status = feed->count(feed, &want, err);
        nt_snapshot_free(shown);
        shown = malloc(sizeof *shown);
        if (shown == NULL)
            return nt_fail(err, NT_NO_MEMORY, "no memory for a snapshot");
        nt_snapshot_init(shown);
        shown->want = want;
        if (status == NT_OK)
            status = feed->read(feed, &want, shown, err);
    }
    if (status == NT_OK) {
        nt_str text = {0};
        nt_dump(screen, shown, format, &text);
        fputs(nt_str_text(&text), stdout);
        nt_str_done(&text);
    }
    nt_snapshot_free(shown);
    return status;
}

/* ---- lines --------------------------------------------------------------------------------------------------------------- */

static double best_of(const nt_facts *facts, nt_str *words)
{
    int time = nt_sheet_find(&facts->units, "least_time_ns"), kernel = nt_sheet_find(&facts->units, "kernel");
    for (int r = facts->units.rows - 1; r >= 0 && time >= 0; r--) {
        double time_ns = nt_sheet_at(&facts->units, r, time)->number;
        if (isnan(time_ns))
            continue;
        nt_str_addf(words, "%s ", nt_text_time_ns(time_ns).s);
        nt_sheet_cell_text(&facts->units, r, kernel, words);
        return time_ns;
    }
    nt_str_add(words, "-");
    return NAN;
}

static void print_line(const nt_facts *facts, bool json)
{
    nt_str best = {0};
    double best_ns = best_of(facts, &best);
    if (json) {
        json_t *outcomes = json_object();
        for (int i = 0; i < NT_OUTCOME_COUNT; i++)
            json_object_set_new(outcomes, nt_outcome_name((nt_outcome)i), json_integer(facts->outcome[i]));
        nt_output_json(json_pack("{s:s, s:I, s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "type", "run", "run",
                                 (json_int_t)facts->run, "state", facts->state, "trials", (json_int_t)facts->trials,
                                 "planned", nt_json_int(facts->planned), "outcomes", outcomes, "best_ns",
                                 nt_json_real(best_ns), "elapsed_s", nt_json_real(facts->elapsed_s), "eta_s",
                                 nt_json_real(facts->eta_s)));
    } else {
        printf("run %lld %s, %s: %lld tried, %lld ok, best %s", (long long)facts->run, facts->state,
               nt_text_duration_s(facts->elapsed_s).s, (long long)facts->trials,
               (long long)facts->outcome[NT_OUTCOME_OK], nt_str_text(&best));
        if (!isnan(facts->eta_s))
            printf(", %s left", nt_text_duration_s(facts->eta_s).s);
        printf("; last %s\n", facts->latest[0] != '\0' ? facts->latest : "-");
    }
    fflush(stdout);
    nt_str_done(&best);
}

nt_status nt_top_run_lines(const nt_args *args, const nt_top_source *source, const atomic_bool *stop, nt_error *err)
{
    nt_top_feed *feed = NULL;
    int64_t frames = nt_args_integer(args, "frames", INT64_MAX), told = -1;
    nt_status status = nt_top_feed_open(source, &feed, err);
    for (int64_t frame = 0; status == NT_OK && !*stop && frame < frames && nt_output_wanted(); frame++) {
        const nt_facts *facts = nt_top_feed_facts(feed);
        bool changed, live = strcmp(facts->state, "running") == 0 || strcmp(facts->state, "playing") == 0;
        nt_feed *base = nt_top_feed_base(feed);
        if (facts->has_run && facts->trials != told)
            print_line(facts, nt_args_flag(args, "json"));
        told = facts->trials;
        if (facts->has_run && !live)
            break;
        status = base->wait(base, nt_args_real(args, "interval", 1), &(nt_wake){stop, -1}, &changed, err);
        status = status == NT_TIMED_OUT ? NT_OK : status;
    }
    nt_top_feed_close(feed);
    return status;
}

nt_status nt_top_screen(const nt_args *args, const nt_top_source *source, int *exit_code, nt_error *err)
{
    nt_top_feed *feed = NULL;
    nt_screen screen;
    char settings[NT_PATH_BYTES];
    setlocale(LC_CTYPE, "");
    nt_status status = nt_top_feed_open(source, &feed, err);
    if (status != NT_OK)
        return status;
    status = prepare(args, nt_top_feed_facts(feed), &screen, err);
    if (status == NT_OK && nt_top_dump_asked(args)) {
        status = write_view(args, nt_top_feed_base(feed), &screen, err);
    } else if (status == NT_OK) {
        nt_loop_options options = {.color = nt_color_wanted(args, stdout),
                                   .frames = nt_args_integer(args, "frames", 0),
                                   .settings = nt_settings_path(settings, sizeof settings) ? settings : NULL,
                                   .dump_folder = "."};
        int stopped_by = 0;
        status = nt_loop_run(&screen, nt_top_feed_base(feed), &options, &stopped_by, err);
        if (stopped_by != 0)
            *exit_code = 128 + stopped_by;
    }
    nt_top_feed_close(feed);
    return status;
}
