#include "cli/sweep_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/announce.h"
#include "cli/color.h"
#include "cli/output.h"
#include "cli/present.h"
#include "cli/progress.h"
#include "cli/sweep_screen.h"
#include "cli/sweep_table.h"
#include "cli/warn.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/units.h"

struct nt_sweep_view {
    const nt_args *args;
    const char *database;
    nt_progress_line *line;
    bool json, resume;
    nt_announcement *announcement; /* `nntune top` finds the sweep by it */
    nt_sweep_screen *screen;       /* NULL without --tui */
};

static void on_run(void *context, const nt_run *run, bool resumed)
{
    nt_sweep_view *view = context;
    if (view->announcement == NULL)
        view->announcement = nt_announce(view->database, run->device.name);
    nt_sweep_screen_show(view->screen, run);
    if (nt_args_flag(view->args, "quiet"))
        return;
    nt_progress_clear(view->line);
    fprintf(stderr, "run %lld %s %s, results in %s\n", (long long)run->id, resumed ? "goes on with" : "tunes",
            run->device.name, view->database);
    if (view->resume && !resumed)
        fputs("nothing to resume with these options: a new run begins\n", stderr);
}

/* --verbose: each trial as a line on stderr, whatever goes to stdout. */
static void tell_trial(nt_sweep_view *view, const nt_trial *trial)
{
    nt_str text = {0};
    nt_str_addf(&text, "trial %lld %s", (long long)trial->id, nt_outcome_name(trial->outcome));
    if (isfinite(trial->time_ns))
        nt_str_addf(&text, " %s", nt_text_time_ns(trial->time_ns).s);
    nt_str_addf(&text, ", %s: ", trial->kernel);
    nt_present_params(&text, trial->params_json);
    if (trial->reason[0] != '\0')
        nt_str_addf(&text, " (%s)", trial->reason);
    nt_progress_clear(view->line);
    fprintf(stderr, "%s\n", nt_str_text(&text));
    nt_str_done(&text);
}

static void on_trial(void *context, const nt_trial *trial)
{
    nt_sweep_view *view = context;
    if (nt_args_flag(view->args, "verbose"))
        tell_trial(view, trial);
    if (!view->json)
        return;
    json_t *object = nt_json_trial(trial);
    json_object_del(object, "sample_ns"); /* in the database; here the count is enough */
    json_t *line = json_pack("{s:s}", "type", "trial");
    json_object_update(line, object);
    json_decref(object);
    nt_output_json(line);
}

static void on_progress(void *context, const nt_progress *p)
{
    nt_sweep_view *view = context;
    nt_str text = {0};
    if (nt_sweep_screen_up(view->screen))
        return;
    int64_t failed = p->outcome[NT_OUTCOME_COMPILE_FAILED] + p->outcome[NT_OUTCOME_LAUNCH_FAILED] +
                     p->outcome[NT_OUTCOME_WRONG_RESULT] + p->outcome[NT_OUTCOME_TIMED_OUT] +
                     p->outcome[NT_OUTCOME_CRASHED];
    if (p->problem != NULL)
        nt_str_addf(&text, "[%d/%d] batch %lld %s  ", p->unit, p->unit_count, (long long)p->problem->batch,
                    nt_precisions[p->problem->precision].name);
    nt_str_addf(&text, "%lld", (long long)p->done);
    if (p->planned > 0)
        nt_str_addf(&text, " of %lld", (long long)p->planned);
    nt_str_addf(&text, " tried, %lld pruned, %lld failed", (long long)p->outcome[NT_OUTCOME_PRUNED], (long long)failed);
    if (failed > 0)
        nt_sweep_failures(&text, p->outcome);
    if (isfinite(p->best_ns))
        nt_str_addf(&text, ", best %s", nt_text_time_ns(p->best_ns).s);
    if (isfinite(p->eta_s))
        nt_str_addf(&text, ", %s left", nt_text_duration_s(p->eta_s).s);
    nt_str_addf(&text, "  (%s)", p->phase);
    nt_progress_show(view->line, nt_str_text(&text), false);
    nt_str_done(&text);
}

static void on_warning(void *context, const char *id, const char *text)
{
    nt_sweep_view *view = context;
    nt_progress_clear(view->line);
    nt_warn(view->args, id, "%s", text);
}

nt_sweep_view *nt_sweep_view_open(const nt_args *args, const char *database, bool resume)
{
    nt_sweep_view *view = nt_alloc_zero(1, sizeof *view);
    view->args = args;
    view->database = database;
    view->resume = resume;
    view->line = nt_progress_open(args);
    view->json = nt_args_flag(args, "json");
    view->screen = nt_sweep_screen_new(args, database);
    return view;
}

nt_sweep_events nt_sweep_view_events(nt_sweep_view *view)
{
    return (nt_sweep_events){
        .context = view, .run = on_run, .trial = on_trial, .progress = on_progress, .warning = on_warning};
}

void nt_sweep_view_finish(nt_sweep_view *view, const nt_sweep_result *result, nt_status status, const nt_error *err)
{
    nt_progress_clear(view->line);
    nt_sweep_screen_close(view->screen);
    view->screen = NULL;
    if (view->json)
        nt_output_json(nt_sweep_summary_json(result, view->database, status, err));
    else if (result->unit_count > 0)
        nt_sweep_print(result, view->database, nt_color_wanted(view->args, stdout));
}

void nt_sweep_view_close(nt_sweep_view *view)
{
    nt_sweep_screen_close(view->screen);
    nt_announce_end(view->announcement);
    nt_progress_close(view->line);
    free(view);
}
