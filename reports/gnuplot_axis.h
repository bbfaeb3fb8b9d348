/* gnuplot_axis.h: the axes of a chart in a gnuplot script. */
#ifndef NT_GNUPLOT_AXIS_H
#define NT_GNUPLOT_AXIS_H

#include "reports/chart.h"

/* Label, range, scale and ticks; `name` is gnuplot's: x, y, y2. */
void nt_gnuplot_axis(nt_str *out, const nt_chart *chart, const nt_axis *axis, const char *name);

/* ('60' 60, '70' 70, ..): more to a decade, the fewer decades there are. */
void nt_gnuplot_log_ticks(nt_str *out, double from, double to);

/* Names too long to stand beside each other. */
bool nt_axis_is_sloping(const nt_axis *x);

#endif
