/* terminal.h: a grid on a terminal through ncurses, and keys from it. Whatever ends the program, the terminal is left
 * as it was found. */
#ifndef NT_TERMINAL_H
#define NT_TERMINAL_H

#include <stdio.h>

#include "core/status.h"
#include "tui/grid.h"
#include "tui/plot.h"

typedef struct nt_terminal nt_terminal;

/* Why no screen can be drawn here (not a terminal, TERM unknown or without cursor movement, built without ncurses), or
 * NULL when one can. */
const char *nt_terminal_refusal(void);

/* The glyphs that this terminal shows: braille in UTF-8, blocks on the Linux console, else ASCII. */
nt_glyphs nt_terminal_glyphs(void);

/* `to` is the terminal to draw on; keys come from stdin. */
nt_status nt_terminal_open(FILE *to, bool color, nt_terminal **out, nt_error *err);
void nt_terminal_size(const nt_terminal *terminal, int *width, int *height);
void nt_terminal_draw(nt_terminal *terminal, const nt_grid *grid, bool anew);
int nt_terminal_key(nt_terminal *terminal);    /* -1 when none waits; a key of keys.h */
void nt_terminal_close(nt_terminal *terminal); /* NULL allowed */

#endif
