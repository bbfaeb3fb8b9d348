#include "reports/text_chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

enum { ROWS = 18, LEAST_COLUMNS = 40, MOST_COLUMNS = 160, MARGIN = 10, NAME_COLUMNS = 22 };

static bool has_mark(const nt_chart *chart, nt_mark mark)
{
    for (size_t s = 0; s < chart->count; s++)
        if (chart->series[s].mark == mark && chart->series[s].count > 0)
            return true;
    return false;
}

static void rule(nt_str *out, char c, int count)
{
    for (int i = 0; i < count; i++)
        nt_str_add_n(out, &c, 1);
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static const nt_chart_point *cell_at(const nt_chart *chart, nt_mark mark, double x, double y)
{
    for (size_t s = 0; s < chart->count; s++)
        for (size_t i = 0; chart->series[s].mark == mark && i < chart->series[s].count; i++)
            if (chart->series[s].point[i].x == x && chart->series[s].point[i].y == y)
                return &chart->series[s].point[i];
    return NULL;
}

static void cells(nt_str *out, const nt_chart *chart, int columns)
{
    size_t shown = (size_t)(columns - 12) / 9;
    shown = chart->x.categories < shown ? chart->x.categories : shown;
    nt_str_addf(out, "%s across, %s down, %s; * is the best\n%10s", chart->x.label, chart->y.label, chart->key_label,
                "");
    for (size_t x = 0; x < shown; x++)
        nt_str_addf(out, " %8.8s", chart->x.category[x]);
    nt_str_add(out, shown < chart->x.categories ? " ..\n" : "\n");
    for (size_t y = 0; y < chart->y.categories; y++) {
        nt_str_addf(out, "%10.10s", chart->y.category[y]);
        for (size_t x = 0; x < shown; x++) {
            const nt_chart_point *cell = cell_at(chart, NT_MARK_CELLS, (double)x, (double)y);
            bool best = cell_at(chart, NT_MARK_CHOSEN, (double)x, (double)y) != NULL;
            if (cell == NULL)
                nt_str_addf(out, " %8s", ".");
            else
                nt_str_addf(out, " %7.4g%c", cell->lo, best ? '*' : ' ');
        }
        nt_str_add(out, "\n");
    }
}

/* ---- bars -------------------------------------------------------------------------------------------------------- */

static double longest(const nt_chart *chart)
{
    double most = 0;
    for (size_t s = 0; s < chart->count; s++)
        for (size_t i = 0; chart->series[s].mark == NT_MARK_BARS && i < chart->series[s].count; i++)
            most = fmax(most, chart->series[s].point[i].y - chart->series[s].point[i].lo);
    return most;
}

static void bars(nt_str *out, const nt_chart *chart, int columns)
{
    double most = longest(chart);
    int room = columns - NAME_COLUMNS - 24;
    nt_str_addf(out, "%s\n", chart->y.label);
    for (size_t s = 0; s < chart->count; s++) {
        const nt_series *series = &chart->series[s];
        if (series->mark != NT_MARK_BARS)
            continue;
        for (size_t i = 0; i < series->count; i++) {
            const nt_chart_point *p = &series->point[i];
            double value = p->y - p->lo;
            size_t category = (size_t)lround(fmax(p->x, 0));
            char name[64];
            if (chart->x.categories > 0)
                snprintf(name, sizeof name, "%s", category < chart->x.categories ? chart->x.category[category] : "");
            else
                snprintf(name, sizeof name, "%.5g", p->x);
            nt_str_addf(out, "%-*.*s %-10.10s ", NAME_COLUMNS, NAME_COLUMNS, name, series->name);
            rule(out, '#', most > 0 ? (int)lround(value / most * room) : 0);
            nt_str_addf(out, " %.4g\n", chart->y.from > 0 ? p->y : value);
        }
    }
}

/* ---- marks in a field -------------------------------------------------------------------------------------------- */

typedef struct field {
    double x_from, x_to, y_from, y_to, y2_from, y2_to;
    int columns;
    char at[ROWS][MOST_COLUMNS];
} field;

static const char letters[] = "ox+*=%&$";
static const char shades[] = ".:-=+*#@";

static double place(const nt_axis *axis, double value)
{
    return axis->log ? log(value) : value;
}

static void stretch(double *from, double *to, double value)
{
    if (isfinite(value)) {
        *from = fmin(*from, value);
        *to = fmax(*to, value);
    }
}

static void measure(field *f, const nt_chart *chart)
{
    f->x_from = f->y_from = f->y2_from = HUGE_VAL;
    f->x_to = f->y_to = f->y2_to = -HUGE_VAL;
    for (size_t s = 0; s < chart->count; s++) {
        const nt_series *series = &chart->series[s];
        const nt_axis *y = series->second ? &chart->y2 : &chart->y;
        for (size_t i = 0; i < series->count; i++) {
            stretch(&f->x_from, &f->x_to, place(&chart->x, series->point[i].x));
            stretch(series->second ? &f->y2_from : &f->y_from, series->second ? &f->y2_to : &f->y_to,
                    place(y, series->point[i].y));
        }
    }
}

static int cell_of(double value, double from, double to, int cells_there)
{
    int cell = to > from ? (int)lround((value - from) / (to - from) * (cells_there - 1)) : cells_there / 2;
    return cell < 0 ? 0 : cell >= cells_there ? cells_there - 1 : cell;
}

static char mark_of(const nt_series *series, const nt_chart_point *p, double most)
{
    if (series->mark == NT_MARK_CHOSEN)
        return '@';
    if (series->mark == NT_MARK_ROOF)
        return '~';
    if (series->mark == NT_MARK_DENSITY)
        return shades[cell_of(log(p->lo), 0, log(most), (int)sizeof shades - 1)];
    return letters[series->color % ((int)sizeof letters - 1)];
}

static void draw_segment(field *f, int x0, int y0, int x1, int y1, char c)
{
    int steps = abs(x1 - x0) > abs(y1 - y0) ? abs(x1 - x0) : abs(y1 - y0);
    for (int i = 1; i < steps; i++)
        f->at[y0 + (y1 - y0) * i / steps][x0 + (x1 - x0) * i / steps] = c;
}

static void draw(field *f, const nt_chart *chart, const nt_series *series)
{
    const nt_axis *axis = series->second ? &chart->y2 : &chart->y;
    bool joined = series->mark == NT_MARK_LINE || series->mark == NT_MARK_TRACE || series->mark == NT_MARK_ROOF ||
                  series->mark == NT_MARK_STEPS;
    int last_x = -1, last_y = -1;
    double most = 1;
    for (size_t i = 0; i < series->count && series->mark == NT_MARK_DENSITY; i++)
        most = fmax(most, series->point[i].lo);
    for (size_t i = 0; i < series->count; i++) {
        const nt_chart_point *p = &series->point[i];
        int x = cell_of(place(&chart->x, p->x), f->x_from, f->x_to, f->columns);
        int y = ROWS - 1 -
                cell_of(place(axis, p->y), series->second ? f->y2_from : f->y_from, series->second ? f->y2_to : f->y_to,
                        ROWS);
        if (joined && last_x >= 0 && series->mark == NT_MARK_STEPS) {
            draw_segment(f, last_x, last_y, x, last_y, '-');
            draw_segment(f, x, last_y, x, y, '|');
        } else if (joined && last_x >= 0) {
            draw_segment(f, last_x, last_y, x, y, series->mark == NT_MARK_ROOF ? '~' : '.');
        }
        f->at[y][x] = mark_of(series, p, most);
        last_x = x, last_y = y;
    }
}

static double back(const nt_axis *axis, double at)
{
    return axis->log ? exp(at) : at;
}

static void marks(nt_str *out, const nt_chart *chart, int columns)
{
    field *f = nt_alloc_zero(1, sizeof *f);
    f->columns = columns - MARGIN - 2;
    memset(f->at, ' ', sizeof f->at);
    measure(f, chart);
    for (size_t s = 0; s < chart->count; s++)
        if (chart->series[s].mark != NT_MARK_BAND && chart->series[s].mark != NT_MARK_TAGS)
            draw(f, chart, &chart->series[s]);
    nt_str_addf(out, "%s%s\n", chart->y.label, chart->y.log ? " (logarithmic)" : "");
    for (int y = 0; y < ROWS; y++) {
        double value = f->y_from + (f->y_to - f->y_from) * (ROWS - 1 - y) / (ROWS - 1);
        char text[32] = "";
        if (y % 4 == 0 || y == ROWS - 1)
            snprintf(text, sizeof text, "%.4g", back(&chart->y, value));
        int end = f->columns;
        while (end > 0 && f->at[y][end - 1] == ' ')
            end--;
        nt_str_addf(out, "%*s |%.*s\n", MARGIN - 1, text, end, f->at[y]);
    }
    nt_str_addf(out, "%*s +", MARGIN - 1, "");
    rule(out, '-', f->columns);
    char from[32], to[32];
    snprintf(from, sizeof from, "%.4g", back(&chart->x, f->x_from));
    snprintf(to, sizeof to, "%.4g", back(&chart->x, f->x_to));
    int gap = f->columns - (int)strlen(from) - (int)strlen(to);
    nt_str_addf(out, "\n%*s%s%*s%s\n%*s%s%s\n", MARGIN + 1, "", from, gap > 0 ? gap : 1, "", to, MARGIN + 1, "",
                chart->x.label, chart->x.log ? " (logarithmic)" : "");
    free(f);
}

static void legend(nt_str *out, const nt_chart *chart)
{
    for (size_t s = 0; s < chart->count; s++) {
        const nt_series *series = &chart->series[s];
        if (series->name[0] == '\0' || series->count == 0 || series->mark == NT_MARK_BAND)
            continue;
        nt_str_addf(out, "  %c %s\n", mark_of(series, &series->point[0], 1), series->name);
    }
}

/* Words at most `columns` wide. */
static void wrap(nt_str *out, const char *text, int columns)
{
    while (*text == ' ')
        text++;
    while (*text != '\0') {
        size_t length = strlen(text), line = length;
        if (length > (size_t)columns) {
            line = (size_t)columns;
            while (line > 0 && text[line] != ' ')
                line--;
            line = line > 0 ? line : (size_t)columns;
        }
        nt_str_add_n(out, text, line);
        nt_str_add(out, "\n");
        text += line;
        while (*text == ' ')
            text++;
    }
}

void nt_text_chart(nt_str *out, const nt_chart *chart, int columns)
{
    columns = columns < LEAST_COLUMNS ? LEAST_COLUMNS : columns > MOST_COLUMNS ? MOST_COLUMNS : columns;
    wrap(out, chart->title, columns);
    wrap(out, chart->subtitle, columns);
    wrap(out, chart->note, columns);
    nt_str_add(out, "\n");
    if (has_mark(chart, NT_MARK_CELLS)) {
        cells(out, chart, columns);
    } else if (has_mark(chart, NT_MARK_BARS)) {
        bars(out, chart, columns);
    } else {
        marks(out, chart, columns);
        legend(out, chart);
    }
    nt_str_add(out, "\n");
    wrap(out, nt_str_text(&chart->words), columns);
}
