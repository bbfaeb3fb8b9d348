/* text_chart.h: a chart in plain characters, for terminals and for where there is no gnuplot. */
#ifndef NT_TEXT_CHART_H
#define NT_TEXT_CHART_H

#include "reports/chart.h"

/* `columns` wide (at least 40): a field of marks, bars with their numbers, or a table of cells, then the legend and the
 * words. */
void nt_text_chart(nt_str *out, const nt_chart *chart, int columns);

#endif
