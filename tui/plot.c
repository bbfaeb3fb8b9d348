/* plot.c: see plot.h. */
#include "tui/plot.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"

const char *const nt_glyphs_names[] = {"braille", "block", "ascii", NULL};

const char *nt_glyphs_name(nt_glyphs glyphs)
{
    return nt_glyphs_names[glyphs];
}

static const struct {
    int across, down; /* dots of one square */
} dots[NT_GLYPHS_COUNT] = {{2, 4}, {1, 2}, {1, 1}};

void nt_plot_bar(const nt_pane *pane, int x, int y, int width, double share, bool second, nt_glyphs glyphs)
{
    if (isnan(share))
        return;
    double eighths = fmin(fmax(share, 0), 1) * width * 8;
    int whole = (int)(eighths / 8), rest = (int)eighths % 8;
    nt_style style = second ? NT_STYLE_SECOND : NT_STYLE_FIRST;
    bool ascii = glyphs == NT_GLYPHS_ASCII;
    uint32_t full = second ? (ascii ? '#' : 0x2588) : (ascii ? '=' : 0x2592);
    for (int i = 0; i < whole; i++)
        nt_pane_set(pane, x + i, y, full, style);
    if (whole < width && second && !ascii && rest > 0)
        nt_pane_set(pane, x + whole, y, 0x2590u - (uint32_t)rest, style);
    else if (whole < width && rest >= 4)
        nt_pane_set(pane, x + whole, y, full, style);
}

uint32_t nt_plot_shade(double share, nt_glyphs glyphs)
{
    int level = (int)(fmin(fmax(share, 0), 1) * 7.999);
    return glyphs == NT_GLYPHS_ASCII ? (uint32_t)('a' + level) : 0x2581u + (uint32_t)level;
}

void nt_plot_open(nt_plot *plot, const nt_pane *pane, nt_glyphs glyphs, double x0, double x1, double y0, double y1)
{
    *plot = (nt_plot){.pane = *pane, .glyphs = glyphs, .x0 = x0, .x1 = x1, .y0 = y0, .y1 = y1};
    plot->columns = pane->at.width * dots[glyphs].across;
    plot->rows = pane->at.height * dots[glyphs].down;
    plot->dot = nt_alloc_zero((size_t)plot->columns * (size_t)plot->rows + 1, 1);
}

static bool place(const nt_plot *plot, double x, double y, int *column, int *row)
{
    double across = (x - plot->x0) / (plot->x1 - plot->x0), up = (y - plot->y0) / (plot->y1 - plot->y0);
    if (!(across >= -1e-9 && across <= 1 + 1e-9 && up >= -1e-9 && up <= 1 + 1e-9))
        return false;
    *column = (int)lround(across * (plot->columns - 1));
    *row = plot->rows - 1 - (int)lround(up * (plot->rows - 1));
    return *column >= 0 && *column < plot->columns && *row >= 0 && *row < plot->rows;
}

void nt_plot_point(nt_plot *plot, double x, double y, bool second)
{
    int column, row;
    if (place(plot, x, y, &column, &row))
        plot->dot[row * plot->columns + column] |= second ? 2 : 1;
}

void nt_plot_line(nt_plot *plot, double xa, double ya, double xb, double yb, bool second)
{
    /* One step for each dot it passes, and never more than cross the plot some times. */
    double across = fabs((xb - xa) / (plot->x1 - plot->x0)) * plot->columns;
    double down = fabs((yb - ya) / (plot->y1 - plot->y0)) * plot->rows;
    int steps = 1 + (int)fmin(2 * fmax(across, down), 4 * (plot->columns + plot->rows));
    for (int i = 0; i <= steps; i++) {
        double share = (double)i / steps;
        nt_plot_point(plot, xa + share * (xb - xa), ya + share * (yb - ya), second);
    }
}

/* The dots of one square as a glyph. */
static uint32_t glyph_of(nt_glyphs glyphs, const unsigned char bits[8], bool second)
{
    static const unsigned char braille[8] = {0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80};
    if (glyphs == NT_GLYPHS_ASCII)
        return second ? '*' : '.';
    if (glyphs == NT_GLYPHS_BLOCK)
        return bits[0] && bits[1] ? 0x2588 : bits[0] ? 0x2580 : 0x2584;
    uint32_t code = 0x2800;
    for (int i = 0; i < 8; i++)
        code |= bits[i] ? braille[i] : 0u;
    return code;
}

static void draw_square(const nt_plot *plot, int x, int y)
{
    int across = dots[plot->glyphs].across, down = dots[plot->glyphs].down;
    unsigned char bits[8] = {0}, any = 0;
    for (int j = 0; j < down; j++)
        for (int i = 0; i < across; i++) {
            bits[j * across + i] = plot->dot[(y * down + j) * plot->columns + x * across + i];
            any |= bits[j * across + i];
        }
    if (any == 0)
        return;
    bool second = (any & 2) != 0;
    nt_pane_set(&plot->pane, x, y, glyph_of(plot->glyphs, bits, second), second ? NT_STYLE_SECOND : NT_STYLE_FIRST);
}

void nt_plot_close(nt_plot *plot)
{
    for (int y = 0; y < plot->pane.at.height; y++)
        for (int x = 0; x < plot->pane.at.width; x++)
            draw_square(plot, x, y);
    free(plot->dot);
    plot->dot = NULL;
}
