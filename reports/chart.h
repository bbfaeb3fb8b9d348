/* chart.h: a picture as data: axes, series and the sentence that says the same in words. Plot kinds make it; gnuplot
 * scripts, text in the terminal and the report's tables are made from it. */
#ifndef NT_CHART_H
#define NT_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

typedef enum nt_mark {
    NT_MARK_POINTS,   /* x, y */
    NT_MARK_LINE,     /* x, y with points on it */
    NT_MARK_TRACE,    /* x, y: a line alone */
    NT_MARK_STEPS,    /* x, y, constant until the next */
    NT_MARK_ROOF,     /* x, y: a limit, drawn as a heavy line */
    NT_MARK_BAND,     /* x, lo..hi: noise */
    NT_MARK_INTERVAL, /* x, y, lo..hi */
    NT_MARK_CHOSEN,   /* x, y: the point that was taken */
    NT_MARK_BARS,     /* x (middle), lo..y, of the series' width */
    NT_MARK_CELLS,    /* x, y in places of categories; lo is the value, label its text */
    NT_MARK_DENSITY,  /* x, y in bins; lo is the number of points */
    NT_MARK_TAGS,     /* x, y, label: words above what stands there */
    NT_MARK_COUNT
} nt_mark;

typedef struct nt_chart_point {
    double x, y, lo, hi;
    char *label; /* owned; NULL for none */
} nt_chart_point;

typedef struct nt_series {
    char name[128]; /* in the legend; empty keeps it out */
    nt_mark mark;
    int color;    /* place in the palette; equal ones belong together */
    bool second;  /* on the right-hand axis */
    bool hollow;  /* points drawn as outlines */
    double width; /* of bars, in units of x */
    nt_chart_point *point;
    size_t count, capacity;
} nt_series;

typedef struct nt_axis {
    char label[96]; /* with its unit; empty: the axis is not drawn */
    bool log;
    double from, to; /* NAN: from the data */
    char **category; /* names at 0, 1, ..; NULL for numbers */
    size_t categories, capacity;
    bool powers; /* the ticks are what the points have, as of a ladder 1, 2, 4 */
} nt_axis;

typedef struct nt_chart {
    char title[192], subtitle[256];
    char note[192];     /* what was left out or put together; empty for nothing */
    char key_label[64]; /* of the colours of cells and bins */
    nt_str words;       /* the text alternative: what the picture shows, in sentences */
    nt_axis x, y, y2;
    nt_series *series;
    size_t count, capacity;
} nt_chart;

enum { NT_CHART_MOST_POINTS = 5000 };

void nt_chart_init(nt_chart *chart);
void nt_chart_done(nt_chart *chart);

/* Valid until the next is added. */
nt_series *nt_chart_add(nt_chart *chart, nt_mark mark, int color, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Points that are no finite numbers are left out, and so are those that a logarithm has no place for. */
void nt_chart_point_add(nt_chart *chart, nt_series *series, double x, double y);
void nt_chart_range_add(nt_chart *chart, nt_series *series, double x, double y, double lo, double hi);
void nt_chart_label_add(nt_chart *chart, nt_series *series, double x, double y, double lo, const char *label);

/* Place of a category, added when new. */
int nt_axis_category(nt_axis *axis, const char *name);

/* Points and steps beyond `most` become bins with their counts, and the note says so. Everything else stays. */
void nt_chart_thin(nt_chart *chart, size_t most);
size_t nt_chart_points(const nt_chart *chart);
bool nt_chart_is_empty(const nt_chart *chart);

/* The unit for times up to this one ("us") and its size in nanoseconds. */
typedef struct nt_time_unit {
    const char *name;
    double ns;
} nt_time_unit;
nt_time_unit nt_time_unit_of(double ns);

#endif
