/* gnuplot_axis.c: ranges and ticks of a chart's axes. They are chosen here, because gnuplot labels powers of ten alone
 * on a logarithmic axis, which leaves one from 60 to 90 without a number. */
#include "reports/gnuplot_axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/gnuplot.h"

typedef struct extent {
    double from, to;
} extent;

static void include(extent *e, const nt_axis *axis, double value)
{
    if (!isfinite(value) || (axis->log && value <= 0))
        return;
    e->from = fmin(e->from, value);
    e->to = fmax(e->to, value);
}

/* Which of a point's numbers lie on an axis depends on its mark. */
static extent extent_of(const nt_chart *chart, const nt_axis *axis)
{
    extent e = {HUGE_VAL, -HUGE_VAL};
    for (size_t s = 0; s < chart->count; s++) {
        const nt_series *series = &chart->series[s];
        bool is_x = axis == &chart->x;
        if (!is_x && series->second != (axis == &chart->y2))
            continue;
        for (size_t i = 0; i < series->count; i++) {
            const nt_chart_point *p = &series->point[i];
            double half = series->mark == NT_MARK_BARS ? series->width / 2 : 0;
            include(&e, axis, is_x ? p->x - half : p->y);
            include(&e, axis, is_x ? p->x + half : p->y);
            if (!is_x && (series->mark == NT_MARK_BAND || series->mark == NT_MARK_INTERVAL))
                include(&e, axis, p->lo), include(&e, axis, p->hi);
        }
    }
    return e;
}

static void add_tick(nt_str *out, const char *text, double at, bool *first)
{
    nt_str_add(out, *first ? "" : ", ");
    nt_gnuplot_quote(out, text);
    nt_str_addf(out, " %.8g", at);
    *first = false;
}

static void tick_text(char text[32], double value)
{
    static const struct {
        double from, unit;
        const char *suffix;
    } steps[] = {{1e9, 1e9, " G"}, {1e6, 1e6, " M"}, {1e4, 1e3, " k"}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (value >= steps[i].from) {
            snprintf(text, 32, "%.4g%s", value / steps[i].unit, steps[i].suffix);
            return;
        }
    snprintf(text, 32, "%.4g", value);
}

/* More ticks to a decade, the fewer decades there are. */
void nt_gnuplot_log_ticks(nt_str *out, double from, double to)
{
    static const struct {
        double decades; /* from this many on */
        int count;
        double mantissa[20];
    } densities[] = {
        {4, 1, {1}},
        {1.5, 3, {1, 2, 5}},
        {0.5, 7, {1, 1.5, 2, 3, 4, 5, 7}},
        {0, 20, {1, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2, 2.2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 7, 8, 9}},
    };
    size_t density = 0;
    bool first = true;
    while (density + 1 < sizeof densities / sizeof densities[0] && log10(to / from) <= densities[density].decades)
        density++;
    nt_str_add(out, "(");
    for (int power = (int)floor(log10(from)), last = (int)ceil(log10(to)); power <= last; power++)
        for (int i = 0; i < densities[density].count; i++) {
            char text[32];
            double at = densities[density].mantissa[i] * pow(10, power);
            tick_text(text, at);
            if (at >= from && at <= to)
                add_tick(out, text, at, &first);
        }
    nt_str_add(out, ")");
}

static size_t longest(const nt_axis *axis)
{
    size_t length = 0;
    for (size_t i = 0; i < axis->categories; i++)
        length = strlen(axis->category[i]) > length ? strlen(axis->category[i]) : length;
    return length;
}

/* Characters, or lines of them, that an axis holds; and the length from which a name is worth reading aslant. */
enum { ROOM_X = 80, ROOM_Y = 24, LONG_NAME = 6 };

bool nt_axis_is_sloping(const nt_axis *x)
{
    return longest(x) >= LONG_NAME && (longest(x) + 1) * x->categories > ROOM_X;
}

/* Short names that are too many for their axis are shown in steps. */
static void category_ticks(nt_str *out, const nt_axis *axis, bool is_x)
{
    bool first = true, sloping = is_x && nt_axis_is_sloping(axis);
    size_t room = is_x ? ROOM_X : ROOM_Y, needed = is_x ? (longest(axis) + 1) * axis->categories : axis->categories;
    size_t step = sloping || needed <= room ? 1 : (needed + room - 1) / room;
    nt_str_add(out, sloping ? "rotate by -28 left (" : "(");
    for (size_t i = 0; i < axis->categories; i += step)
        add_tick(out, axis->category[i], (double)i, &first);
    nt_str_add(out, ")");
}

/* A tick where each batch stands. */
static void point_ticks(nt_str *out, const nt_chart *chart)
{
    double seen[64];
    size_t count = 0;
    bool first = true;
    nt_str_add(out, "(");
    for (size_t s = 0; s < chart->count; s++)
        for (size_t i = 0; i < chart->series[s].count; i++) {
            double x = chart->series[s].point[i].x;
            bool known = count == sizeof seen / sizeof seen[0];
            for (size_t j = 0; j < count && !known; j++)
                known = seen[j] == x;
            if (known)
                continue;
            char text[32];
            snprintf(text, sizeof text, "%g", x);
            add_tick(out, text, seen[count++] = x, &first);
        }
    nt_str_add(out, ")");
}

static extent padded(const nt_axis *axis, extent e)
{
    if (axis->categories > 0)
        return (extent){-0.6, (double)axis->categories - 0.4};
    if (!(e.to >= e.from))
        return axis->log ? (extent){0.1, 10} : (extent){0, 1};
    double pad = axis->log ? 0 : fmax((e.to - e.from) * 0.06, fabs(e.to) * 0.002);
    extent out = axis->log ? (extent){e.from / pow(e.to / e.from, 0.06) / 1.02, e.to * pow(e.to / e.from, 0.06) * 1.02}
                           : (extent){e.from - pad, e.to + pad};
    if (!isnan(axis->from))
        out.from = axis->from;
    if (!isnan(axis->to))
        out.to = axis->to;
    if (!isnan(axis->from) && isnan(axis->to) && !axis->log)
        out.to = e.to * 1.12; /* room for words above bars */
    return out;
}

void nt_gnuplot_axis(nt_str *out, const nt_chart *chart, const nt_axis *axis, const char *name)
{
    extent e = padded(axis, extent_of(chart, axis));
    bool is_x = axis == &chart->x;
    nt_str_addf(out, "set %slabel ", name);
    nt_gnuplot_quote(out, axis->label);
    nt_str_addf(out, "\nset %srange [%.8g:%.8g]\n", name, e.from, e.to);
    /* Over less than this a logarithm looks like a line, and round numbers are rare. */
    bool log = axis->log && e.to > e.from * 1.4;
    if (log)
        nt_str_addf(out, "set logscale %s\n", name);
    nt_str_addf(out, "set %stics ", name);
    if (axis->categories > 0)
        category_ticks(out, axis, is_x);
    else if (axis->powers)
        point_ticks(out, chart);
    else if (log)
        nt_gnuplot_log_ticks(out, e.from, e.to);
    else
        nt_str_add(out, "autofreq");
    nt_str_add(out, is_x || axis == &chart->y ? " nomirror\n" : "\n");
}
