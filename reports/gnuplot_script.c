/* gnuplot_script.c: a chart as a gnuplot script and its data.
 *
 * Texts stand in single quotes, where gnuplot expands nothing. Ticks of logarithmic axes are chosen here: gnuplot
 * labels powers of ten alone, which leaves an axis from 60 to 90 without a number. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/gnuplot.h"
#include "reports/gnuplot_axis.h"

/* Okabe and Ito's colours, told apart by people with any colour vision; marks and dashes differ as well. */
static const char *const colors[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                     "#E69F00", "#56B4E9", "#5B3A8C", "#000000"};
static const int point_types[] = {7, 5, 9, 11, 13, 15, 3, 1}, hollow_types[] = {6, 4, 8, 10, 12, 14, 2, 6};
enum { COLORS = sizeof colors / sizeof colors[0] };

void nt_gnuplot_quote(nt_str *out, const char *text)
{
    nt_str_add(out, "'");
    for (; *text != '\0'; text++) {
        char c = (unsigned char)*text < ' ' || *text == 127 ? ' ' : *text;
        nt_str_add_n(out, c == '\'' ? "''" : &c, c == '\'' ? 2 : 1);
    }
    nt_str_add(out, "'");
}

/* ---- data -------------------------------------------------------------------------------------------------------- */

static void add_number(nt_str *out, double value)
{
    if (isfinite(value))
        nt_str_addf(out, "%.8g ", value);
    else
        nt_str_add(out, "nan ");
}

/* A double quote inside would end the column, and gnuplot reads backslashes there. */
static void add_label(nt_str *out, const char *label)
{
    nt_str_add(out, "\"");
    for (; label != NULL && *label != '\0'; label++)
        nt_str_add_n(out, (unsigned char)*label < ' ' || *label == '"' || *label == '\\' ? "'" : label, 1);
    nt_str_add(out, "\"\n");
}

void nt_gnuplot_data(nt_str *out, const nt_chart *chart)
{
    bool first = true;
    for (size_t s = 0; s < chart->count; s++) {
        const nt_series *series = &chart->series[s];
        if (series->count == 0)
            continue;
        nt_str_addf(out, "%s# ", first ? "" : "\n\n");
        for (const char *c = series->name; *c != '\0'; c++)
            nt_str_add_n(out, (unsigned char)*c < ' ' ? " " : c, 1);
        nt_str_add(out, "\n# x y low high label\n");
        for (size_t i = 0; i < series->count; i++) {
            add_number(out, series->point[i].x);
            add_number(out, series->point[i].y);
            add_number(out, series->point[i].lo);
            add_number(out, series->point[i].hi);
            add_label(out, series->point[i].label);
        }
        first = false;
    }
}

/* ---- series ------------------------------------------------------------------------------------------------------ */

/* @c color, @p mark, @o hollow mark, @d dashes, @s dashes of the right-hand axis, @h half the width of bars. */
static const char *const clause[NT_MARK_COUNT] = {
    [NT_MARK_POINTS] = "using 1:2 with points pt @p ps 0.9 lc rgb '@c'",
    [NT_MARK_LINE] = "using 1:2 with linespoints pt @p ps 0.9 lw 2 dt @s lc rgb '@c'",
    [NT_MARK_TRACE] = "using 1:2 with lines lw 2 dt @s lc rgb '@c'",
    [NT_MARK_STEPS] = "using 1:2 with steps lw 2.5 dt @d lc rgb '@c'",
    [NT_MARK_ROOF] = "using 1:2 with lines lw 3 dt @d lc rgb '@c'",
    [NT_MARK_BAND] = "using 1:3:4 with filledcurves fc rgb '@c' fs transparent solid 0.25 noborder",
    [NT_MARK_INTERVAL] = "using 1:2:3:4 with yerrorbars pt 1 ps 0.1 lw 2 lc rgb '@c'",
    [NT_MARK_CHOSEN] = "using 1:2 with points pt @o ps 1.7 lw 2.5 lc rgb '#000000'",
    [NT_MARK_BARS] = "using 1:2:($1-@h):($1+@h):3:2 with boxxyerror fc rgb '@c' fs solid 0.85 border rgb '#333333'",
    [NT_MARK_CELLS] = "using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):3 with boxxyerror lc palette fs solid 1 noborder",
    [NT_MARK_DENSITY] = "using 1:2:3 with points pt 5 ps 0.8 lc palette",
    [NT_MARK_TAGS] = "using 1:2:5 with labels offset 0,0.9",
};

static const char chosen_cell[] = "using 1:2:($1-0.47):($1+0.47):($2-0.47):($2+0.47) with boxxyerror fs empty border "
                                  "rgb '#000000' lw 3 lc rgb '#000000'";

static const char *const palettes[2] = {
    "set palette defined (0 '#3690c0', 0.35 '#a6d3e8', 1 '#fbfdfe')\n", /* cells: low is best and darkest, words stay
                                                                           legible */
    "set palette defined (0 '#c6dbef', 0.5 '#4292c6', 1 '#08306b')\n",  /* density */
};

static void fill_in(nt_str *out, char what, const nt_series *series)
{
    int color = series->color % COLORS;
    if (what == 'c')
        nt_str_add(out, colors[color]);
    else if (what == 'p')
        nt_str_addf(out, "%d", series->hollow ? hollow_types[color] : point_types[color]);
    else if (what == 'o')
        nt_str_addf(out, "%d", hollow_types[color]);
    else if (what == 's')
        nt_str_addf(out, "%d", series->second ? 2 : 1);
    else if (what == 'd')
        nt_str_addf(out, "%d", series->mark == NT_MARK_STEPS ? series->color % 5 + 1 : 1);
    else if (what == 'h')
        nt_str_addf(out, "%.6g", series->width / 2);
}

static void add_clause(nt_str *out, const nt_series *series, int index, const char *data, bool grid)
{
    nt_str_addf(out, "%s index %d ", data, index);
    const char *text = grid && series->mark == NT_MARK_CHOSEN ? chosen_cell : clause[series->mark];
    for (const char *c = text; *c != '\0'; c++)
        if (*c == '@')
            fill_in(out, *++c, series);
        else
            nt_str_add_n(out, c, 1);
    nt_str_add(out, series->second ? " axes x1y2 " : " ");
    if (series->name[0] == '\0') {
        nt_str_add(out, "notitle");
    } else {
        nt_str_add(out, "title ");
        nt_gnuplot_quote(out, series->name);
    }
}

static bool has_labels(const nt_series *series)
{
    for (size_t i = 0; i < series->count; i++)
        if (series->point[i].label != NULL && series->point[i].label[0] != '\0')
            return true;
    return false;
}

static void add_colors(nt_str *out, const nt_chart *chart)
{
    for (size_t s = 0; s < chart->count; s++) {
        const nt_series *series = &chart->series[s];
        double low = HUGE_VAL, high = 0;
        if (series->mark != NT_MARK_CELLS && series->mark != NT_MARK_DENSITY)
            continue;
        for (size_t i = 0; i < series->count; i++) {
            low = fmin(low, series->point[i].lo);
            high = fmax(high, series->point[i].lo);
        }
        nt_str_add(out, palettes[series->mark == NT_MARK_DENSITY]);
        nt_str_addf(out, "set cbrange [%.8g:%.8g]\nset cblabel ", low, high > low ? high : low * 1.01);
        nt_gnuplot_quote(out, chart->key_label);
        nt_str_add(out, "\n");
        if (high > low * 4) {
            nt_str_add(out, "set logscale cb\nset cbtics ");
            nt_gnuplot_log_ticks(out, low, high);
            nt_str_add(out, "\n");
        }
    }
}

static void add_titles(nt_str *out, const nt_chart *chart)
{
    nt_str_add(out, "set title ");
    nt_gnuplot_quote(out, chart->title);
    nt_str_add(out, ".\"\\n\".");
    nt_gnuplot_quote(out, chart->subtitle);
    if (chart->note[0] != '\0') {
        nt_str_add(out, ".\"\\n\".");
        nt_gnuplot_quote(out, chart->note);
    }
    nt_str_add(out, "\n");
}

static bool has_cells(const nt_chart *chart)
{
    for (size_t s = 0; s < chart->count; s++)
        if (chart->series[s].mark == NT_MARK_CELLS)
            return true;
    return false;
}

/* Bands lie under everything, wherever they stand in the data. */
static void add_series(nt_str *out, const nt_chart *chart, const char *data, bool bands)
{
    bool first = out->length >= 5 && strcmp(out->data + out->length - 5, "plot ") == 0, grid = has_cells(chart);
    for (size_t s = 0, index = 0; s < chart->count; s++) {
        const nt_series *series = &chart->series[s];
        if (series->count == 0)
            continue;
        if ((series->mark == NT_MARK_BAND) == bands) {
            nt_str_add(out, first ? "" : ", \\\n     ");
            first = false;
            add_clause(out, series, (int)index, data, grid);
            if (series->mark == NT_MARK_CELLS && has_labels(series))
                nt_str_addf(out, ", \\\n     %s index %zu using 1:2:5 with labels notitle", data, index);
        }
        index++;
    }
}

/* Below the label of the x axis, in columns that hold the longest name; the margin has room for it. */
static void add_key(nt_str *out, const nt_chart *chart)
{
    size_t names = 0, length = 0;
    for (size_t s = 0; s < chart->count; s++)
        if (chart->series[s].count > 0 && chart->series[s].name[0] != '\0') {
            size_t own = strlen(chart->series[s].name);
            length = own > length ? own : length;
            names++;
        }
    /* Of 800 units gnuplot takes 9.8 for a character and 50 for a sample with its gaps; wider columns it would break
     * up by itself, and then the margin would not hold them. */
    size_t columns = (size_t)(740 / (9.8 * (double)length + 50));
    columns = columns < 1 ? 1 : columns > 4 ? 4 : columns;
    size_t rows = (names + columns - 1) / columns;
    bool sloping = nt_axis_is_sloping(&chart->x);
    nt_str_addf(out, "set key at screen 0.5,0.01 center bottom horizontal maxcols %zu samplen 2\n", columns);
    nt_str_addf(out, "set bmargin %.3g\nset border lc rgb '#444444'\n", (sloping ? 8 : 3.4) + 1.1 * (double)rows);
}

void nt_gnuplot_body(nt_str *out, const nt_chart *chart, const char *data)
{
    bool grid = has_cells(chart);
    add_titles(out, chart);
    add_key(out, chart);
    nt_str_add(out, grid ? "unset grid\n" : "set grid back lc rgb '#dddddd' lt 1 lw 0.5\n");
    nt_gnuplot_axis(out, chart, &chart->x, "x");
    nt_gnuplot_axis(out, chart, &chart->y, "y");
    if (chart->y2.label[0] != '\0')
        nt_gnuplot_axis(out, chart, &chart->y2, "y2");
    add_colors(out, chart);
    nt_str_add(out, "plot ");
    add_series(out, chart, data, true);
    add_series(out, chart, data, false);
    nt_str_add(out, "\n");
}

void nt_gnuplot_script(nt_str *out, const nt_chart *chart, const char *terminal, const nt_picture_format *format,
                       const char *picture, const char *data, const char *script)
{
    nt_str_addf(out, "# Draw it again in this folder with: gnuplot %s\nif (!exists('picture')) picture = ", script);
    nt_gnuplot_quote(out, picture);
    nt_str_add(out, "\nif (!exists('data')) data = ");
    nt_gnuplot_quote(out, data);
    nt_str_addf(out, "\nset terminal %s %s\nset encoding utf8\nif (picture ne '') set output picture\n", terminal,
                format->settings);
    nt_gnuplot_body(out, chart, "data");
    nt_str_add(out, "unset output\n");
}
