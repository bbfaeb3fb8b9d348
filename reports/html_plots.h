/* html_plots.h: the pictures of a report: which there are, drawn at one go, put where they belong with their words. */
#ifndef NT_HTML_PLOTS_H
#define NT_HTML_PLOTS_H

#include "reports/inline_svg.h"
#include "reports/kinds.h"
#include "reports/report.h"

enum { NT_HTML_PLOTTED = 6, NT_HTML_DEVICES = 4 };

typedef struct nt_html_plot {
    const nt_plot_kind *kind;
    int of; /* index of its device or group; -1 for all */
    nt_str picture;
} nt_html_plot;

typedef struct nt_html_plots {
    nt_html_plot *plot;
    nt_chart *chart;
    size_t count, capacity, chart_capacity;
    size_t left_out; /* problems without pictures */
    bool drawn;      /* false: there is no gnuplot, words stand alone */
} nt_html_plots;

nt_status nt_html_plots_draw(nt_html_plots *plots, nt_report *report, nt_error *err);
/* Those of a scope and, unless -1, of this one device or group. */
void nt_html_plots_put(nt_html_plots *plots, FILE *out, nt_plot_scope scope, int of);
void nt_html_plots_done(nt_html_plots *plots);

#endif
