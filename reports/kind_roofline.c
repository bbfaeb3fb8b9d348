/* kind_roofline.c: trials of a device under its roofs: work over bytes moved on one axis, work over time on the other.
 *
 * Bytes are those that the problem must move at least once, or, where counters saw it, what it did move. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"
#include "reports/kinds.h"

enum { MOST_NAMED = 6 };

typedef struct span {
    double from, to;
} span;

static void stretch(span *s, double x)
{
    if (isfinite(x) && x > 0) {
        s->from = fmin(s->from, x);
        s->to = fmax(s->to, x);
    }
}

/* The roofs reach from a quarter of the least intensity to beyond the ridge, so that both arms are seen. */
static void add_roof(nt_chart *chart, const nt_device_info *info, nt_precision precision, span x, double unit)
{
    double peak = info->peak_flops[precision], rate = info->dram_peak_bytes_per_s;
    if (isnan(peak) || isnan(rate))
        return;
    double ridge = peak / rate, from = x.from / 4, to = fmax(x.to * 4, ridge * 4);
    nt_series *roof = nt_chart_add(chart, NT_MARK_ROOF, (int)precision, "roof %s, %s", nt_precisions[precision].name,
                                   nt_text_flops(peak).s);
    nt_chart_point_add(chart, roof, from, fmin(peak, rate * from) / unit);
    if (ridge > from)
        nt_chart_point_add(chart, roof, ridge, peak / unit);
    nt_chart_point_add(chart, roof, to, peak / unit);
}

static bool belongs(const nt_result *r, const nt_result_trial *t, int device, const nt_plot_options *options)
{
    const nt_result_group *group = &r->group[t->group];
    return t->outcome == NT_OUTCOME_OK && group->device == device && group->cache == NT_COLD &&
           (options->group < 0 || options->group == t->group);
}

static size_t add_trials(nt_chart *chart, const nt_result *r, int device, const nt_plot_options *options,
                         nt_precision precision, double unit, bool counted)
{
    nt_series *points = nt_chart_add(chart, NT_MARK_POINTS, (int)precision, "%s, %s", nt_precisions[precision].name,
                                     counted ? "least bytes" : "bytes counted");
    points->hollow = !counted;
    for (size_t i = 0; i < r->trials; i++) {
        const nt_result_trial *t = &r->trial[i];
        const nt_result_group *group = &r->group[t->group];
        if (!belongs(r, t, device, options) || group->problem.precision != precision)
            continue;
        double bytes = counted ? group->bytes : t->dram_bytes;
        nt_chart_point_add(chart, points, group->flop / bytes, nt_result_flops(group, t->time_ns) / unit);
    }
    size_t count = points->count;
    if (count == 0)
        chart->count--;
    return count;
}

/* Short enough for two columns of a legend. */
static void short_name(const nt_result *r, const nt_result_group *group, nt_str *out)
{
    const nt_problem *p = &group->problem;
    nt_str_addf(out, "%.12s ", p->layer);
    if (r->source.shape != NULL)
        r->source.shape(out, p->layer, &p->shape);
    else
        nt_shape_print(out, &p->shape);
    nt_str_addf(out, " b%lld %s", (long long)p->batch, nt_precisions[p->precision].name);
}

static void name_one(nt_chart *chart, const nt_result *r, const nt_result_group *group, int place, double unit)
{
    nt_str name = {0};
    double time_ns = r->trial[group->best].time_ns, pct = nt_result_roof_pct(r, group, time_ns);
    short_name(r, group, &name);
    nt_series *chosen = nt_chart_add(chart, NT_MARK_CHOSEN, place, "%.40s%s%.14s", nt_str_text(&name),
                                     isnan(pct) ? "" : ": ", isnan(pct) ? "" : nt_text_pct(pct).s);
    nt_chart_point_add(chart, chosen, group->flop / group->bytes, nt_result_flops(group, time_ns) / unit);
    nt_str_addf(&chart->words, " The best of %s reaches %s", group->label,
                nt_text_flops(nt_result_flops(group, time_ns)).s);
    if (isfinite(pct))
        nt_str_addf(&chart->words, ", %s of its roof", nt_text_pct(pct).s);
    nt_str_add(&chart->words, ".");
    nt_str_done(&name);
}

static void name_best(nt_chart *chart, const nt_result *r, int device, const nt_plot_options *options, double unit)
{
    int named = 0, left = 0;
    for (size_t g = 0; g < r->groups; g++) {
        const nt_result_group *group = &r->group[g];
        if (group->device != device || group->best < 0 || group->cache != NT_COLD || isnan(group->flop) ||
            (options->group >= 0 && options->group != (int)g))
            continue;
        if (named < MOST_NAMED)
            name_one(chart, r, group, named++, unit);
        else
            left++;
    }
    if (left > 0) {
        snprintf(chart->note, sizeof chart->note, "%d winners are named, %d more are not", named, left);
        nt_str_addf(&chart->words, " %d more winners are among the points.", left);
    }
}

static void titles(nt_chart *chart, const nt_result *r, int device, const char *rate)
{
    const nt_device_info *info = &r->device[device].info;
    nt_copy(chart->title, sizeof chart->title, "Roofline: how near each trial comes to what the device can do");
    snprintf(chart->subtitle, sizeof chart->subtitle, "%.120s, memory %s, peaks: %.50s", r->device[device].label,
             nt_text_rate(info->dram_peak_bytes_per_s).s, info->peak_source[0] != '\0' ? info->peak_source : "unknown");
    nt_copy(chart->x.label, sizeof chart->x.label, "arithmetic intensity, FLOP per byte of memory traffic");
    snprintf(chart->y.label, sizeof chart->y.label, "performance, %s", rate);
    chart->x.log = chart->y.log = true;
}

nt_status nt_plot_roofline(const nt_result *r, const nt_plot_options *options, nt_chart *chart, nt_error *err)
{
    int device = nt_plot_device(r, options);
    span x = {HUGE_VAL, 0};
    bool used[NT_PRECISION_COUNT] = {false};
    size_t counted = 0, points = 0;
    double most = 0;
    if (device < 0)
        return nt_plot_nothing(err, "there is no ok trial");
    for (size_t i = 0; i < r->trials; i++) {
        const nt_result_trial *t = &r->trial[i];
        const nt_result_group *group = &r->group[t->group];
        if (!belongs(r, t, device, options) || isnan(group->flop))
            continue;
        used[group->problem.precision] = true;
        most = fmax(most, nt_result_flops(group, t->time_ns));
        stretch(&x, group->flop / group->bytes);
        stretch(&x, group->flop / t->dram_bytes);
    }
    if (most == 0)
        return nt_plot_nothing(err, "the work of the layers on %s is not known", r->device[device].label);
    double unit = most >= 1e12 ? 1e12 : 1e9;
    titles(chart, r, device, unit == 1e12 ? "TFLOP/s" : "GFLOP/s");
    for (int p = 0; p < NT_PRECISION_COUNT; p++)
        if (used[p]) {
            add_roof(chart, &r->device[device].info, (nt_precision)p, x, unit);
            points += add_trials(chart, r, device, options, (nt_precision)p, unit, true);
            counted += add_trials(chart, r, device, options, (nt_precision)p, unit, false);
        }
    nt_str_addf(&chart->words, "%zu ok trials on %s by their least traffic, %zu of them also by the traffic counted.",
                points, r->device[device].label, counted);
    name_best(chart, r, device, options, unit);
    return NT_OK;
}
