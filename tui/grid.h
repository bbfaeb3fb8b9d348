/* grid.h: what is on the screen, as squares with a character and a style. Views draw into panes of a grid and know
 * nothing of terminals; a grid is shown by ncurses, written as text, or compared by a test. */
#ifndef NT_GRID_H
#define NT_GRID_H

#include <stdarg.h>
#include <stdint.h>

#include "core/str.h"

/* What a square means. Colours only repeat what text and marks say already. */
typedef enum nt_style {
    NT_STYLE_PLAIN,
    NT_STYLE_TITLE,
    NT_STYLE_DIM,
    NT_STYLE_GOOD,
    NT_STYLE_WARN,
    NT_STYLE_BAD,
    NT_STYLE_FIRST,  /* first series of a plot: theoretical */
    NT_STYLE_SECOND, /* second series: achieved, measured */
    NT_STYLE_SELECTED,
    NT_STYLE_COUNT
} nt_style;

typedef struct nt_square {
    uint32_t code; /* Unicode, one column wide */
    nt_style style;
} nt_square;

typedef struct nt_rect {
    int x, y, width, height;
} nt_rect;

typedef struct nt_grid {
    int width, height;
    bool ascii; /* other characters are shown as '?' */
    nt_square *square;
} nt_grid;

void nt_grid_resize(nt_grid *grid, int width, int height); /* also clears */
void nt_grid_done(nt_grid *grid);
const nt_square *nt_grid_at(const nt_grid *grid, int x, int y); /* must be inside */
/* Lines without trailing blanks, each with a line break. */
void nt_grid_text(const nt_grid *grid, nt_str *out);

/* A part of a grid. Nothing drawn into a pane lands outside it. */
typedef struct nt_pane {
    nt_grid *grid;
    nt_rect at;
} nt_pane;

nt_pane nt_pane_of(nt_grid *grid, nt_rect at);
nt_pane nt_pane_part(const nt_pane *pane, int x, int y, int width, int height); /* clipped to the pane */
void nt_pane_set(const nt_pane *pane, int x, int y, uint32_t code, nt_style style);
/* Text from x on, cut at the pane's edge. What no single column shows becomes '?'. Returns the column after it. */
int nt_pane_put(const nt_pane *pane, int x, int y, nt_style style, const char *text);
int nt_pane_putf(const nt_pane *pane, int x, int y, nt_style style, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Flush with the right edge. */
void nt_pane_right(const nt_pane *pane, int y, nt_style style, const char *text);
/* Changes the style of a whole line, as a selection does. */
void nt_pane_mark(const nt_pane *pane, int y, nt_style style);

/* The next character of UTF-8 text, '?' for what is malformed, has no width or two columns; 0 at the end. */
uint32_t nt_next_character(const char **text);
void nt_add_character(nt_str *out, uint32_t code);

#endif
