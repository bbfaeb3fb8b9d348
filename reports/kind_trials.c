/* kind_trials.c: the trials of one problem: their occupancy against their time, and how the best fell as they came. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"
#include "reports/kinds.h"

enum { MOST_LINES = 8, MOST_LIMITERS = 6 };

static bool is_of(const nt_result *r, const nt_result_trial *t, const nt_result_group *group)
{
    return t->outcome == NT_OUTCOME_OK && &r->group[t->group] == group;
}

static void add_winner(nt_chart *chart, const nt_result *r, const nt_result_group *group, double x, double unit_ns)
{
    const nt_result_trial *best = &r->trial[group->best];
    nt_series *chosen = nt_chart_add(chart, NT_MARK_CHOSEN, 7, "best: %s (trial %lld)",
                                     nt_text_time_ns(best->time_ns).s, (long long)best->id);
    nt_chart_point_add(chart, chosen, x, best->time_ns / unit_ns);
}

/* ---- occupancy --------------------------------------------------------------------------------------------------- */

static int limiter_index(const char *seen[MOST_LIMITERS], int *count, const char *limiter)
{
    for (int i = 0; i < *count; i++)
        if (seen[i] == limiter)
            return i;
    if (*count == MOST_LIMITERS)
        return MOST_LIMITERS - 1;
    seen[*count] = limiter;
    return (*count)++;
}

static void add_limited(nt_chart *chart, const nt_result *r, const nt_result_group *group, const char *limiter,
                        int color, double unit_ns)
{
    nt_series *points =
        nt_chart_add(chart, NT_MARK_POINTS, color, "limited by %s", limiter[0] ? limiter : "nothing known");
    for (size_t i = 0; i < r->trials; i++) {
        const nt_result_trial *t = &r->trial[i];
        if (is_of(r, t, group) && t->limiter == limiter)
            nt_chart_point_add(chart, points, t->occupancy_limit_pct, t->time_ns / unit_ns);
    }
    if (points->count == 0)
        chart->count--;
}

static size_t add_measured(nt_chart *chart, const nt_result *r, const nt_result_group *group, double unit_ns)
{
    nt_series *points = nt_chart_add(chart, NT_MARK_POINTS, 6, "achieved, by counters");
    for (size_t i = 0; i < r->trials; i++)
        if (is_of(r, &r->trial[i], group))
            nt_chart_point_add(chart, points, r->trial[i].occupancy_pct, r->trial[i].time_ns / unit_ns);
    size_t count = points->count;
    if (count == 0)
        chart->count--;
    return count;
}

nt_status nt_plot_occupancy(const nt_result *r, const nt_plot_options *options, nt_chart *chart, nt_error *err)
{
    const nt_result_group *group = nt_plot_group(r, options);
    const char *seen[MOST_LIMITERS];
    int limiters = 0;
    if (group == NULL || group->best < 0)
        return nt_plot_nothing(err, "there is no ok trial");
    const nt_result_trial *best = &r->trial[group->best];
    nt_time_unit unit = nt_time_unit_of(best->time_ns);
    nt_plot_titles(chart, r, group, "Occupancy against time: more is not always faster");
    nt_copy(chart->x.label, sizeof chart->x.label, "occupancy, % of the warps an SM can hold");
    snprintf(chart->y.label, sizeof chart->y.label, "time, %s", unit.name);
    chart->x.from = 0, chart->x.to = 105;
    chart->y.log = true;
    for (size_t i = 0; i < r->trials; i++)
        if (is_of(r, &r->trial[i], group) && !isnan(r->trial[i].occupancy_limit_pct))
            limiter_index(seen, &limiters, r->trial[i].limiter);
    for (int i = 0; i < limiters; i++)
        add_limited(chart, r, group, seen[i], i, unit.ns);
    size_t measured = add_measured(chart, r, group, unit.ns);
    if (!isnan(best->occupancy_limit_pct)) {
        add_winner(chart, r, group, best->occupancy_limit_pct, unit.ns);
        nt_str_addf(
            &chart->words,
            "Theoretical occupancy of %lld ok trials, achieved occupancy of %zu. The best, %s, could hold %s of "
            "the warps and is limited by %s.",
            (long long)group->outcome[NT_OUTCOME_OK], measured, nt_text_time_ns(best->time_ns).s,
            nt_text_pct(best->occupancy_limit_pct).s, best->limiter[0] ? best->limiter : "nothing known");
    }
    return NT_OK;
}

/* ---- convergence ------------------------------------------------------------------------------------------------- */

/* Times as first measured, in the order of the trials; those that gave no time count as tries. */
static double add_trace(nt_chart *chart, const nt_result *r, const nt_result_group *group, int run, int color,
                        double unit_ns, int64_t *tries)
{
    nt_series *line =
        nt_chart_add(chart, NT_MARK_STEPS, color, "run %lld, %s", (long long)r->run[run].id, r->run[run].strategy);
    double best = HUGE_VAL;
    *tries = 0;
    for (size_t i = 0; i < r->trials; i++) {
        const nt_result_trial *t = &r->trial[i];
        if (t->run != run || &r->group[t->group] != group)
            continue;
        ++*tries;
        double time_ns = t->outcome == NT_OUTCOME_OK ? (isnan(t->first_ns) ? t->time_ns : t->first_ns) : HUGE_VAL;
        if (time_ns >= best)
            continue;
        best = time_ns;
        nt_chart_point_add(chart, line, (double)*tries, best / unit_ns);
    }
    nt_chart_point_add(chart, line, (double)*tries, best / unit_ns);
    if (line->count == 0)
        chart->count--;
    return best;
}

/* The interval of the winner's time, across all tries. */
static void add_noise(nt_chart *chart, const nt_result *r, const nt_result_group *group, double unit_ns)
{
    const nt_result_trial *best = &r->trial[group->best];
    int64_t most = 1;
    for (size_t i = 0; i < NT_OUTCOME_COUNT; i++)
        most += group->outcome[i];
    nt_series *band = nt_chart_add(chart, NT_MARK_BAND, 7, "95 %% interval of the best");
    nt_chart_range_add(chart, band, 1, best->time_ns / unit_ns, best->lo_ns / unit_ns, best->hi_ns / unit_ns);
    nt_chart_range_add(chart, band, (double)most, best->time_ns / unit_ns, best->lo_ns / unit_ns,
                       best->hi_ns / unit_ns);
}

nt_status nt_plot_convergence(const nt_result *r, const nt_plot_options *options, nt_chart *chart, nt_error *err)
{
    const nt_result_group *group = nt_plot_group(r, options);
    int lines = 0, left = 0;
    if (group == NULL || group->best < 0)
        return nt_plot_nothing(err, "there is no ok trial");
    const nt_result_trial *winner = &r->trial[group->best];
    nt_time_unit unit = nt_time_unit_of(winner->time_ns);
    nt_plot_titles(chart, r, group, "Best time so far, trial after trial");
    nt_copy(chart->x.label, sizeof chart->x.label, "trials, also those that failed or were abandoned");
    snprintf(chart->y.label, sizeof chart->y.label, "best time so far, %s", unit.name);
    chart->x.log = chart->y.log = true;
    add_noise(chart, r, group, unit.ns);
    for (size_t run = 0; run < r->runs; run++) {
        int64_t tries;
        double best = lines < MOST_LINES ? add_trace(chart, r, group, (int)run, lines, unit.ns, &tries) : NAN;
        left += isnan(best);
        if (!isfinite(best))
            continue;
        lines++;
        nt_str_addf(&chart->words, "Run %lld (%s) came to %s in %lld trials. ", (long long)r->run[run].id,
                    r->run[run].strategy, nt_text_time_ns(best).s, (long long)tries);
    }
    if (left > 0)
        snprintf(chart->note, sizeof chart->note, "the first %d runs; %d more are left out", MOST_LINES, left);
    for (size_t i = 0, tries = 0; i < r->trials; i++) {
        tries += &r->group[r->trial[i].group] == group && r->trial[i].run == winner->run;
        if (&r->trial[i] == winner)
            add_winner(chart, r, group, (double)tries, unit.ns);
    }
    return NT_OK;
}
