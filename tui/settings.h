/* settings.h: what the screen remembers: glyphs, interval, order and filter of trials, the view. A file that cannot be
 * read, or holds something else, changes nothing. */
#ifndef NT_SETTINGS_H
#define NT_SETTINGS_H

#include "tui/screen.h"

/* $XDG_CONFIG_HOME/nntune/top.json, default ~/.config; false when there is no home. */
bool nt_settings_path(char *out, size_t capacity);
void nt_settings_load(nt_screen *screen, const char *path);
nt_status nt_settings_save(const nt_screen *screen, const char *path, nt_error *err); /* whole or not at all */

#endif
