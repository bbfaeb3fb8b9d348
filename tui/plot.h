/* plot.h: bars and point plots in a pane, in three sets of glyphs: braille (2 x 4 dots a square), block (1 x 2) and
 * ascii (1 x 1). Pure. */
#ifndef NT_PLOT_H
#define NT_PLOT_H

#include "tui/grid.h"

typedef enum nt_glyphs { NT_GLYPHS_BRAILLE, NT_GLYPHS_BLOCK, NT_GLYPHS_ASCII, NT_GLYPHS_COUNT } nt_glyphs;

const char *nt_glyphs_name(nt_glyphs glyphs);
extern const char *const nt_glyphs_names[]; /* NULL-terminated */

/* A bar from the pane's left edge over `width` columns; NAN draws nothing. `second` tells two series apart by their
 * glyph, not by colour alone. */
void nt_plot_bar(const nt_pane *pane, int x, int y, int width, double share, bool second, nt_glyphs glyphs);

/* A square of eight shades: 0 lightest, 1 fullest; the letters a to h without UTF-8. */
uint32_t nt_plot_shade(double share, nt_glyphs glyphs);

/* Dots over a rectangle of values. Unknown points are not drawn. */
typedef struct nt_plot {
    nt_pane pane;
    nt_glyphs glyphs;
    double x0, x1, y0, y1; /* values at the edges; on a log axis their logarithms */
    int columns, rows;     /* dots */
    unsigned char *dot;    /* bits: 1 first series, 2 second */
} nt_plot;

void nt_plot_open(nt_plot *plot, const nt_pane *pane, nt_glyphs glyphs, double x0, double x1, double y0, double y1);
void nt_plot_point(nt_plot *plot, double x, double y, bool second);
void nt_plot_line(nt_plot *plot, double xa, double ya, double xb, double yb, bool second);
void nt_plot_close(nt_plot *plot); /* draws */

#endif
