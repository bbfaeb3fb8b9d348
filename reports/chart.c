/* chart.c: building charts, and bins where there are more points than an eye or a file can hold. */
#include "reports/chart.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

enum { BINS_X = 60, BINS_Y = 36 };

void nt_chart_init(nt_chart *chart)
{
    *chart = (nt_chart){.x = {.from = NAN, .to = NAN}, .y = {.from = NAN, .to = NAN}, .y2 = {.from = NAN, .to = NAN}};
}

static void axis_done(nt_axis *axis)
{
    for (size_t i = 0; i < axis->categories; i++)
        free(axis->category[i]);
    free(axis->category);
}

static void series_done(nt_series *series)
{
    for (size_t i = 0; i < series->count; i++)
        free(series->point[i].label);
    free(series->point);
}

void nt_chart_done(nt_chart *chart)
{
    for (size_t i = 0; i < chart->count; i++)
        series_done(&chart->series[i]);
    free(chart->series);
    axis_done(&chart->x);
    axis_done(&chart->y);
    axis_done(&chart->y2);
    nt_str_done(&chart->words);
    nt_chart_init(chart);
}

nt_series *nt_chart_add(nt_chart *chart, nt_mark mark, int color, const char *format, ...)
{
    nt_grow((void **)&chart->series, &chart->capacity, chart->count + 1, sizeof *chart->series);
    nt_series *series = &chart->series[chart->count++];
    va_list args;
    *series = (nt_series){.mark = mark, .color = color, .width = 0.8};
    va_start(args, format);
    vsnprintf(series->name, sizeof series->name, format, args);
    va_end(args);
    return series;
}

static void add(nt_chart *chart, nt_series *series, nt_chart_point point)
{
    const nt_axis *y = series->second ? &chart->y2 : &chart->y;
    if (!isfinite(point.x) || !isfinite(point.y) || (chart->x.log && point.x <= 0) || (y->log && point.y <= 0)) {
        free(point.label);
        return;
    }
    nt_grow((void **)&series->point, &series->capacity, series->count + 1, sizeof *series->point);
    series->point[series->count++] = point;
}

void nt_chart_point_add(nt_chart *chart, nt_series *series, double x, double y)
{
    add(chart, series, (nt_chart_point){.x = x, .y = y, .lo = NAN, .hi = NAN});
}

void nt_chart_range_add(nt_chart *chart, nt_series *series, double x, double y, double lo, double hi)
{
    if (isfinite(lo) && isfinite(hi))
        add(chart, series, (nt_chart_point){.x = x, .y = y, .lo = lo, .hi = hi});
}

void nt_chart_label_add(nt_chart *chart, nt_series *series, double x, double y, double lo, const char *label)
{
    add(chart, series, (nt_chart_point){.x = x, .y = y, .lo = lo, .hi = NAN, .label = nt_strdup(label)});
}

int nt_axis_category(nt_axis *axis, const char *name)
{
    for (size_t i = 0; i < axis->categories; i++)
        if (strcmp(axis->category[i], name) == 0)
            return (int)i;
    nt_grow((void **)&axis->category, &axis->capacity, axis->categories + 1, sizeof *axis->category);
    axis->category[axis->categories] = nt_strdup(name);
    return (int)axis->categories++;
}

/* ---- bins -------------------------------------------------------------------------------------------------------- */

static bool is_scatter(const nt_series *series)
{
    return series->mark == NT_MARK_POINTS;
}

static double place(const nt_axis *axis, double value)
{
    return axis->log ? log(value) : value;
}

typedef struct bins {
    double x_from, x_to, y_from, y_to;
    int64_t count[BINS_Y][BINS_X];
} bins;

static void widen(bins *b, const nt_chart *chart, const nt_series *series)
{
    for (size_t i = 0; i < series->count; i++) {
        double x = place(&chart->x, series->point[i].x), y = place(&chart->y, series->point[i].y);
        b->x_from = fmin(b->x_from, x), b->x_to = fmax(b->x_to, x);
        b->y_from = fmin(b->y_from, y), b->y_to = fmax(b->y_to, y);
    }
}

static int bin_of(double value, double from, double to, int bins_there)
{
    int bin = to > from ? (int)((value - from) / (to - from) * bins_there) : 0;
    return bin < 0 ? 0 : bin >= bins_there ? bins_there - 1 : bin;
}

static void count_into(bins *b, const nt_chart *chart, const nt_series *series)
{
    for (size_t i = 0; i < series->count; i++) {
        int x = bin_of(place(&chart->x, series->point[i].x), b->x_from, b->x_to, BINS_X);
        int y = bin_of(place(&chart->y, series->point[i].y), b->y_from, b->y_to, BINS_Y);
        b->count[y][x]++;
    }
}

static double middle(const nt_axis *axis, double from, double to, int bin, int bins_there)
{
    double value = from + (to - from) * (bin + 0.5) / bins_there;
    return axis->log ? exp(value) : value;
}

static void replace_scatter(nt_chart *chart, const bins *b)
{
    size_t kept = 0;
    for (size_t i = 0; i < chart->count; i++) {
        if (is_scatter(&chart->series[i]))
            series_done(&chart->series[i]);
        else
            chart->series[kept++] = chart->series[i];
    }
    chart->count = kept;
    nt_series *density = nt_chart_add(chart, NT_MARK_DENSITY, 0, "%s", "");
    for (int y = 0; y < BINS_Y; y++)
        for (int x = 0; x < BINS_X; x++)
            if (b->count[y][x] > 0)
                nt_chart_range_add(chart, density, middle(&chart->x, b->x_from, b->x_to, x, BINS_X),
                                   middle(&chart->y, b->y_from, b->y_to, y, BINS_Y), (double)b->count[y][x], 0);
    nt_series bottom = *density; /* under all that is drawn exactly */
    memmove(&chart->series[1], &chart->series[0], (chart->count - 1) * sizeof *chart->series);
    chart->series[0] = bottom;
}

static size_t scatter_points(const nt_chart *chart)
{
    size_t points = 0;
    for (size_t i = 0; i < chart->count; i++)
        points += is_scatter(&chart->series[i]) ? chart->series[i].count : 0;
    return points;
}

void nt_chart_thin(nt_chart *chart, size_t most)
{
    size_t points = scatter_points(chart);
    if (points <= most)
        return;
    bins *b = nt_alloc_zero(1, sizeof *b);
    b->x_from = b->y_from = HUGE_VAL;
    b->x_to = b->y_to = -HUGE_VAL;
    for (size_t i = 0; i < chart->count; i++)
        if (is_scatter(&chart->series[i]))
            widen(b, chart, &chart->series[i]);
    for (size_t i = 0; i < chart->count; i++)
        if (is_scatter(&chart->series[i]))
            count_into(b, chart, &chart->series[i]);
    replace_scatter(chart, b);
    free(b);
    nt_copy(chart->key_label, sizeof chart->key_label, "trials");
    char before[sizeof chart->note];
    nt_copy(before, sizeof before, chart->note);
    snprintf(chart->note, sizeof chart->note, "%zu points as a density, what is named is exact%s%.60s", points,
             before[0] != '\0' ? "; " : "", before);
}

size_t nt_chart_points(const nt_chart *chart)
{
    size_t points = 0;
    for (size_t i = 0; i < chart->count; i++)
        points += chart->series[i].count;
    return points;
}

/* Roofs, bands and tags alone show no result. */
bool nt_chart_is_empty(const nt_chart *chart)
{
    for (size_t i = 0; i < chart->count; i++)
        if (chart->series[i].count > 0 && chart->series[i].mark != NT_MARK_ROOF &&
            chart->series[i].mark != NT_MARK_BAND && chart->series[i].mark != NT_MARK_TAGS)
            return false;
    return true;
}

nt_time_unit nt_time_unit_of(double ns)
{
    static const nt_time_unit units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    size_t unit = 0;
    while (unit + 1 < sizeof units / sizeof units[0] && ns >= units[unit + 1].ns)
        unit++;
    return units[unit];
}
