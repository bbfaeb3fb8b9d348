/* progress.h: one line on stderr while something long runs: redrawn on a terminal, otherwise a line every few seconds;
 * never a control byte where stderr is not a terminal. */
#ifndef NT_PROGRESS_H
#define NT_PROGRESS_H

#include <stdbool.h>

#include "cli/options.h"

typedef struct nt_progress_line nt_progress_line;

/* Reads --progress and --quiet of the common options. NNTUNE_PRETEND_TTY=1 treats stderr as a terminal, for tests. */
nt_progress_line *nt_progress_open(const nt_args *args);

/* Shows the line. On a terminal it replaces the one before; elsewhere it is printed when `always`, or 5 s after the
 * last one or the opening. */
void nt_progress_show(nt_progress_line *line, const char *text, bool always);

/* Takes the line off a terminal, so that other output can follow. */
void nt_progress_clear(nt_progress_line *line);
void nt_progress_close(nt_progress_line *line); /* NULL allowed */

#endif
