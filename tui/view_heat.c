/* view_heat.c: the least time over two parameters: a square for each pair, darker where it is faster, and its number.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/units.h"
#include "tui/views.h"

enum { VALUES = 64 };

/* The distinct values of one axis, in the order of their numbers. */
typedef struct values {
    int count;
    const char *text[VALUES];
} values;

static int by_value(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    double p = strtod(x, NULL), q = strtod(y, NULL);
    return p < q ? -1 : p > q ? 1 : strcmp(x, y);
}

static int place_of(const values *axis, const char *text)
{
    for (int i = 0; i < axis->count; i++)
        if (strcmp(axis->text[i], text) == 0)
            return i;
    return -1;
}

static const char *value_at(const nt_sheet *heat, int row, int column)
{
    const nt_sheet_cell *cell = nt_sheet_at(heat, row, column);
    return cell->text != NULL ? cell->text : "-";
}

static void collect(const nt_sheet *heat, int column, values *out)
{
    out->count = 0;
    for (int r = 0; r < heat->rows; r++)
        if (place_of(out, value_at(heat, r, column)) < 0 && out->count < VALUES)
            out->text[out->count++] = value_at(heat, r, column);
    qsort(out->text, (size_t)out->count, sizeof out->text[0], by_value);
}

static void range(const nt_sheet *heat, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int r = 0; r < heat->rows; r++) {
        double time_ns = nt_sheet_at(heat, r, 2)->number;
        if (isnan(time_ns))
            continue;
        *low = fmin(*low, log(time_ns));
        *high = fmax(*high, log(time_ns));
    }
}

static void draw_cells(const nt_screen *screen, const nt_sheet *heat, const nt_pane *pane)
{
    enum { LEFT = 10, WIDE = 11 };
    values *x = nt_alloc_zero(2, sizeof *x), *y = x + 1;
    double low, high;
    collect(heat, 0, x);
    collect(heat, 1, y);
    range(heat, &low, &high);
    int wide = LEFT + WIDE * x->count <= pane->at.width ? WIDE : 4;
    for (int i = 0; i < x->count; i++)
        nt_pane_putf(pane, LEFT + i * wide, 0, NT_STYLE_TITLE, "%.*s", wide - 1, x->text[i]);
    for (int j = 0; j < y->count; j++)
        nt_pane_putf(pane, 0, j >= screen->scroll ? j + 1 - screen->scroll : -1, NT_STYLE_TITLE, "%.9s", y->text[j]);
    for (int r = 0; r < heat->rows; r++) {
        int column = place_of(x, value_at(heat, r, 0)), row = place_of(y, value_at(heat, r, 1)) - screen->scroll;
        double time_ns = nt_sheet_at(heat, r, 2)->number;
        if (column < 0 || row < 0)
            continue;
        double share = high > low ? (high - log(time_ns)) / (high - low) : 1;
        nt_style style = isnan(time_ns) ? NT_STYLE_DIM : log(time_ns) == low ? NT_STYLE_GOOD : NT_STYLE_PLAIN;
        int at = LEFT + column * wide;
        if (isnan(time_ns)) {
            nt_pane_put(pane, at, row + 1, style, "x");
            continue;
        }
        nt_pane_set(pane, at, row + 1, nt_plot_shade(share, screen->glyphs), style);
        nt_pane_set(pane, at + 1, row + 1, nt_plot_shade(share, screen->glyphs), style);
        if (wide == WIDE)
            nt_pane_putf(pane, at + 2, row + 1, style, "%.8s", nt_text_time_ns(time_ns).s);
    }
    free(x);
}

void nt_draw_heat(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane)
{
    const nt_window *keys = &shown->want.heat;
    if (shown->want.view != NT_VIEW_HEAT || keys->keys < 2) {
        nt_pane_put(pane, 0, 0, NT_STYLE_DIM,
                    shown->facts.params > 0 ? "fewer than two parameters vary" : "no trial to draw");
        return;
    }
    nt_pane body =
        nt_titled(pane, "least time: %s across, %s down; fuller is faster, x never ran%s%s", keys->key[0].name,
                  keys->key[1].name, screen->filter[0] != '\0' ? "  filter " : "", screen->filter);
    draw_cells(screen, &shown->heat, &body);
}

void nt_heat_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out)
{
    (void)screen;
    nt_sheet_copy(&shown->heat, out);
}
