#include "reports/html_plots.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"

/* Of all pictures together: marks of the same size, so this bounds the page. */
enum { POINTS_OF_PAGE = 8000 };

static size_t points_left(const nt_html_plots *plots)
{
    size_t used = 0;
    for (size_t i = 0; i < plots->count; i++)
        used += nt_chart_points(&plots->chart[i]);
    size_t left = used < POINTS_OF_PAGE ? POINTS_OF_PAGE - used : 0;
    return left < NT_CHART_MOST_POINTS ? left : NT_CHART_MOST_POINTS;
}

/* A kind that has nothing to show here is left out. */
static void add(nt_html_plots *plots, const nt_result *r, const nt_plot_kind *kind, int device, int group)
{
    nt_plot_options options = {.group = group, .device = device, .max_latency_ms = NAN};
    nt_chart chart;
    nt_error ignored;
    if (nt_plot_make(kind, r, &options, points_left(plots), &chart, &ignored) != NT_OK)
        return;
    nt_grow((void **)&plots->plot, &plots->capacity, plots->count + 1, sizeof *plots->plot);
    nt_grow((void **)&plots->chart, &plots->chart_capacity, plots->count + 1, sizeof *plots->chart);
    plots->plot[plots->count] = (nt_html_plot){.kind = kind, .of = group >= 0 ? group : device};
    plots->chart[plots->count++] = chart;
}

static void add_scope(nt_html_plots *plots, const nt_result *r, nt_plot_scope scope, int device, int group)
{
    for (int k = 0; k < nt_plot_kind_count; k++)
        if (nt_plot_kinds[k].scope == scope)
            add(plots, r, &nt_plot_kinds[k], device, group);
}

/* The groups with the most ok trials, the earlier first where equal. */
static void add_problems(nt_html_plots *plots, const nt_result *r)
{
    bool *done = nt_alloc_zero(r->groups + 1, sizeof *done);
    size_t shown = 0, with_results = 0;
    for (size_t i = 0; i < r->groups; i++)
        with_results += r->group[i].best >= 0;
    for (; shown < NT_HTML_PLOTTED; shown++) {
        int next = -1;
        for (size_t i = 0; i < r->groups; i++)
            if (!done[i] && r->group[i].best >= 0 &&
                (next < 0 || r->group[i].outcome[NT_OUTCOME_OK] > r->group[next].outcome[NT_OUTCOME_OK]))
                next = (int)i;
        if (next < 0)
            break;
        done[next] = true;
        add_scope(plots, r, NT_PLOT_OF_PROBLEM, -1, next);
    }
    plots->left_out = with_results - shown;
    free(done);
}

nt_status nt_html_plots_draw(nt_html_plots *plots, nt_report *report, nt_error *err)
{
    const nt_result *r = report->result;
    nt_inline_svg svg = {0};
    *plots = (nt_html_plots){0};
    for (size_t d = 0; d < r->devices && d < NT_HTML_DEVICES; d++)
        add_scope(plots, r, NT_PLOT_OF_DEVICE, (int)d, -1);
    add_scope(plots, r, NT_PLOT_OF_ALL, -1, -1);
    add_problems(plots, r);
    nt_status status = nt_inline_svg_draw(&svg, plots->chart, plots->count, err);
    plots->drawn = status == NT_OK;
    for (size_t i = 0; i < plots->count && plots->drawn; i++)
        nt_inline_svg_next(&svg, &plots->plot[i].picture, nt_str_text(&plots->chart[i].words));
    nt_inline_svg_done(&svg);
    report->no_gnuplot = status == NT_NOT_FOUND;
    if (status != NT_OK && status != NT_NOT_FOUND) {
        nt_html_plots_done(plots);
        return status;
    }
    return NT_OK;
}

static void put_text(FILE *out, const char *text)
{
    nt_str escaped = {0};
    nt_html_text(&escaped, text);
    fputs(nt_str_text(&escaped), out);
    nt_str_done(&escaped);
}

static void put_plot(const nt_html_plots *plots, FILE *out, size_t i)
{
    const nt_chart *chart = &plots->chart[i];
    fputs("<figure tabindex=0>", out);
    fputs(nt_str_text(&plots->plot[i].picture), out);
    fputs("<figcaption>", out);
    if (!plots->drawn) {
        put_text(out, chart->title);
        fputs(", ", out);
        put_text(out, chart->subtitle);
        fputs(". ", out);
    }
    put_text(out, nt_str_text(&chart->words));
    fputs("</figcaption></figure>\n", out);
}

void nt_html_plots_put(nt_html_plots *plots, FILE *out, nt_plot_scope scope, int of)
{
    bool opened = false;
    for (size_t i = 0; i < plots->count; i++) {
        if (plots->plot[i].kind->scope != scope || (of >= 0 && plots->plot[i].of != of))
            continue;
        fputs(opened ? "" : "<div class=f>\n", out);
        opened = true;
        put_plot(plots, out, i);
    }
    fputs(opened ? "</div>\n" : "", out);
}

void nt_html_plots_done(nt_html_plots *plots)
{
    for (size_t i = 0; i < plots->count; i++) {
        nt_str_done(&plots->plot[i].picture);
        nt_chart_done(&plots->chart[i]);
    }
    free(plots->plot);
    free(plots->chart);
    *plots = (nt_html_plots){0};
}
