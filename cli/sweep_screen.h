/* sweep_screen.h: `nntune sweep --tui`: the screen of `nntune top` beside a sweep, in the same process.
 *
 * It runs in a thread of its own and reads the database as any other reader does; the sweep goes on whatever becomes of
 * it. Meanwhile stdout and stderr, also of children, are held back and come once the terminal is theirs again. Ctrl-C
 * is the sweep's, as without the screen; resizing and Ctrl-Z are the screen's. */
#ifndef NT_SWEEP_SCREEN_H
#define NT_SWEEP_SCREEN_H

#include "cli/options.h"
#include "core/store.h"

typedef struct nt_sweep_screen nt_sweep_screen;

/* NULL where --tui is not asked for, or no screen can be drawn here, which is said on stderr. Before the sweep begins:
 * signals of the terminal are kept from the caller's thread from here on. */
nt_sweep_screen *nt_sweep_screen_new(const nt_args *args, const char *database);
void nt_sweep_screen_show(nt_sweep_screen *screen, const nt_run *run); /* NULL allowed; a second call does nothing */
/* Whether the terminal is the screen's now. Once it is no more, what was held back has been printed. NULL: false. */
bool nt_sweep_screen_up(nt_sweep_screen *screen);
void nt_sweep_screen_close(nt_sweep_screen *screen); /* NULL allowed */

#endif
