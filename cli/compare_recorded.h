/* compare_recorded.h: `nntune compare FILE.csv..`: recorded tuning spaces of one kernel on several devices. */
#ifndef NT_COMPARE_RECORDED_H
#define NT_COMPARE_RECORDED_H

#include "cli/options.h"

/* True when the word names a recorded space rather than a side of a database. */
bool nt_compare_is_recorded(const char *word);
/* The portability matrix over all files named. */
nt_status nt_compare_recorded(const nt_args *args, nt_error *err);

#endif
