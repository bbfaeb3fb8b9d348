/* plot.h: a chart as a picture file, with its script and its data beside it. */
#ifndef NT_PLOT_H
#define NT_PLOT_H

#include "reports/gnuplot.h"

typedef struct nt_plot_files {
    char picture[1100], script[1100], data[1100];
    bool drawn; /* false: there is no gnuplot; script and data are there all the same */
} nt_plot_files;

/* Writes FILE, FILE's name with .gp and with .dat, each replaced whole. A path without a suffix gets .svg. Without
 * gnuplot, script and data are written, `drawn` is false, and the result is still NT_OK. */
nt_status nt_plot_write(const nt_chart *chart, const char *path, nt_plot_files *files, nt_error *err);

#endif
