/* gnuplot.h: charts as gnuplot scripts with their data, and running gnuplot. */
#ifndef NT_GNUPLOT_H
#define NT_GNUPLOT_H

#include "core/status.h"
#include "reports/chart.h"

/* A picture's file format, by the end of its name. */
typedef struct nt_picture_format {
    const char *suffix;           /* ".svg" */
    const char *const *terminals; /* of gnuplot that can make it, the best first; NULL-terminated */
    const char *settings;         /* of the terminal */
} nt_picture_format;

/* The format of a path; no suffix at all is SVG. NT_USAGE names the formats. */
nt_status nt_picture_format_of(const char *path, const nt_picture_format **out, nt_error *err);
/* The terminal for a format that this gnuplot has. NT_NOT_FOUND when there is no gnuplot, NT_USAGE when it has none. */
nt_status nt_picture_terminal(const nt_picture_format *format, const char **out, nt_error *err);

/* Blocks of the chart's data, one a series, as gnuplot's `index` counts them: x y lo hi "label". */
void nt_gnuplot_data(nt_str *out, const nt_chart *chart);
/* Everything of the script but terminal, output and data. `data` is how the script names them: data, $chart. */
void nt_gnuplot_body(nt_str *out, const nt_chart *chart, const char *data);
/* A whole script that is run in the folder of its data and makes `picture` there. */
void nt_gnuplot_script(nt_str *out, const nt_chart *chart, const char *terminal, const nt_picture_format *format,
                       const char *picture, const char *data, const char *script);

/* 'text' as gnuplot takes it literally. */
void nt_gnuplot_quote(nt_str *out, const char *text);

/* Runs gnuplot in a folder (NULL: here); what it writes to standard output goes to `out`. NT_NOT_FOUND: there is no
 * gnuplot. NT_FAILED gives its own message. */
nt_status nt_gnuplot_run(const char *folder, const char *const *arguments, nt_str *out, nt_error *err);

#endif
