/* top_screen.h: `nntune top` on a terminal, and its views without one. */
#ifndef NT_TOP_SCREEN_H
#define NT_TOP_SCREEN_H

#include <stdatomic.h>

#include "cli/options.h"
#include "cli/top_feed.h"

/* Whether the options ask for a view to be written instead of shown. */
bool nt_top_dump_asked(const nt_args *args);
/* Whether the full screen is to be used; otherwise `why` may say why not. */
bool nt_top_screen_possible(const nt_args *args, const char **why);
/* Which database: --db, --play, the one of a running sweep; false for none. */
bool nt_top_database(const nt_args *args, char out[NT_PATH_BYTES]);

/* Lines for a run: one whenever something changed, until `frames` or *stop. */
nt_status nt_top_run_lines(const nt_args *args, const nt_top_source *source, const atomic_bool *stop, nt_error *err);

nt_status nt_top_screen(const nt_args *args, const nt_top_source *source, int *exit_code, nt_error *err);

#endif
