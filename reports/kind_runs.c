/* kind_runs.c: where the time of runs went, the samples behind a time, and devices against each other. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/stats.h"
#include "core/units.h"
#include "reports/kinds.h"

enum { MOST_RUNS = 12, MOST_PROBLEMS = 12, MOST_DEVICES = 6 };

static const char *database_name(const nt_result *r)
{
    const char *slash = strrchr(r->source.database, '/');
    return slash != NULL ? slash + 1 : r->source.database;
}

/* ---- budget ------------------------------------------------------------------------------------------------------ */

static const char *const parts[] = {"compile", "verify", "measure", "idle"};
enum { PARTS = sizeof parts / sizeof parts[0] };

static double part_s(const nt_result_run *run, int part)
{
    const double seconds[PARTS] = {run->compile_s, run->verify_s, run->measure_s, run->idle_s};
    return isfinite(seconds[part]) && seconds[part] > 0 ? seconds[part] : 0;
}

static double sum_s(const nt_result_run *run, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += part_s(run, i);
    return sum;
}

/* The newest, since a database of years holds many. */
static size_t first_shown(const nt_result *r)
{
    size_t shown = 0, i = r->runs;
    while (i > 0 && shown < MOST_RUNS) {
        i--;
        shown += sum_s(&r->run[i], PARTS) > 0;
    }
    return i;
}

nt_status nt_plot_budget(const nt_result *r, const nt_plot_options *options, nt_chart *chart, nt_error *err)
{
    size_t first = first_shown(r);
    (void)options;
    (void)err;
    nt_copy(chart->title, sizeof chart->title, "Where the time of each run went");
    snprintf(chart->subtitle, sizeof chart->subtitle, "%.200s", database_name(r));
    nt_copy(chart->x.label, sizeof chart->x.label, "run");
    nt_copy(chart->y.label, sizeof chart->y.label, "time, s");
    chart->y.from = 0;
    for (int part = 0; part < PARTS; part++) {
        nt_series *bars = nt_chart_add(chart, NT_MARK_BARS, part, "%s", parts[part]);
        bars->width = 0.6;
        for (size_t i = first; i < r->runs; i++) {
            char name[32];
            if (sum_s(&r->run[i], PARTS) == 0)
                continue;
            snprintf(name, sizeof name, "%" PRId64, r->run[i].id);
            double from = sum_s(&r->run[i], part);
            nt_chart_range_add(chart, bars, nt_axis_category(&chart->x, name), from + part_s(&r->run[i], part), from,
                               0);
        }
    }
    for (size_t i = first; i < r->runs; i++) {
        const nt_result_run *run = &r->run[i];
        if (sum_s(run, PARTS) > 0)
            nt_str_addf(&chart->words, "Run %" PRId64 ": compiling %s, verifying %s, measuring %s, idle %s. ", run->id,
                        nt_text_duration_s(part_s(run, 0)).s, nt_text_duration_s(part_s(run, 1)).s,
                        nt_text_duration_s(part_s(run, 2)).s, nt_text_duration_s(part_s(run, 3)).s);
    }
    if (first > 0)
        snprintf(chart->note, sizeof chart->note, "the newest %d runs; %zu older ones are left out", MOST_RUNS, first);
    return NT_OK;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static const nt_result_trial *trial_of(const nt_result *r, const nt_plot_options *options)
{
    for (size_t i = 0; options->trial > 0 && i < r->trials; i++)
        if (r->trial[i].id == options->trial)
            return &r->trial[i];
    const nt_result_group *group = options->trial > 0 ? NULL : nt_plot_group(r, options);
    return group != NULL && group->best >= 0 ? &r->trial[group->best] : NULL;
}

/* Freedman and Diaconis' width; outliers count into the last bins rather than stretch the axis to nothing. */
static void add_histogram(nt_chart *chart, const nt_samples *s, double unit_ns, double *most)
{
    double low = nt_quantile(s->sample_ns, s->count, 0), high = nt_quantile(s->sample_ns, s->count, 1);
    double quartiles = nt_quantile(s->sample_ns, s->count, 0.75) - nt_quantile(s->sample_ns, s->count, 0.25);
    double width = 2 * quartiles / cbrt((double)s->count);
    int bins = width > 0 ? (int)fmin(60, ceil((high - low) / width)) : 1;
    bins = bins < 1 ? 1 : bins;
    width = high > low ? (high - low) / bins : low * 0.001;
    double *count = nt_alloc_zero((size_t)bins, sizeof *count);
    for (size_t i = 0; i < s->count; i++) {
        int bin = (int)((s->sample_ns[i] - low) / width);
        count[bin < 0 ? 0 : bin >= bins ? bins - 1 : bin]++;
    }
    nt_series *bars = nt_chart_add(chart, NT_MARK_BARS, 5, "samples");
    bars->width = width / unit_ns;
    *most = 0;
    for (int i = 0; i < bins; i++) {
        *most = fmax(*most, count[i]);
        nt_chart_range_add(chart, bars, (low + (i + 0.5) * width) / unit_ns, count[i], 0, 0);
    }
    free(count);
}

static void add_quantiles(nt_chart *chart, const nt_samples *s, const nt_result_trial *t, double unit_ns, double most)
{
    static const struct {
        double q;
        const char *name;
        int color;
        size_t least; /* samples that it is told from */
    } marks[] = {{0.9, "p90", 4, 10}, {0.99, "p99", 1, 100}};
    nt_series *band = nt_chart_add(chart, NT_MARK_BAND, 7, "95 %% interval of the median");
    nt_chart_range_add(chart, band, t->lo_ns / unit_ns, most, 0, most * 1.05);
    nt_chart_range_add(chart, band, t->hi_ns / unit_ns, most, 0, most * 1.05);
    nt_series *median = nt_chart_add(chart, NT_MARK_ROOF, 0, "median %s", nt_text_time_ns(t->time_ns).s);
    nt_chart_point_add(chart, median, t->time_ns / unit_ns, 0);
    nt_chart_point_add(chart, median, t->time_ns / unit_ns, most * 1.05);
    nt_str_addf(&chart->words, "%zu samples: median %s", s->count, nt_text_time_ns(t->time_ns).s);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (s->count < marks[i].least)
            continue;
        double value = nt_quantile(s->sample_ns, s->count, marks[i].q);
        nt_series *line =
            nt_chart_add(chart, NT_MARK_ROOF, marks[i].color, "%s %s", marks[i].name, nt_text_time_ns(value).s);
        nt_chart_point_add(chart, line, value / unit_ns, 0);
        nt_chart_point_add(chart, line, value / unit_ns, most * 1.05);
        nt_str_addf(&chart->words, ", %s %s", marks[i].name, nt_text_time_ns(value).s);
    }
    nt_str_add(&chart->words, ".");
}

nt_status nt_plot_samples(const nt_result *r, const nt_plot_options *options, nt_chart *chart, nt_error *err)
{
    const nt_result_trial *t = trial_of(r, options);
    nt_samples samples = {0};
    double most;
    if (t == NULL)
        return options->trial > 0 ? nt_fail(err, NT_NOT_FOUND, "%s has no trial %" PRId64 " that matches",
                                            r->source.database, options->trial)
                                  : nt_plot_nothing(err, "there is no ok trial");
    nt_status status = r->source.reader->samples(r->source.reader, t->id, &samples, err);
    if (status != NT_OK)
        return status;
    nt_time_unit unit = nt_time_unit_of(t->time_ns);
    char title[128];
    if (t->launches_per_sample > 1)
        snprintf(title, sizeof title, "Samples of trial %lld, each the mean of %lld launches", (long long)t->id,
                 (long long)t->launches_per_sample);
    else
        snprintf(title, sizeof title, "Samples of trial %lld, a launch each", (long long)t->id);
    nt_plot_titles(chart, r, &r->group[t->group], title);
    snprintf(chart->x.label, sizeof chart->x.label, "time of a launch, %s", unit.name);
    nt_copy(chart->y.label, sizeof chart->y.label, "samples");
    chart->y.from = 0;
    if (samples.count > 0) {
        add_histogram(chart, &samples, unit.ns, &most);
        add_quantiles(chart, &samples, t, unit.ns, most);
    }
    nt_samples_done(&samples);
    return NT_OK;
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

static double time_on(const nt_result *r, const nt_result_group *like, int device)
{
    for (size_t i = 0; i < r->groups; i++) {
        const nt_result_group *group = &r->group[i];
        if (group->device == device && group->best >= 0 && group->cache == like->cache &&
            nt_problem_equal(&group->problem, &like->problem))
            return r->trial[group->best].time_ns;
    }
    return NAN;
}

static int devices_with(const nt_result *r, const nt_result_group *like)
{
    int count = 0;
    for (size_t d = 0; d < r->devices; d++)
        count += !isnan(time_on(r, like, (int)d));
    return count;
}

/* Problems that at least two devices solved, each once: where the first device that has it lists it. */
static size_t common(const nt_result *r, const nt_result_group *out[MOST_PROBLEMS], size_t *left)
{
    size_t count = 0;
    *left = 0;
    for (size_t i = 0; i < r->groups; i++) {
        const nt_result_group *group = &r->group[i];
        bool seen = group->best < 0 || group->cache != NT_COLD || devices_with(r, group) < 2;
        for (size_t j = 0; j < i && !seen; j++)
            seen = r->group[j].best >= 0 && r->group[j].cache == group->cache &&
                   nt_problem_equal(&r->group[j].problem, &group->problem);
        if (seen)
            continue;
        if (count < MOST_PROBLEMS)
            out[count++] = group;
        else
            ++*left;
    }
    return count;
}

static void add_device(nt_chart *chart, const nt_result *r, const nt_result_group *const *problem, size_t problems,
                       int device, double offset, double width)
{
    double *ratio = nt_alloc_zero(problems, sizeof *ratio);
    size_t ratios = 0;
    nt_series *bars = nt_chart_add(chart, NT_MARK_BARS, device, "%s", r->device[device].label);
    bars->width = width * 0.9;
    for (size_t p = 0; p < problems; p++) {
        const nt_result_group *group = problem[p];
        double time_ns = time_on(r, group, device), fastest = HUGE_VAL;
        for (size_t d = 0; d < r->devices; d++)
            fastest = fmin(fastest, isnan(time_on(r, group, (int)d)) ? HUGE_VAL : time_on(r, group, (int)d));
        nt_chart_range_add(chart, bars, nt_axis_category(&chart->x, group->label) + offset, time_ns / fastest, 0.5, 0);
        if (!isnan(time_ns))
            ratio[ratios++] = time_ns / fastest;
    }
    nt_str_addf(&chart->words, " %s takes %.3g times the fastest in the geometric mean of %zu problems.",
                r->device[device].label, nt_geomean(ratio, ratios), ratios);
    free(ratio);
}

nt_status nt_plot_devices(const nt_result *r, const nt_plot_options *options, nt_chart *chart, nt_error *err)
{
    const nt_result_group *problem[MOST_PROBLEMS];
    size_t left, problems = common(r, problem, &left);
    int devices = (int)(r->devices < MOST_DEVICES ? r->devices : MOST_DEVICES);
    (void)options;
    if (problems == 0)
        return nt_plot_nothing(err, "no problem was solved on two devices");
    nt_copy(chart->title, sizeof chart->title, "Devices against each other: best time over that of the fastest device");
    snprintf(chart->subtitle, sizeof chart->subtitle, "%.200s", database_name(r));
    nt_copy(chart->y.label, sizeof chart->y.label, "time over the fastest (1 is best)");
    chart->y.log = true;
    chart->y.from = 0.5;
    nt_str_add(&chart->words, "Best times of the same problems on several devices.");
    for (int d = 0; d < devices; d++)
        add_device(chart, r, problem, problems, d, (d - (devices - 1) / 2.0) * 0.8 / devices, 0.8 / devices);
    if (left > 0)
        snprintf(chart->note, sizeof chart->note, "%d problems; %zu more are left out", MOST_PROBLEMS, left);
    return NT_OK;
}
