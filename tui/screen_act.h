/* screen_act.h: what the files of the screen's state share. */
#ifndef NT_SCREEN_ACT_H
#define NT_SCREEN_ACT_H

#include "tui/screen.h"

/* Does what a key is bound to; false when it is bound to nothing here. */
bool nt_screen_act(nt_screen *screen, const nt_snapshot *shown, int key);

void nt_screen_say(nt_screen *screen, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Names of the run's parameters, and how many. */
int nt_screen_params(const nt_snapshot *shown, const char *names[NT_PARAMS]);
void nt_screen_sort_by(nt_screen *screen, int place, const nt_window_key *key);

#endif
