/* loop.h: the screen at work: keys and drawing in the caller's thread, the feed in one of its own. */
#ifndef NT_LOOP_H
#define NT_LOOP_H

#include <stdio.h>

#include "tui/screen.h"

typedef struct nt_loop_options {
    bool color;
    int64_t frames;          /* ends after so many snapshots; 0: never */
    const char *settings;    /* file to save settings to; NULL: none */
    const char *dump_folder; /* where P writes */
    FILE *to;                /* the terminal; NULL: stdout */
    /* In a thread beside other work: signals are not this thread's business, and it leaves when this descriptor becomes
     * readable. 0: the screen is all there is. */
    int leave_fd;
} nt_loop_options;

/* Shows `screen` until it is left. *stopped_by is the signal that ended it, 0 when a key did or it was told to leave.
 * Signals INT, TERM and HUP are caught meanwhile, but beside other work. */
nt_status nt_loop_run(nt_screen *screen, nt_feed *feed, const nt_loop_options *options, int *stopped_by, nt_error *err);

#endif
