/* kind_ladder.c: one layer and shape over its batches, and over its precisions: what a batch buys in throughput and
 * costs in latency, what a precision buys in time and costs in error. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"
#include "reports/kinds.h"

static const double KNEE_SHARE = 0.9; /* of the highest throughput */

/* Equal but for batch and precision. */
static bool is_family(const nt_result_group *a, const nt_result_group *b)
{
    return a->device == b->device && a->cache == b->cache && a->problem.layout == b->problem.layout &&
           a->problem.fill == b->problem.fill && strcmp(a->problem.layer, b->problem.layer) == 0 &&
           nt_shape_equal(&a->problem.shape, &b->problem.shape);
}

static int family_size(const nt_result *r, const nt_result_group *of, bool same_batch)
{
    int size = 0;
    for (size_t i = 0; i < r->groups; i++)
        size += r->group[i].best >= 0 && is_family(&r->group[i], of) &&
                (!same_batch || r->group[i].problem.batch == of->problem.batch);
    return size;
}

/* The family with the most winners, or that of the problem asked for. */
static const nt_result_group *family(const nt_result *r, const nt_plot_options *options, bool same_batch)
{
    const nt_result_group *found = NULL;
    int most = 0;
    if (options->group >= 0)
        return &r->group[options->group];
    for (size_t i = 0; i < r->groups; i++) {
        const nt_result_group *group = &r->group[i];
        int size = family_size(r, group, same_batch);
        if (group->best >= 0 && size > most && (options->device < 0 || options->device == group->device)) {
            most = size;
            found = group;
        }
    }
    return found;
}

static void titles(nt_chart *chart, const nt_result *r, const nt_result_group *of, bool with_batch)
{
    nt_str text = {0};
    nt_str_addf(&text, "%s ", of->problem.layer);
    if (r->source.shape != NULL)
        r->source.shape(&text, of->problem.layer, &of->problem.shape);
    else
        nt_shape_print(&text, &of->problem.shape);
    if (with_batch)
        nt_str_addf(&text, " batch %lld", (long long)of->problem.batch);
    snprintf(chart->subtitle, sizeof chart->subtitle, "%.90s %s, %s caches, %.120s", nt_str_text(&text),
             nt_layout_name(of->problem.layout), nt_cache_mode_name(of->cache), r->device[of->device].label);
    nt_str_done(&text);
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

/* Winner of a family at a precision with the least batch above `above`. */
static const nt_result_group *next_batch(const nt_result *r, const nt_result_group *of, nt_precision precision,
                                         int64_t above)
{
    const nt_result_group *found = NULL;
    for (size_t i = 0; i < r->groups; i++) {
        const nt_result_group *group = &r->group[i];
        if (group->best >= 0 && is_family(group, of) && group->problem.precision == precision &&
            group->problem.batch > above && (found == NULL || group->problem.batch < found->problem.batch))
            found = group;
    }
    return found;
}

static double images_per_s(const nt_result_group *group, double time_ns)
{
    return (double)group->problem.batch / (time_ns * 1e-9);
}

static void mark_knee(nt_chart *chart, const nt_result *r, const nt_result_group *of, nt_precision precision, int color,
                      double highest)
{
    const nt_result_group *group = NULL;
    int64_t batch = 0;
    while ((group = next_batch(r, of, precision, batch)) != NULL) {
        double time_ns = r->trial[group->best].time_ns;
        batch = group->problem.batch;
        if (images_per_s(group, time_ns) < KNEE_SHARE * highest)
            continue;
        nt_series *knee =
            nt_chart_add(chart, NT_MARK_CHOSEN, color, "knee %s: batch %lld, %s/s", nt_precisions[precision].name,
                         (long long)batch, nt_text_count(images_per_s(group, time_ns)).s);
        nt_chart_point_add(chart, knee, (double)batch, images_per_s(group, time_ns));
        nt_str_addf(
            &chart->words,
            " In %s, batch %lld is the first with %.0f %% of the highest throughput: %s images/s at %s a batch.",
            nt_precisions[precision].name, (long long)batch, 100 * KNEE_SHARE,
            nt_text_count(images_per_s(group, time_ns)).s, nt_text_time_ns(time_ns).s);
        return;
    }
}

static void add_ladder(nt_chart *chart, const nt_result *r, const nt_result_group *of, nt_precision precision)
{
    const nt_result_group *group;
    double highest = 0;
    int color = (int)precision;
    nt_series *band = nt_chart_add(chart, NT_MARK_BAND, color, "%s", "");
    for (int64_t batch = 0; (group = next_batch(r, of, precision, batch)) != NULL; batch = group->problem.batch) {
        const nt_result_trial *t = &r->trial[group->best];
        nt_chart_range_add(chart, band, (double)group->problem.batch, images_per_s(group, t->time_ns),
                           images_per_s(group, t->hi_ns), images_per_s(group, t->lo_ns));
    }
    nt_series *line = nt_chart_add(chart, NT_MARK_LINE, color, "%s throughput", nt_precisions[precision].name);
    for (int64_t batch = 0; (group = next_batch(r, of, precision, batch)) != NULL; batch = group->problem.batch) {
        double rate = images_per_s(group, r->trial[group->best].time_ns);
        highest = fmax(highest, rate);
        nt_chart_point_add(chart, line, (double)group->problem.batch, rate);
    }
    if (line->count == 0) {
        chart->count -= 2;
        return;
    }
    nt_series *latency = nt_chart_add(chart, NT_MARK_LINE, color, "%s latency", nt_precisions[precision].name);
    latency->second = true;
    for (int64_t batch = 0; (group = next_batch(r, of, precision, batch)) != NULL; batch = group->problem.batch)
        nt_chart_point_add(chart, latency, (double)group->problem.batch, r->trial[group->best].time_ns * 1e-6);
    mark_knee(chart, r, of, precision, color, highest);
}

/* The bound, and the largest batch of each precision within it. */
static void add_bound(nt_chart *chart, const nt_result *r, const nt_result_group *of, double bound_ms)
{
    double from = HUGE_VAL, to = 0;
    for (size_t i = 0; i < r->groups; i++)
        if (r->group[i].best >= 0 && is_family(&r->group[i], of)) {
            from = fmin(from, (double)r->group[i].problem.batch);
            to = fmax(to, (double)r->group[i].problem.batch);
        }
    nt_series *bound = nt_chart_add(chart, NT_MARK_ROOF, 7, "latency bound, %.4g ms", bound_ms);
    bound->second = true;
    nt_chart_point_add(chart, bound, from, bound_ms);
    nt_chart_point_add(chart, bound, to, bound_ms);
    for (int p = 0; p < NT_PRECISION_COUNT; p++) {
        const nt_result_group *group, *within = NULL;
        for (int64_t b = 0; (group = next_batch(r, of, (nt_precision)p, b)) != NULL; b = group->problem.batch)
            if (r->trial[group->best].time_ns * 1e-6 <= bound_ms)
                within = group;
        if (within != NULL)
            nt_str_addf(&chart->words, " Within %.4g ms, %s allows batch %lld.", bound_ms, nt_precisions[p].name,
                        (long long)within->problem.batch);
    }
}

nt_status nt_plot_batch(const nt_result *r, const nt_plot_options *options, nt_chart *chart, nt_error *err)
{
    const nt_result_group *of = family(r, options, false);
    if (of == NULL)
        return nt_plot_nothing(err, "there is no ok trial");
    if (nt_layer_is_users(of->problem.layer))
        return nt_plot_nothing(err, "%s is a kernel of a user's own, which has no batches", of->problem.layer);
    nt_copy(chart->title, sizeof chart->title,
            "Throughput (solid, left) and latency (dashed, right) against the batch");
    titles(chart, r, of, false);
    nt_copy(chart->x.label, sizeof chart->x.label, "batch, images");
    nt_copy(chart->y.label, sizeof chart->y.label, "throughput, images/s");
    nt_copy(chart->y2.label, sizeof chart->y2.label, "latency of a batch, ms");
    chart->x.log = chart->x.powers = chart->y.log = chart->y2.log = true;
    nt_str_addf(&chart->words, "Throughput and latency of the best configurations of %s by batch.", chart->subtitle);
    for (int p = 0; p < NT_PRECISION_COUNT; p++)
        add_ladder(chart, r, of, (nt_precision)p);
    if (!isnan(options->max_latency_ms))
        add_bound(chart, r, of, options->max_latency_ms);
    return NT_OK;
}

/* ---- precisions -------------------------------------------------------------------------------------------------- */

static const nt_result_group *of_precision(const nt_result *r, const nt_result_group *of, int precision)
{
    for (size_t i = 0; i < r->groups; i++) {
        const nt_result_group *group = &r->group[i];
        if (group->best >= 0 && is_family(group, of) && group->problem.batch == of->problem.batch &&
            (int)group->problem.precision == precision)
            return group;
    }
    return NULL;
}

static void describe(nt_chart *chart, const nt_result_group *group, const nt_result_trial *t)
{
    nt_str_addf(&chart->words, " %s takes %s", nt_precisions[group->problem.precision].name,
                nt_text_time_ns(t->time_ns).s);
    if (isfinite(t->lo_ns) && isfinite(t->hi_ns))
        nt_str_addf(&chart->words, " (%s..%s)", nt_text_time_ns(t->lo_ns).s, nt_text_time_ns(t->hi_ns).s);
    if (!isnan(t->error_prec))
        nt_str_addf(&chart->words, " with an error of %.2g against fp64", t->error_prec);
    nt_str_add(&chart->words, ".");
}

/* Bars and intervals in time, errors on the right: series one after another, because adding one may move the others. */
static void add_precisions(nt_chart *chart, const nt_result *r, const nt_result_group *of, nt_time_unit unit)
{
    static const struct {
        const char *name;
        nt_mark mark;
        int color;
    } marks[] = {{"time", NT_MARK_BARS, 5},
                 {"95 % interval", NT_MARK_INTERVAL, 7},
                 {"error (right)", NT_MARK_POINTS, 1},
                 {"", NT_MARK_TAGS, 7}};
    double fastest = HUGE_VAL;
    int fastest_at = 0, at = 0;
    for (size_t m = 0; m < sizeof marks / sizeof marks[0]; m++) {
        nt_series *series = nt_chart_add(chart, marks[m].mark, marks[m].color, "%s", marks[m].name);
        series->second = marks[m].mark == NT_MARK_POINTS;
        series->width = 0.55;
        for (int p = 0; p < NT_PRECISION_COUNT; p++) {
            const nt_result_group *group = of_precision(r, of, p);
            if (group == NULL)
                continue;
            const nt_result_trial *t = &r->trial[group->best];
            double x = at = nt_axis_category(&chart->x, nt_precisions[p].name), y = t->time_ns / unit.ns;
            if (y < fastest)
                fastest = y, fastest_at = at;
            if (series->second)
                nt_chart_point_add(chart, series, x, t->error_prec);
            else if (marks[m].mark == NT_MARK_TAGS)
                nt_chart_label_add(chart, series, x, y, 0, nt_text_time_ns(t->time_ns).s);
            else if (marks[m].mark == NT_MARK_INTERVAL)
                nt_chart_range_add(chart, series, x, y, t->lo_ns / unit.ns, t->hi_ns / unit.ns);
            else
                nt_chart_range_add(chart, series, x, y, 0, y);
        }
    }
    nt_series *chosen = nt_chart_add(chart, NT_MARK_CHOSEN, 7, "fastest");
    nt_chart_point_add(chart, chosen, fastest_at, fastest);
}

/* An interval far beyond the bars, of a disturbed machine, leaves the picture at its top instead of flattening them. */
static void bound_intervals(nt_chart *chart)
{
    double bar = 0, interval = 0;
    for (size_t s = 0; s < chart->count; s++)
        for (size_t i = 0; i < chart->series[s].count; i++) {
            if (chart->series[s].mark == NT_MARK_BARS)
                bar = fmax(bar, chart->series[s].point[i].y);
            if (chart->series[s].mark == NT_MARK_INTERVAL)
                interval = fmax(interval, chart->series[s].point[i].hi);
        }
    if (interval <= bar * 1.6)
        return;
    chart->y.to = bar * 1.6;
    nt_copy(chart->note, sizeof chart->note, "an interval reaches beyond the picture");
}

nt_status nt_plot_precision(const nt_result *r, const nt_plot_options *options, nt_chart *chart, nt_error *err)
{
    const nt_result_group *of = family(r, options, true);
    if (of == NULL || of->best < 0)
        return nt_plot_nothing(err, "there is no ok trial");
    nt_time_unit unit = nt_time_unit_of(r->trial[of->best].time_ns);
    nt_copy(chart->title, sizeof chart->title, "What each precision buys in time and costs in error");
    titles(chart, r, of, true);
    snprintf(chart->y.label, sizeof chart->y.label, "best time, %s", unit.name);
    nt_copy(chart->y2.label, sizeof chart->y2.label, "relative error against fp64");
    chart->y.from = 0;
    chart->y2.log = true;
    nt_str_addf(&chart->words, "Best times of %s by precision.", chart->subtitle);
    add_precisions(chart, r, of, unit);
    bound_intervals(chart);
    for (int p = 0; p < NT_PRECISION_COUNT; p++) {
        const nt_result_group *group = of_precision(r, of, p);
        if (group != NULL)
            describe(chart, group, &r->trial[group->best]);
    }
    return NT_OK;
}
