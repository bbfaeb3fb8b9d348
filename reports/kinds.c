/* kinds.c: the table of plot kinds and what they share: which problem is shown when several could be. */
#include "reports/kinds.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const nt_plot_kind nt_plot_kinds[] = {
    {"heatmap", "best time for each pair of values of two parameters", "two parameters with several values each",
     NT_PLOT_OF_PROBLEM, nt_plot_heatmap},
    {"roofline", "every trial under the compute and the memory roof of its device", "known peaks of the device",
     NT_PLOT_OF_DEVICE, nt_plot_roofline},
    {"batch", "throughput and latency against the batch, with the knee", "one layer at several batches",
     NT_PLOT_OF_DEVICE, nt_plot_batch},
    {"precision", "best time of each precision with its error", "results of some precision", NT_PLOT_OF_DEVICE,
     nt_plot_precision},
    {"occupancy", "occupancy of each trial against its time", "trials with a known occupancy, which a GPU has",
     NT_PLOT_OF_PROBLEM, nt_plot_occupancy},
    {"convergence", "best time so far, trial after trial, of each run", "ok trials", NT_PLOT_OF_PROBLEM,
     nt_plot_convergence},
    {"budget", "where the time of each run went", "runs that kept account of their time", NT_PLOT_OF_ALL,
     nt_plot_budget},
    {"samples", "histogram of the samples behind one time", "a trial with samples", NT_PLOT_OF_PROBLEM,
     nt_plot_samples},
    {"devices", "devices against each other, problem by problem", "the same problem on two devices", NT_PLOT_OF_ALL,
     nt_plot_devices},
    {"crossover", "a cpu against a GPU over the batches, with and without copies",
     "the same problem on a cpu and on a GPU", NT_PLOT_OF_ALL, nt_plot_crossover},
    {"live", "what a device did over time, from a log of nntune top", "frames with known values", NT_PLOT_OF_LOG,
     nt_plot_live},
};
const int nt_plot_kind_count = sizeof nt_plot_kinds / sizeof nt_plot_kinds[0];

nt_status nt_plot_kind_find(const char *name, const nt_plot_kind **out, nt_error *err)
{
    const char *names[sizeof nt_plot_kinds / sizeof nt_plot_kinds[0]];
    nt_str all = {0};
    for (int i = 0; i < nt_plot_kind_count; i++) {
        names[i] = nt_plot_kinds[i].name;
        nt_str_addf(&all, "%s%s", i > 0 ? ", " : "", names[i]);
        if (strcmp(names[i], name) == 0) {
            *out = &nt_plot_kinds[i];
            nt_str_done(&all);
            return NT_OK;
        }
    }
    int nearest = nt_nearest(name, names, nt_plot_kind_count);
    nt_fail(err, NT_USAGE, "there is no plot '%s'", name);
    nt_hint(err, "%s%s%skinds: %s", nearest >= 0 ? "did you mean '" : "", nearest >= 0 ? names[nearest] : "",
            nearest >= 0 ? "'? " : "", nt_str_text(&all));
    nt_str_done(&all);
    return NT_USAGE;
}

nt_status nt_plot_make(const nt_plot_kind *kind, const nt_result *result, const nt_plot_options *options, size_t most,
                       nt_chart *chart, nt_error *err)
{
    nt_chart_init(chart);
    nt_status status = kind->make(result, options, chart, err);
    if (status == NT_OK && nt_chart_is_empty(chart)) {
        nt_fail(err, NT_NOT_FOUND, "nothing to plot: '%s' needs %s", kind->name, kind->needs);
        status = nt_hint(err, "'nntune best' shows what the database holds");
    }
    if (status != NT_OK)
        nt_chart_done(chart);
    else
        nt_chart_thin(chart, most);
    return status;
}

const nt_result_group *nt_plot_group(const nt_result *result, const nt_plot_options *options)
{
    const nt_result_group *found = NULL;
    if (options->group >= 0)
        return &result->group[options->group];
    for (size_t i = 0; i < result->groups; i++) {
        const nt_result_group *group = &result->group[i];
        if (options->device >= 0 && group->device != options->device)
            continue;
        if (group->best >= 0 && (found == NULL || group->outcome[NT_OUTCOME_OK] > found->outcome[NT_OUTCOME_OK]))
            found = group;
    }
    return found;
}

int nt_plot_device(const nt_result *result, const nt_plot_options *options)
{
    if (options->device >= 0)
        return options->device;
    const nt_result_group *group = nt_plot_group(result, options);
    return group != NULL ? group->device : -1;
}

void nt_plot_titles(nt_chart *chart, const nt_result *result, const nt_result_group *group, const char *title)
{
    nt_copy(chart->title, sizeof chart->title, title);
    snprintf(chart->subtitle, sizeof chart->subtitle, "%.90s, %.120s", group->label,
             result->device[group->device].label);
}

nt_status nt_plot_nothing(nt_error *err, const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return nt_fail(err, NT_NOT_FOUND, "nothing to plot: %s", what);
}
